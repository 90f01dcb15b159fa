/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The certificate of a run, and first of all the symplecticity defect of a step, measured on the compiled step itself.
 *
 * J is found by central differences of order 8 in directions u: with D_k = F(x + k h u) - F(x - k h u),
 *
 *     J u = (4/5 D_1 - 1/5 D_2 + 4/105 D_3 - 1/280 D_4) / h
 *
 * the perturbed states being lanes of one block with the same noise.  Several h are tried, all of them for the first
 * direction and those near the best for the others; the one is taken at which J u is known best: by the difference of
 * the formulas of order 6 and 8, of which round-off shows only a twelfth, and eps/h.  Then
 *
 *     defect = max |omega(J u, J v) - omega(u, v)|,   omega(u, v) = u_q . v_p - u_p . v_q
 *
 * over pairs of directions; it is known to the sum of |error of J u| |J v| over conjugate components, and the same
 * with u and v exchanged.  u is measured in units of the size of q and p, so the defect has no unit.  With
 * constraints the perturbed states are first moved onto T*S: u is then the derivative of these states, a tangent
 * vector of T*S.
 *
 * A rotation is moved by R exp(h hat xi), and D is the rotation vector between two of them; with the angular momentum m
 * in the body frame the form has then one more term, m.(xi_u x xi_v). */
#include "stats/stats.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIRECTIONS 32 /* a system with at most so many components is measured completely */
#define FEW_DIRECTIONS 8  /* of a larger one: pairs of a q and a p direction with the same degrees of freedom */
#define MANY LGV_MANY_DOF  /* beyond, half of the pairs share them all, the others have a few each */
#define PLACES 8          /* a few */
#define SAFETY 4          /* round-off estimated from one difference may be that much too small */

struct probe {
    const struct lgv_kernel *k;
    struct lgv_own_block b;
    const double *x;
    size_t rows, n; /* nx + np, and 2 np: components of tangent vectors */
    const struct lgv_graph *g; /* where rotations stand; NULL: there are none */
    double *begin, *end; /* [rows] where the step from x begins, on the constraints, and ends: with rotations */
    uint64_t path, step;
    const double *scale; /* [n] */
    double action;
    int size; /* which h was best for the last direction; negative: none yet */
    double *given; /* [row][lane], the same in every lane; NULL: noise by seed */
    lgv_progress *progress;
    void *user;
};

/* x + h u */
static void moved(const struct probe *p, const double *u, double h, double *out) {
    const size_t np = p->k->np, nx = p->k->nx;
    memcpy(out, p->x, p->rows * sizeof *out);
    lgv_rotations_advance(p->g, np, out, u, h);
    for (size_t i = 0; i < np; i++) out[nx + i] += h * u[np + i];
}

/* The states x + offset[i] * u, moved onto the constraints.  Velocities of a Lagrangian are found from 0, or else
 * from the momenta: they may not enter L_vv in a way that allows 0. */
static bool place(struct probe *p, const double *u, const double *offset, size_t count, double *at) {
    size_t lanes = p->k->entry->lanes;
    struct lgv_block *b = &p->b.block;
    bool ok = false;
    for (int guess = 0; guess < 2 && !ok; guess++) {
        for (size_t l = 0; l < lanes; l++) {
            size_t i = l < count ? l : count - 1, np = p->k->np;
            p->b.path[l] = p->path;
            b->fail[l] = 0;
            moved(p, u, offset[i], at);
            for (size_t r = 0; r < p->k->nstate; r++)
                b->state[r * lanes + l] = r < p->rows ? at[r] : guess && r < p->rows + np ? p->x[r - np] : 0;
        }
        b->step = p->step;
        b->given = p->given;
        p->k->entry->project(b);
        ok = true;
        for (size_t l = 0; l < lanes; l++) ok &= !b->fail[l];
    }
    return ok;
}

/* One step from each of them; result i in out[i * rows ...], where it started in from[i * rows ...].  False when a step
 * fails. */
static bool steps_from(struct probe *p, const double *u, const double *offset, size_t count, double *from,
                       double *out) {
    size_t lanes = p->k->entry->lanes;
    struct lgv_block *b = &p->b.block;
    for (size_t first = 0; first < count; first += lanes) {
        if (!place(p, u, offset + first, count - first, out + first * p->rows)) return false;
        for (size_t l = 0; l < lanes && first + l < count; l++)
            for (size_t r = 0; r < p->rows; r++) from[(first + l) * p->rows + r] = b->state[r * lanes + l];
        p->k->entry->advance(b, 1);
        for (size_t l = 0; l < lanes && first + l < count; l++) {
            if (b->fail[l]) return false;
            for (size_t r = 0; r < p->rows; r++) {
                out[(first + l) * p->rows + r] = b->state[r * lanes + l];
                if (!isfinite(b->state[r * lanes + l])) return false;
            }
        }
    }
    return true;
}

/* How states i differ from their partners, [n]: from the second of the pair to the first. */
static void pair_difference(const struct probe *p, const double *states, size_t i, double *out) {
    const size_t np = p->k->np, nx = p->k->nx;
    const double *plus = states + 2 * i * p->rows, *minus = plus + p->rows;
    lgv_rotations_between(p->g, np, minus, plus, out);
    for (size_t r = 0; r < np; r++) out[np + r] = plus[nx + r] - minus[nx + r];
}

/* The derivative of states by the formula of order 8, and how well each component is known.  work: [4 n] */
static void difference(const struct probe *p, const double *states, double h, double *out, double *error,
                       double *work) {
    static const double eight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}, six[] = {3.0 / 4, -3.0 / 20, 1.0 / 60, 0};
    const size_t np = p->k->np;
    for (size_t i = 0; i < 4; i++) pair_difference(p, states, i, work + i * p->n);
    for (size_t r = 0; r < p->n; r++) {
        double d8 = 0, d6 = 0;
        int axis = -1;
        size_t row = r < np && p->g ? (size_t)lgv_rotations_row(p->g, (long)r, &axis) : r < np ? r : r - np + p->k->nx;
        double size = axis < 0 ? fabs(states[row]) : 1;
        for (size_t i = 0; i < 4; i++) {
            d8 += eight[i] * work[i * p->n + r];
            d6 += six[i] * work[i * p->n + r];
        }
        out[r] = d8 / h; /* both formulas share the round-off of the step itself */
        error[r] = (SAFETY * 12 * fabs(d8 - d6) + 4 * DBL_EPSILON * (p->scale[r] + size)) / h;
    }
}

/* A direction, and what the step makes of it, with errors; with constraints u becomes tangent to them. */
struct column {
    double *u, *Ju, *u_error, *Ju_error;
};

/* A bound of what omega(error, v) can be for v of the size of the scales. */
static double weight(const struct probe *p, const double *error) {
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) sum += error[i] * p->scale[i < p->n / 2 ? i + p->n / 2 : i - p->n / 2];
    return sum;
}

static const double sizes[] = {0.2, 0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6};
#define SIZES ((int)(sizeof sizes / sizeof *sizes))

/* J u with h = sizes[s]; c receives it when it is known better than `best` says.  Its error, infinite when a step
 * fails. */
static double try_size(struct probe *p, int s, double best, struct column *c, const double *given, double *work) {
    size_t n = p->n, w = p->rows, bytes = n * sizeof *work;
    double h = sizes[s], offset[8], *from = work + 8 * w;
    struct column trial = {work + 17 * w, work + 18 * w, work + 19 * w, work + 20 * w};
    memcpy(trial.u, given, bytes);
    memset(trial.u_error, 0, bytes);
    for (int k = 0; k < 4; k++) {
        offset[2 * k] = (k + 1) * h;
        offset[2 * k + 1] = -(k + 1) * h;
    }
    if (!steps_from(p, given, offset, 8, from, work)) return INFINITY;
    difference(p, work, h, trial.Ju, trial.Ju_error, work + 25 * w);
    if (p->k->nextra) difference(p, from, h, trial.u, trial.u_error, work + 25 * w);
    double error = weight(p, trial.Ju_error) + weight(p, trial.u_error);
    if (!(error < best)) return error;
    memcpy(c->u, trial.u, bytes);
    memcpy(c->Ju, trial.Ju, bytes);
    memcpy(c->u_error, trial.u_error, bytes);
    memcpy(c->Ju_error, trial.Ju_error, bytes);
    p->size = s;
    return error;
}

/* Does a much smaller h give the same J u?  Where a formula is periodic and h a multiple of its period, all differences
 * vanish and seem to be known very well. */
static bool confirmed(struct probe *p, const struct column *c, const double *given, double *work) {
    const size_t n = p->n, w = p->rows;
    struct column other = {work + 21 * w, work + 22 * w, work + 23 * w, work + 24 * w};
    int chosen = p->size;
    bool same = true;
    for (int s = chosen + 2; s < SIZES && s <= chosen + 3; s++) {
        if (!isfinite(try_size(p, s, INFINITY, &other, given, work))) continue;
        for (size_t r = 0; r < n; r++)
            same &= fabs(other.Ju[r] - c->Ju[r]) <= SAFETY * (other.Ju_error[r] + c->Ju_error[r]);
    }
    p->size = chosen;
    return same;
}

/* False when no size from `least` on works, or after a stop. */
static bool search(struct probe *p, int least, int middle, struct column *c, const double *given, double *work) {
    double best = INFINITY;
    for (int s = middle < least ? least : middle; s < SIZES; s++) { /* towards smaller h; of the first direction all */
        if (p->progress && p->progress(p->user, 1)) return false;
        double error = try_size(p, s, best, c, given, work);
        if (error < best)
            best = error;
        else if (middle >= 0 && isfinite(best))
            break;
    }
    for (int s = middle - 1; s >= least && p->size >= middle - 1 && isfinite(best); s--) { /* towards larger h */
        double error = try_size(p, s, best, c, given, work);
        if (!(error < best)) break;
        best = error;
    }
    return isfinite(best);
}

static bool derivative(struct probe *p, struct column *c, double *work) {
    double *given = work + 16 * p->rows;
    int middle = p->size;
    memcpy(given, c->u, p->n * sizeof *given);
    if (!search(p, 0, middle, c, given, work)) return false;
    while (!confirmed(p, c, given, work))
        if (!search(p, p->size + 1, -1, c, given, work)) return false;
    return true;
}

/* At a state x: rotations have a term with their momenta. */
static double omega(const struct probe *p, const double *x, const double *u, const double *v) {
    const size_t np = p->k->np;
    double s = 0, size = 0;
    for (size_t i = 0; i < np; i++) s += u[i] * v[np + i] - u[np + i] * v[i];
    return p->g ? s + lgv_rotations_pairing(p->g, x + p->k->nx, u, v, &size) : s;
}

/* How well it is known. */
static double omega_error(const struct probe *p, const double *x, const double *u, const double *u_error,
                          const double *v, const double *v_error) {
    const size_t n = p->n;
    double s = 0;
    for (size_t i = 0, j = n / 2; i < n; i++, j = (j + 1) % n) s += u_error[i] * fabs(v[j]) + v_error[i] * fabs(u[j]);
    if (p->g) lgv_rotations_pairing(p->g, x + p->k->nx, u_error, v, &s);
    if (p->g) lgv_rotations_pairing(p->g, x + p->k->nx, u, v_error, &s);
    return s;
}

static uint64_t next(uint64_t *z) {
    *z = *z * 6364136223846793005ull + 1442695040888963407ull;
    return *z >> 33;
}

/* Adds a part of about a tenth of the scale, of either sign and never near 0: a fault there is seen. */
static void add_part(double *u, double scale, uint64_t random) {
    double size = 0.05 + 0.1 * (double)(random & 1023) / 1024;
    *u += (random & 1024 ? size : -size) * scale;
}

/* All unit directions of a small system.  Of a larger one directions in pairs, of q and of p, over the same degrees of
 * freedom: omega(u, v) is not just 0.  Every degree of freedom is in one pair.  A pair of very many is known less well,
 * so that beyond MANY half of the pairs have PLACES each at random, others at each state. */
static void direction(const struct probe *p, size_t i, double *u) {
    size_t np = p->n / 2, pair = i / 2, shares = np <= MANY ? FEW_DIRECTIONS / 2 : FEW_DIRECTIONS / 4;
    memset(u, 0, p->n * sizeof *u);
    if (p->n <= MAX_DIRECTIONS) {
        u[i] = p->scale[i];
        return;
    }
    uint64_t z = 0x9E3779B97F4A7C15ull * (pair + 1) + 0xD1B54A32D192ED03ull * (p->path + 1000 * p->step);
    size_t entries = pair < shares ? (np - pair + shares - 1) / shares : PLACES;
    for (size_t k = 0; k < entries; k++) {
        uint64_t place = next(&z), of_q = next(&z), of_p = next(&z);
        size_t at = pair < shares ? pair + k * shares : (size_t)(place % np);
        if (i % 2)
            add_part(&u[np + at], p->scale[np + at], of_p);
        else
            add_part(&u[at], p->scale[at], of_q);
    }
}

static bool set_given(struct probe *p, const double *given) {
    size_t rows = lgv_increments_rows(p->k), lanes = p->k->entry->lanes;
    if (!given) return true;
    p->given = lgv_aligned(rows * lanes);
    for (size_t i = 0; p->given && i < rows * lanes; i++) p->given[i] = given[i / lanes];
    return p->given != NULL;
}

/* In units of x itself where none are given; rotations in radians. */
static bool own_scales(struct probe *p, double *scale) {
    const size_t np = p->k->np, nx = p->k->nx;
    double size[2] = {0, 0}; /* of the coordinates and of the momenta */
    for (size_t i = 0; i < p->rows; i++) {
        if (!isfinite(p->x[i])) return false;
        size[i >= nx] = fmax(size[i >= nx], fabs(p->x[i]));
    }
    for (size_t i = 0; i < p->n; i++) {
        int axis = -1;
        if (p->g && i < np) lgv_rotations_row(p->g, (long)i, &axis);
        scale[i] = axis >= 0 ? 1 : size[i >= np] > 0 ? size[i >= np] : 1;
    }
    return true;
}

/* Where the step from x itself begins and ends. */
static bool find_end(struct probe *p, double *work) {
    static const double none[1] = {0};
    memset(work + 16 * p->rows, 0, p->n * sizeof *work);
    if (!p->g) return true;
    if (!steps_from(p, work + 16 * p->rows, none, 1, work + 8 * p->rows, work)) return false;
    p->end = work + 29 * p->rows;
    p->begin = work + 30 * p->rows;
    memcpy(p->end, work, p->rows * sizeof *work);
    memcpy(p->begin, work + 8 * p->rows, p->rows * sizeof *work);
    return true;
}

/* det J of a system that is measured completely, and how well it is known: each entry of J changes it by that of the
 * inverse. */
static void find_volume(const struct probe *p, const struct column *c, struct lgv_defect *how) {
    const int n = (int)p->n;
    long double *J = lgv_new(3 * p->n * p->n, sizeof *J), *A = J ? J + n * n : NULL, *inverse = J ? A + n * n : NULL;
    how->volume = how->volume_error = NAN;
    for (int i = 0; J && i < n * n; i++) {
        J[i] = A[i] = c[i % n].Ju[i / n] / p->scale[i / n]; /* in units of the scales, which cancel */
        inverse[i] = i % (n + 1) == 0;
    }
    if (J && lgv_linear_solve(n, n, A, inverse, 0)) {
        long double det = lgv_linear_determinant(n, J), error = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) error += fabsl(inverse[j * n + i]) * c[j].Ju_error[i] / p->scale[i];
        how->volume = (double)det;
        how->volume_error = (double)(fabsl(det) * error) + 1e-13;
    }
    free(J);
}

/* Numbers of directions that are far from depending on each other: with constraints they are tangent, and span fewer
 * dimensions than there are.  r [n][n] is work. */
static void choose_free(const struct probe *p, const struct column *c, size_t free_count, double *r, size_t *chosen) {
    const size_t n = p->n;
    for (size_t i = 0; i < n * n; i++) r[i] = c[i / n].u[i % n] / p->scale[i % n];
    for (size_t k = 0; k < free_count; k++) {
        double most = -1;
        for (size_t i = 0; i < n; i++) {
            double square = 0;
            for (size_t j = 0; j < n; j++) square += r[i * n + j] * r[i * n + j];
            if (square > most) most = square, chosen[k] = i;
        }
        const double *v = r + chosen[k] * n;
        for (size_t i = 0; i < n; i++) {
            double part = 0;
            for (size_t j = 0; j < n && i != chosen[k]; j++) part += r[i * n + j] * v[j] / most;
            for (size_t j = 0; j < n && i != chosen[k]; j++) r[i * n + j] -= part * v[j];
        }
        memset(r + chosen[k] * n, 0, n * sizeof *r);
    }
}

/* sqrt(det W) of the pairings W_ij = omega(v_i, v_j), the volume that the v span, and its relative error. */
static long double spanned(const struct probe *p, const struct column *c, const size_t *chosen, int d, bool after,
                           long double *W, double *error) {
    long double *A = W + d * d, *inverse = A + d * d, sum = 0;
    const double *at = after ? p->end : p->x;
    for (int i = 0; i < d * d; i++) {
        const struct column *a = &c[chosen[i / d]], *b = &c[chosen[i % d]];
        W[i] = A[i] = omega(p, at, after ? a->Ju : a->u, after ? b->Ju : b->u) / p->action;
        inverse[i] = i % (d + 1) == 0;
    }
    if (!lgv_linear_solve(d, d, A, inverse, 0)) return NAN;
    for (int i = 0; i < d * d; i++) {
        const struct column *a = &c[chosen[i / d]], *b = &c[chosen[i % d]];
        double e = after ? omega_error(p, at, a->Ju, a->Ju_error, b->Ju, b->Ju_error)
                         : omega_error(p, at, a->u, a->u_error, b->u, b->u_error);
        sum += fabsl(inverse[i % d * d + i / d]) * e / p->action;
    }
    *error += (double)sum / 2;
    return sqrtl(fabsl(lgv_linear_determinant(d, W)));
}

/* With constraints: what a step makes of the volume of the symplectic form on the constraint set. */
static void find_tangent_volume(const struct probe *p, const struct column *c, struct lgv_defect *how) {
    const size_t d = p->n - 2 * how->constraints;
    size_t *chosen = lgv_new(d + 1, sizeof *chosen);
    double *r = lgv_new(p->n * p->n, sizeof *r), error = 0;
    long double *work = lgv_new(3 * d * d + 1, sizeof *work);
    how->volume = how->volume_error = NAN;
    if (chosen && r && work && d > 0) {
        choose_free(p, c, d, r, chosen);
        long double before = spanned(p, c, chosen, (int)d, false, work, &error);
        how->volume = (double)(spanned(p, c, chosen, (int)d, true, work, &error) / before);
        how->volume_error = how->volume * error + 1e-13;
    }
    free(chosen);
    free(r);
    free(work);
}

double lgv_certificate_defect(const struct lgv_kernel *k, double t0, double dt, uint64_t seed, uint64_t path,
                              uint64_t n, const double *x, const double *scale, lgv_progress *progress, void *user,
                              struct lgv_defect *how) {
    struct probe p = {.k = k,
                      .x = x,
                      .rows = k->nx + k->np,
                      .n = 2 * k->np,
                      .g = how->rotations && how->rotations->nrotations ? how->rotations : NULL,
                      .path = path,
                      .step = n,
                      .size = how->size - 1,
                      .progress = progress,
                      .user = user};
    size_t count = p.n <= MAX_DIRECTIONS ? p.n : FEW_DIRECTIONS;
    double *vectors = lgv_new(4 * count * p.n, sizeof *vectors), *own = lgv_new(p.n, sizeof *own);
    double *work = lgv_new(31 * p.rows, sizeof *work), defect = NAN;
    struct column *c = lgv_new(count, sizeof *c);
    if (!vectors || !own || !work || !c || !own_scales(&p, own) || !set_given(&p, how->given)) goto done;
    p.scale = scale ? scale : own;
    for (size_t i = 0; i < k->np; i++) p.action = fmax(p.action, p.scale[i] * p.scale[k->np + i]);
    if (!lgv_block_create(k, t0, dt, seed, 1, &p.b) || !find_end(&p, work)) goto done;
    for (size_t i = 0; i < count; i++) {
        double *at = vectors + 4 * i * p.n;
        c[i] = (struct column){at, at + p.n, at + 2 * p.n, at + 3 * p.n};
        direction(&p, i, c[i].u);
        if (!derivative(&p, &c[i], work)) goto done;
    }
    double most = 0, worst[2] = {0, 0}; /* a pair whose defect is beyond its own error counts before all others */
    double unsure[2] = {0, 0};          /* of pairs of few degrees of freedom; of those that share them all */
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double d = omega(&p, p.end, c[i].Ju, c[j].Ju) -
                       (how->contracts ? how->form : 1) * omega(&p, p.begin, c[i].u, c[j].u);
            double e = omega_error(&p, p.end, c[i].Ju, c[i].Ju_error, c[j].Ju, c[j].Ju_error) +
                       omega_error(&p, p.begin, c[i].u, c[i].u_error, c[j].u, c[j].u_error);
            bool all = k->np > MANY && i < FEW_DIRECTIONS / 2;
            d = fabs(d) / p.action;
            e = e / p.action + 1e-13;
            if (d > e && d - e > worst[0] - worst[1]) worst[0] = d, worst[1] = e;
            if (!all) most = fmax(most, d);
            unsure[all] = fmax(unsure[all], e);
        }
    defect = worst[0] > 0 ? worst[0] : most;
    how->error = worst[0] > 0 ? worst[1] : unsure[0];
    how->all_error = fmax(how->error, unsure[1]);
    how->size = p.size + 1;
    if (count == p.n && how->constraints)
        find_tangent_volume(&p, c, how);
    else if (count == p.n && !k->nextra)
        find_volume(&p, c, how);
done:
    lgv_block_free(&p.b);
    free(p.given);
    free(own);
    free(vectors);
    free(c);
    free(work);
    return defect;
}

/* ---- the certificate of a run ---- */

static bool one_name(const char *a, const char *b) { /* "x[3].y" and "x[4].x" */
    size_t n = strcspn(a, "[.");
    return strcspn(b, "[.") == n && strncmp(a, b, n) == 0;
}

#define ROUND_OFF 1e-12 /* of the largest scale */
#define CONSTANT 1e-9   /* moves that are smaller, compared with the values, are not taken for moves */

/* How far the components move over the states kept of the run; where they do not, how large they are.  Components of
 * one name have one unit and one scale; one that is always 0 gets that of the others. */
static double *state_scales(const struct lgv_model *m, const struct lgv_plan *plan,
                            const struct lgv_run_report *report) {
    size_t nx = m->nx, np = m->np, rows = nx + np;
    double *scale = lgv_new(rows, sizeof *scale), most[2] = {0, 0};
    for (size_t i = 0, end; scale && i < rows; i = end) {
        double moved = 0, size = 0;
        for (end = i; end < (i < nx ? nx : rows) && one_name(m->component[i], m->component[end]); end++) {
            double low = INFINITY, high = -INFINITY;
            for (size_t k = 0; k < plan->nsnapshots * LGV_UNIT; k++) {
                double x = report->snapshot[k * rows + end];
                if (isfinite(x)) low = fmin(low, x), high = fmax(high, x);
            }
            if (low <= high) moved = fmax(moved, high - low), size = fmax(size, fmax(fabs(low), fabs(high)));
        }
        for (size_t k = i; k < end; k++) scale[k] = moved > CONSTANT * size ? moved : size;
        most[i >= nx] = fmax(most[i >= nx], scale[i]);
    }
    for (size_t i = 0; scale && i < rows; i++)
        if (!(scale[i] > ROUND_OFF * most[i >= nx])) scale[i] = most[i >= nx] > 0 ? most[i >= nx] : 1;
    for (size_t i = 0; scale && nx > np && i < 2 * np; i++) { /* of tangent vectors; rotations in radians */
        int axis = -1;
        long row = i < np ? lgv_rotations_row(m->graph, (long)i, &axis) : (long)(i - np + nx);
        scale[i] = axis < 0 ? scale[row] : 1; /* row >= i, so nothing is lost before it is used */
    }
    return scale;
}

/* Largest entry of R^T R - 1, R being made of a quaternion x: |x|^4 - 1. */
static double off_rotations(const struct lgv_model *m, const struct lgv_plan *plan,
                            const struct lgv_run_report *report) {
    const struct lgv_graph *g = m->graph;
    double worst = NAN;
    for (size_t k = 0; g && g->nrotations && k < plan->nsnapshots * LGV_UNIT; k++) {
        const double *state = report->snapshot + k * (m->nx + m->np);
        if (!isfinite(state[0])) continue;
        for (size_t r = 0; r < g->nrotations; r++)
            for (long body = 0; body < g->rotation[r].count; body++) {
                const double *x = state + g->rotation[r].q + 4 * body;
                double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3];
                worst = fmax(worst, fabs(square * square - 1));
            }
    }
    return worst;
}

double lgv_certificate_momentum(struct lgv_model *m, const struct lgv_symmetry *symmetry, const struct lgv_plan *plan,
                                const struct lgv_run_report *report) {
    struct lgv_evaluator e;
    double largest = 0;
    if (!lgv_eval_begin(&e, m->graph)) return 0;
    for (size_t k = 0; k < plan->nsnapshots * LGV_UNIT; k++) {
        const double *x = report->snapshot + k * (m->nx + m->np), *p = x + m->nx;
        struct lgv_env env = {.par = m->par, .space = {[LGV_Q] = x, [LGV_P] = p}};
        double sum = 0;
        for (size_t i = 0; i < m->np; i++) sum += fabs(p[i] * lgv_eval_node(&e, symmetry->xi[i], &env, NULL));
        if (isfinite(sum)) largest = fmax(largest, sum);
    }
    lgv_eval_end(&e);
    return largest;
}

/* A path of the first unit that is alive at snapshot `snap`, beginning with number `first`; -1 when there is none. */
static long living_path(const struct lgv_run_report *report, size_t snap, size_t first, size_t rows) {
    for (size_t k = 0; k < LGV_UNIT; k++) {
        size_t path = (first + k) % LGV_UNIT;
        if (isfinite(report->snapshot[(snap * LGV_UNIT + path) * rows])) return (long)path;
    }
    return -1;
}

/* The defect of a stopped run is not measured: it may take longer than all steps that were done. */
void lgv_certificate_make(const struct lgv_ran *ran, lgv_progress *progress, void *user, struct lgv_result *r) {
    const struct lgv_model *m = ran->model;
    const struct lgv_settings *s = ran->settings;
    const struct lgv_plan *plan = ran->plan;
    const struct lgv_kernel *k = plan->kernel;
    const struct lgv_run_report *report = ran->report;
    struct lgv_certificate *c = &r->certificate;
    const char *reason;
    *c = (struct lgv_certificate){.symplectic_defect = NAN,
                                  .symplectic_defect_error = NAN,
                                  .defect_all_error = NAN,
                                  .constraint = NAN,
                                  .rotation = off_rotations(m, plan, report),
                                  .rotation_claim = !k->method->leaves_group,
                                  .hidden_constraint = NAN,
                                  .symplectic_claim = k->method->symplectic,
                                  .constraint_size = r->nconstraints ? k->start.size : NAN,
                                  .hidden_size = r->nconstraints ? k->start.hidden_size : NAN,
                                  .start_constraint = r->nconstraints ? k->start.residual : NAN,
                                  .start_hidden = r->nconstraints ? k->start.hidden : NAN,
                                  .noise_commutes = k->structure.commutes,
                                  .volume = NAN,
                                  .volume_error = NAN,
                                  .volume_least = NAN,
                                  .volume_most = NAN,
                                  .temperature = NAN,
                                  .bath = k->structure.bath,
                                  .bias_order = k->method->bias_order,
                                  .dissipative = k->structure.bath || k->structure.forced,
                                  .time_dependent = k->structure.time_dependent,
                                  .commutes_decided = k->structure.commutes_decided};
    c->strong_order = lgv_method_strong_order(k->method, &k->structure, k->nnoise, &reason);
    c->weak_order = lgv_method_weak_order(k->method, &k->structure, k->nnoise, NULL);
    c->order_reason = lgv_copy(reason);
    char commutes[200];
    lgv_structure_commutes(&k->structure, k->nnoise, commutes, sizeof commutes);
    c->commutes_reason = lgv_copy(commutes);
    if (k->bath) c->friction_step = lgv_bath_fastest(k->bath) * plan->dt;
    c->friction_limit = k->method->friction_limit;
    c->friction_exact = (k->method->metropolis || k->method->contraction == LGV_CONTRACTS_EXACTLY) &&
                        (!m->nconstraints || (k->bath && k->bath->exact)); /* else it is the midpoint rule */
    struct lgv_law law;
    struct lgv_text words = {0};
    lgv_model_law(ran->model, &k->structure, &law);
    lgv_law_words(m, &law, &words);
    c->law = words.data;
    c->law_temperature = law.kind == LGV_LAW_GIBBS ? law.temperature : (double)NAN;
    for (size_t i = 0; i < r->nseries; i++) {
        const struct lgv_series *x = &r->series[i];
        double *to = x->kind == LGV_OBSERVABLE_CONSTRAINT ? &c->constraint : &c->hidden_constraint;
        for (size_t j = 0; x->kind >= LGV_OBSERVABLE_CONSTRAINT && j < r->ntimes; j++) *to = fmax(*to, x->max[j]);
    }
    double *scale = state_scales(m, plan, report);
    double *given = plan->increments ? lgv_new(lgv_increments_rows(k), sizeof *given) : NULL;
    c->form = c->volume_expected = k->structure.forced && m->force_of_p ? NAN : 1;
    if (k->bath && isfinite(c->form))
        lgv_bath_contraction(k->bath, (int)k->method->contraction, plan->dt, &c->form, &c->volume_expected);
    if (k->bath && m->nconstraints) /* on the constraint set, where other friction has no one factor */
        c->volume_expected = pow(c->form, (double)(k->np - m->nconstraints));
    if (k->bath && k->structure.rotations) c->form = NAN; /* m in the body frame is scaled, m.(xi x xi) is not */
    if (k->bath || k->structure.forced)
        c->symplectic_claim = !k->structure.forced && isfinite(c->form) && (k->bath || k->method->symplectic);
    if (k->bath) c->temperature = k->bath->one_temperature ? k->bath->temperature[0] : NAN;
    struct lgv_defect how = {
        .rotations = m->graph, .given = given, .contracts = isfinite(c->form), .form = c->form,
        .constraints = m->nconstraints, .volume = NAN, .volume_error = NAN};
    /* by size, not by the clock: the certificate must not depend on the machine */
    uint64_t states = k->np > LGV_MANY_DOF ? (s->check_states + 1) / 2 : s->check_states;
    if (plan->increments && !given) states = 0; /* no memory */
    for (size_t i = 0; scale && plan->nsnapshots && !report->stopped && i < states; i++) {
        /* path i at snapshot i, cycling through both */
        size_t snap = i % plan->nsnapshots;
        long path = living_path(report, snap, i, k->nx + k->np);
        if (path < 0) continue;
        const double *x = report->snapshot + (snap * LGV_UNIT + (size_t)path) * (k->nx + k->np);
        uint64_t step = plan->time_step[plan->snapshot[snap]];
        if (given) lgv_increments_lay(plan->increments, lgv_increments_rows(k), 1, (uint64_t)path, step, 1, given);
        double d = lgv_certificate_defect(k, plan->t0, plan->dt, plan->seed, (uint64_t)path, step, x, scale, progress,
                                          user, &how);
        double error = how.error, off = fabs(how.volume - c->volume_expected);
        if (isnan(d)) continue;
        c->volume_least = fmin(c->volume_least, how.volume);
        c->volume_most = fmax(c->volume_most, how.volume);
        if (!isfinite(c->volume_expected)) c->volume_error = fmax(c->volume_error, how.volume_error);
        if (isfinite(off) && !(off - how.volume_error <= c->volume - c->volume_error)) {
            c->volume = off;
            c->volume_error = how.volume_error;
        }
        c->defect_all_error = fmax(c->defect_all_error, how.all_error);
        c->defect_states++;
        bool seen = d > error, first = isnan(c->symplectic_defect);
        bool before = c->symplectic_defect > c->symplectic_defect_error;
        if (first || (seen && (!before || d - error > c->symplectic_defect - c->symplectic_defect_error))) {
            c->symplectic_defect = d; /* what is certain counts before all others */
            c->symplectic_defect_error = error;
        } else if (!seen && !before) {
            c->symplectic_defect = fmax(c->symplectic_defect, d);
            c->symplectic_defect_error = fmax(c->symplectic_defect_error, error);
        }
    }
    free(scale);
    free(given);
}
