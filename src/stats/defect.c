/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The symplecticity defect of a step, measured on the compiled step itself.
 *
 * J is found by central differences of order 8 in directions u: with D_k = F(x + k h u) - F(x - k h u),
 *
 *     J u = (4/5 D_1 - 1/5 D_2 + 4/105 D_3 - 1/280 D_4) / h
 *
 * the perturbed states being lanes of one block with the same noise.  Several h are tried, all of them for the first
 * direction and those near the best for the others, or all where J u is not known well there: of bodies on joints that
 * have fallen far, a small part of the way is to be taken and a large one of a turn.  The one is taken at which J u is
 * known best: by the difference of the formulas of order 6 and 8, of which round-off shows only a twelfth, and eps/h.
 * Then
 *
 *     defect = max |omega(J u, J v) - omega(u, v)|,   omega(u, v) = u_q . v_p - u_p . v_q
 *
 * over pairs of directions; it is known to the sum of |error of J u| |J v| over conjugate components, and the same
 * with u and v exchanged.  u is measured in units of the size of q and p, so the defect has no unit.  With
 * constraints the perturbed states are first moved onto T*S: u is then the derivative of these states, a tangent
 * vector of T*S.
 *
 * A rotation is moved by R exp(h hat xi), and D is the rotation vector between two of them; with the angular momentum m
 * in the body frame the form has then one more term, m.(xi_u x xi_v).  A reduced model, which has momenta alone, has no
 * form, but a bracket: poisson.c. */
#include "stats/defect.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIRECTIONS 32 /* a system with at most so many components is measured completely */
#define FEW_DIRECTIONS 8  /* of a larger one: pairs of a q and a p direction with the same degrees of freedom */
#define MANY LGV_MANY_DOF  /* beyond, half of the pairs share them all, the others have a few each */
#define PLACES 8          /* a few */
#define WELL_KNOWN 1e-8   /* of the action: a J u that is known less well has all sizes h tried */
#define SAFETY 4          /* round-off estimated from one difference may be that much too small */

/* x + h u */
static void moved(const struct lgv_probe *p, const double *u, double h, double *out) {
    const size_t np = p->k->np, nx = p->k->nx;
    memcpy(out, p->x, p->rows * sizeof *out);
    if (p->nq) lgv_rotations_advance(p->g, np, out, u, h);
    for (size_t i = 0; i < np; i++) out[nx + i] += h * u[p->nq + i];
}

/* The states x + offset[i] * u, moved onto the constraints.  Velocities of a Lagrangian are found from 0, or else
 * from the momenta: they may not enter L_vv in a way that allows 0. */
static bool place(struct lgv_probe *p, const double *u, const double *offset, size_t count, double *at) {
    size_t lanes = p->k->entry->lanes;
    struct lgv_block *b = &p->b.block;
    bool ok = false;
    for (int guess = 0; guess < 2 && !ok; guess++) {
        for (size_t l = 0; l < lanes; l++) p->b.path[l] = p->path, p->b.number[l] = p->number;
        if (p->k->ndrawn) p->k->entry->start(b); /* the parameters of the path */
        for (size_t l = 0; l < lanes; l++) {
            size_t i = l < count ? l : count - 1, np = p->k->np;
            b->fail[l] = 0;
            b->clipped[l] = 0;
            moved(p, u, offset[i], at);
            for (size_t r = 0; r < p->k->nstate; r++)
                if (r < p->k->drawn_row || r >= p->k->drawn_row + p->k->ndrawn)
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
static bool steps_from(struct lgv_probe *p, const double *u, const double *offset, size_t count, double *from,
                       double *out) {
    size_t lanes = p->k->entry->lanes;
    struct lgv_block *b = &p->b.block;
    for (size_t first = 0; first < count; first += lanes) {
        if (!place(p, u, offset + first, count - first, out + first * p->rows)) return false;
        for (size_t l = 0; l < lanes && first + l < count; l++)
            for (size_t r = 0; r < p->rows; r++) from[(first + l) * p->rows + r] = b->state[r * lanes + l];
        p->k->entry->advance(b, 1);
        for (size_t l = 0; l < lanes && first + l < count; l++) {
            if (b->fail[l] || (p->accepted && b->clipped[l])) return false; /* of Metropolis methods: rejected */
            for (size_t r = 0; r < p->rows; r++) {
                out[(first + l) * p->rows + r] = b->state[r * lanes + l];
                if (!isfinite(b->state[r * lanes + l])) return false;
            }
        }
    }
    return true;
}

/* How states i differ from their partners, [n]: from the second of the pair to the first. */
static void pair_difference(const struct lgv_probe *p, const double *states, size_t i, double *out) {
    const size_t np = p->k->np, nx = p->k->nx;
    const double *plus = states + 2 * i * p->rows, *minus = plus + p->rows;
    if (p->nq) lgv_rotations_between(p->g, np, minus, plus, out);
    for (size_t r = 0; r < np; r++) out[p->nq + r] = plus[nx + r] - minus[nx + r];
}

/* The derivative of states by the formula of order 8, and how well each component is known.  work: [4 n] */
static void difference(const struct lgv_probe *p, const double *states, double h, double *out, double *error,
                       double *work) {
    static const double eight[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}, six[] = {3.0 / 4, -3.0 / 20, 1.0 / 60, 0};
    const size_t nq = p->nq;
    for (size_t i = 0; i < 4; i++) pair_difference(p, states, i, work + i * p->n);
    for (size_t r = 0; r < p->n; r++) {
        double d8 = 0, d6 = 0;
        int axis = -1;
        size_t row = r < nq && p->g ? (size_t)lgv_rotations_row(p->g, (long)r, &axis) : r < nq ? r : r - nq + p->k->nx;
        double size = axis < 0 ? fabs(states[row]) : 1;
        for (size_t i = 0; i < 4; i++) {
            d8 += eight[i] * work[i * p->n + r];
            d6 += six[i] * work[i * p->n + r];
        }
        out[r] = d8 / h; /* both formulas share the round-off of the step itself */
        error[r] = (SAFETY * 12 * fabs(d8 - d6) + 4 * DBL_EPSILON * (p->scale[r] + size)) / h;
    }
}

/* A bound of what omega(error, v) can be for v of the size of the scales. */
static double weight(const struct lgv_probe *p, const double *error) {
    double sum = 0;
    for (size_t i = 0; i < p->n; i++) sum += error[i] * p->scale[i < p->nq ? i + p->nq : i - p->nq];
    return sum;
}

static const double sizes[] = {0.2, 0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8};
#define SIZES ((int)(sizeof sizes / sizeof *sizes))

/* J u with h = sizes[s]; c receives it when it is known better than `best` says.  Its error, infinite when a step
 * fails. */
static double try_size(struct lgv_probe *p, int s, double best, struct lgv_column *c, const double *given,
                       double *work) {
    size_t n = p->n, w = p->rows, bytes = n * sizeof *work;
    double h = sizes[s], offset[8], *from = work + 8 * w;
    struct lgv_column trial = {work + 17 * w, work + 18 * w, work + 19 * w, work + 20 * w};
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
 * vanish and seem to be known very well.  The round-off of a step does not depend on h: that of the smaller h counts,
 * too, since h was chosen where one sample of it, the difference of two formulas, happened to be small. */
static bool confirmed(struct lgv_probe *p, const struct lgv_column *c, const double *given, double *work) {
    const size_t n = p->n, w = p->rows;
    struct lgv_column other = {work + 21 * w, work + 22 * w, work + 23 * w, work + 24 * w};
    int chosen = p->size;
    bool same = true;
    for (int s = chosen + 2; s < SIZES && s <= chosen + 3; s++) {
        if (!isfinite(try_size(p, s, INFINITY, &other, given, work))) continue;
        for (size_t r = 0; r < n; r++)
            same &= fabs(other.Ju[r] - c->Ju[r]) <= SAFETY * (other.Ju_error[r] + c->Ju_error[r]);
        for (size_t r = 0; r < n; r++) {
            c->Ju_error[r] = fmax(c->Ju_error[r], sizes[s] / sizes[chosen] * other.Ju_error[r]);
            c->u_error[r] = fmax(c->u_error[r], sizes[s] / sizes[chosen] * other.u_error[r]);
        }
    }
    p->size = chosen;
    return same;
}

/* *known: how well.  False when no size from `least` on works, or after a stop. */
static bool search(struct lgv_probe *p, int least, int middle, struct lgv_column *c, const double *given,
                   double *work, double *known) {
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
    *known = best;
    return isfinite(best);
}

static bool derivative(struct lgv_probe *p, struct lgv_column *c, double *work) {
    double *given = work + 16 * p->rows;
    double known = INFINITY;
    int middle = p->size;
    memcpy(given, c->u, p->n * sizeof *given);
    if (!search(p, 0, middle, c, given, work, &known)) return false;
    if (middle >= 0 && known > WELL_KNOWN * p->action && !search(p, 0, -1, c, given, work, &known)) return false;
    while (!confirmed(p, c, given, work))
        if (!search(p, p->size + 1, -1, c, given, work, &known)) return false;
    return true;
}

double lgv_omega(const struct lgv_probe *p, const double *x, const double *u, const double *v) {
    const size_t np = p->k->np;
    double s = 0, size = 0;
    for (size_t i = 0; i < np; i++) s += u[i] * v[np + i] - u[np + i] * v[i];
    return p->g ? s + lgv_rotations_pairing(p->g, x + p->k->nx, u, v, &size) : s;
}

double lgv_omega_error(const struct lgv_probe *p, const double *x, const double *u, const double *u_error,
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

/* All unit directions of a small system, or where that is asked for.  Of a larger one directions in pairs, of q and of
 * p, over the same degrees of freedom: omega(u, v) is not just 0.  Every degree of freedom is in one pair.  A pair of
 * very many is known less well, so that beyond MANY half of the pairs have PLACES each at random, others at each state.
 */
static void direction(const struct lgv_probe *p, size_t i, double *u) {
    size_t np = p->n / 2, pair = i / 2, shares = np <= MANY ? FEW_DIRECTIONS / 2 : FEW_DIRECTIONS / 4;
    memset(u, 0, p->n * sizeof *u);
    if (p->complete) {
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

static bool set_given(struct lgv_probe *p, const double *given) {
    size_t rows = lgv_increments_rows(p->k), lanes = p->k->entry->lanes;
    if (!given) return true;
    p->given = lgv_aligned(rows * lanes);
    for (size_t i = 0; p->given && i < rows * lanes; i++) p->given[i] = given[i / lanes];
    return p->given != NULL;
}

/* In units of x itself where none are given; rotations in radians. */
static bool own_scales(struct lgv_probe *p, double *scale) {
    const size_t nq = p->nq, nx = p->k->nx;
    double size[2] = {0, 0}; /* of the coordinates and of the momenta */
    for (size_t i = 0; i < p->rows; i++) {
        if (!isfinite(p->x[i])) return false;
        size[i >= nx] = fmax(size[i >= nx], fabs(p->x[i]));
    }
    for (size_t i = 0; i < p->n; i++) {
        int axis = -1;
        if (p->g && i < nq) lgv_rotations_row(p->g, (long)i, &axis);
        scale[i] = axis >= 0 ? 1 : size[i >= nq] > 0 ? size[i >= nq] : 1;
    }
    return true;
}

/* Where the step from x itself begins and ends. */
static bool find_end(struct lgv_probe *p, double *work) {
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

/* The largest defect of the form over pairs of directions, and how well it is known. */
static double worst_pair(const struct lgv_probe *p, const struct lgv_column *c, size_t count, struct lgv_defect *how) {
    double most = 0, worst[2] = {0, 0}; /* a pair whose defect is beyond its own error counts before all others */
    double unsure[2] = {0, 0};          /* of pairs of few degrees of freedom; of those that share them all */
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double d = lgv_omega(p, p->end, c[i].Ju, c[j].Ju) -
                       (how->contracts ? how->form : 1) * lgv_omega(p, p->begin, c[i].u, c[j].u);
            double e = lgv_omega_error(p, p->end, c[i].Ju, c[i].Ju_error, c[j].Ju, c[j].Ju_error) +
                       lgv_omega_error(p, p->begin, c[i].u, c[i].u_error, c[j].u, c[j].u_error);
            bool all = !p->complete && p->k->np > MANY && i < FEW_DIRECTIONS / 2;
            d = fabs(d) / p->action;
            e = e / p->action + 1e-13;
            if (d > e && d - e > worst[0] - worst[1]) worst[0] = d, worst[1] = e;
            if (!all) most = fmax(most, d);
            unsure[all] = fmax(unsure[all], e);
        }
    how->error = worst[0] > 0 ? worst[1] : unsure[0];
    how->all_error = fmax(how->error, unsure[1]);
    return worst[0] > 0 ? worst[0] : most;
}

double lgv_certificate_defect(const struct lgv_kernel *k, double t0, double dt, uint64_t seed, uint64_t path,
                              uint64_t n, const double *x, const double *scale, lgv_progress *progress, void *user,
                              struct lgv_defect *how) {
    const bool reduced = how->rotations && how->rotations->reduced;
    struct lgv_probe p = {.k = k,
                      .x = x,
                      .rows = k->nx + k->np,
                      .n = reduced ? k->np : 2 * k->np,
                      .nq = reduced ? 0 : k->np,
                      .g = how->rotations && how->rotations->nrotations ? how->rotations : NULL,
                      .path = lgv_points_stream(&how->points, path),
                      .number = path,
                      .step = n,
                      .size = how->size - 1,
                      .accepted = how->without_bath && k->method->metropolis,
                      .complete = 2 * k->np <= (how->complete || reduced ? LGV_ALL_COMPONENTS : MAX_DIRECTIONS),
                      .progress = progress,
                      .user = user};
    size_t count = p.complete ? p.n : FEW_DIRECTIONS;
    double *vectors = lgv_new(4 * count * p.n, sizeof *vectors), *own = lgv_new(p.n, sizeof *own);
    double *work = lgv_new(31 * p.rows, sizeof *work), defect = NAN;
    struct lgv_column *c = lgv_new(count, sizeof *c);
    how->volume = how->volume_error = NAN;
    if (reduced && !p.complete) goto done; /* B is known by all columns of D only */
    if (!vectors || !own || !work || !c || !own_scales(&p, own) || !set_given(&p, how->given)) goto done;
    p.scale = scale ? scale : own;
    for (size_t i = 0; i < p.nq; i++) p.action = fmax(p.action, p.scale[i] * p.scale[k->np + i]);
    if (!lgv_block_create(k, t0, dt, seed, 1, &p.b)) goto done;
    if (how->without_bath) lgv_block_without_bath(k, &p.b);
    if (!find_end(&p, work)) goto done;
    for (size_t i = 0; i < count; i++) {
        double *at = vectors + 4 * i * p.n;
        c[i] = (struct lgv_column){at, at + p.n, at + 2 * p.n, at + 3 * p.n};
        direction(&p, i, c[i].u);
        if (!derivative(&p, &c[i], work)) goto done;
    }
    if (reduced)
        lgv_poisson_find(&p, c, &defect, &how->error), how->all_error = how->error;
    else
        defect = worst_pair(&p, c, count, how);
    how->size = p.size + 1;
    if (p.complete && how->constraints)
        lgv_volume_tangent(&p, c, how);
    else if (p.complete && !k->nextra)
        lgv_volume_find(&p, c, how);
done:
    lgv_block_free(&p.b);
    free(p.given);
    free(own);
    free(vectors);
    free(c);
    free(work);
    return defect;
}
