/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods made of others, by name.  Private to the method stage. */
#ifndef LGV_COMPOSE_H
#define LGV_COMPOSE_H

#include "method/method.h"

/* NULL when the name is none of a composition or a word, or memory is out. */
const struct lgv_method *lgv_compose_find(const char *name);
/* Why a name that looks like a composition is none; nothing is written for others. */
void lgv_compose_explain(const char *name, char *why, size_t size);
void lgv_program_free(struct lgv_program *p);

/* registry.c: descriptions made from names are kept for ever; the same name gives the same pointer.  `fill` makes one
 * from `what`; false: memory is out.  Everything it points to, but for texts of the program, is its own memory. */
typedef bool lgv_method_fill(const char *name, const void *what, struct lgv_method *m);
const struct lgv_method *lgv_method_keep(const char *name, lgv_method_fill *fill, const void *what);

#endif
