/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From graph to C text: statements for the nodes of scatter terms, private to the kernel stage. */
#ifndef LGV_EMIT_H
#define LGV_EMIT_H

#include "model/model.h"

/* Where scatter terms go: `array[row]` or `array[row * ncols + col]`, assigned (plain terms) and accumulated (loops).
 * */
struct lgv_target {
    const char *array;
    const struct lgv_terms *terms;
    long rows;        /* number of entries of the array that must be defined; 0: loops add to what is there */
    const char *cols; /* text of the row length of a matrix, NULL for a vector */
    bool guarded;     /* the array may be a null pointer */
    const char
        *map; /* name of an array of places, one for each instance in the order of the text; NULL: rows and columns */
    bool seldom; /* runs seldom: sine, exp and their like are called; the first of several targets tells */
};

/* Clears, fills and accumulates all targets; common subexpressions are shared between them. */
void lgv_emit_targets(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *target, size_t count);
/* The same for one vector that none of its values is made of: they are stored as soon as they are there, so that
 * compilers let roots and divisions overlap with what follows. */
void lgv_emit_early(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *target);
/* emit_pairs.c: does the model have sums for which lanes may be instances?  Is it a nest whose lanes are instances of
 * one path?  Then all terms of all targets in it, whose values are in `list`. */
bool lgv_emit_has_pairs(const struct lgv_graph *g);
bool lgv_emit_is_over_pairs(const struct lgv_graph *g, const struct lgv_target *target, size_t count, int nest);
void lgv_emit_over_pairs(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *target, size_t count,
                         int nest, const int *list, size_t n);
/* Are paths of a block that stand at the same place to be computed once?  Writes who is like the lane before; then, in
 * the loop over lanes, what such a lane does. */
bool lgv_emit_repeats(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *target, size_t count,
                      int nest);
void lgv_emit_repeat(struct lgv_text *out, const struct lgv_target *target, size_t count, int nest, const char *lane);
/* emit_rows.c: the same for nests with long rows, whose order of sums is the same whatever lanes are. */
bool lgv_emit_is_in_rows(const struct lgv_graph *g, const struct lgv_target *target, size_t count, int nest,
                         const int *list, size_t n);
void lgv_emit_in_rows(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_target *target, size_t count,
                      int nest, const int *list, size_t n);
/* What lists of near pairs need: behind face.h, before the face.  Writes nothing where there are none. */
void lgv_emit_near(struct lgv_text *out, const struct lgv_graph *g);
long lgv_emit_near_lists(const struct lgv_graph *g); /* how many there are */
/* Opens the first loops of a nest; the text of a condition. */
void lgv_emit_levels(struct lgv_text *out, const struct lgv_graph *g, int nest, int count);
void lgv_emit_condition(struct lgv_text *out, const struct lgv_graph *g, const struct lgv_condition *c);
/* As lgv_emit_nodes, where lanes are values of the loop variable `inner`. */
void lgv_emit_nodes_each(struct lgv_text *out, const struct lgv_graph *g, const int *list, size_t count, bool seldom,
                         int inner);
/* The same in two parts: nodes that do not know the loop variable `inner`, what `open` writes, those that do. */
void lgv_emit_nodes_row(struct lgv_text *out, const struct lgv_graph *g, const int *list, size_t count, bool seldom,
                        int inner, void (*open)(void *user, struct lgv_text *out), void *user);
/* Opens the loops of a nest; returns the number of braces to close. */
int lgv_emit_loops(struct lgv_text *out, const struct lgv_graph *g, int nest);
void lgv_emit_index(struct lgv_text *out, const struct lgv_graph *g, int index);
bool lgv_emit_plain_index(const struct lgv_graph *g, int index); /* sums and products alone: vectors take them, too */
/* Statements that define every node of `list`, and the text of one of them afterwards. */
void lgv_emit_nodes(struct lgv_text *out, const struct lgv_graph *g, const int *list, size_t count, bool seldom);
void lgv_emit_value(struct lgv_text *out, const struct lgv_graph *g, int node);
bool lgv_emit_uniform(const struct lgv_graph *g, int node); /* the same number for all lanes */

#endif
