/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Formulas for people: as text, LaTeX or MathML.  A piece is a formula that is set already, with what has to be known
 * to put it into a larger one.  Pieces live as long as their typesetter; when memory is out `failed` is set and they
 * are empty. */
#ifndef LGV_TYPESET_H
#define LGV_TYPESET_H

#include "model/model.h"

enum lgv_typed_level {
    LGV_SET_OR,
    LGV_SET_AND,
    LGV_SET_RELATION,
    LGV_SET_SUM,
    LGV_SET_PRODUCT,
    LGV_SET_POWER,
    LGV_SET_ATOM
};

struct lgv_typed {
    const char *text; /* without its sign */
    enum lgv_typed_level level;
    bool minus;
};

struct lgv_typeset {
    enum lgv_markup markup;
    char **held;
    size_t count, capacity;
    bool failed;
};
void lgv_typeset_free(struct lgv_typeset *t);

/* ---- typeset.c: pieces from pieces ---- */

#define LGV_SET_MOST 64 /* pieces that a product, a call or a subscript is made of */
struct lgv_typed lgv_set_name(struct lgv_typeset *t, const char *name); /* k_B, omega, q1, p_theta, a Greek letter */
struct lgv_typed lgv_set_number(struct lgv_typeset *t, double x);           /* as few digits as read back the same */
struct lgv_typed lgv_set_rational(struct lgv_typeset *t, double x);         /* the same, but 1/2, 2/3, ... for them */
struct lgv_typed lgv_set_brackets(struct lgv_typeset *t, struct lgv_typed x);
struct lgv_typed lgv_set_negative(struct lgv_typed x);
struct lgv_typed lgv_set_sum(struct lgv_typeset *t, const struct lgv_typed *term, size_t count);
struct lgv_typed lgv_set_product(struct lgv_typeset *t, const struct lgv_typed *over, size_t above,
                                 const struct lgv_typed *under, size_t below);
struct lgv_typed lgv_set_power(struct lgv_typeset *t, struct lgv_typed base, struct lgv_typed exponent);
/* name(a, b, ...), and what has signs of its own: sqrt abs norm dot cross transpose floor */
struct lgv_typed lgv_set_call(struct lgv_typeset *t, const char *name, const struct lgv_typed *arg, size_t count);
struct lgv_typed lgv_set_vector(struct lgv_typeset *t, const struct lgv_typed *arg, size_t count);
/* x[i], x.y: with a subscript more. */
struct lgv_typed lgv_set_entry(struct lgv_typeset *t, struct lgv_typed base, struct lgv_typed index);
struct lgv_typed lgv_set_part(struct lgv_typeset *t, struct lgv_typed base, const char *part);
/* if(condition, a, b) */
struct lgv_typed lgv_set_choice(struct lgv_typeset *t, struct lgv_typed condition, struct lgv_typed a,
                                struct lgv_typed b);
/* a relation b: < > <= >= == != = in and or */
struct lgv_typed lgv_set_relation(struct lgv_typeset *t, struct lgv_typed a, const char *relation, struct lgv_typed b);
/* sum(low..high ranges and conditions, body) */
struct lgv_typed lgv_set_big_sum(struct lgv_typeset *t, const struct lgv_typed *range, size_t count,
                                 struct lgv_typed body);
struct lgv_typed lgv_set_range(struct lgv_typeset *t, struct lgv_typed index, struct lgv_typed low,
                               struct lgv_typed high);
/* d f / d x, partial */
struct lgv_typed lgv_set_partial(struct lgv_typeset *t, struct lgv_typed f, struct lgv_typed x);
/* d x, or o d x: the increment of x, by itself or in the sense of Stratonovich */
struct lgv_typed lgv_set_increment(struct lgv_typeset *t, struct lgv_typed x, bool stratonovich);
/* @1 .. @3 of one of three texts, for plain text, LaTeX and MathML. */
struct lgv_typed lgv_set_made(struct lgv_typeset *t, enum lgv_typed_level level, const char *const form[3],
                              const char *first, const char *second, const char *third);
#define LGV_FORMS(plain, latex, mathml) ((const char *const[3]){plain, latex, mathml})

/* ---- typeset_formula.c: from the text of a formula and from the graph ---- */

/* As it was written.  Texts that are no formulas come out as they are. */
struct lgv_typed lgv_set_text(struct lgv_typeset *t, const char *formula);
/* A formula without sums over indices. */
struct lgv_typed lgv_set_node(struct lgv_typeset *t, const struct lgv_model *m, int node);

#endif
