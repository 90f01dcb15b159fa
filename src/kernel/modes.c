/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The modes of a quadratic stiff part, for trigonometric integrators (methods/trigonometric.c).  With
 *
 *     H1 = p.M^-1 p/2 + q.K q/2 + k.q,     M^-1 = C C^T,     C^T K C = Q diag(lambda) Q^T,
 *
 * u_j = C Q_j and w_j = C^-T Q_j = M u_j are dual to each other, u_i.w_j = delta_ij, and z_j = w_j.q, y_j = u_j.p move
 * as
 *
 *     z' = y,     y' = -lambda (z - z*) - b,     z* = -u.k/lambda, b = 0;  where lambda = 0: z* = 0, b = u.k.
 *
 * Coordinates that K or M couple make a group with modes of its own, so that the modes of many molecules have few
 * entries each.  Modes without a force are left out: there the motion is free. */
#include "kernel/bath.h"
#include "kernel/kernel.h"
#include "kernel/text/abi.h"
#include <math.h>
#include <stdlib.h>

#define MOST_IN_GROUP 500 /* coordinates: Jacobi's method takes seconds then */
#define NO_FREQUENCY 1e-13 /* of the largest eigenvalue of the group, and coordinate: round-off */

struct modes {
    struct lgv_model *m;
    struct lgv_quadratic x;
    size_t *group;  /* [np] number of the first coordinate of the group */
    size_t *member; /* [np] coordinates of the present group */
    size_t *place;  /* [np] where a coordinate stands in it */
    size_t n;       /* of them */
    double *table;  /* what the kernel gets */
    size_t count, used, capacity;
};

/* ---- groups ---- */

static size_t first_of(struct modes *s, size_t i) {
    while (s->group[i] != i) i = s->group[i] = s->group[s->group[i]];
    return i;
}

static void couple(struct modes *s, const struct lgv_number_at *entry, size_t count) {
    for (size_t k = 0; k < count; k++) {
        size_t a = first_of(s, (size_t)entry[k].row), b = first_of(s, (size_t)entry[k].col);
        s->group[a > b ? a : b] = a > b ? b : a;
    }
}

/* The entries of the present group as a matrix. */
static void gather(const struct modes *s, size_t first, const struct lgv_number_at *entry, size_t count, double *A) {
    const size_t n = s->n;
    for (size_t i = 0; i < n * n; i++) A[i] = 0;
    for (size_t k = 0; k < count; k++)
        if (s->group[entry[k].row] == first) A[s->place[entry[k].row] * n + s->place[entry[k].col]] += entry[k].value;
}

/* ---- modes of a group ---- */

/* S = C^T K C */
static void congruent(size_t n, const double *C, const double *K, double *S, double *work) {
    for (size_t i = 0; i < n * n; i++) S[i] = work[i] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; K[i * n + k] != 0 && j <= k; j++) work[i * n + j] += K[i * n + k] * C[k * n + j];
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i <= k; i++)
            for (size_t j = 0; C[k * n + i] != 0 && j < n; j++) S[i * n + j] += C[k * n + i] * work[k * n + j];
}

/* u = C Q_j, w = C^-T Q_j */
static void directions(size_t n, const double *C, const double *Q, size_t j, double *u, double *w) {
    for (size_t i = 0; i < n; i++) {
        u[i] = 0;
        for (size_t k = 0; k <= i; k++) u[i] += C[i * n + k] * Q[k * n + j];
    }
    for (size_t i = n; i-- > 0;) {
        w[i] = Q[i * n + j];
        for (size_t k = i + 1; k < n; k++) w[i] -= C[k * n + i] * w[k];
        w[i] /= C[i * n + i];
    }
}

static bool put_mode(struct modes *s, double lambda, double centre, double force, const double *u, const double *w) {
    if (!lgv_grow(&s->table, &s->capacity, s->used + LGV_MODE_ENTRIES + 3 * s->n, sizeof *s->table)) return false;
    double *to = s->table + s->used, *entry = to + LGV_MODE_ENTRIES;
    for (size_t i = 0; i < s->n; i++) {
        if (u[i] == 0 && w[i] == 0) continue;
        *entry++ = (double)s->member[i];
        *entry++ = u[i];
        *entry++ = w[i];
    }
    to[LGV_MODE_LAMBDA] = lambda;
    to[LGV_MODE_CENTRE] = centre;
    to[LGV_MODE_FORCE] = force;
    to[LGV_MODE_COUNT] = (double)((size_t)(entry - to - LGV_MODE_ENTRIES) / 3);
    s->used = (size_t)(entry - s->table);
    s->count++;
    return true;
}

static enum lgv_status put_modes(struct modes *s, const double *C, const double *S, const double *Q, double *u) {
    const size_t n = s->n;
    double largest = 0, *w = u + n;
    for (size_t j = 0; j < n; j++) largest = fmax(largest, fabs(S[j * (n + 1)]));
    for (size_t j = 0; j < n; j++) {
        double lambda = S[j * (n + 1)], force = 0, size = 0;
        directions(n, C, Q, j, u, w);
        for (size_t i = 0; i < n; i++) {
            force += u[i] * s->x.slope[s->member[i]];
            size += fabs(u[i] * s->x.slope[s->member[i]]);
        }
        if (fabs(lambda) <= NO_FREQUENCY * (double)n * largest) lambda = 0;
        if (fabs(force) <= NO_FREQUENCY * size) force = 0;
        if (lambda == 0 && force == 0) continue;
        double centre = lambda == 0 ? 0 : -force / lambda;
        if (!put_mode(s, lambda, centre, lambda == 0 ? force : 0, u, w)) return LGV_CANNOT_RUN;
    }
    return LGV_OK;
}

static enum lgv_status group_modes(struct modes *s, size_t first, struct lgv_error *err) {
    struct lgv_model *m = s->m;
    const size_t n = s->n;
    if (n > MOST_IN_GROUP)
        return lgv_model_fail(err, m->file, m->text, m->stiff_line, m->stiff_column,
                              "the stiff part couples %zu coordinates with each other, and trigonometric integrators "
                              "find the modes of up to %d; IMEX and Impulse have no such limit", n, MOST_IN_GROUP);
    double *C = lgv_new(5 * n * n + 2 * n, sizeof *C), *K = C ? C + n * n : NULL, *S = C ? K + n * n : NULL;
    double *Q = C ? S + n * n : NULL, *work = C ? Q + n * n : NULL;
    if (!C) return lgv_fail_memory(err);
    gather(s, first, s->x.inverse_mass, s->x.nmass, C);
    gather(s, first, s->x.stiffness, s->x.nstiffness, K);
    enum lgv_status status = LGV_OK;
    if (lgv_bath_cholesky(n, C)) {
        congruent(n, C, K, S, work);
        lgv_linear_diagonalise(n, S, Q);
        status = put_modes(s, C, S, Q, work + n * n);
        if (status) lgv_fail_memory(err);
    } else {
        status = lgv_model_fail(err, m->file, m->text, m->line, m->column,
                                "trigonometric integrators need positive masses: H_pp must be positive definite");
    }
    free(C);
    return status;
}

/* ---- all groups ---- */

static enum lgv_status all_groups(struct modes *s, struct lgv_error *err) {
    const size_t np = s->m->np;
    enum lgv_status status = LGV_OK;
    for (size_t i = 0; i < np; i++) s->group[i] = i;
    couple(s, s->x.stiffness, s->x.nstiffness);
    couple(s, s->x.inverse_mass, s->x.nmass);
    for (size_t i = 0; i < np; i++) s->group[i] = first_of(s, i);
    for (size_t first = 0; !status && first < np; first++) {
        if (s->group[first] != first) continue;
        s->n = 0;
        for (size_t i = first; i < np; i++) {
            if (s->group[i] != first) continue;
            s->place[i] = s->n;
            s->member[s->n++] = i;
        }
        status = group_modes(s, first, err);
    }
    return status;
}

enum lgv_status lgv_modes_prepare(struct lgv_model *m, double **out, struct lgv_error *err) {
    struct modes s = {.m = m, .used = 1, .group = lgv_new(3 * m->np, sizeof *s.group)};
    free(*out);
    *out = NULL;
    enum lgv_status status = LGV_OK;
    if (!s.group || !lgv_grow(&s.table, &s.capacity, 1, sizeof *s.table) || !lgv_model_quadratic(m, &s.x)) {
        status = m->graph->failed ? lgv_fail(err, LGV_CANNOT_RUN, "%s", m->graph->failed) : lgv_fail_memory(err);
    } else {
        s.member = s.group + m->np;
        s.place = s.member + m->np;
        status = all_groups(&s, err);
    }
    lgv_quadratic_free(&s.x);
    free(s.group);
    if (status) {
        free(s.table);
        return status;
    }
    s.table[0] = (double)s.count;
    *out = s.table;
    return LGV_OK;
}
