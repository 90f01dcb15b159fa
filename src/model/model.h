/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model stage: a model file becomes formulas in one graph, and what the formulas say about structure.
 * This is the header other stages include. */
#ifndef LGV_MODEL_H
#define LGV_MODEL_H

#include "model/calculus.h"
#include "model/formula.h"

struct lgv_method; /* method/method.h */

/* One entry of `noise:`; a family each(k=1..N, body) counts as N noises. */
struct lgv_noise {
    char *name; /* NULL: it has none */
    char *text;
    int body;            /* node; for a family in terms of its loop variables */
    int nest;            /* nest of a family, -1 for a single noise */
    int weight;          /* integer expression: number of the noise, from 1 (family: depends on the loop variables) */
    size_t first, count; /* noises first .. first + count - 1, counted from 0 */
    bool potential;      /* the text is gamma of h = -gamma */
    bool ito;            /* given in the sense of Ito; what that adds is in the Hamiltonian */
    size_t at;           /* byte of the file */
};

/* One entry of `constraints:`, g(q) = 0; a family each(k=1..N, body) counts as N constraints. */
struct lgv_constraint {
    char *text;
    int body;            /* node; for a family in terms of its loop variables */
    int nest;            /* nest of a family, -1 for a single constraint */
    int weight;          /* integer expression: number of the constraint, from 0 */
    size_t first, count; /* constraints first .. first + count - 1, counted from 0 */
    int line, column;    /* in the file */
};

/* Where an observable comes from.  The numbers are in results.h5. */
enum lgv_observable_kind {
    LGV_OBSERVABLE_DECLARED = 0,   /* from `observe:` */
    LGV_OBSERVABLE_ENERGY = 1,     /* the Hamiltonian itself, always present, named "H" */
    LGV_OBSERVABLE_MOMENTUM = 2,   /* momentum map of a declared symmetry */
    LGV_OBSERVABLE_COORDINATE = 3, /* a coordinate q (small systems: all of them) */
    LGV_OBSERVABLE_CONJUGATE = 4,  /* a momentum p */
    LGV_OBSERVABLE_ERROR = 5,      /* distance to the declared exact solution */
    LGV_OBSERVABLE_MARTINGALE = 6, /* martingale part of another (control variate), in kernels of studies only */
    LGV_OBSERVABLE_CONSTRAINT = 7, /* |g(q)| */
    LGV_OBSERVABLE_HIDDEN = 8,     /* |G(q) v| */
    LGV_OBSERVABLE_MODIFIED = 9    /* the modified Hamiltonian of the method, where it is asked for */
};

struct lgv_observable {
    char *name, *text;
    int kind; /* enum lgv_observable_kind */
    int node; /* or -1; of a member of a family in terms of its loop variables: see lgv_model_observed */
    bool family;   /* one of each(k=1..N, ...); the others stand beside it in the list */
    int nest, row; /* of a family; row: integer expression of the place of a member behind the first */
    size_t member; /* the value of that: the first of them, with all its components, has members 0 .. width - 1 */
    size_t width;
    double period, from; /* a periodic coordinate, shown in [from, from + period); period 0: as it is */
};

/* A condition on the state: it holds where its margin is positive. */
#define LGV_MAX_EVENTS 16
struct lgv_event {
    char *name, *text;
    int node;         /* the margin, a formula of q, p, v and t */
    int line, column; /* of the condition, or of the `stop` that names it */
    bool stops;       /* a path ends when it holds */
};

#define LGV_MAX_OBSERVABLES 10000 /* components and members of families counted */
/* A Poincare section: the surface where a formula is 0, and what is seen where paths cross it. */
#define LGV_MAX_SECTIONS 8
#define LGV_MAX_SEEN 16
struct lgv_section {
    char *name, *text;
    int node;
    int direction; /* 1: from below to above zero, -1: the other way, 0: both */
    size_t nseen;
    int seen[LGV_MAX_SEEN]; /* nodes */
    char *label[LGV_MAX_SEEN];
};

#define LGV_MAX_DOF 100000
#define LGV_MAX_NOISES 65535
#define LGV_MAX_SYMMETRIES 32
struct lgv_symmetry {
    char *name, *text;
    int *xi; /* [np] generator xi_Q(q); the momentum map is p . xi */
    bool casimir; /* xi is made of p: kept by whatever moves momenta along the group */
};

/* An entry of `run:` with its place in the file, to be read by the run stage's option table. */
struct lgv_run_entry {
    char *key, *value;
    int line, column, key_line, key_column;
};

/* `langevin:`, friction Gamma acting on the velocities, and its noise: dp = ... - Gamma v dt + sqrt(2 kT Gamma) dW. */
enum lgv_friction {
    LGV_FRICTION_NONE,
    LGV_FRICTION_DIAGONAL, /* constants, one for each coordinate */
    LGV_FRICTION_MATRIX,   /* a constant matrix */
    LGV_FRICTION_OF_Q      /* functions of q, one for each coordinate */
};
#define LGV_BATH_MATRIX 200 /* rows of a friction matrix, and of masses off the diagonal with friction, at most */
struct lgv_bath {
    enum lgv_friction kind;
    int *friction;    /* nodes: [np], of a matrix [np][np] */
    int *temperature; /* [np] nodes of kT, functions of the parameters */
    bool one_temperature;
    bool fixman; /* H has kT/2 ln det(G M^-1 G^T): the law is that of stiff springs instead of the constraints */
    size_t rows; /* coordinates that feel the bath: those without the constant friction 0 */
    size_t *row; /* [rows] */
    int line, column, temperature_line, temperature_column; /* in the file */
    size_t *friction_at;    /* bytes of the file where the entries stand: [np], of a matrix [np][np] */
    size_t *temperature_at; /* [np] */
};

struct lgv_model_kind;

/* A section of the file as it stands there, to be read by a later stage: a text, a list or a mapping.  Places are bytes
 * of the file, for lgv_model_fail_at. */
enum lgv_raw_kind { LGV_RAW_TEXT, LGV_RAW_LIST, LGV_RAW_MAPPING };
struct lgv_raw {
    enum lgv_raw_kind kind;
    char *key;            /* its name, for the parts of a mapping */
    char *text;           /* LGV_RAW_TEXT, else NULL */
    struct lgv_raw *item; /* parts of a list or a mapping */
    size_t count, at, key_at;
    char quote; /* of a text: for places inside it */
};

/* A method of the file that is a discrete Lagrangian: the action of a step is dt L_d(q0, q1, t) + sum_m B_m dW_m, with
 * q0 in LGV_BEFORE, q1 in LGV_AFTER and dt in LGV_STEP. */
struct lgv_discrete {
    char *name;
    int lagrangian;          /* node of L_d */
    size_t nentries, nnoise; /* of B, as noises are kept */
    struct lgv_noise *noise;
    int *second;        /* [nx] nodes of a q1 that paths start with, in terms of q0 and p; or NULL */
    bool symmetric;     /* the step back is the step with -dt */
    unsigned invariant; /* bit k: symmetry number k leaves L_d and every B_m as they are */
};

/* Coloured noise: a Gaussian process of one or two rows (load_process.c). */
#define LGV_MAX_PROCESSES 16
enum lgv_process_number {
    LGV_PROCESS_SIGMA,
    LGV_PROCESS_TAU,
    LGV_PROCESS_FREQUENCY,
    LGV_PROCESS_DAMPING,
    LGV_PROCESS_NUMBERS
};
extern const char *const lgv_process_number_name[LGV_PROCESS_NUMBERS];
struct lgv_coloured {
    int node[LGV_PROCESS_NUMBERS];   /* formulas, or -1 */
    size_t at[LGV_PROCESS_NUMBERS];  /* where they stand */
    int rows;                        /* 1, or 2 for an oscillator: its rate of change, then its value */
};

struct lgv_structure;
struct lgv_model {
    const struct lgv_model_kind *kind; /* formulas, or C functions */
    char *name, *text, *file; /* file: what messages call it */
    double from, until;       /* times of the run, where formulas of t are looked at; 0 and 1 until a run is known */
    struct lgv_graph *graph;
    struct lgv_scope scope;
    size_t npar;
    char **par_name;
    double *par;       /* [npar], then the numbers of the tables */
    size_t ntabulated; /* how many these are */
    int drawn[LGV_MAX_DRAWN]; /* nodes of the random parameters graph->drawn, in terms of draws */
    struct lgv_coloured process[LGV_MAX_PROCESSES]; /* coloured noise; their rows are the last of graph->drawn */
    size_t nprocesses;
    size_t nx, np; /* rows of the configuration and of the momentum: equal for vectors */
    char **component; /* [nx + np] "x", "x[3].y", ...: coordinates, then momenta */
    double *period;   /* [nx] of periodic coordinates, 0 for others, then [nx] where their range begins; or NULL */
    int hamiltonian;  /* node */
    int stiff;        /* node of the stiff part of the potential, or -1 */
    int stiff_line, stiff_column; /* where the file declares it, or the penalty that it is */
    size_t npenalties; /* constraints by penalty, of which lambda[k] are means; nconstraints is then 0 */
    int penalty;       /* node of omega^2 */
    double penalty_window;
    int line, column; /* of the Hamiltonian, potential or Lagrangian in the file */
    char *hamiltonian_text;
    int lagrangian;        /* node of L(q, v, t), or -1 */
    char *lagrangian_text; /* NULL without a Lagrangian */
    bool lagrangian_only; /* no Hamiltonian in closed form: `hamiltonian` is the energy v.L_v - L in terms of q and v */
    char **velocity_name; /* [np] like component, or NULL without a Lagrangian */
    int *start_velocity;  /* [np] nodes in terms of q and draws, or NULL when the file gives momenta */
    size_t nconstraints, nconstraint_entries;
    struct lgv_constraint *constraint;
    size_t nnoise, nentries; /* noises, entries */
    struct lgv_noise *noise;
    int *force; /* [np] nodes of F(q, p, t), or NULL: dp = ... + F dt */
    bool force_of_p;
    size_t force_at; /* byte of the file */
    struct lgv_bath bath;
    int *start;   /* [nx + np] nodes: start values; may refer to draws and to components that come before */
    int draws[2];    /* numbers of normal() and uniform() draws */
    double projected; /* largest entry of R^T R - 1 of all matrices of start values, which became rotations */
    int projected_line, projected_column; /* of the one that is farthest off */
    bool by_path;    /* some start values come from a file with a row for each path */
    bool maxwellian; /* some momenta or velocities start with that law */
    size_t nobservables;
    struct lgv_observable *observable; /* as declared, in order */
    size_t nsymmetries;
    struct lgv_symmetry *symmetry;
    size_t nevents;
    struct lgv_event *event;
    size_t nsections;
    struct lgv_section *section;
    int *exact; /* [nx + np] nodes or NULL; -1 where none is declared.  Start values enter as NAME0 */
    size_t nrun;
    struct lgv_run_entry *run;
    struct lgv_raw *methods; /* the section of that name, or NULL */
    size_t ndiscrete;
    struct lgv_discrete *discrete; /* those of its methods that are discrete Lagrangians */
    size_t nmethods;
    struct lgv_method **method;                /* what the method stage has made of it */
    size_t ncomposed;
    struct lgv_method **composed;              /* compositions of these: NAME-4 and the like */
    void (*method_free)(struct lgv_method *m); /* and how to free one */
    size_t nsettings;                          /* parameters overridden from outside: kept to load the text again */
    char **setting_name;
    double *setting_value;
    uint64_t changes, loads; /* how often a parameter was set; how often the text was read again for that */
    struct lgv_structure *known; /* what lgv_model_structure found after so many changes, or NULL */
    uint64_t known_changes;
    struct lgv_callbacks *callbacks; /* a model of C functions: no formulas at all; nodes are then -1 */
};

struct lgv_structure;
struct lgv_start_report;

/* What differs between models of formulas and models of C functions. */
struct lgv_model_kind {
    bool formulas; /* there is a graph: parameters, derivatives of any order, brackets, sparse patterns, kernels made
                    * for the model; else derivatives up to the second are what the functions give */
    enum lgv_status (*structure)(struct lgv_model *m, struct lgv_structure *out, struct lgv_error *err);
    enum lgv_status (*constraint_check)(struct lgv_model *m, struct lgv_start_report *out, struct lgv_error *err);
    double (*derivative_error)(struct lgv_model *m);
    bool (*has_second)(const struct lgv_model *m); /* second derivatives are known */
    bool (*has_bends)(const struct lgv_model *m);  /* those of the constraints too */
    bool (*has_energy)(const struct lgv_model *m); /* the value of H is known, not only its derivatives */
    int (*component)(struct lgv_model *m, size_t i); /* node of coordinate or momentum i of nx + np, or -1 */
    void (*free)(struct lgv_model *m);             /* what only this kind has */
};
extern const struct lgv_model_kind lgv_model_formulas, lgv_model_functions;

/* keys.c: the keys of a model file, what may stand behind them, and what they are. */
enum { LGV_KEY_IS_TEXT = 1, LGV_KEY_IS_LIST = 2, LGV_KEY_IS_MAPPING = 4 };
struct lgv_model_key {
    const char *name;
    unsigned forms; /* LGV_KEY_IS_ bits; numbers are texts, too */
    const char *doc;
};
extern const struct lgv_model_key lgv_model_keys[];
extern const size_t lgv_model_key_count;

/* load.c.  settings: parameter overrides (--set), applied before the formulas are read; unknown names are errors. */
struct lgv_override {
    const char *name;
    double value;
    /* NULL: all paths have the same value.  Else [npoints] values, of `each` paths one behind the other. */
    const double *point;
    size_t npoints;
    uint64_t each;
};
/* None of the values of parameter k, where they differ, and another one for every k: nothing vanishes there by
 * accident. */
double lgv_between(double low, double high, int k);
/* Without the methods of the file: `methods` is kept for the method stage, whose lgv_model_complete reads all. */
enum lgv_status lgv_model_read(const char *text, const char *file, const struct lgv_override *override, size_t count,
                               struct lgv_model **out, struct lgv_error *err);
/* The text of a model file; free() it.  NULL with the error filled. */
char *lgv_model_text(const char *path, struct lgv_error *err);
/* Another value for a parameter whose value was not needed to read the formulas.  False: there is none of that name,
 * the value is not finite or the text has to be read again with it. */
bool lgv_model_adjust(struct lgv_model *m, const char *parameter, double value);
/* The next parameter or abbreviation from number `from` on that no formula uses, or NULL; *number is its own. */
const struct lgv_symbol *lgv_model_unused(const struct lgv_model *m, size_t from, size_t *number);
/* Warning number 0, 1, ... of a model, one line with its place; false: there are no more. */
bool lgv_model_warning(struct lgv_model *m, size_t number, char *out, size_t size);
/* A message at a place of the model text: "file:line:column: message", the line, a caret. */
enum lgv_status lgv_model_fail(struct lgv_error *err, const char *file, const char *text, int line, int column,
                               const char *format, ...) __attribute__((format(printf, 6, 7)));
/* out [nprocesses][LGV_PROCESS_NUMBERS] at the present values of the parameters; NULL: look only. */
enum lgv_status lgv_model_process_values(struct lgv_model *m, double *out, struct lgv_error *err);
bool lgv_model_processes_linear(const struct lgv_model *m); /* they are at most factors in the formulas of the motion */
const char *lgv_model_process_name(const struct lgv_model *m, size_t k);
bool lgv_model_has_process(const struct lgv_model *m, int node); /* its formula has one in it */
void lgv_model_process_words(struct lgv_model *m, struct lgv_text *out); /* one after the other; nothing without any */
bool lgv_model_has_parameter(const struct lgv_model *m, const char *name); /* also an array of them, or an entry */
/* The parameter, or the array of parameters, that random parameter k belongs to; NULL: none that has a name. */
const struct lgv_symbol *lgv_model_drawn_symbol(const struct lgv_model *m, int k);
bool lgv_model_masses_drawn(struct lgv_model *m); /* some derivative of H with respect to momenta knows some of them */
void lgv_model_drawn_words(const struct lgv_model *m, struct lgv_text *out); /* random parameters, likewise */
void lgv_model_table_words(const struct lgv_model *m, size_t k, struct lgv_text *out); /* where a table is defined */
/* The same at a byte of the text of the model. */
enum lgv_status lgv_model_fail_at(struct lgv_error *err, const struct lgv_model *m, size_t at, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* load_events.c: refuses a `stop` that holds at the start, when all paths start at the same place. */
enum lgv_status lgv_model_stop_check(const struct lgv_model *m, struct lgv_error *err);
/* load_penalty.c: refuses a penalty without springs at the present parameters. */
enum lgv_status lgv_penalty_start(const struct lgv_model *m, struct lgv_error *err);
/* raw.c: a text of the file as a formula of the parameters; `what` it is, for messages. */
enum lgv_status lgv_model_constant(struct lgv_model *m, const struct lgv_raw *r, const char *what, double *out,
                                   struct lgv_error *err);

/* The increment Hamiltonian K = a H + sum w_m h_m as summands (weights are REFs of LGV_WEIGHTS). */
bool lgv_model_increment(struct lgv_model *m, struct lgv_function *out);
/* The same of H without the stiff part of the potential. */
bool lgv_model_soft_increment(struct lgv_model *m, struct lgv_function *out);

/* The action of a step by a discrete Lagrangian as summands; B alone: without L_d. */
bool lgv_model_discrete_action(struct lgv_model *m, const struct lgv_discrete *d, bool noise_alone,
                               struct lgv_function *out);

/* S = sum_k lambda_k g_k(q) as summands (multipliers are REFs of LGV_LAMBDA): S_lambda = g, S_lambda,q = G,
 * S_q = G^T lambda. */
bool lgv_model_constraint_sum(struct lgv_model *m, struct lgv_function *out);
/* The same with the absolute values of the terms of every g_k: what the round-off of g_k is a part of. */
bool lgv_model_constraint_size(struct lgv_model *m, struct lgv_function *out);
/* sum_k -omega^2 lambda_k g_k of constraints by penalty. */
bool lgv_model_penalty_sum(struct lgv_model *m, struct lgv_function *out);
/* L(q, v, t) as summands; false without a Lagrangian. */
bool lgv_model_lagrangian(struct lgv_model *m, struct lgv_function *out);
/* The increment Lagrangian a L(q, v) - sum w_m h_m(q) as summands. */
bool lgv_model_increment_lagrangian(struct lgv_model *m, struct lgv_function *out);

/* constraints.c: how a typical start stands to the constraints.  Refuses (LGV_BAD_INPUT, at the entry of the file)
 * constraints that depend on each other or have a vanishing gradient at the point of g = 0 nearest to it, or that have
 * no such point. */
struct lgv_start_report {
    double residual, hidden;    /* largest |g_k| and |(G v)_k| of the start as given */
    size_t worst, worst_hidden; /* number of that constraint, from 0 */
    double size, hidden_size;   /* largest sum of the absolute terms of a g_k, and of a (G v)_k */
    double moved;               /* largest change of a coordinate by the projection onto g = 0 */
    int iterations;             /* it took */
    size_t rank;                /* of G there */
    bool rank_known;            /* false: too large to be found */
};
enum lgv_status lgv_model_constraint_check(struct lgv_model *m, struct lgv_start_report *out, struct lgv_error *err);
/* g at points of the configuration space, [nconstraints]. */
struct lgv_projector;
struct lgv_projector *lgv_projector_create(struct lgv_model *m); /* NULL: memory, or graph->failed */
void lgv_projector_residual(struct lgv_projector *c, const double *q, double *out);
void lgv_projector_free(struct lgv_projector *c);
/* The text of constraint number k with its number, "constraint 3 (x^2 + y^2 - 1)", into `out`. */
void lgv_model_constraint_name(const struct lgv_model *m, size_t k, char *out, size_t size);

/* bath.c: friction and temperatures at the present values of the parameters; friction: [np] or [np][np], 0 for
 * functions of q.  Refuses, at the entry of the file, what is negative or not finite, and matrices that are not
 * symmetric and positive semidefinite. */
enum lgv_status lgv_model_bath_values(struct lgv_model *m, double *friction, double *temperature,
                                      struct lgv_error *err);
/* Refuses friction that is a function of q and negative at a typical start. */
enum lgv_status lgv_model_bath_start(struct lgv_model *m, struct lgv_error *err);
/* Is that matrix symmetric and positive semidefinite, to round-off? */
bool lgv_semidefinite(size_t n, const double *A);
/* H_p(p) = shift + M^-1 p for constant masses: M^-1, [np] where it is known to be diagonal, else [np][np], and the
 * shift [np].  False: no memory. */
bool lgv_model_masses(struct lgv_model *m, bool diagonal, double *inverse, double *shift);

/* stiff.c: a stiff part that is quadratic, V1 = q.K q/2 + k.q + const, and the masses, at the present values of the
 * parameters.  False: no memory, or graph->failed. */
struct lgv_number_at {
    int row, col;
    double value;
};
struct lgv_quadratic {
    struct lgv_number_at *stiffness, *inverse_mass; /* K and M^-1, every entry once */
    size_t nstiffness, nmass;
    double *slope; /* [np] k */
};
bool lgv_model_quadratic(struct lgv_model *m, struct lgv_quadratic *out);
void lgv_quadratic_free(struct lgv_quadratic *x);

/* curvature.c: second derivatives of H at a typical start, and of the declared stiff part V1, as numbers.  False: the
 * model has rotations, no formula of H, more than `most` terms in one of them or forces on more than 300 coordinates,
 * or memory is out. */
struct lgv_sparse_numbers {
    struct lgv_number_at *at; /* a place may come several times */
    size_t count;
};
struct lgv_curvature {
    size_t n;
    struct lgv_sparse_numbers all, stiff, inverse_mass; /* K = H_qq - sym F_q, K1 = V1_qq, W = H_pp */
    double penalty;                                     /* omega of constraints by penalty, else 0 */
};
bool lgv_model_curvature(struct lgv_model *m, size_t most, struct lgv_curvature *out);
void lgv_curvature_free(struct lgv_curvature *c);
/* Least and largest eigenvalue of W (a (K - K1) + b K1), squares of frequencies; false: W is not positive definite. */
bool lgv_curvature_extremes(const struct lgv_curvature *c, double a, double b, double *least, double *most);
/* The eigenvalues of W K1, and how much K - K1 bends along each of its modes.  False: masses off the diagonal, or more
 * degrees of freedom than LGV_CURVATURE_MODES. */
#define LGV_CURVATURE_MODES 200
bool lgv_curvature_modes(const struct lgv_curvature *c, double *square, double *rest);

/* law.c: the stationary law of a model with friction, from `langevin` or as a force.  A law exp(-H/kT) is stationary if
 * and only if the strength of all noise is 2 kT times all friction. */
enum lgv_law_kind {
    LGV_LAW_NONE,     /* there is no friction: nothing is said */
    LGV_LAW_GIBBS,    /* exp(-H/kT) */
    LGV_LAW_MISMATCH, /* not that, for any kT */
    LGV_LAW_REST,     /* friction and no noise */
    LGV_LAW_INFINITE, /* exp(-H/kT) cannot be normalised */
    LGV_LAW_UNKNOWN
};
struct lgv_law {
    enum lgv_law_kind kind;
    double temperature; /* kT of a law exp(-H/kT), 0 for rest, else NaN */
    double given;       /* kT of `langevin`; NaN where there is none, or several */
    double low, high;   /* what kT would have to be, by coordinate; NaN where friction or noise couple them */
    int points;         /* random points near the start at which it was seen; 0: everything is constant */
    bool partial;       /* some velocities have no friction */
    const char *why;    /* it is not known */
};
void lgv_model_law(struct lgv_model *m, const struct lgv_structure *s, struct lgv_law *out);
/* In words, added to `out`: nothing where there is no friction. */
void lgv_law_words(const struct lgv_model *m, const struct lgv_law *law, struct lgv_text *out);

/* Rotations: how many there are, and of coupled bodies; the inverse inertia of every rotation in the body frame, [9],
 * then that of every coupled body, [36], angular before linear.  Refuses, at the Hamiltonian, a kinetic energy that is
 * not m.I^-1 m/2 of each body by itself, positive. */
size_t lgv_model_bodies(const struct lgv_model *m, bool coupled);
enum lgv_status lgv_model_inertia(struct lgv_model *m, double *inverse, struct lgv_error *err);
const char *lgv_model_inertia_fault(struct lgv_model *m); /* why it would be refused, or NULL */
/* Has a formula H or L a rotation with moments that no rigid body has, one larger than the sum of the others? */
bool lgv_model_no_body(struct lgv_model *m, double moments[3]);

/* q . H_q or p . H_p. */
int lgv_model_virial(struct lgv_model *m, enum lgv_space space);
/* Every noise as a formula of its own with its sums written out; free() it.  NULL with graph->failed set. */
int *lgv_model_noises(struct lgv_model *m);
/* The formula of an observable by itself, or -1; that of a member of a family with all sums written out. */
int lgv_model_observed(struct lgv_model *m, const struct lgv_observable *o);
/* J = p . xi(q) */
int lgv_model_momentum_map(struct lgv_model *m, const struct lgv_symmetry *s);

/* ---- algebra.c: formulas that methods are made of.  Failures are left in graph->failed ---- */

/* {f, h} = f_q . h_p - f_p . h_q, for formulas without sums: what f changes by along the flow of h. */
int lgv_algebra_bracket(struct lgv_graph *g, int f, int h);
/* K_q is linear in the weights: its coefficient of a gives H_q, those of the w_m the entries of h_m,q. */
struct lgv_forces {
    struct lgv_term *term;
    int *weight; /* integer expression: number of the noise of each term, from 1 */
    size_t count, capacity, weight_capacity;
    long instances; /* of all terms */
};
bool lgv_algebra_forces(struct lgv_graph *g, const struct lgv_function *K, struct lgv_terms *Hq,
                        struct lgv_forces *hq);
void lgv_forces_free(struct lgv_forces *f);
/* The formula itself as terms of one row. */
bool lgv_algebra_value(struct lgv_graph *g, int node, long row, struct lgv_terms *out);
/* M^-1 = H_pp */
bool lgv_algebra_inverse_masses(struct lgv_model *m, struct lgv_terms *out);
/* Distance of the state to the exact solution, over the components that have one. */
int lgv_algebra_distance(struct lgv_model *m);
/* x . g_qq . x, x in the place of q; `second`: the terms of S_qq.  False unless there is one constraint, and that a
 * quadratic polynomial. */
bool lgv_algebra_bend(struct lgv_model *m, const struct lgv_terms *second, struct lgv_terms *out);
/* Ito drift minus Stratonovich drift: 1/2 sum_m {{x, h_m}, h_m} for every coordinate and momentum x. */
void lgv_algebra_ito(struct lgv_model *m, struct lgv_terms *Cq, struct lgv_terms *Cp);
/* factor sum_m grad h_m . H_pp grad h_m, and factor grad h_i . H_pp grad h_j */
int lgv_algebra_correction(struct lgv_model *m, double factor);
int lgv_algebra_correction_pair(struct lgv_model *m, size_t i, size_t j, double factor);
/* H + dt^2 (k0 H_qq[H_p, H_p] - 2 k1 H_qp[H_q, H_p] + k2 H_pp[H_q, H_q]), dt being LGV_STEP; sums written out. */
int lgv_algebra_modified(struct lgv_model *m, const double k[3]);
/* The increment of the strong Taylor scheme 1.5, with dt as weight 0, then the dW_m, then the dZ_m; linear: the model
 * is.  True when it has dZ. */
bool lgv_algebra_taylor(struct lgv_model *m, bool linear, struct lgv_terms *Xq, struct lgv_terms *Xp);
/* sum_m ({f, h_m} + dt/2 {{f, h_m}, H}) w_m of each observable f, dt being weight 0; the second term in small models
 * only. */
void lgv_algebra_martingale(struct lgv_model *m, const struct lgv_observable *f, size_t count, struct lgv_terms *out);

/* brackets.c: brackets that have weights of their own, behind those of the noises (kernel/text/brackets.h). */
enum lgv_brackets {
    LGV_BRACKETS_NONE,
    LGV_BRACKETS_AREAS, /* {h_i, h_j} of all pairs whose bracket is not constant */
    LGV_BRACKETS_MAGNUS, /* {H, h_i} - h_i,t and {h_i, {h_j, H} + h_j,t}, for noises that commute */
    LGV_BRACKETS_APART   /* the same, as a Hamiltonian of their own */
};
enum lgv_bracket_kind { LGV_BRACKET_AREA, LGV_BRACKET_DRIFT, LGV_BRACKET_DOUBLE };
struct lgv_bracket {
    enum lgv_bracket_kind kind;
    size_t i, j; /* i <= j: numbers of the noises */
    int node;
};
struct lgv_bracket_list {
    struct lgv_bracket *item; /* free() it */
    size_t count, capacity;
};
/* Those that do not vanish; false with graph->failed set. */
bool lgv_model_brackets(struct lgv_model *m, enum lgv_brackets which, struct lgv_bracket_list *out);

/* structure.c: what the formulas say. */
enum lgv_depends { LGV_ON_NOTHING = 0, LGV_ON_Q = 1, LGV_ON_P = 2, LGV_ON_BOTH = 3 };
enum { LGV_WORST_CONSTRAINTS = -1, LGV_WORST_H = 0 };
enum lgv_decided {
    LGV_DECIDED_TRIVIALLY, /* at most one noise */
    LGV_DECIDED_FORMULAS,
    LGV_DECIDED_POINTS,    /* at random points, to round-off */
    LGV_DECIDED_KINKS,     /* not: a formula bends or jumps, and points see one side only */
    LGV_DECIDED_UNDEFINED, /* not: there are not enough points where it can be evaluated */
    LGV_DECIDED_SIZE       /* not: too much to compute */
};
struct lgv_structure {
    bool constrained; /* there are constraints */
    bool rotations;   /* coordinates in SO(3) */
    bool coupled;     /* bodies in SE(3) whose inertia couples position and rotation */
    bool spins;       /* free rotations have a motion of their own: constant inertia, and m.I^-1 m/2 is all there is */
    const char *inertia_fault; /* rotations: why H is not m.I^-1 m/2 of each body by itself, or NULL */
    bool reduced;     /* momenta on the dual of so(3) or se(3) alone: there is no q */
    bool separable;   /* H and every h are A(p) + B(q) */
    bool hamiltonian_separable;
    bool quadratic_kinetic; /* H = p.M^-1 p / 2 + U(q) with constant M (terms linear in p allowed) */
    bool linear;            /* H and every h at most quadratic: Newton needs one step */
    bool time_dependent;
    bool kinetic_time;       /* a derivative with respect to p depends on t */
    bool flat;               /* separable, and H_pp and every h_pp are constant */
    bool shifted;            /* with a bath or a stiff part: H has a term of first degree in p */
    bool stiff_quadratic;    /* the stiff part of the potential has constant second derivatives */
    bool diagonal_mass;      /* H_pp has entries on its diagonal only */
    bool noise_turns;        /* some h_p depends on q or p: such noise does not commute with kicks, as a bath has */
    bool noise_curved;       /* some h_pp differs from 0, or may (models of C functions) */
    int noise_depends;       /* enum lgv_depends, over all noises */
    bool process, process_linear; /* there is coloured noise; and it is at most a factor */
    bool process_in_noise;        /* of white noise, too */
    bool bath, steady_bath;  /* there is friction with its noise; and it is constant */
    bool forced, force_of_p; /* there is a force without a potential; and it depends on velocities */
    bool additive;           /* every h has a constant gradient */
    bool steady_noise;       /* additive noise or none, from the formulas: forces of the noise do not depend on q */
    int commutes;            /* 1 yes, 0 no, -1 unknown; with a bath its noise counts too */
    int commutes_decided;    /* enum lgv_decided */
    int commutes_points;     /* LGV_DECIDED_POINTS: random points at which the brackets were evaluated */
    double from, until;      /* times they were taken from */
    double derivative_error; /* largest relative difference of the gradient to finite differences; NaN unless asked */
    size_t nsymmetries;
    struct {
        bool invariant;
        bool unknown; /* neither shown nor refuted: kinks, or no point where the formulas can be evaluated */
        bool affine; /* xi is affine in q, for rotations R^T c (turned in space) or constant (about an axis of the
                      * body): variational methods then keep the momentum map exactly */
        bool of_body; /* some rotation is turned about an axis of its body */
        bool shift;   /* xi is constant, and turns nothing */
        bool of_stiff; /* the stiff part of the potential has it too */
        bool decided_by_formula;
        double residual; /* largest |{H or h, J}| or |xi . grad g| seen at random points, relative to its parts */
        int worst;       /* where: LGV_WORST_H, the number of a noise from 1, or LGV_WORST_CONSTRAINTS */
    } symmetry[LGV_MAX_SYMMETRIES];
};
enum lgv_status lgv_model_structure(struct lgv_model *m, struct lgv_structure *out, struct lgv_error *err);
/* How it was decided whether the noises commute, in a sentence. */
void lgv_structure_commutes(const struct lgv_structure *s, size_t nnoise, char *out, size_t size);
/* Whether H, L, a noise or a constraint uses abs, sign, floor, min, max or a comparison: no method has its order
 * across the places where these jump or bend. */
bool lgv_model_kinks(const struct lgv_model *m);

/* force.c: is the derivative of the forces with respect to q symmetric, so that kicks by them are symplectic?  1, 0, or
 * -1: there are none, or it is not known. */
int lgv_model_force_symmetric(struct lgv_model *m);
/* Largest relative error of symbolic gradients of H, L, every h and every g against finite differences at random
 * points. */
double lgv_model_derivative_error(struct lgv_model *m);

#endif
