/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions as loops over instances, their derivatives, and their values.
 *
 * A function is a list of summands: F = sum over summands, sum over the instances of its nest, body(instance).
 * The plain part of a formula is a summand without a nest.  Derivatives are taken of the bodies and come as scatter
 * terms: "for every instance of nest: out[row][col] += value", so a pair potential of 900 coordinates stays a
 * handful of small expressions and its Hessian stays sparse. */
#ifndef LGV_CALCULUS_H
#define LGV_CALCULUS_H

#include "model/expr.h"

struct lgv_summand {
    int nest; /* -1: plain */
    int body;
};

struct lgv_function {
    struct lgv_summand *summand;
    size_t count, capacity;
};

struct lgv_term {
    int nest;     /* -1: once */
    int row, col; /* integer expressions; col is -1 for vectors */
    int value;    /* node */
};

struct lgv_terms {
    struct lgv_term *term;
    size_t count, capacity;
};

/* ---- loops.c ---- */

/* Calls visit with the values of all loop variables for every instance, in loop order; stops when visit returns false.
 * Returns the number of instances visited, or -1 when there are more than `limit` or a range is not known. */
typedef bool lgv_visit(void *user, const long *vars);
long lgv_loops_each(const struct lgv_graph *g, int nest, long limit, lgv_visit *visit, void *user);
long lgv_loops_count(const struct lgv_graph *g, int nest, long limit);
/* Steps of such a walk, empty ranges and failed conditions included; -1 when there are more than `limit`. */
long lgv_loops_steps(const struct lgv_graph *g, int nest, long limit);
bool lgv_loops_holds(const struct lgv_graph *g, int nest, const long *vars); /* do its conditions? */
long lgv_loops_index(const struct lgv_graph *g, int index, const long *vars);
/* The same formula with the loop variables numbered `from` and above, and the nests that bind them, moved down by `by`:
 * for use inside `by` more loops than it was written in. */
int lgv_loops_shift(struct lgv_graph *g, int node, int from, int by);

#define LGV_MAX_LOOPS 8
#define LGV_MAX_INSTANCES 4000000
#define LGV_UNROLL_NODES 96 /* a sum whose unrolled size stays below this is not kept as a loop */

/* Splits a formula into summands.  Sums that enter linearly become loops (unless small: see above), others are written
 * out term by term.  unroll: write every sum out.  False with g->failed set and *f empty when that is impossible. */
bool lgv_function_split(struct lgv_graph *g, int node, bool unroll, struct lgv_function *f);
/* The formula with the first `known` loop variables replaced by numbers and every sum inside it written out. */
int lgv_loops_instance(struct lgv_graph *g, int node, const long *vars, int known);
bool lgv_function_add(struct lgv_graph *g, struct lgv_function *f, int nest, int body);
void lgv_function_free(struct lgv_function *f);

/* ---- near.c: sums over near pairs ---- */

unsigned lgv_index_vars(const struct lgv_graph *g, int index); /* the loop variables it knows, as bits */
/* The least and the largest value of both indices of a nest of two levels; low > high: it has no instances. */
void lgv_near_ranges(const struct lgv_graph *g, int nest, long low[2], long high[2]);
#define LGV_MOST_NEAR 134217728.0 /* pairs of a list; more are no use to anyone */
/* Refuses a typical start that has more. */
enum lgv_status lgv_near_start(struct lgv_model *m, struct lgv_error *err);
/* As lgv_loops_each for the instances of a near nest whose points in q are at most its radius apart. */
long lgv_near_each(const struct lgv_graph *g, int nest, const double *q, lgv_visit *visit, void *user);
/* Does the formula have a sum over near pairs?  Does it have indices as numbers? */
bool lgv_near_used(const struct lgv_graph *g, int node);
bool lgv_near_counts(const struct lgv_graph *g, int node);

/* ---- diff.c ---- */

/* The different REF leaves of `node` in the given spaces (mask of LGV_USES bits); malloc'd list, count in *count. */
int *lgv_diff_leaves(struct lgv_graph *g, int node, unsigned spaces, size_t *count);
/* Functions that jump: their derivative is 0 wherever it exists.  Functions that jump or bend. */
#define LGV_JUMPS (1u << LGV_SIGN | 1u << LGV_FLOOR | 1u << LGV_LESS | 1u << LGV_PICK)
#define LGV_KINKS (LGV_JUMPS | 1u << LGV_ABS | 1u << LGV_LOWER | 1u << LGV_UPPER)
long lgv_diff_size(const struct lgv_graph *g, int node); /* nodes it consists of */
/* Does the formula have one of these operations (mask of 1 << op) on an argument with one of these uses? */
bool lgv_diff_uses(const struct lgv_graph *g, int node, unsigned operations, unsigned uses);
/* ... one of these parameters, or an entry of an array of them that is not known yet? */
bool lgv_diff_uses_param(const struct lgv_graph *g, int node, int first, long count);
/* The formula with every jump and kink replaced by a smooth function of the same arguments. */
int lgv_diff_smoothed(struct lgv_graph *g, int node);
/* d node / d leaf[i] for all i at once (reverse mode); leaves are REFs, or t. */
void lgv_diff_gradient(struct lgv_graph *g, int node, const int *leaf, size_t count, int *out);
int lgv_diff_one(struct lgv_graph *g, int node, int leaf);
/* What the round-off of a formula is measured by, with the magnitudes |a| of its parts: sums of them for sums,
 * products for products, |f(a)| + |f'(a)| |a| for functions. */
int lgv_diff_magnitude(struct lgv_graph *g, int node);
/* sum over leaves r in `spaces` (mask of LGV_USES bits: q, p or both) of (d node / d r) * direction_r, as a node with
 * DQ / DP leaves. */
int lgv_diff_along(struct lgv_graph *g, int node, unsigned spaces);

/* Scatter terms of the gradient in a space and of the Hessian in two spaces; appended to `out`. */
void lgv_terms_gradient(struct lgv_graph *g, const struct lgv_function *f, enum lgv_space space, struct lgv_terms *out);
void lgv_terms_hessian(struct lgv_graph *g, const struct lgv_function *f, enum lgv_space rows, enum lgv_space cols,
                       struct lgv_terms *out);
/* Gradient in q of a.V''.a, V'' = f_qq, with direction a in DQ held fixed: the contraction a . V''' . a. */
void lgv_terms_third(struct lgv_graph *g, const struct lgv_function *f, struct lgv_terms *out);
void lgv_terms_add(struct lgv_graph *g, struct lgv_terms *t, struct lgv_term term);
/* The same places with the magnitudes of the values. */
void lgv_terms_magnitude(struct lgv_graph *g, const struct lgv_terms *t, struct lgv_terms *out);
/* Terms of one place in one nest are added up; what cancels is gone. */
void lgv_terms_merge(struct lgv_graph *g, struct lgv_terms *t);
void lgv_terms_free(struct lgv_terms *t);
/* Does any term exist (after simplification) / do the values depend on the given uses? */
bool lgv_terms_use(const struct lgv_graph *g, const struct lgv_terms *t, unsigned uses);

/* The sparsity of terms as sorted unique (row, col) pairs; -1 when there are more than `limit` or memory is out. */
struct lgv_place {
    int row, col;
};
int lgv_place_order(const void *a, const void *b); /* for qsort */
long lgv_terms_pattern(const struct lgv_graph *g, const struct lgv_terms *t, long limit, struct lgv_place **out);

/* ---- cells.c ---- */

struct lgv_cell {
    int row, col, node; /* col is 0 for vectors */
};
struct lgv_cells {
    struct lgv_cell *cell; /* free() it */
    size_t count, capacity;
};
/* The terms as formulas without sums, one for each place, sorted by row and column; at_zero: with that space set to 0,
 * or LGV_SPACES.  False with g->failed set. */
bool lgv_terms_cells(struct lgv_graph *g, const struct lgv_terms *t, enum lgv_space at_zero, struct lgv_cells *out);

/* ---- factor.c ---- */

/* A function whose pair sums see bodies by parts: f = rest with LGV_PART = the values of parts.  With LGV_PULL = the
 * derivatives of rest with respect to LGV_PART, f_q = rest_q + back_q. */
struct lgv_factored {
    struct lgv_function rest, back;
    struct lgv_terms parts; /* by row of LGV_PART */
    long rows;
};
/* True when there are parts; else, or with g->failed, *out is of no use.  Free it in both cases. */
bool lgv_factor(struct lgv_graph *g, const struct lgv_function *f, struct lgv_factored *out);
void lgv_factored_free(struct lgv_factored *x);

/* ---- rotations.c: coordinates in SO(3), as unit quaternions ---- */

/* The nine entries of R in the place of the four nodes of a quaternion. */
void lgv_rotations_matrix(struct lgv_graph *g, int node[]);
/* Quaternions as formulas: of any length; from a rotation vector; a product; from three uniform numbers in (0, 1). */
void lgv_rotations_normalise(struct lgv_graph *g, int quaternion[4]);
void lgv_rotations_vector(struct lgv_graph *g, const int vector[3], int quaternion[4]);
void lgv_rotations_multiply(struct lgv_graph *g, const int a[4], const int b[4], int out[4]);
void lgv_rotations_uniform(struct lgv_graph *g, const int uniform[3], int quaternion[4]);
/* The name whose rows have row `row` of q among them, or NULL. */
const struct lgv_rotations *lgv_rotations_at(const struct lgv_graph *g, long row);
/* Terms in rows of q (of that space) become terms in rows of p: three directions for the four rows of a rotation. */
void lgv_rotations_fold(struct lgv_graph *g, enum lgv_space space, const struct lgv_terms *given,
                        struct lgv_terms *out);
/* {f, h}, and the sum of m.(f_m x h_m) over all rotations of numbers [np], its absolute terms added to *size. */
int lgv_rotations_bracket(struct lgv_graph *g, int f, int h);
double lgv_rotations_pairing(const struct lgv_graph *g, const double *m, const double *f, const double *h,
                             double *size);
/* The row of q of degree of freedom i, whose momentum is row i of p; of a rotation the first of its quaternion, and
 * *axis is 0, 1 or 2, else -1. */
long lgv_rotations_row(const struct lgv_graph *g, long i, int *axis);
/* q moves by h xi, xi [np]; and the xi that leads from one q to another.  g NULL: there are no rotations. */
void lgv_rotations_advance(const struct lgv_graph *g, size_t np, double *q, const double *xi, double h);
void lgv_rotations_between(const struct lgv_graph *g, size_t np, const double *from, const double *to, double *xi);
/* The same for degree of freedom i alone, along the axes of the body frame for coupled bodies. */
void lgv_rotations_nudge(const struct lgv_graph *g, long i, double *q, double h);
/* Makes the quaternions in q unit again; R = R exp(hat xi). */
void lgv_rotations_clean(const struct lgv_graph *g, double *q);
void lgv_rotations_turn(double *quaternion, const double xi[3]);
/* Of a rotation matrix. */
void lgv_rotations_quaternion(const double R[9], double out[4]);

/* ---- eval.c: the slow scalar evaluator, the oracle of the generated code ---- */

struct lgv_env {
    const double *par;
    const double *space[LGV_SPACES];
    double t;
};

struct lgv_evaluator {
    const struct lgv_graph *g;
    double *value;
    unsigned *stamp;
    unsigned now;
    size_t size;
};

bool lgv_eval_begin(struct lgv_evaluator *e, const struct lgv_graph *g);
void lgv_eval_end(struct lgv_evaluator *e);
double lgv_eval_node(struct lgv_evaluator *e, int node, const struct lgv_env *env, const long *vars);
double lgv_eval_function(struct lgv_evaluator *e, const struct lgv_function *f, const struct lgv_env *env);
/* out[row] or out[row * ncols + col] += value over all instances; out is cleared first (size entries). */
void lgv_eval_terms(struct lgv_evaluator *e, const struct lgv_terms *t, const struct lgv_env *env, double *out,
                    size_t size, size_t ncols);

#endif
