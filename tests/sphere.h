/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The spherical pendulum from x = (1, 0, 0), with constraint and in angles: what is seen of its paths at T = 1. */
#ifndef LGV_TESTS_SPHERE_H
#define LGV_TESTS_SPHERE_H

#include "constrained_models.h"
#include "helpers.h"

#define SEEN 7 /* x, p and H */

/* Velocity (0, 1, w0). */
static struct lgv_model *sphere_from(double noise, double w0) {
    struct lgv_model *m = model_of(SPHERE);
    static const char *const name[] = {"s", "r", "x0", "y0", "z0", "u0", "v0", "w0"};
    const double value[] = {noise, noise, 1, 0, 0, 0, 1, w0};
    for (size_t i = 0; i < 8; i++) set_parameter(m, name[i], value[i]);
    return m;
}

static struct lgv_model *angles_from(double noise, double w0) {
    struct lgv_model *m = model_of(ANGLES);
    set_parameter(m, "s", noise);
    set_parameter(m, "r", noise);
    set_parameter(m, "w0", w0);
    return m;
}

static const char *const on_sphere[] = {"x.x", "x.y", "x.z", "p_x.x", "p_x.y", "p_x.z", "H"};
static const char *const in_angles[] = {"x", "y", "z", "u", "v", "w", "H"};

/* [paths][SEEN] at T = 1 */
static double *sphere_values(struct lgv_model *m, const char *method, const char *const *name, uint64_t steps,
                             uint64_t paths, uint64_t coarsen) {
    struct lgv_kernel k = kernel_with(m, method, LANES, NULL);
    double *value = final_values(&k, 1.0 / (double)steps, steps, paths, 8, coarsen);
    double *seen = lgv_new(paths * SEEN, sizeof *seen);
    assert_non_null(seen);
    for (size_t p = 0; p < paths; p++)
        for (size_t i = 0; i < SEEN; i++) {
            seen[p * SEEN + i] = value[p * k.watch.count + watch_number(&k, name[i])];
            if (!isfinite(seen[p * SEEN + i])) fail_msg("%s: path %zu failed", method, p);
        }
    free(value);
    lgv_kernel_free(&k);
    return seen;
}

/* In x and p. */
static double distance2(const double *a, const double *b) {
    double s = 0;
    for (size_t i = 0; i < 6; i++) s += (a[i] - b[i]) * (a[i] - b[i]);
    return s;
}

#endif
