/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Galerkin methods by name or by a rule, and partitioned Runge-Kutta methods by their coefficients.  Private to the
 * method stage. */
#ifndef LGV_RULES_H
#define LGV_RULES_H

#include "method/method.h"

#define LGV_RULE_NODES 12
#define LGV_GALERKIN_DEGREE 10
#define LGV_NYSTROM_NODES (2 * LGV_RULE_NODES)
#define LGV_NYSTROM_TABLE (LGV_NYSTROM_NODES * (LGV_NYSTROM_NODES + 5))
#define LGV_GALERKIN_TABLE (11 + LGV_RULE_NODES * (7 + 3 * (LGV_GALERKIN_DEGREE + 1)) + LGV_NYSTROM_TABLE)

struct lgv_rule {
    int count, order; /* count 0: none */
    double node[LGV_RULE_NODES], weight[LGV_RULE_NODES];
    bool gauss;
};

struct lgv_galerkin {
    int degree;
    struct lgv_rule rule, noise;                        /* noise: a rule of its own, or count 0 and the weights below */
    double beta[LGV_RULE_NODES], gamma[LGV_RULE_NODES]; /* noise weights beta dW + gamma J on the nodes of `rule` */
    bool additive; /* the forces of the noise do not depend on q: nodes of the noise alone wait for nothing */
    int correction; /* of H by noise h(q): enum lgv_correction */
    bool general; /* the full equations by Newton's method even where a shorter form exists: for tests */
};

/* Stochastic partitioned Runge-Kutta method: methods/sprk.c. */
struct lgv_tableau {
    int stages;
    double alpha[LGV_RULE_NODES], beta[LGV_RULE_NODES];
    double a[LGV_RULE_NODES][LGV_RULE_NODES], abar[LGV_RULE_NODES][LGV_RULE_NODES];
    double b[LGV_RULE_NODES][LGV_RULE_NODES], bbar[LGV_RULE_NODES][LGV_RULE_NODES];
};
#define LGV_TABLEAU_TABLE (3 + LGV_RULE_NODES * (5 + 4 * LGV_RULE_NODES))
#define LGV_TABLEAU_SYMPLECTIC 1e-12 /* violations up to here are round-off of the given coefficients */

/* The form of a method that src/kernel/text/nystrom.h works on; count 0: it has none.  Nodes are in the order of
 * computation. */
struct lgv_nystrom {
    int count, before, implicit, end; /* end: the node at 1, or -1 */
    bool carry;                       /* the force at node 1 is that of the next step at node 0 */
    double node[LGV_NYSTROM_NODES], alpha[LGV_NYSTROM_NODES], beta[LGV_NYSTROM_NODES], gamma[LGV_NYSTROM_NODES];
    double r[LGV_NYSTROM_NODES + 1][LGV_NYSTROM_NODES]; /* the row behind the last node is that of q' */
};
void lgv_nystrom_of(const struct lgv_galerkin *g, struct lgv_nystrom *out);
/* Lagrange polynomial mu of degree s on the points nu/s, and its derivative, at x. */
void lgv_rule_lagrange(int s, int mu, double x, double *value, double *slope);

/* False with the reason in `why` when the name is not one. */
bool lgv_galerkin_parse(const char *name, struct lgv_galerkin *out, char *why, size_t size);
/* Can it have the correction that it asks for?  False with the reason in `why`. */
bool lgv_galerkin_corrects(const struct lgv_galerkin *g, char *why, size_t size);
/* The table methods/galerkin.c reads; returns its length, at most LGV_GALERKIN_TABLE. */
size_t lgv_galerkin_table(const struct lgv_galerkin *g, double *out);
/* The description of a method made from it; the same name gives the same pointer.  NULL when memory is out. */
const struct lgv_method *lgv_galerkin_method(const char *name, const char *alias, const struct lgv_galerkin *g);

/* Descriptions of methods that a user gives, for lgv_method_free.  NULL when memory is out. */
struct lgv_method *lgv_galerkin_describe(const char *name, const struct lgv_galerkin *g);
struct lgv_method *lgv_tableau_describe(const char *name, const struct lgv_tableau *t);
void lgv_method_free(struct lgv_method *m);
/* Largest k <= most with sum_i w_i c_i^(j-1) = 1/j for j = 1..k. */
int lgv_rule_order(const struct lgv_rule *r, int most);
/* Largest violation of the symplectic conditions (Ma & Ding 2015), and its place, such as "beta_i abar_ij +
 * alpha_j b_ji = beta_i alpha_j". */
double lgv_tableau_violation(const struct lgv_tableau *t, const char **condition, int *i, int *j);
/* Order without noise, from the order conditions up to 4. */
int lgv_tableau_order(const struct lgv_tableau *t);
size_t lgv_tableau_table(const struct lgv_tableau *t, double *out);
/* "#define ..." lines and the table as a constant array; NULL when memory is out. */
char *lgv_table_text(const char *defines, const char *array, const double *table, size_t count);

#endif
