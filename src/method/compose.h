/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods made of others, by name.  Private to the method stage. */
#ifndef LGV_COMPOSE_H
#define LGV_COMPOSE_H

#include "method/method.h"

/* NULL when the name is none of a composition or a word, or memory is out. */
const struct lgv_method *lgv_compose_find(const char *name);
/* Why a name that looks like a composition is none; nothing is written for others.  m: as for lgv_method_explain. */
void lgv_compose_explain(const struct lgv_model *m, const char *name, char *why, size_t size);
void lgv_program_free(struct lgv_program *p);
/* Can a suffix compose it? */
bool lgv_compose_takes(const struct lgv_method *base);
/* A composition of a method of the user, for lgv_method_free; `base` must live as long.  NULL when memory is out. */
struct lgv_method *lgv_compose_describe(const struct lgv_method *base, const struct lgv_composition *c);
/* Of a list of all compositions of some methods, in the order of the table for each, the one that a name with any
 * suffix or alias means; NULL: none. */
const struct lgv_method *lgv_compose_among(struct lgv_method *const *list, size_t count, const char *name);
struct lgv_program *lgv_program_new(size_t substeps, size_t steps); /* NULL: memory is out */
struct lgv_program *lgv_program_copy(const struct lgv_program *p);
void lgv_program_link(struct lgv_program *p);                       /* finds which substeps begin */

/* words.c: splitting words, with and without a bath. */
enum { LGV_FLIES = 1, LGV_HEATS = 2, LGV_KICKS = 4, LGV_TURNS = 8 };
struct lgv_letter {
    char name;
    int does; /* moves q, and time; the bath; the force; another free motion of rotations than A */
    const struct lgv_method *step;
};
extern const struct lgv_letter lgv_letters[];
int lgv_letter_of(char c); /* its number, or -1 */
struct lgv_program *lgv_word_spell(const char *word); /* NULL: memory is out */
void lgv_word_letters(struct lgv_method *m);          /* needs and face of the letters of its program */
bool lgv_word_fill(const char *name, const void *what, struct lgv_method *m); /* compose.c: without a bath */
bool lgv_word_symmetric(const char *word, size_t letters); /* is it a palindrome? */
const struct lgv_method *lgv_word_find(const char *name);
void lgv_word_explain(const char *name, char *why, size_t size);

/* magnus.c: methods for any noise h(q,p). */
const struct lgv_method *lgv_magnus_find(const char *name);
void lgv_magnus_explain(const char *name, char *why, size_t size);

/* ---- compose_tables.c ---- */

/* Letters A and B in turn, each with a width of its own. */
struct lgv_splitting {
    const char *name, *aliases, *paper, *what;
    bool nystrom; /* its order needs [B,[B,[B,A]]] = 0: kinetic energies of degree 2 */
    char first;
    int order;
    size_t drifts, kicks; /* letters A and B */
    const double *a, *b;  /* the first (drifts - 1) / 2 and (kicks - 1) / 2 widths */
};
extern const struct lgv_splitting lgv_splittings[];
extern const size_t lgv_splitting_count;

/* A symmetric set of `count` widths of sum 1 from its first (count - 1) / 2. */
void lgv_palindrome(const double *half, size_t count, double *out);

/* registry.c: descriptions made from names are kept for ever; the same name gives the same pointer.  `fill` makes one
 * from `what`; false: memory is out.  Everything it points to, but for texts of the program, is its own memory. */
typedef bool lgv_method_fill(const char *name, const void *what, struct lgv_method *m);
const struct lgv_method *lgv_method_keep(const char *name, lgv_method_fill *fill, const void *what);

#endif
