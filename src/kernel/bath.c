/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The bath of a Langevin model as numbers for the kernel.  Friction and masses are brought to modes once,
 *
 *     dp = -Gamma M^-1 p dt + sqrt(2 kT Gamma) dW,     p = T z,     dz = -D z dt + sqrt(2 kT D) dB,
 *
 * with M^-1 = C C^T, C^T Gamma C = Q D Q^T, T = C^-T Q; where both are diagonal, z is p.  A mode with rate g needs two
 * numbers of its Brownian motion in a span of length h,
 *
 *     E = integral of exp(-g (h - s)) dB_s,     F = integral of (1 - exp(-g (h - s)))/g dB_s,     B_h = E + g F,
 *
 * which over two spans a, b that follow each other combine as the flow they come from does:
 *
 *     E_ab = exp(-g b) E_a + E_b,     F_ab = F_a + (1 - exp(-g b))/g E_a + F_b.
 *
 * For g = 0 they are dW and dZ, which is what noise Hamiltonians have. */
#include "kernel/bath.h"
#include "method/method.h"
#include <math.h>
#include <stdlib.h>

void lgv_bath_free(struct lgv_bath_modes *b) {
    if (!b) return;
    free(b->rate);
    free(b->to);
    free(b->rest);
    free(b);
}

static struct lgv_bath_modes *create(size_t channels, size_t np, bool dense) {
    struct lgv_bath_modes *b = lgv_new(1, sizeof *b);
    if (!b) return NULL;
    b->channels = channels;
    b->np = np;
    b->dense = dense;
    b->rate = lgv_new(5 * channels, sizeof *b->rate);
    b->to = lgv_new(dense ? 3 * np * channels : 1, sizeof *b->to);
    b->nrest = dense ? np * np : np + channels;
    b->rest = lgv_new(b->nrest, sizeof *b->rest);
    if (!b->rate || !b->to || !b->rest) {
        lgv_bath_free(b);
        return NULL;
    }
    b->noise_rate = b->rate + channels;
    b->amplitude = b->noise_rate + channels;
    b->inverse_mass = b->amplitude + channels;
    b->temperature = b->inverse_mass + channels;
    b->from = b->to + np * channels;
    b->move = b->from + np * channels;
    return b;
}

/* ---- modes ---- */

bool lgv_bath_cholesky(size_t n, double *A) {
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < j; k++)
            for (size_t i = j; i < n; i++) A[i * n + j] -= A[i * n + k] * A[j * n + k];
        if (!(A[j * n + j] > 0)) return false;
        double root = sqrt(A[j * n + j]);
        for (size_t i = j; i < n; i++) A[i * n + j] /= root;
        for (size_t i = 0; i < j; i++) A[i * n + j] = 0;
    }
    return true;
}

/* S = C^T Gamma C, with Gamma a matrix or a diagonal. */
static void congruent(size_t n, const double *C, const double *friction, bool matrix, double *S) {
    for (size_t i = 0; i < n * n; i++) S[i] = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < n; l++) {
            double g = matrix ? friction[k * n + l] : k == l ? friction[k] : 0;
            for (size_t i = 0; g != 0 && i < n; i++)
                for (size_t j = 0; j < n; j++) S[i * n + j] += C[k * n + i] * g * C[l * n + j];
        }
}

/* T = C^-T Q, T^-1 = Q^T C^T, M^-1 T = C Q. */
static void transformations(size_t n, const double *C, const double *Q, struct lgv_bath_modes *b) {
    for (size_t j = 0; j < n; j++)
        for (size_t back = 0; back < n; back++) {
            size_t i = n - 1 - back;
            double x = Q[i * n + j], y = 0, z = 0;
            for (size_t k = i + 1; k < n; k++) x -= C[k * n + i] * b->to[k * n + j];
            b->to[i * n + j] = x / C[i * n + i];
            for (size_t k = 0; k < n; k++) {
                y += Q[k * n + j] * C[i * n + k];
                z += C[i * n + k] * Q[k * n + j];
            }
            b->from[j * n + i] = y;
            b->move[i * n + j] = z;
        }
}

static struct lgv_bath_modes *dense_modes(size_t n, const double *friction, bool matrix, double *inverse, double kT) {
    struct lgv_bath_modes *b = create(n, n, true);
    double *S = lgv_new((2 * n + 1) * n, sizeof *S), *Q = S ? S + n * n : NULL, *before = S ? Q + n * n : NULL;
    if (b && S && lgv_bath_cholesky(n, inverse)) {
        congruent(n, inverse, friction, matrix, S);
        for (size_t k = 0; k < n; k++) before[k] = S[k * (n + 1)];
        lgv_linear_diagonalise(n, S, Q);
        transformations(n, inverse, Q, b);
        for (size_t i = 0; i < n * n; i++) b->rest[i] = matrix ? friction[i] : i % (n + 1) ? 0 : friction[i / n];
        for (size_t j = 0; j < n; j++) { /* round-off of what a mode consists of is no friction */
            double size = 0;
            for (size_t k = 0; k < n; k++) size += Q[k * n + j] * Q[k * n + j] * before[k];
            b->rate[j] = S[j * (n + 1)] > 1e-14 * size ? S[j * (n + 1)] : 0;
            b->noise_rate[j] = b->rate[j];
            b->amplitude[j] = sqrt(2 * kT * b->rate[j]);
            b->temperature[j] = kT;
            b->inverse_mass[j] = 1;
        }
    } else {
        lgv_bath_free(b);
        b = NULL;
    }
    free(S);
    return b;
}

/* ---- the whole ---- */

bool lgv_bath_dense(const struct lgv_model *m, const struct lgv_structure *s, bool varying) {
    return m->bath.kind == LGV_FRICTION_MATRIX || (!s->diagonal_mass && !varying);
}

/* Masses that vary are in the step: here they are 1. */
static bool inverse_masses(struct lgv_model *m, bool dense, bool varying, double *inverse, double *shift) {
    if (!varying) return lgv_model_masses(m, !dense, inverse, shift);
    for (size_t i = 0; i < m->np; i++) inverse[dense ? i * (m->np + 1) : i] = 1;
    return true;
}

/* With constraints: is Gamma = gamma M, so that projecting the free map is exact? */
static bool is_exact(const struct lgv_bath_modes *b, bool constrained) {
    for (size_t j = 1; constrained && j < b->channels; j++)
        if (fabs(b->rate[j] - b->rate[0]) > 1e-13 * b->rate[0]) return false;
    return !constrained || b->channels == b->np;
}

static struct lgv_bath_modes *diagonal_modes(const struct lgv_model *m, const double *friction, const double *inverse,
                                             const double *kT) {
    struct lgv_bath_modes *b = create(m->bath.rows, m->np, false);
    for (size_t i = 0; b && i < m->np; i++) b->rest[i] = inverse[i];
    for (size_t j = 0; b && j < b->channels; j++) {
        size_t i = m->bath.row[j];
        b->rest[m->np + j] = friction[i];
        b->rate[j] = b->noise_rate[j] = friction[i] * inverse[i];
        b->amplitude[j] = sqrt(2 * kT[i] * friction[i]);
        b->inverse_mass[j] = inverse[i];
        b->temperature[j] = kT[i];
    }
    return b;
}

enum lgv_status lgv_bath_prepare(struct lgv_model *m, const struct lgv_structure *s, bool varying,
                                 struct lgv_bath_modes **out, struct lgv_error *err) {
    const size_t n = m->np;
    const bool matrix = m->bath.kind == LGV_FRICTION_MATRIX, dense = lgv_bath_dense(m, s, varying);
    double *friction = lgv_new(matrix ? n * n : n, sizeof *friction), *kT = lgv_new(2 * n, sizeof *kT);
    double *inverse = lgv_new(dense ? n * n : n, sizeof *inverse);
    enum lgv_status status = friction && kT && inverse ? lgv_model_bath_values(m, friction, kT, err) : LGV_CANNOT_RUN;
    if (!status) status = lgv_model_bath_start(m, err);
    bool light = false; /* a mass is not positive */
    lgv_bath_free(*out);
    *out = NULL;
    if (!status && inverse_masses(m, dense, varying, inverse, kT + n))
        *out = dense ? dense_modes(n, friction, matrix, inverse, kT[m->bath.row[0]])
                     : diagonal_modes(m, friction, inverse, kT);
    if (*out) (*out)->one_temperature = m->bath.one_temperature;
    if (*out) (*out)->steady = m->bath.kind != LGV_FRICTION_OF_Q && !varying;
    for (size_t j = 0; *out && !dense && j < (*out)->channels; j++) light = light || !((*out)->inverse_mass[j] > 0);
    if (*out) (*out)->exact = (*out)->steady && is_exact(*out, m->nconstraints > 0);
    if (*out && !(*out)->exact)
        for (size_t j = 0; j < (*out)->channels; j++) (*out)->noise_rate[j] = 0;
    free(friction);
    free(kT);
    free(inverse);
    if (!status && (light || (dense && !*out)))
        return lgv_model_fail(err, m->file, m->text, m->bath.line, m->bath.column,
                              "friction needs positive masses: H_pp must be positive definite");
    if (status || !*out) return status ? status : lgv_fail_memory(err);
    if ((*out)->exact || !dense || varying || m->nconstraints <= LGV_DENSE_MIXED) return LGV_OK;
    return lgv_model_fail(err, m->file, m->text, m->bath.line, m->bath.column,
                          "with more than %d constraints and masses off the diagonal or a friction matrix the friction "
                          "must be the same multiple of the mass everywhere", LGV_DENSE_MIXED);
}

/* ---- a span ---- */

/* (x - 2 (1 - exp(-x)) + (1 - exp(-2 x))/2) / x^3, of which little is left for small x. */
static double spread(double x) {
    double sum = 0, power = 1, factorial = 2, two = 4;
    if (x > 1) return (x + 2 * expm1(-x) - expm1(-2 * x) / 2) / (x * x * x);
    for (int n = 2; n < 30; n++) {
        sum += (two - 2) / ((n + 1) * factorial) * power;
        power *= -x;
        factorial *= n + 1;
        two *= 2;
    }
    return sum;
}

static double relaxed(double x) { /* (1 - exp(-x)) / x */
    return x == 0 ? 1 : -expm1(-x) / x;
}

/* exp(-g h), (1 - exp(-g h))/g, and E, F in terms of two normals: E = s chi, F = c chi + r eta. */
static void span(double g, double h, double out[5]) {
    double x = g * h, both = h * relaxed(x), E = h * relaxed(2 * x), F = h * h * h * spread(x);
    out[0] = exp(-x);
    out[1] = both;
    out[2] = sqrt(E);
    out[3] = both * both / 2 / out[2];
    out[4] = sqrt(F - out[3] * out[3]);
}

size_t lgv_bath_numbers(const struct lgv_bath_modes *b, size_t noises) {
    return 1 + 5 * (noises + b->channels) + 5 * b->channels + (b->dense ? 3 * b->np * b->channels : 0) + b->nrest;
}

void lgv_bath_fill(const struct lgv_bath_modes *b, size_t noises, unsigned spans, double dt, uint64_t coarsen,
                   double *out) {
    double whole = dt / spans, fine = whole / (double)coarsen;
    *out++ = b->exact;
    for (size_t j = 0; j < noises + b->channels; j++, out += 5)
        span(j < noises ? 0 : b->noise_rate[j - noises], fine, out);
    for (size_t j = 0; j < b->channels; j++, out += 5) {
        double x[5];
        span(b->rate[j], whole, x);
        out[0] = x[0];
        out[1] = x[1];
        out[2] = b->amplitude[j];
        out[3] = b->inverse_mass[j];
        out[4] = b->temperature[j];
    }
    for (size_t i = 0; b->dense && i < 3 * b->np * b->channels; i++) *out++ = b->to[i];
    for (size_t i = 0; i < b->nrest; i++) *out++ = b->rest[i];
}

#define NEVER 1e-100 /* a rate that does nothing, and is no zero to divide by; its inverse: kT that accepts all */

void lgv_bath_switch_off(const struct lgv_bath_modes *b, size_t noises, unsigned spans, double dt, bool accepts,
                         double *numbers) {
    double *draw = numbers + 1 + 5 * noises, *channel = draw + 5 * b->channels, *rest = channel + 5 * b->channels;
    rest += b->dense ? 3 * b->np * b->channels : 0;
    for (size_t j = 0; j < b->channels; j++, draw += 5, channel += 5) {
        for (size_t i = 2; i < 5; i++) draw[i] = 0; /* E = F = 0 */
        channel[0] = 1;
        channel[1] = dt / spans;
        channel[2] = 0;
        channel[3] = NEVER; /* 1/m of the friction that is a function of q */
        channel[4] = accepts ? 1 / NEVER : 0;
    }
    for (size_t i = b->dense ? 0 : b->np; i < b->nrest; i++) rest[i] = 0; /* Gamma */
}

/* ---- what it keeps ---- */

static double contracted(double g, double dt, int how) {
    double x = g * dt;
    switch (how) {
    case LGV_CONTRACTS_EXACTLY: return exp(-x);
    case LGV_CONTRACTS_EXPLICITLY: return 1 - x;
    case LGV_CONTRACTS_IMPLICITLY: return 1 / (1 + x);
    case LGV_CONTRACTS_HALF: return (1 - x / 2) / (1 + x / 2);
    default: return NAN;
    }
}

void lgv_bath_contraction(const struct lgv_bath_modes *b, int contraction, double dt, double *form, double *volume) {
    *form = *volume = b->steady ? 1 : NAN;
    for (size_t j = 0; b->steady && j < b->channels; j++) *volume *= contracted(b->rate[j], dt, contraction);
    *form = b->steady && is_exact(b, true) ? contracted(b->rate[0], dt, contraction) : NAN;
}

double lgv_bath_fastest(const struct lgv_bath_modes *b) {
    double rate = 0;
    for (size_t j = 0; b->steady && j < b->channels; j++) rate = fmax(rate, b->rate[j]);
    return rate;
}
