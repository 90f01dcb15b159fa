/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Formulas as a hash-consed graph.  A node is an int; equal expressions are the same int, children have smaller ints
 * than their parents, so every pass over a formula is a loop over ascending or descending numbers.
 *
 * Sums and products are n-ary and kept in a canonical order:
 *     SUM      value + sum_i factor_i * arg_i            (no argument is a constant, no argument twice)
 *     PRODUCT  prod_i arg_i ^ factor_i                    (numerical coefficients live in the enclosing SUM)
 * so x*y - y*x is the constant 0 without further work.  sqrt(x) is x^0.5, a/b is a * b^-1.
 *
 * Indexed sums.  sum(i=1..N, j=i+1..N, body) is a LOOP node over a nest; inside the body, REF nodes carry an integer
 * expression of the loop variables as their index.  Loop variables are numbered by nesting depth from outside. */
#ifndef LGV_EXPR_H
#define LGV_EXPR_H

#include "base/base.h"

enum lgv_op {
    LGV_CONST,   /* value */
    LGV_PARAM,   /* aux: number of the parameter */
    LGV_TIME,    /* t */
    LGV_REF,     /* count: enum lgv_space, aux: integer expression (zero-based component) */
    LGV_INDEX,   /* aux: integer expression, as a number */
    LGV_SUM,     /* see above */
    LGV_PRODUCT, /* see above */
    LGV_LOOP,    /* aux: nest, one argument: the body */
    LGV_POW,     /* arg0 ^ arg1, general exponent */
    LGV_EXP,
    LGV_LOG,
    LGV_SIN,
    LGV_COS,
    LGV_TAN,
    LGV_ASIN,
    LGV_ACOS,
    LGV_ATAN,
    LGV_SINH,
    LGV_COSH,
    LGV_TANH,
    LGV_ABS,
    LGV_SIGN,
    LGV_ERF,
    LGV_FLOOR,
    LGV_ATAN2,
    LGV_LOWER,
    LGV_UPPER,
    LGV_LESS, /* 1 when arg0 < arg1, else 0 */
    LGV_PICK, /* arg1 where arg0 is not 0, else arg2: what is not picked may be undefined there */
    LGV_ENTRY, /* aux: integer expression of loop variables, the number of a parameter; value: see lgv_expr_entry */
    LGV_TABLE  /* aux: number of the table, value: which derivative of it */
};

/* What a REF refers to. */
enum lgv_space {
    LGV_Q,       /* coordinates */
    LGV_P,       /* momenta */
    LGV_WEIGHTS, /* increment weights: component 0 is a (of H), component m is w_m (of h_m) */
    LGV_BROWN,   /* Brownian motion W_m(t), component m-1 */
    LGV_NORMAL,  /* standard normal draws of the start values */
    LGV_UNIFORM, /* uniform draws of the start values; component LGV_PATH is the number of the path */
    LGV_DQ,      /* direction of a directional derivative, q part; in observables the start value of q */
    LGV_DP,      /* ... p part */
    LGV_V,       /* velocities of a Lagrangian; in observables H_p, too */
    LGV_LAMBDA,  /* multipliers of the constraints, component k-1 of g_k */
    LGV_BEFORE,  /* coordinates at the beginning of a step, in a discrete Lagrangian */
    LGV_AFTER,   /* ... and at its end */
    LGV_STEP,    /* ... and its width dt, component 0 */
    LGV_PART,    /* parts of pair sums that know one index, and ... */
    LGV_PULL,    /* ... derivatives with respect to them; see factor.c */
    LGV_MU,      /* in observables the momenta of the variational step that ends here; see load_bodies.c */
    LGV_DRAWN,   /* no REF: parameters that every path has a value of its own of use it */
    LGV_SPACES
};

#define LGV_PATH -1L

/* Bits of lgv_node.uses: one per space, then these. */
#define LGV_USES(space) (1u << (space))
#define LGV_USES_TIME (1u << 17)
_Static_assert(LGV_SPACES <= 17, "a bit for each space");
#define LGV_USES_LOOPVAR (1u << 18)
#define LGV_USES_LOOP (1u << 19)
#define LGV_USES_PARAM (1u << 20)

#define LGV_MAX_NAME 64 /* bytes of a name, with the zero behind it */

struct lgv_arg {
    int node;
    double factor;
};

struct lgv_node {
    int op, count, first, aux; /* arguments are graph->arg[first .. first + count - 1] (REF: count is the space) */
    int depth;
    unsigned uses;
    bool condition; /* its values are 0 and 1: comparisons, and what is made of them by 1 - x, min and max */
    double value;
};

/* Integer expressions of loop variables. */
enum lgv_iop { LGV_ICONST, LGV_IVAR, LGV_IADD, LGV_IMUL, LGV_IMOD, LGV_IDIV };
struct lgv_inode {
    int op, a, b; /* ICONST: value; IVAR: a = depth of the loop; else operands */
    long value;
    int vars; /* 1 + deepest loop variable used, 0 for a constant */
    int depth;
    int next; /* chain of the hash table */
};

/* A loop nest: levels [first, first + count) of graph->level; the loop variable of level k is number base + k. */
struct lgv_level {
    int low, high; /* integer expressions of outer variables; low > high is an empty range */
};
struct lgv_condition {
    int compare; /* '<' 'l' (<=) '=' '!' on integer expressions a, b */
    int a, b;
};
struct lgv_nest {
    int base, count, first;
    int ncond, cond; /* conditions [cond, cond + ncond), checked in the innermost body */
    int near;        /* 1 + number of its cut-off, 0: none */
};

/* A sum over near pairs.  Its body is 0 where the points of its two indices are `radius` apart or more: nobody has to
 * look at such pairs, and nothing depends on who does. */
struct lgv_cut {
    int row[2][3];       /* integer expressions: rows of q of the point of the first index, and of the second */
    int dim;             /* components of a point */
    double radius, skin; /* lists know pairs up to radius + skin */
    double box[3];       /* periods, 0: none */
    int kink[5];         /* nodes of images and switch that jump or bend where the sum does not; 0: none */
};

/* A function given by points: polynomials between knots.  Its numbers stand behind the parameters, from `at` on:
 * LGV_TABLE_HEAD of them, then for every interval the knot it begins at and degree + 1 coefficients (spline.c). */
enum lgv_outside { LGV_OUTSIDE_NOTHING, LGV_OUTSIDE_LINE, LGV_OUTSIDE_PERIODIC };
enum { LGV_TABLE_LOW, LGV_TABLE_HIGH, LGV_TABLE_PER_KNOT, LGV_TABLE_FROM, LGV_TABLE_UNTIL, LGV_TABLE_HEAD };
struct lgv_table {
    char name[LGV_MAX_NAME];
    long at, intervals;
    int degree;
    enum lgv_outside outside; /* not defined there, straight on, or again and again */
    bool even;                /* knots are equally far apart */
};
#define LGV_MAX_TABLES 20000
#define LGV_MAX_DRAWN 1024

/* Rotations among the coordinates, one name with all its entries, each a unit quaternion (w, x, y, z): four rows of q
 * from q on, three of p from p on.  Derivatives with respect to q have the rows of p, see rotations.c.  The 3 count
 * rows before them are those of the positions and linear momenta of bodies whose inertia couples both.
 *
 * A reduced model has momenta alone, in the dual of the algebra: q has no rows, and .q says nothing. */
#define LGV_MAX_ROTATIONS 64 /* names */
struct lgv_rotations {
    long q, p, count;
    bool coupled;
};

struct lgv_graph {
    struct lgv_node *node;
    size_t nnodes, node_capacity;
    struct lgv_arg *arg;
    size_t nargs, arg_capacity;
    int *table; /* open addressing, -1 empty */
    size_t table_size;
    struct lgv_inode *inode;
    size_t ninodes, inode_capacity;
    int itable[4096]; /* 1 + first of a chain */
    struct lgv_level *level;
    size_t nlevels, level_capacity;
    struct lgv_condition *condition;
    size_t nconditions, condition_capacity;
    struct lgv_nest *nest;
    size_t nnests, nest_capacity;
    struct lgv_cut *cut;
    size_t ncuts, cut_capacity;
    struct lgv_table *tabulated;
    size_t ntables, tables_capacity;
    int drawn[LGV_MAX_DRAWN]; /* numbers of the parameters that are drawn for every path; else they are par[number] */
    int ndrawn;
    int nsteady; /* those behind, up to ndrawn, change in time: processes */
    struct lgv_rotations rotation[LGV_MAX_ROTATIONS];
    size_t nrotations;
    bool reduced;
    bool pairs; /* while a kernel for few paths is written: lanes of pair sums are instances, see emit_pairs.c */
    long work, allowance; /* steps spent, and how many may be: see lgv_expr_work */
    const char *failed;   /* first reason why the graph cannot be trusted any more: out of memory, too large, ... */
};

#define LGV_MAX_NODES 2000000
#define LGV_MAX_DEPTH 4000
#define LGV_MAX_ARGS (1 << 24)
#define LGV_MAX_INDEX_DEPTH 200
#define LGV_MAX_CONDITIONS 16 /* of one sum */
#define LGV_MAX_ARGUMENTS 8   /* of a function */
#define LGV_MAX_POWER 64      /* up to here whole and half powers are products */
#define LGV_READ_WORK 30000000L     /* allowance of a model file: a quarter of a second, 100000 coordinates need half */
#define LGV_DERIVE_WORK 1000000000L /* of everything made from it later: some seconds */

struct lgv_graph *lgv_expr_graph_create(void);
void lgv_expr_graph_free(struct lgv_graph *g);
/* Counts steps; false with g->failed set when there are more than allowed.  Formulas are untrusted: a short text must
 * not keep the reader busy for hours. */
bool lgv_expr_work(struct lgv_graph *g, long steps);

bool lgv_expr_no_memory(const struct lgv_graph *g); /* that is why it failed: no fault of the formulas */

/* Builders.  They simplify; on failure g->failed is set and the constant 0 comes back. */
int lgv_expr_const(struct lgv_graph *g, double value);
int lgv_expr_param(struct lgv_graph *g, int number);
int lgv_expr_drawn(const struct lgv_graph *g, int number); /* which of the drawn ones a parameter is, or -1 */
/* The parameter whose number an integer expression is, of an array whose first entry has the number `first`. */
int lgv_expr_entry(struct lgv_graph *g, int index, int first);
/* The same of an array like that of an entry: its rows among the drawn parameters, less the numbers, less 1; or 0. */
int lgv_expr_entry_like(struct lgv_graph *g, int index, double value);
int lgv_expr_time(struct lgv_graph *g);
int lgv_expr_ref(struct lgv_graph *g, enum lgv_space space, int index);
int lgv_expr_ref_at(struct lgv_graph *g, enum lgv_space space, long component);
int lgv_expr_index(struct lgv_graph *g, int index);
int lgv_expr_sum(struct lgv_graph *g, double value, const struct lgv_arg *arg, size_t count);
int lgv_expr_product(struct lgv_graph *g, double coefficient, const struct lgv_arg *arg, size_t count);
int lgv_expr_add(struct lgv_graph *g, int a, int b);
int lgv_expr_sub(struct lgv_graph *g, int a, int b);
int lgv_expr_mul(struct lgv_graph *g, int a, int b);
int lgv_expr_div(struct lgv_graph *g, int a, int b);
int lgv_expr_scale(struct lgv_graph *g, double factor, int a);
int lgv_expr_power(struct lgv_graph *g, int a, double exponent);
int lgv_expr_pow(struct lgv_graph *g, int a, int b);
int lgv_expr_call1(struct lgv_graph *g, enum lgv_op op, int a);
int lgv_expr_call2(struct lgv_graph *g, enum lgv_op op, int a, int b);
int lgv_expr_pick(struct lgv_graph *g, int condition, int a, int b);
int lgv_expr_table(struct lgv_graph *g, int table, int derivative, int a);
int lgv_expr_loop(struct lgv_graph *g, int nest, int body);
bool lgv_expr_is_const(const struct lgv_graph *g, int node, double *value);
double lgv_expr_apply(enum lgv_op op, double a, double b); /* the numerical meaning of a function op */

/* The node again with other arguments. */
int lgv_expr_rebuild(struct lgv_graph *g, const struct lgv_node *n, const struct lgv_arg *arg);
/* The formula with REFs of a space set to 1 (the one given) or 0 (all others): the coefficient of `leaf` in a
 * formula that is linear in that space, in its own shape. */
int lgv_expr_only(struct lgv_graph *g, int node, enum lgv_space space, int leaf);

int lgv_expr_iconst(struct lgv_graph *g, long value);
int lgv_expr_ivar(struct lgv_graph *g, int depth);
int lgv_expr_iop(struct lgv_graph *g, enum lgv_iop op, int a, int b);
int lgv_expr_nest(struct lgv_graph *g, int base, const struct lgv_level *level, int count,
                  const struct lgv_condition *cond, int ncond);
/* The same nest, over near pairs only. */
int lgv_expr_nest_near(struct lgv_graph *g, int nest, const struct lgv_cut *cut);

#endif
