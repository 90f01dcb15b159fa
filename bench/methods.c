/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Nanoseconds per path-step of every named method on Kubo and synchrotron, beside Stoermer-Verlet of the same run. */
#include "bench.h"

#include <math.h>
#include <stdio.h>

/* Does the method fit the model?  (bench_kernel_open would complain.) */
static bool fits(const char *text, const struct lgv_method *method) {
    struct lgv_model *m = NULL;
    struct lgv_structure s;
    char why[400];
    bool ok = lgv_model_parse(text, "bench", &m, NULL) == LGV_OK && lgv_model_structure(m, &s, NULL) == LGV_OK &&
              !lgv_kernel_refusal(method, m, &s, why, sizeof why);
    lgv_model_free(m);
    return ok;
}

/* Seconds per path-step of the method and of Verlet, timed in turn; NaN when the method does not fit. */
static double against_verlet(const char *text, const struct lgv_method *method, int rounds, double *verlet) {
    struct bench_kernel k = {0}, v = {0};
    double best = NAN;
    *verlet = NAN;
    if (fits(text, method) && bench_kernel_open(&k, text, NULL, method->name, NULL, 0.01, 2000) &&
        bench_kernel_open(&v, text, NULL, "P2N2Q2Lob", NULL, 0.01, 2000)) {
        struct contender c[] = {{method->name, bench_kernel_run, &k, 0}, {"verlet", bench_kernel_run, &v, 0}};
        bench_race(c, 2, rounds);
        best = c[0].best;
        *verlet = c[1].best;
    }
    bench_kernel_close(&k);
    bench_kernel_close(&v);
    return best;
}

void bench_methods(struct bench *b) {
    const struct lgv_method *method;
    printf("\nEvery method, ns per path-step (and as a multiple of Stoermer-Verlet in the same run)\n\n");
    printf("  %-18s %22s %22s\n", "method", "Kubo", "synchrotron");
    for (size_t i = 0; (method = lgv_method_at(i)); i++) {
        double t[2], v[2];
        t[0] = against_verlet(bench_kubo, method, b->quick ? 3 : 8, &v[0]);
        t[1] = against_verlet(bench_synchrotron, method, b->quick ? 3 : 8, &v[1]);
        if (isnan(t[0]) && isnan(t[1])) continue; /* RK4: no noise */
        printf("  %-18s", method->name);
        for (int k = 0; k < 2; k++)
            if (isnan(t[k]))
                printf(" %22s", "does not fit");
            else
                printf(" %14.2f (%5.2f)", 1e9 * t[k], t[k] / v[k]);
        printf("\n");
        bench_json_row(b, "methods",
                       json_pack("{s:s, s:o, s:o}", "method", method->name, "kubo",
                                 isnan(t[0]) ? json_null() : json_real(1e9 * t[0]), "synchrotron",
                                 isnan(t[1]) ? json_null() : json_real(1e9 * t[1])));
    }
}
