/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Quadrature rules and Galerkin methods by name; private to the kernel stage. */
#ifndef LGV_RULES_H
#define LGV_RULES_H

#include "kernel/method.h"

#define LGV_RULE_NODES 12
#define LGV_GALERKIN_DEGREE 10
#define LGV_GALERKIN_TABLE (6 + LGV_RULE_NODES * (7 + 3 * (LGV_GALERKIN_DEGREE + 1)))

struct lgv_rule {
    int count, order; /* count 0: none */
    double node[LGV_RULE_NODES], weight[LGV_RULE_NODES];
    bool gauss;
};

struct lgv_galerkin {
    int degree;
    struct lgv_rule rule, noise; /* noise: a rule of its own, or count 0 and the weights below */
    double beta[LGV_RULE_NODES], gamma[LGV_RULE_NODES]; /* noise weights beta dW + gamma J on the nodes of `rule` */
};

/* False with the reason in `why` when the name is not one. */
bool lgv_galerkin_parse(const char *name, struct lgv_galerkin *out, char *why, size_t size);
/* The table methods/galerkin.c reads; returns its length, at most LGV_GALERKIN_TABLE. */
size_t lgv_galerkin_table(const struct lgv_galerkin *g, double *out);
/* The description of a method made from it; the same name gives the same pointer.  NULL when memory is out. */
const struct lgv_method *lgv_galerkin_method(const char *name, const char *alias, const struct lgv_galerkin *g);

#endif
