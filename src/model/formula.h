/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The formula language: text to graph.  Described for users in docs/model-files.md.
 *
 *     expression := term { (+|-) term }            term := unary { (*|/) unary }
 *     unary      := (-|+) unary | power            power := postfix [ ^ unary ]
 *     postfix    := primary { .x | .y | .z }      of a matrix .xx | .xy | ..., of a body .position | .rotation, of its
 *                                                 momentum .linear | .angular
 *     primary    := number | name | name[index] | name(arguments) | (condition) | [expression, expression, ...]
 *     condition  := all { or all }                 all := one { and one }
 *     one        := not one | expression [ (<|>|<=|>=|==|!=) expression ... ]       in if(condition, a, b) and brackets
 *     sum(i=1..N, j=i+1..N, i != j, body)          index arithmetic: + - * / % mod(a,b) wrap(a) wrap(a,n)         */
#ifndef LGV_FORMULA_H
#define LGV_FORMULA_H

#include "model/calculus.h"

#define LGV_MATRIX 9 /* components of a 3 x 3 matrix, row by row */
#define LGV_POSE 12  /* of a body in SE3: its rotation as a matrix, then its position */
#define LGV_PAIR 6   /* of its momentum: linear, then angular */
#define LGV_COUPLED 13 /* in a declaration: a body whose inertia couples position and rotation */
#define LGV_SO3_DUAL 14 /* in a declaration: a momentum without a rotation, and one without a body */
#define LGV_SE3_DUAL 15
struct lgv_value {
    int dim; /* 1 scalar, 2 or 3 a vector, LGV_MATRIX, LGV_POSE, LGV_PAIR */
    int node[LGV_POSE];
};

enum lgv_symbol_kind {
    LGV_SYM_PARAMETER, /* index, number; length: of an array, whose numbers are those from index on */
    LGV_SYM_STATE,     /* space, offset, length (0: not an array), dim; dim 4: a rotation as a unit quaternion; LGV_POSE
                        * and LGV_PAIR: a body, whose rotations or angular momenta begin at `turned` */
    LGV_SYM_VALUE,     /* value */
    LGV_SYM_MACRO,     /* formals, text */
    LGV_SYM_TABLE      /* index: a function of one number */
};

struct lgv_symbol {
    char *name;
    enum lgv_symbol_kind kind;
    int index;
    double number;
    enum lgv_space space;
    long offset, length, turned;
    int dim;
    struct lgv_value value;
    char *formals[8];
    int nformals;
    char *text;
    int line, column; /* where parameters and abbreviations are declared; 0 for other names */
    bool used;        /* a formula has it */
    bool fixed;       /* a parameter whose value was needed to read the formulas: sizes, ranges, exponents, masses */
};

/* The section cutoff. */
struct lgv_cutoff {
    bool given;
    double radius, width, skin; /* width: of the shell in which pair sums are switched off */
    double box[3];              /* periods, 0: none */
    int dim;                    /* of the box; 0: none is given, 1: the same for all components */
    unsigned at;                /* byte of the file where the radius stands */
    int line, column;           /* and its place */
};

struct lgv_scope {
    struct lgv_graph *graph;
    struct lgv_cutoff cutoff;
    struct lgv_symbol *symbol;
    size_t count, capacity;
    unsigned allow;    /* LGV_USES bits that may appear */
    const char *place; /* "the Hamiltonian": for messages */
    const double *par; /* [npar] values of the parameters so far */
    size_t npar;
    int *draws;        /* counts of normal() and uniform() calls so far, [2]; NULL: not allowed */
};

struct lgv_formula_error {
    size_t offset; /* in the text, of the offending token */
    char message[400];
    char unknown[LGV_MAX_NAME]; /* a name that is not known where it stands; else empty */
};

/* One formula.  nest: NULL, or receives the nest when the text is a family each(k=1..N, body) (-1: not a family).
 * False with *err filled. */
bool lgv_formula_parse(const struct lgv_scope *scope, const char *text, struct lgv_value *out, int *nest,
                       struct lgv_formula_error *err);

/* A declared name: "x", "x[N]", "x in R3", "x[N] in R2", "R in SO3", "body in SE3", "body in SE3
 * coupled", "m in so3*", "p in se3*".  length 0 when not an array; dim 4: a rotation, LGV_POSE, LGV_COUPLED: a body,
 * LGV_SO3_DUAL, LGV_SE3_DUAL.  Names start with a letter. */
bool lgv_formula_declaration(const struct lgv_scope *scope, const char *text, char *name, size_t size, long *length,
                             int *dim, struct lgv_formula_error *err);
/* "V(r, s)": a macro's head.  False when it is not of that form. */
bool lgv_formula_macro_head(const char *text, struct lgv_symbol *out, struct lgv_formula_error *err);
bool lgv_formula_is_name(const char *text);
/* Bytes of the letter at s, one of ASCII or Greek; 0 when there is none. */
size_t lgv_formula_letter(const char *s);
/* The same of what may stand inside a name: a letter, a digit or _. */
size_t lgv_formula_in_name(const char *s);
bool lgv_formula_is_reserved(const char *name);
const char *lgv_formula_function(size_t i); /* names of the functions, NULL behind the last one */
struct lgv_symbol *lgv_scope_find(const struct lgv_scope *scope, const char *name);
struct lgv_symbol *lgv_scope_use(const struct lgv_scope *scope, const char *name); /* the same, for a formula */
struct lgv_symbol *lgv_scope_add(struct lgv_scope *scope, const char *name, enum lgv_symbol_kind kind);
/* The parameters that a formula uses are fixed: its value was taken when it was read. */
void lgv_scope_fix(const struct lgv_scope *scope, int formula);
void lgv_scope_free(struct lgv_scope *scope);

/* Whether this is the comma of 0,5, which a locale may suggest. */
bool lgv_decimal_comma(const char *text, size_t at);
#define LGV_DECIMAL_COMMA "a number is written with a point: 0.5, not 0,5"

#endif
