/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The coefficients of the Nystroem form of a Galerkin method (src/kernel/text/nystrom.h).
 *
 * With constant K_pp the momenta at the nodes are values of a polynomial P of degree s - 1, on any s points with
 * Lagrange polynomials b_j.  The equations R_mu = 0 of galerkin.c become, with N_k = -K_k,q at the nodes c_k of both
 * rules,
 *
 *     sum_j T_mu,j P^j = -[mu = 0] p - sum_k l_mu(c_k) N_k,     T_mu,j = sum_i alpha_i l_mu'(c_i) b_j(c_i)
 *
 * so P^j = p - sum_k (T^-1 l(c_k))_j N_k (constants are integrated exactly), and since q_d' = K_p(P),
 *
 *     Q_i = q + c_i K_p(p + sum_k R_ik N_k),    R_ik = -1/c_i sum_j (integral of b_j from 0 to c_i) (T^-1 l(c_k))_j. */
#include "base/base.h"
#include "method/rules.h"
#include <math.h>
#include <string.h>

/* b_j: the Lagrange polynomial j on the points (i + 1/2) / s. */
static long double basis(int s, int j, long double x) {
    long double value = 1;
    for (int i = 0; i < s; i++)
        if (i != j) value *= (x * s - i - 0.5L) / (j - i);
    return value;
}

/* Its integral from 0 to c by a Gauss rule that is exact for it. */
static long double integral(int s, int j, double c, const struct lgv_rule *exact) {
    long double sum = 0;
    for (int i = 0; i < exact->count; i++)
        sum += (long double)exact->weight[i] * basis(s, j, (long double)c * exact->node[i]);
    return c * sum;
}

static int node_at(struct lgv_nystrom *f, double c) {
    for (int k = 0; k < f->count; k++)
        if (f->node[k] == c) return k;
    f->node[f->count] = c;
    return f->count++;
}

static void collect(const struct lgv_galerkin *g, struct lgv_nystrom *f) {
    for (int i = 0; i < g->rule.count; i++) {
        int k = node_at(f, g->rule.node[i]);
        f->alpha[k] += g->rule.weight[i];
        if (g->noise.count) continue;
        f->beta[k] += g->beta[i];
        f->gamma[k] += g->gamma[i];
    }
    for (int j = 0; j < g->noise.count; j++) f->beta[node_at(f, g->noise.node[j])] += g->noise.weight[j];
}

static bool coefficients(const struct lgv_galerkin *g, struct lgv_nystrom *f) {
    int s = g->degree, n = f->count;
    long double T[LGV_GALERKIN_DEGREE * LGV_GALERKIN_DEGREE] = {0};
    long double B[LGV_GALERKIN_DEGREE * (LGV_NYSTROM_NODES + 1)]; /* by rows of n + 1 */
    double value, slope;
    struct lgv_galerkin gauss;
    char name[32], ignore[64];
    snprintf(name, sizeof name, "P1N%dQ%dGau", (s + 1) / 2, (s + 1) / 2 * 2);
    if (!lgv_galerkin_parse(name, &gauss, ignore, sizeof ignore)) return false;
    for (int mu = 0; mu < s; mu++) {
        for (int i = 0; i < g->rule.count; i++) {
            lgv_rule_lagrange(s, mu, g->rule.node[i], &value, &slope);
            for (int j = 0; j < s; j++) T[mu * s + j] += g->rule.weight[i] * slope * basis(s, j, g->rule.node[i]);
        }
        for (int k = 0; k < n; k++) {
            lgv_rule_lagrange(s, mu, f->node[k], &value, &slope);
            B[mu * (n + 1) + k] = -value;
        }
        B[mu * (n + 1) + n] = mu == 0 ? -1 : 0;
    }
    if (!lgv_linear_solve(s, n + 1, T, B, 1e-9L)) return false;
    for (int j = 0; j < s; j++)
        if (fabsl(B[j * (n + 1) + n] - 1) > 1e-12L) return false;
    for (int i = 0; i <= n; i++) {
        double c = i < n ? f->node[i] : 1;
        for (int k = 0; k < n; k++) {
            long double sum = 0;
            for (int j = 0; c != 0 && j < s; j++) sum += integral(s, j, c, &gauss.rule) / c * B[j * (n + 1) + k];
            f->r[i][k] = fabsl(sum) < 1e-14L ? 0 : (double)sum;
        }
    }
    return true;
}

/* Explicit nodes first, then those that need each other, then those that nobody waits for. */
static int order_of(const struct lgv_nystrom *f, int *order, int *implicit) {
    enum { WAITING, BEFORE, BEHIND } state[LGV_NYSTROM_NODES] = {WAITING};
    int behind[LGV_NYSTROM_NODES], nbehind = 0, before = 0;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < f->count; i++) {
            bool ready = state[i] == WAITING, last = ready;
            for (int k = 0; k < f->count; k++) {
                if (state[k] != BEFORE && f->r[i][k] != 0) ready = false;
                if (state[k] == WAITING && f->r[k][i] != 0) last = false;
            }
            if (ready) {
                order[before++] = i;
                state[i] = BEFORE;
            } else if (last) {
                behind[nbehind++] = i;
                state[i] = BEHIND;
            }
            more |= ready || last;
        }
    }
    int count = before;
    for (int i = 0; i < f->count; i++)
        if (state[i] == WAITING) order[count++] = i;
    *implicit = count - before;
    while (nbehind) order[count++] = behind[--nbehind];
    return before;
}

/* The force of additive noise is the same everywhere: its nodes may as well lie at q. */
static void move_noise(struct lgv_nystrom *f) {
    for (int k = 0; k < f->count; k++) {
        if (f->alpha[k] != 0) continue;
        f->node[k] = 0;
        memset(f->r[k], 0, sizeof f->r[k]);
    }
}

void lgv_nystrom_of(const struct lgv_galerkin *g, struct lgv_nystrom *out) {
    struct lgv_nystrom f = {.end = -1};
    int order[LGV_NYSTROM_NODES];
    collect(g, &f);
    *out = (struct lgv_nystrom){.end = -1};
    if (!coefficients(g, &f)) return;
    if (g->additive) move_noise(&f);
    *out = f;
    out->before = order_of(&f, order, &out->implicit);
    bool zero = false;
    for (int i = 0; i < f.count; i++) {
        int from = order[i];
        out->node[i] = f.node[from];
        out->alpha[i] = f.alpha[from];
        out->beta[i] = f.beta[from];
        out->gamma[i] = f.gamma[from];
        for (int k = 0; k < f.count; k++) out->r[i][k] = f.r[from][order[k]];
        bool explicit_node = i < out->before || i >= out->before + out->implicit;
        if (f.node[from] == 1 && explicit_node) out->end = i;
        zero |= f.node[from] == 0 && explicit_node && (f.alpha[from] != 0 || !g->additive);
    }
    for (int k = 0; k < f.count; k++) out->r[f.count][k] = f.r[f.count][order[k]];
    out->carry = zero && out->end >= 0;
}
