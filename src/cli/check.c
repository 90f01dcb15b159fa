/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv check: what lgv_examine finds out, for people or as JSON. */
#include "cli/check.h"

#include <stdlib.h>

static const struct lgv_flag flags[] = {
    {"set", 0, "NAME=VALUE", LGV_FLAG_SET, "a parameter of the model, or a run option; may be given many times"},
    {"json", 0, NULL, offsetof(struct lgv_flags, json), "one JSON document on standard output and nothing else"},
};

static int examine(const struct lgv_arguments *a, const struct lgv_examination *x) {
    int code = x->nproblems ? LGV_EXIT_BROKEN : LGV_EXIT_DONE;
    if (x->method_fits && !x->measured) lgv_warn("nothing was measured: %s", x->unmeasured);
    lgv_warn_model(x->model);
    if (!a->flags.json) {
        lgv_examination_print(x);
        return lgv_finish(code);
    }
    char *json = lgv_examination_json(x);
    struct lgv_error err = {0};
    if (!json) return lgv_complain(&err, lgv_fail_memory(&err));
    puts(json);
    free(json);
    return lgv_finish(code);
}

static int command_check(const struct lgv_arguments *a) {
    struct lgv_error err = {0};
    struct lgv_settings settings;
    struct lgv_model *m = NULL;
    struct lgv_examination x = {0};
    enum lgv_status status = lgv_arguments_model(a, &m, &settings, &err);
    if (!status) status = lgv_examine(m, &settings, &x, &err);
    int code = status == LGV_OK ? examine(a, &x) : lgv_complain(&err, status);
    lgv_examination_clear(&x);
    lgv_model_free(m);
    return code;
}

const struct lgv_command lgv_command_check = {
    .name = "check",
    .operand = "FILE",
    .summary = "what a model is, which methods fit, and whether its claims hold",
    .about =
        "Reads a model file and says what it is: degrees of freedom, structure recognised from the formulas, whether "
        "the noises commute, which methods fit and the order to expect of them, and how the step stands to the highest "
        "frequency at the start. Derivatives are compared with finite "
        "differences, declared symmetries are checked, and a short run of the chosen method measures the "
        "symplecticity defect and the drift of the momentum maps.\n\n"
        "Exit code 1 when something claimed does not hold.",
    .examples =
        "  lgv check kubo.yaml\n  lgv check kubo.yaml --method verlet --set beta=0.5\n  lgv check kubo.yaml --json\n",
    .run_options = true,
    .flag = flags,
    .nflags = sizeof flags / sizeof *flags,
    .run = command_check,
};
