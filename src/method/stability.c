/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Which steps are stable: what methods do to oscillators q'' = -omega^2 q, and what that means for the frequencies that
 * a model has at its start.
 *
 * A step is a matrix of 2 x 2 numbers that depends on z = dt omega; it is stable while its eigenvalues stay within the
 * unit circle.  Steps made of others are products.  For methods with a number beta and a declared split V = V0 + V1 the
 * two-step form is (M + beta dt^2 V1'') (q+ - 2 q + q-) = -dt^2 V'' q, stable if and only if
 *
 *     dt^2 mu < 4,     mu the largest eigenvalue of M^-1 (V0'' + (1 - 4 beta) V1''),
 *
 * because 4 (M + beta dt^2 V1'') - dt^2 V'' has to be positive definite.  V0 = 0 gives beta >= 1/4; where V1'' vanishes
 * it is Verlet's limit for V0; and beta >= (1 + largest eigenvalue of V0''/least of V1'')/4 is enough otherwise.
 * Implicit-explicit midpoint is beta = 1/4.
 *
 * Kicks by V0 around the flow of V1 have on a mode of V1 with frequency w, along which V0 bends by a, the trace
 * 2 cos x - dt a B, B = sin x/w, x the angle of the flow, dt w or that of n Verlet steps: unstable for x between
 * k pi - 2 arctan(dt a/2w) and k pi.  Mollified ones have a A^2, A = sin x/(2 n tan(x/2n)). */
#include "method/method.h"
#include "method/rules.h"
#include <math.h>
#include <string.h>

/* ---- one oscillator ---- */

/* M <- B M */
static void apply(double a, double b, double c, double d, double M[4]) {
    double m[4] = {M[0], M[1], M[2], M[3]};
    M[0] = a * m[0] + b * m[2], M[1] = a * m[1] + b * m[3];
    M[2] = c * m[0] + d * m[2], M[3] = c * m[1] + d * m[3];
}

static void apply_verlet(double w, double square, double M[4]) {
    apply(1, 0, -0.5 * w * square, 1, M);
    apply(1, w, 0, 1, M);
    apply(1, 0, -0.5 * w * square, 1, M);
}

/* The equations of methods/galerkin.c for H = p^2/2 + z^2 q^2/2 and dt = w.  The table is described there. */
static bool apply_galerkin(const double *table, double w, double z, double M[4]) {
    enum { MOST = LGV_GALERKIN_DEGREE + LGV_RULE_NODES };
    const int s = (int)table[0], r = (int)table[1], n = s + r;
    const double *alpha = table + 11, *shape = alpha + 4 * r, *slope = shape + r * (s + 1);
    long double A[MOST * MOST] = {0}, B[MOST * 2] = {0};
    for (int mu = 0; mu < s; mu++) {
        for (int i = 0; i < r; i++) {
            double l = shape[i * (s + 1) + mu], force = w * alpha[i] * z * z;
            A[mu * n + s + i] += alpha[i] * slope[i * (s + 1) + mu];
            for (int nu = 1; nu <= s; nu++) A[mu * n + nu - 1] -= l * force * shape[i * (s + 1) + nu];
            B[2 * mu] += l * force * shape[i * (s + 1)];
        }
    }
    B[1] = -1; /* p */
    for (int i = 0; i < r; i++) {
        for (int nu = 1; nu <= s; nu++) A[(s + i) * n + nu - 1] = alpha[i] * slope[i * (s + 1) + nu];
        A[(s + i) * n + s + i] = -w * alpha[i];
        B[2 * (s + i)] = -alpha[i] * slope[i * (s + 1)];
    }
    if (!lgv_linear_solve(n, 2, A, B, 0)) return false;
    double end[2] = {0, 1};
    for (int i = 0; i < r; i++)
        for (int k = 0; k < 2; k++) {
            long double q = k == 0 ? shape[i * (s + 1)] : 0;
            for (int nu = 1; nu <= s; nu++) q += shape[i * (s + 1) + nu] * B[2 * (nu - 1) + k];
            end[k] -= (double)(w * alpha[i] * z * z * q);
        }
    apply((double)B[2 * (s - 1)], (double)B[2 * (s - 1) + 1], end[0], end[1], M);
    return true;
}

/* A step of width w on an oscillator of frequency z, behind M.  False: not known. */
static bool apply_step(const struct lgv_method *m, double w, double z, double M[4]) {
    const struct lgv_program *p = m->program;
    if (p) {
        for (size_t k = 0; k < p->count; k++)
            if (!apply_step(p->step[p->substep[k].step], w * p->substep[k].width, z, M)) return false;
        return true;
    }
    if (m->moves == LGV_MOVES_P && !m->heats) return apply(1, 0, -w * z * z, 1, M), true;
    if (m->moves & LGV_MOVES_Q) return apply(1, w, 0, 1, M), true;
    if (m->moves) return true; /* the bath: nothing without friction */
    double mass = 1 + m->number * w * w * z * z, y = w * z, y2 = y * y;
    switch (m->linear) {
    case LGV_LINEAR_VERLET: return apply_verlet(w, z * z / mass, M), true;
    case LGV_LINEAR_PULLED:
        apply(mass, 0, 0, 1, M);
        apply_verlet(w, z * z / mass, M);
        return apply(1 / mass, 0, 0, 1, M), true;
    case LGV_LINEAR_RK4: {
        double c = 1 - y2 / 2 + y2 * y2 / 24, s = 1 - y2 / 6;
        return apply(c, w * s, -y * z * s, c, M), true;
    }
    case LGV_LINEAR_FREE: { /* the midpoint rule, in methods made of it */
        double turn = 2 * atan(0.5 * y), c = cos(turn), s = sin(turn);
        return apply(c, s / z, -s * z, c, M), true;
    }
    case LGV_LINEAR_TABLE: return m->values && apply_galerkin(m->values, w, z, M);
    default: return false;
    }
}

/* The larger modulus of the eigenvalues. */
static double radius(const double M[4]) {
    double half = 0.5 * (M[0] + M[3]), det = M[0] * M[3] - M[1] * M[2], square = half * half - det;
    return square < 0 ? sqrt(det) : fabs(half) + sqrt(square);
}

#define GROWTH 1e-7 /* a step that grows by less counts as stable: round-off, and touching the unit circle */

static bool is_stable(const struct lgv_method *m, double z, bool *known) {
    double M[4] = {1, 0, 0, 1};
    *known = apply_step(m, 1, z, M);
    return !*known || radius(M) <= 1 + GROWTH;
}

double lgv_method_limit(const struct lgv_method *method) {
    const double fine = 0.002, end = 16, most = 1e4, coarser = 1.005;
    bool known;
    if (method->linear == LGV_LINEAR_FREE && !method->program) return INFINITY;
    double low = fine;
    if (!is_stable(method, low, &known)) return 0;
    if (!known) return NAN;
    for (double z = low; z < most; z = z < end ? z + fine : z * coarser) {
        if (is_stable(method, z, &known)) {
            low = z;
            continue;
        }
        double high = z;
        for (int i = 0; i < 50; i++) {
            double middle = 0.5 * (low + high);
            *(is_stable(method, middle, &known) ? &low : &high) = middle;
        }
        return 0.5 * (low + high);
    }
    return INFINITY;
}

/* ---- a declared split ---- */

static double mu_of(const struct lgv_curvature *c, double beta) {
    double least, most;
    return lgv_curvature_extremes(c, 1, 1 - 4 * beta, &least, &most) ? most : (double)NAN;
}

static double step_of(double mu) {
    return isnan(mu) ? (double)NAN : mu > 0 ? 2 / sqrt(mu) : (double)INFINITY;
}

#define MOST_BETA 1000

/* The least beta for which the step is stable; NaN: none is. */
static double least_beta(const struct lgv_curvature *c, double dt) {
    double low = 0, high = MOST_BETA;
    if (!(dt < step_of(mu_of(c, high)))) return NAN;
    for (int i = 0; i < 30; i++) {
        double middle = 0.5 * (low + high);
        *(dt < step_of(mu_of(c, middle)) ? &high : &low) = middle;
    }
    return high;
}

/* Angle of the flow of a mode with square w2 of its frequency, B and A as above; false: inner steps are unstable. */
static bool flow_of(const struct lgv_method *m, double w2, double dt, double *angle, double *B, double *A) {
    double n = m->number, w = sqrt(fabs(w2)), d = n > 0 ? dt / n : 0;
    *angle = 0, *B = dt, *A = 1;
    if (w2 < 0 || w * dt < 1e-8) return true; /* directions that V1 does not bend, or bends down: a drift, about */
    if (n > 0 && d * w >= 2) return false;
    double half = n > 0 ? asin(0.5 * d * w) : 0;
    *angle = n > 0 ? 2 * n * half : dt * w;
    *B = sin(*angle) / (n > 0 ? w * cos(half) : w);
    if (m->linear == LGV_LINEAR_MOLLIFIED) *A = n > 0 ? sin(*angle) / (2 * n * tan(half)) : sin(*angle) / *angle;
    return true;
}

/* turn: x/pi. */
static void tell_mode(const struct lgv_method *m, bool inner, double w, double turn, double rest, double dt,
                      struct lgv_stability *out) {
    if (!inner)
        snprintf(out->text, sizeof out->text,
                 "the inner steps are unstable: dt/n omega = %.3g for a frequency %.4g of the stiff part, and the "
                 "limit is 2", dt / m->number * w, w);
    else if (turn > 0)
        snprintf(out->text, sizeof out->text,
                 "resonance: the stiff part has a frequency %.4g, by which a step turns %.3g pi; %s is unstable just "
                 "below multiples of pi, here between %.3g pi and %.0f pi: choose another step", w, turn, m->name,
                 ceil(turn) - 2 / acos(-1) * atan(dt * fabs(rest) / (2 * w)), ceil(turn));
    else
        snprintf(out->text, sizeof out->text,
                 "dt^2 mu = %.3g for a direction that the stiff part does not bend, and the limit is 4: take a step "
                 "below %.3g", dt * dt * rest, 2 / sqrt(rest));
}

/* Looks at every mode of V1; the first that is unstable is told. */
static bool impulse_modes(const struct lgv_method *m, const struct lgv_curvature *c, double dt,
                          struct lgv_stability *out) {
    double square[LGV_CURVATURE_MODES], rest[LGV_CURVATURE_MODES], x, B, A;
    if (!lgv_curvature_modes(c, square, rest)) return false;
    out->stable = 1;
    for (size_t k = 0; k < c->n && out->stable; k++) {
        bool inner = flow_of(m, square[k], dt, &x, &B, &A);
        double trace = inner ? 2 * cos(x) - dt * rest[k] * B * A * A : 0, w = sqrt(fabs(square[k]));
        /* where V bends down the motion itself grows */
        out->stable = inner && (fabs(trace) <= 2 + 1e-9 || (rest[k] <= 0 && trace > 2));
        if (!out->stable) tell_mode(m, inner, w, x / acos(-1), rest[k], dt, out);
    }
    if (out->stable)
        snprintf(out->text, sizeof out->text,
                 "the step is away from the resonances of %s, as far as each mode of the stiff part by itself tells",
                 m->name);
    return true;
}

/* ---- a model ---- */

/* M + beta dt^2 V'', of V or of its stiff part, which bends downwards. */
static void tell_indefinite(const struct lgv_method *m, const char *part, double least, double dt,
                            struct lgv_stability *out) {
    if (!(least < 0) || m->number * dt * dt * -least < 1) return;
    out->stable = 0;
    snprintf(out->text, sizeof out->text,
             "M + beta dt^2 %s'' is not positive definite at the start, because %s bends downwards (least eigenvalue "
             "of M^-1 %s'' %.3g): take a step below %.4g", part, part, part, least, sqrt(1 / (-least * m->number)));
}

static void tell_split(const struct lgv_method *m, const struct lgv_curvature *c, double dt,
                       struct lgv_stability *out) {
    out->largest = step_of(mu_of(c, m->number));
    if (isnan(out->largest)) return;
    out->stable = dt < out->largest;
    bool named = strchr(m->name, '(') != NULL;
    if (!out->stable && named) out->beta = least_beta(c, dt);
    if (isinf(out->largest))
        snprintf(out->text, sizeof out->text,
                 "stable for any step here: %s", named ? "V0'' + (1 - 4 beta) V1'' bends nothing upwards"
                                                       : "V0'' bends nothing upwards");
    else
        snprintf(out->text, sizeof out->text, "%s: the step is stable %s %.4g (dt^2 mu < 4, mu of M^-1 %s)",
                 m->name, out->stable ? "up to" : "only up to", out->largest,
                 named ? "(V0'' + (1 - 4 beta) V1'')" : "V0''");
    size_t n = strlen(out->text);
    if (out->stable || !named) return;
    if (isnan(out->beta))
        snprintf(out->text + n, sizeof out->text - n,
                 "; no beta helps: the limit is Verlet's on directions that the stiff part does not bend");
    else
        snprintf(out->text + n, sizeof out->text - n, "; beta >= %.3g would do", out->beta);
}

static void tell_plain(const struct lgv_method *m, bool forced, double dt, double least, struct lgv_stability *out) {
    double z = dt * out->frequency;
    out->limit = lgv_method_limit(m);
    if (isnan(out->limit)) return;
    const bool form = m->linear == LGV_LINEAR_VERLET || m->linear == LGV_LINEAR_PULLED;
    const bool stiff = form && !m->program && m->number > 0;
    out->largest = out->frequency > 0 ? out->limit / out->frequency : (double)INFINITY;
    out->stable = z < out->limit;
    if (out->frequency == 0)
        snprintf(out->text, sizeof out->text, "nothing oscillates at the start: V bends nowhere upwards there%s",
                 forced ? ", and no force pulls back" : "");
    else if (isinf(out->limit))
        snprintf(out->text, sizeof out->text, "dt omega = %.3g at the start; %s is stable for linear forces of any "
                 "frequency%s", z, m->name, stiff ? " (beta >= 1/4)" : "");
    else
        snprintf(out->text, sizeof out->text,
                 "dt omega = %.3g at the start, and %s is %sstable up to %.4g%s%s: %s %.4g", z, m->name,
                 out->stable ? "" : "only ", out->limit, stiff ? ", since beta is below 1/4" : "",
                 out->stable ? "" : ", for linear forces", out->stable ? "steps up to" : "take a step below",
                 out->largest);
    if (stiff) tell_indefinite(m, "V", least, dt, out);
}

/* Methods with beta forgive no large omega dt^2 of springs that stand for constraints. */
static void tell_penalty(const struct lgv_method *m, const struct lgv_curvature *c, double dt,
                         struct lgv_stability *out) {
    const bool stiff = m->number > 0 && (m->linear == LGV_LINEAR_VERLET || m->linear == LGV_LINEAR_PULLED ||
                                         m->linear == LGV_LINEAR_SPLIT);
    if (!stiff || !(c->penalty > 0)) return;
    out->penalty = c->penalty * dt * dt;
    size_t n = strlen(out->text);
    snprintf(out->text + n, sizeof out->text - n,
             "%somega dt^2 = %.3g for the penalty: %s %g, what the nonlinear forces of a double pendulum stand with "
             "beta = 0.4%s", n ? "; " : "", out->penalty, out->penalty <= LGV_PENALTY_LIMIT ? "within" : "beyond",
             LGV_PENALTY_LIMIT, out->penalty <= LGV_PENALTY_LIMIT ? "" : " over long times; paths may be lost");
    if (out->penalty > LGV_PENALTY_LIMIT) out->stable = 0;
}

void lgv_method_stability(const struct lgv_method *method, struct lgv_model *m, const struct lgv_structure *s,
                          double step, size_t most_terms, struct lgv_stability *out) {
    struct lgv_curvature c;
    double least, most;
    *out = (struct lgv_stability){NAN, NAN, NAN, NAN, NAN, -1, ""};
    const bool plain = !s->constrained && !s->rotations && !s->reduced && s->hamiltonian_separable;
    if (!plain || !lgv_model_curvature(m, most_terms, &c)) return;
    if (lgv_curvature_extremes(&c, 1, 1, &least, &most)) {
        const enum lgv_linear kind = method->program ? LGV_LINEAR_UNKNOWN : method->linear;
        out->frequency = most > 0 ? sqrt(most) : 0;
        if (kind == LGV_LINEAR_SPLIT) {
            tell_split(method, &c, step, out);
            if (lgv_curvature_extremes(&c, 0, 1, &least, &most)) tell_indefinite(method, "V1", least, step, out);
        } else if (kind == LGV_LINEAR_IMPULSE || kind == LGV_LINEAR_MOLLIFIED) {
            impulse_modes(method, &c, step, out);
        } else {
            tell_plain(method, s->forced, step, least, out);
        }
        if (!method->program) tell_penalty(method, &c, step, out);
    }
    lgv_curvature_free(&c);
}
