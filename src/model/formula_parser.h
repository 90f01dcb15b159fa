/* SPDX-License-Identifier: BSD-3-Clause
 *
 * State shared by the parts of the formula parser: formula.c (values), formula_index.c (indices, loops, names),
 * formula_condition.c, formula_pairs.c, formula_tokens.c and formula_unknown.c (names that nobody has declared). */
#ifndef LGV_FORMULA_PARSER_H
#define LGV_FORMULA_PARSER_H

#include "model/formula.h"

struct lgv_parser {
    const struct lgv_scope *scope;
    struct lgv_graph *g;
    const char *text;
    size_t start, end; /* of the present token */
    int kind;          /* 0 end, 'n' name, '0' number, 'r' .., 'l' <=, 'g' >=, 'q' ==, '!' !=, else the character */
    char name[LGV_MAX_NAME];
    double number;
    int depth;
    bool failed;
    struct lgv_formula_error *err;
    struct {
        char name[LGV_MAX_NAME];
        struct lgv_level level;
    } loop[LGV_MAX_LOOPS]; /* loops around the present place, outermost first */
    int nloops;
    long steps; /* it takes to walk through them */
    bool pairs; /* they are the two of pairs(...), whose instances nobody walks through */
    struct lgv_condition cond[LGV_MAX_CONDITIONS];
    int nconds;
    const char *formal[LGV_MAX_ARGUMENTS]; /* of the macro being parsed */
    struct lgv_value actual[LGV_MAX_ARGUMENTS];
    int nformals, outer; /* outer: loops around the macro's call */
};

void lgv_parser_error(struct lgv_parser *p, size_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
void lgv_parser_next(struct lgv_parser *p);
const char *lgv_parser_token(struct lgv_parser *p, char *buffer, size_t size); /* the present token, for messages */
bool lgv_parser_accept(struct lgv_parser *p, int kind);
/* formula_unknown.c: what is wrong with a name, and what was meant. */
void lgv_parser_unknown_name(struct lgv_parser *p, size_t at, const char *name);
void lgv_parser_unknown_function(struct lgv_parser *p, size_t at, const char *name);
bool lgv_parser_expect(struct lgv_parser *p, int kind, const char *what);
struct lgv_value lgv_parser_expression(struct lgv_parser *p);
/* formula_condition.c: a formula, or comparisons with not, and, or: then 1 where they hold and else 0. */
struct lgv_value lgv_parser_condition(struct lgv_parser *p);
bool lgv_parser_is_condition(const struct lgv_graph *g, struct lgv_value v); /* its values are 0 and 1 */
/* After "sum(" or "each(": reads the loops and conditions up to the last comma before the body.  The loops stay
 * pushed. */
int lgv_parser_loops(struct lgv_parser *p);
/* After "pairs(" or "near(": all of it, up to the bracket that closes it; `sharp`: near. */
struct lgv_value lgv_parser_pairs(struct lgv_parser *p, size_t at, const char *name, bool sharp);
/* "[index]" of an array with entries 1..length, checked over all instances of the loops around it. */
int lgv_parser_subscript(struct lgv_parser *p, const char *array, long length);

#endif
