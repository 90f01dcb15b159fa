/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A model given as C functions on batches of paths: the pendulum of a storage ring with noise in the accelerating
 * field,
 *
 *     H = p^2/2 - cos(q),     h = beta sin(q),
 *
 * the same as examples/synchrotron/synchrotron.yaml.  The program runs both and compares: they see the same noise, so
 * they differ by round-off only.
 *
 * Usage: callbacks [synchrotron.yaml]; without the file only the functions are run. */
#include <lgv/lgv.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct ring {
    double beta;
};

/* Arrays are [component][lane]; here there is one component and one noise, so an array is just one row of lanes. */
static void value(void *user, const struct lgv_batch *b, double *H, double *h) {
    const struct ring *ring = user;
    for (size_t l = 0; l < b->lanes; l++) {
        if (H) H[l] = 0.5 * b->p[l] * b->p[l] - cos(b->q[l]);
        if (h) h[l] = ring->beta * sin(b->q[l]);
    }
}

static void gradient(void *user, const struct lgv_batch *b, double *H_q, double *H_p, double *h_q, double *h_p) {
    const struct ring *ring = user;
    for (size_t l = 0; l < b->lanes; l++) {
        if (H_q) H_q[l] = sin(b->q[l]);
        if (H_p) H_p[l] = b->p[l];
        if (h_q) h_q[l] = ring->beta * cos(b->q[l]);
        if (h_p) h_p[l] = 0;
    }
}

static void hessian(void *user, const struct lgv_batch *b, double *H_qq, double *H_qp, double *H_pp, double *h_qq,
                    double *h_qp, double *h_pp) {
    const struct ring *ring = user;
    for (size_t l = 0; l < b->lanes; l++) {
        if (H_qq) H_qq[l] = cos(b->q[l]);
        if (H_qp) H_qp[l] = 0;
        if (H_pp) H_pp[l] = 1;
        if (h_qq) h_qq[l] = -ring->beta * sin(b->q[l]);
        if (h_qp) h_qp[l] = 0;
        if (h_pp) h_pp[l] = 0;
    }
}

/* Runs a model with a method; the mean energy and its standard error at the end. */
static enum lgv_status mean_energy(struct lgv_model *model, const char *method, double *mean, double *error,
                                   double *defect, struct lgv_error *err) {
    static const char *const option[][2] = {{"step", "0.05"}, {"until", "20"}, {"paths", "2000"}, {"seed", "7"}};
    struct lgv_run *run = NULL;
    struct lgv_result *result = NULL;
    enum lgv_status status = lgv_run_create(model, &run, err);
    for (size_t i = 0; status == LGV_OK && i < sizeof option / sizeof *option; i++)
        status = lgv_run_set(run, option[i][0], option[i][1], err);
    if (status == LGV_OK) status = lgv_run_set(run, "method", method, err);
    if (status == LGV_OK) status = lgv_run_execute(run, &result, err);
    if (result) {
        size_t count;
        lgv_result_times(result, &count);
        *mean = lgv_result_series(result, "H", LGV_MEAN)[count - 1];
        *error = lgv_result_series(result, "H", LGV_STDERR)[count - 1];
        *defect = lgv_result_symplectic_defect(result);
    }
    lgv_result_free(result);
    lgv_run_free(run);
    return status;
}

/* Both models with one method; false when something is not as it should be. */
static bool compare(struct lgv_model *functions, struct lgv_model *formulas, const char *method) {
    struct lgv_error err = {0};
    double a, b, error, defect;
    if (mean_energy(functions, method, &a, &error, &defect, &err) != LGV_OK) {
        fprintf(stderr, "%s: %s\n", method, err.message);
        return false;
    }
    printf("%-10s functions: E[H] = %.12f +- %.2g, symplectic defect %.1e\n", method, a, error, defect);
    if (!formulas) return true;
    if (mean_energy(formulas, method, &b, &error, &defect, &err) != LGV_OK) {
        fprintf(stderr, "%s: %s\n", method, err.message);
        return false;
    }
    printf("%-10s formulas:  E[H] = %.12f +- %.2g, symplectic defect %.1e\n", method, b, error, defect);
    /* The pendulum amplifies round-off along 400 steps, a little more near the saddle; the statistical error is 6e-3.
     * */
    return fabs(a - b) < 1e-9;
}

int main(int argc, char **argv) {
    struct ring ring = {.beta = 0.1};
    const double q0[] = {0}, p0[] = {1};
    const struct lgv_callbacks callbacks = {.name = "synchrotron in C",
                                            .dof = 1,
                                            .noises = 1,
                                            .user = &ring,
                                            .q0 = q0,
                                            .p0 = p0,
                                            .separable = 1,
                                            .noise_of_q = 1,
                                            .value = value,
                                            .gradient = gradient,
                                            .hessian = hessian};
    struct lgv_model *functions = NULL, *formulas = NULL;
    struct lgv_error err = {0};
    bool good = lgv_model_from_callbacks(&callbacks, &functions, &err) == LGV_OK;
    if (good && argc > 1) good = lgv_model_load(argv[1], &formulas, &err) == LGV_OK;
    if (!good) fprintf(stderr, "%s\n", err.message);
    good = good && compare(functions, formulas, "verlet") && compare(functions, formulas, "midpoint");
    lgv_model_free(formulas);
    lgv_model_free(functions);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
