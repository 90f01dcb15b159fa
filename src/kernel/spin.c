/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The inertia of rotations as numbers for the kernel.  I = C diag(I1, I2, I3) C^T with a rotation C from principal axes
 * to the axes of the body frame, so that free steps (text/rotor.h) know principal axes only. */
#include "kernel/kernel.h"
#include "kernel/text/abi.h"
#include <math.h>
#include <stdlib.h>

/* A = C diag(A) C^T by Jacobi's rotations, the diagonal being left in A: entry by entry, so that a small moment beside
 * large ones is as exact as these. */
static void principal_axes(double A[9], double C[9]) {
    for (int i = 0; i < 9; i++) C[i] = i % 4 == 0;
    for (int sweep = 0; sweep < 30; sweep++)
        for (size_t i = 0; i < 2; i++)
            for (size_t j = i + 1; j < 3; j++)
                if (fabs(A[3 * i + j]) > 1e-17 * (fabs(A[4 * i]) + fabs(A[4 * j]))) lgv_linear_rotate(3, A, C, i, j);
}

void lgv_spin_numbers(const double inertia[3], double *out) {
    int a = 0;
    for (int i = 0; i < 3; i++) {
        double before = inertia[i], middle = inertia[(i + 1) % 3], behind = inertia[(i + 2) % 3];
        out[LGV_SPIN_I + i] = inertia[i];
        out[LGV_SPIN_INVERSE + i] = 1 / inertia[i];
        if ((before <= middle && middle <= behind) || (before >= middle && middle >= behind)) a = i;
    }
    double Ia = inertia[a], Ib = inertia[(a + 1) % 3], Ic = inertia[(a + 2) % 3];
    out[LGV_SPIN_FIRST] = a;
    out[LGV_SPIN_MIDDLE] = 1 / Ib;
    out[LGV_SPIN_SPREAD] = (Ic - Ia) / Ia / Ic;
    out[LGV_SPIN_PART] = Ia == Ic ? 0.5 : (Ib - Ia) / (Ic - Ia) * (Ic / Ib);
    out[LGV_SPIN_REST] = Ia == Ic ? 0.5 : (Ic - Ib) / (Ic - Ia) * (Ia / Ib);
}

/* Of the quaternions within two units in the last place the one whose norm is nearest to 1: what is left turns into a
 * drift of |m|, since every step turns there and back by the same numbers. */
static void polish(double *t) {
    double best[4] = {t[0], t[1], t[2], t[3]};
    long double least = 1;
    for (int code = 0; code < 625; code++) {
        double x[4];
        long double square = -1;
        for (int k = 0, rest = code; k < 4; k++, rest /= 5) {
            x[k] = t[k];
            for (int i = rest % 5; i < 2; i++) x[k] = nextafter(x[k], -2);
            for (int i = rest % 5; i > 2; i--) x[k] = nextafter(x[k], 2);
            square += (long double)x[k] * x[k];
        }
        if (fabsl(square) >= least) continue;
        least = fabsl(square);
        for (int k = 0; k < 4; k++) best[k] = x[k];
    }
    for (int k = 0; k < 4; k++) t[k] = best[k];
}

static void fill(const double inverse[9], double *out) {
    double A[9], C[9], inertia[3];
    for (int k = 0; k < 9; k++) A[k] = inverse[k];
    principal_axes(A, C);
    for (int k = 0; k < 3; k++) inertia[k] = 1 / A[4 * k];
    lgv_spin_numbers(inertia, out);
    lgv_rotations_quaternion(C, out + LGV_SPIN_TILT);
    polish(out + LGV_SPIN_TILT);
}

/* The screws of kirchhoff.h, slow turns first. */
static void screws(const double inverse[36], double *out) {
    double A[9], C[9];
    int order[3] = {0, 1, 2};
    for (int i = 0; i < 9; i++) A[i] = inverse[6 * (i / 3) + i % 3];
    principal_axes(A, C);
    for (int i = 0; i < 2; i++)
        for (int j = i + 1; j < 3; j++)
            if (A[4 * order[j]] < A[4 * order[i]]) {
                int k = order[i];
                order[i] = order[j];
                order[j] = k;
            }
    for (int n = 0; n < 3; n++) {
        const int k = order[n];
        double *a = out + 7 * n, rate = a[0] = A[4 * k];
        for (int i = 0; i < 3; i++) {
            a[1 + i] = C[3 * i + k];
            a[4 + i] = 0;
            for (int j = 0; j < 3; j++) a[4 + i] += inverse[6 * j + 3 + i] * C[3 * j + k] / rate;
        }
    }
}

void lgv_coupled_numbers(const double inverse[36], double *out) {
    long double A[36], B[36];
    double trace[2] = {0, 0};
    for (int i = 0; i < 36; i++) {
        A[i] = out[LGV_COUPLED_INVERSE + i] = inverse[i];
        B[i] = i % 7 == 0;
    }
    lgv_linear_solve(6, 6, A, B, 0); /* definite: lgv_model_inertia has seen to it */
    for (int i = 0; i < 36; i++) {
        out[LGV_COUPLED_INERTIA + i] = (double)((B[i] + B[6 * (i % 6) + i / 6]) / 2);
        if (i % 7 == 0) trace[i / 21] += (double)B[i];
    }
    out[LGV_COUPLED_LENGTH] = sqrt(trace[0] / trace[1]);
    for (int i = 0; i < 9; i++) {
        A[i] = out[LGV_COUPLED_INERTIA + 6 * (3 + i / 3) + 3 + i % 3];
        B[i] = i % 4 == 0;
    }
    lgv_linear_solve(3, 3, A, B, 0);
    for (int i = 0; i < 9; i++) out[LGV_COUPLED_LIGHT + i] = (double)((B[i] + B[3 * (i % 3) + i / 3]) / 2);
    screws(inverse, out + LGV_COUPLED_SCREWS);
}

enum lgv_status lgv_spin_prepare(struct lgv_model *m, double **out, struct lgv_error *err) {
    const size_t bodies = lgv_model_bodies(m, false), coupled = lgv_model_bodies(m, true);
    double *inverse = lgv_new(9 * bodies + 36 * coupled, sizeof *inverse);
    double *spin = lgv_new(LGV_SPIN * bodies + LGV_COUPLED_NUMBERS * coupled, sizeof *spin);
    enum lgv_status status = inverse && spin ? lgv_model_inertia(m, inverse, err) : lgv_fail_memory(err);
    for (size_t k = 0; !status && k < bodies; k++) fill(inverse + 9 * k, spin + LGV_SPIN * k);
    for (size_t k = 0; !status && k < coupled; k++)
        lgv_coupled_numbers(inverse + 9 * bodies + 36 * k, spin + LGV_SPIN * bodies + LGV_COUPLED_NUMBERS * k);
    free(inverse);
    free(*out);
    *out = status ? NULL : spin;
    if (status) free(spin);
    return status;
}
