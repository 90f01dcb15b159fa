/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Fuzz target: any bytes as a model file.  A model that is accepted must also give its increment Hamiltonian, the terms
 * of its gradient, and start values, without touching memory that is not its own. */
#include "model/model.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct lgv_model *m) {
    struct lgv_function f;
    struct lgv_terms q = {0}, p = {0};
    struct lgv_evaluator e;
    if (!lgv_model_increment(m, &f)) abort(); /* the loader has tried it */
    lgv_terms_gradient(m->graph, &f, LGV_Q, &q);
    lgv_terms_gradient(m->graph, &f, LGV_P, &p);
    double *state = lgv_new(3 * m->np + m->nnoise + 2, sizeof *state), *out = lgv_new(m->np, sizeof *out);
    double *draw = lgv_new((size_t)(m->draws[0] + m->draws[1]) + 2, sizeof *draw); /* the first: LGV_PATH */
    if (!m->graph->failed && m->np <= 1000 && state && out && draw && lgv_eval_begin(&e, m->graph)) {
        struct lgv_env env = {.par = m->par,
                              .space = {[LGV_Q] = state,
                                        [LGV_P] = state + m->np,
                                        [LGV_V] = state + (m->nx + m->np),
                                        [LGV_WEIGHTS] = state + 3 * m->np,
                                        [LGV_NORMAL] = draw + 1,
                                        [LGV_UNIFORM] = draw + 1}};
        for (size_t k = 0; k < m->nx + m->np; k++) state[k] = lgv_eval_node(&e, m->start[k], &env, NULL);
        lgv_eval_terms(&e, &q, &env, out, m->np, 0);
        lgv_eval_terms(&e, &p, &env, out, m->np, 0);
        lgv_eval_end(&e);
        struct lgv_start_report report;
        lgv_model_constraint_check(m, &report, NULL);
    }
    free(state);
    free(out);
    free(draw);
    lgv_terms_free(&q);
    lgv_terms_free(&p);
    lgv_function_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = 0;
    struct lgv_model *m = NULL;
    struct lgv_error err = {0};
    if (lgv_model_parse(text, "fuzz.yaml", &m, &err) == LGV_OK)
        use(m);
    else if (m || !err.message[0])
        abort();
    lgv_model_free(m);
    free(text);
    return 0;
}
