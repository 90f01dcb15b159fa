/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Trigonometric integrators for a declared split V = V0 + V1 of the potential of H = p.M^-1 p/2 + V(q) with quadratic
 * V1: Hairer, Lubich & Wanner (2006), Geometric Numerical Integration, chapter XIII, doi 10.1007/3-540-30666-8.  With
 * M = 1, V1 = q.W^2 q/2 and x = dt W their one-step form (XIII.2.7) is
 *
 *     P = p - dt/2 psi1(x) V0'(phi(x) q),     (q', P') = exact flow of V1,     p' = P' - dt/2 psi1(x) V0'(phi(x) q'),
 *
 * psi(x) = sinc(x) psi1(x).  The filters phi and psi1 are
 *
 *                       psi           psi1              phi
 *     Gautschi          sinc^2(x/2)   tan(x/2)/(x/2)    1                            Gautschi (1961)
 *     Deuflhard         sinc x        1                 1                            Deuflhard (1979)
 *     GarciaArchilla    sinc^2 x      sinc x            sinc x                       Garcia-Archilla & al. (1998)
 *     HochbruckLubich   sinc^2(x/2)   tan(x/2)/(x/2)    sinc x (1 + sin^2(x/2)/3)    Hochbruck & Lubich (1999)
 *     HairerLubich      sinc^2 x      sinc x            1                            Hairer & Lubich (2000)
 *     GrimmHochbruck    sinc^3 x      sinc^2 x          sinc x                       Grimm & Hochbruck (2006)
 *
 * All are symmetric, of order 2, keep phase volume and are exact for V0 = 0.  A kick is symplectic if psi1 = phi:
 * Deuflhard, which is the impulse method with the exact flow, and GarciaArchilla, the mollified one.  On V0 = a q^2/2 a
 * step has the trace 2 (cos x - b psi1 phi sin x), b = dt^2 a/(2 x).  For a > 0 it is unstable just below x = k pi for
 * Deuflhard, around odd multiples of pi for Gautschi, whose psi1 is infinite there, and just below them for
 * HochbruckLubich, where psi1 phi = sinc^2(x/2) (1 + sin^2(x/2)/3) does not vanish.  The others have psi1 phi = 0 at
 * all k pi and are stable there while b < pi/2.
 *
 * In modes (src/kernel/modes.c) everything is a function of x^2 = dt^2 lambda, also where that is negative.  The
 * numbers of a width are carried with the force.  Noise h(q) is a plain kick. */
#include "kernel/text/method_file.h"

#define METHOD_DZ 0
#define MODE_ROWS 4 /* of each mode behind the force: cos - 1, sinc - 1, phi - 1, psi1 - 1 */
#define METHOD_CARRY (FORCE_ROWS + MODE_ROWS * NP)

#ifdef FILTER_PHI
#include "kernel/text/split.h"

/* cos and sinc of the root of x, of any sign. */
INLINE double trig_cos(double x) {
    return x < 0 ? __builtin_cosh(__builtin_sqrt(-x)) : __builtin_cos(__builtin_sqrt(x));
}

INLINE double trig_sinc(double x) {
    const double r = __builtin_sqrt(__builtin_fabs(x));
    if (r < 1e-4) return 1 - x / 6;
    return x < 0 ? __builtin_sinh(r) / r : __builtin_sin(r) / r;
}

/* sinc^2 of half the root: sin^2(r/2) = x/4 of it. */
INLINE double trig_half(double x) {
    const double s = trig_sinc(0.25 * x);
    return s * s;
}

/* A mode of the table, and the next one. */
struct mode {
    double lambda, centre, force;
    long count;
    const double *entry; /* [count][3]: row, u, w */
};

INLINE const double *next_mode(const double *at, struct mode *m) {
    m->lambda = at[LGV_MODE_LAMBDA];
    m->centre = at[LGV_MODE_CENTRE];
    m->force = at[LGV_MODE_FORCE];
    m->count = (long)at[LGV_MODE_COUNT];
    m->entry = at + LGV_MODE_ENTRIES;
    return m->entry + 3 * m->count;
}

/* u.x (side 1) or w.x (side 2); and x += s u or x += s w. */
INLINE vec mode_part(const struct mode *m, int side, const vec *x) {
    vec sum = vec_set(0);
    for (long k = 0; k < m->count; k++) ADD_PRODUCT(sum, m->entry[3 * k + side], x[(long)m->entry[3 * k]]);
    return sum;
}

INLINE void mode_add(const struct mode *m, int side, vec s, vec *x) {
    for (long k = 0; k < m->count; k++) ADD_PRODUCT(x[(long)m->entry[3 * k]], m->entry[3 * k + side], s);
}

#define EACH_MODE(number, m)                                                                                           \
    struct mode m = {0};                                                                                               \
    const double *at_##m = c->b->modes + 1;                                                                            \
    for (long number = 0, end_##m = (long)c->b->modes[0]; number < end_##m && (at_##m = next_mode(at_##m, &m));        \
         number++)

/* The numbers of this width. */
INLINE void mode_numbers(struct ctx *c, vec *row) {
    EACH_MODE(j, m) {
        const double x = c->dt * c->dt * m.lambda;
        row[MODE_ROWS * j] = vec_set(-0.5 * x * trig_half(x));
        row[MODE_ROWS * j + 1] = vec_set(trig_sinc(x) - 1);
        row[MODE_ROWS * j + 2] = vec_set(FILTER_PHI(x) - 1);
        row[MODE_ROWS * j + 3] = vec_set(FILTER_PSI(x) - 1);
    }
}

/* psi1(x) V0'(phi(x) q), and the forces of the noises at q. */
INLINE void filtered_force(struct ctx *c, double t, const vec *q, const vec *p, vec *carry) {
    struct force F = CARRIED_FORCE(carry);
    const vec *row = carry + FORCE_ROWS;
    vec *top = c->top;
    if (FILTER_POSITIONS) {
        ARRAY(A, NP);
        ARRAY(h, NHQ);
        struct force there = {F.H, h};
        if (NHQ > 0) model_force(c, t, q, p, &F);
        for (long i = 0; i < NP; i++) A[i] = q[i];
        EACH_MODE(j, m) mode_add(&m, 1, row[MODE_ROWS * j + 2] * (mode_part(&m, 2, q) - m.centre), A);
        model_force(c, t, A, p, &there);
    } else {
        model_force(c, t, q, p, &F);
    }
    if (FILTER_FORCES) {
        EACH_MODE(j, n) mode_add(&n, 2, row[MODE_ROWS * j + 3] * mode_part(&n, 1, F.H), F.H);
    }
    c->top = top;
}

/* z' = z + dt y + (cos - 1) (z - z*) + dt (sinc - 1) y,     y' = y - dt lambda sinc (z - z*) + (cos - 1) y,
 * and without a frequency the constant force b. */
INLINE void exact_flow(struct ctx *c, vec *q, vec *p, const vec *dW, vec *carry) {
    const vec *row = carry + FORCE_ROWS;
    const double dt = c->dt;
    ARRAY(Kp, NP);
    model_K1(c, time_at(c, 0), q, p, dt, dW, 0, Kp);
    EACH_MODE(j, m) {
        const vec bend = row[MODE_ROWS * j], slow = row[MODE_ROWS * j + 1];
        vec z = mode_part(&m, 2, q) - m.centre, y = mode_part(&m, 1, p);
        mode_add(&m, 1, bend * z + dt * slow * y - 0.5 * dt * dt * m.force, q);
        mode_add(&m, 2, bend * y - dt * m.lambda * (1.0 + slow) * z - dt * m.force, p);
    }
    for (long i = 0; i < NP; i++) q[i] += Kp[i];
}

INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    mode_numbers(c, carry + FORCE_ROWS);
    filtered_force(c, time_at(c, 0), q, p, carry);
}

INLINE void method_step(struct ctx *c, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    (void)dZ;
    split_step(c, q, p, dW, carry, filtered_force, exact_flow);
}
#endif

#ifdef LGV_HOST
#define FILTERS(phi, psi, positions, forces)                                                                           \
    .constants = "#define FILTER_PHI(x) " phi "\n#define FILTER_PSI(x) " psi "\n#define FILTER_POSITIONS " #positions  \
                 "\n#define FILTER_FORCES " #forces "\n"
#define SINC "trig_sinc(x)"
#define TANGENT "(trig_half(x)/trig_sinc(x))" /* tan(x/2)/(x/2) */
#define TRIGONOMETRIC_FACE LGV_FACE_K1 | LGV_FACE_FORCE | LGV_FACE_SPLIT | LGV_FACE_APART
#define TRIGONOMETRIC                                                                                                  \
    .family = "trigonometric", .source = "trigonometric.c", .order = 2, .strong_order = 1, .strong_noncommuting = 0.5, \
    .strong_additive = 1, .weak_order = 1, .symmetric = true, .explicit_separable = true, .carries_width = true,       \
    .linear_momentum_maps = true, .aliases = "", .face_separable = TRIGONOMETRIC_FACE,                                 \
    .face_general = TRIGONOMETRIC_FACE,                                                                                \
    .needs = LGV_NEEDS_NOISE_OF_Q | LGV_NEEDS_QUADRATIC_KINETIC | LGV_NEEDS_FLAT | LGV_NEEDS_SPLIT |                   \
             LGV_NEEDS_QUADRATIC_STIFF
#define BOOK "; Hairer, Lubich & Wanner (2006), chapter XIII, doi 10.1007/3-540-30666-8"
#define EXACT "trigonometric integrator for a quadratic stiff part V1 (`stiff`), whose flow is exact: "
const struct lgv_method lgv_method_gautschi = {
    TRIGONOMETRIC,
    .name = "Gautschi",
    .paper = "Gautschi (1961), doi 10.1007/BF01386037" BOOK,
    .doc = "Gautschi's " EXACT "constant forces beside V1 are exact too.",
    FILTERS("1.0", TANGENT, 0, 1),
    .only_shifts = true,
    .claims = "Reversible; keeps phase volume and linear momenta, and is exact where V - V1 is linear. Its one-step "
              "form has a pole where dt omega is an odd multiple of pi, and is unstable around it.",
};
const struct lgv_method lgv_method_deuflhard = {
    TRIGONOMETRIC,
    .linear = LGV_LINEAR_IMPULSE,
    .name = "Deuflhard",
    .paper = "Deuflhard (1979), doi 10.1007/BF01601932" BOOK,
    .doc = "Deuflhard's " EXACT "the impulse method without inner steps.",
    FILTERS("1.0", "1.0", 0, 0),
    .symplectic = true,
    .claims = "Symplectic; exact where V = V1; keeps momentum maps of symmetries that act linearly on the coordinates "
              "or shift them, where V1 has the symmetry too. Resonances: unstable just below dt omega = k pi.",
};
const struct lgv_method lgv_method_garcia_archilla = {
    TRIGONOMETRIC,
    .linear = LGV_LINEAR_MOLLIFIED,
    .name = "GarciaArchilla",
    .paper = "Garcia-Archilla, Sanz-Serna & Skeel (1998), doi 10.1137/S1064827596313851" BOOK,
    .doc = "Mollified impulse method as a " EXACT "V - V1 is taken at the mean of q along the stiff flow from rest.",
    FILTERS(SINC, SINC, 1, 1),
    .symplectic = true,
    .claims = "Symplectic; exact where V = V1; keeps momentum maps of symmetries that act linearly on the coordinates "
              "or shift them, where V1 has the symmetry too. No resonances of first order at dt omega = k pi.",
};
const struct lgv_method lgv_method_hochbruck_lubich = {
    TRIGONOMETRIC,
    .name = "HochbruckLubich",
    .paper = "Hochbruck & Lubich (1999), doi 10.1007/s002110050456" BOOK,
    .doc = "Gautschi's method with filtered positions, a " EXACT "errors in positions do not grow with omega.",
    FILTERS("(" SINC "*(1 + x*trig_half(x)/12))", TANGENT, 1, 1),
    .only_shifts = true,
    .claims = "Reversible; keeps phase volume and linear momenta, and is exact where V = V1. Its one-step form has a "
              "pole where dt omega is an odd multiple of pi, and is unstable just below it.",
};
const struct lgv_method lgv_method_hairer_lubich = {
    TRIGONOMETRIC,
    .name = "HairerLubich",
    .paper = "Hairer & Lubich (2000), doi 10.1137/S0036142999353594" BOOK,
    .doc = "A " EXACT "filtered forces of unfiltered positions.",
    FILTERS("1.0", SINC, 0, 1),
    .only_shifts = true,
    .claims = "Reversible; keeps phase volume and linear momenta, and is exact where V = V1. No resonances at dt "
              "omega = k pi for linear forces.",
};
const struct lgv_method lgv_method_grimm_hochbruck = {
    TRIGONOMETRIC,
    .name = "GrimmHochbruck",
    .paper = "Grimm & Hochbruck (2006), doi 10.1088/0305-4470/39/19/S10" BOOK,
    .doc = "A " EXACT "forces are filtered twice, positions once.",
    FILTERS(SINC, "(" SINC "*" SINC ")", 1, 1),
    .only_shifts = true,
    .claims = "Reversible; keeps phase volume and linear momenta, and is exact where V = V1. No resonances at dt "
              "omega = k pi for linear forces.",
};
#endif
