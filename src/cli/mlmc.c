/* SPDX-License-Identifier: BSD-3-Clause
 *
 * lgv run --mlmc: the mean of one observable at the end, to a tolerance, by multilevel Monte Carlo. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static int estimate(const struct lgv_arguments *a, struct lgv_model *m, const struct lgv_settings *s,
                    const struct lgv_mlmc_options *o, const char *dir) {
    struct lgv_error err = {0};
    struct lgv_mlmc_result r = {0};
    struct lgv_meter meter;
    lgv_meter_begin(&meter, !a->flags.quiet && !a->flags.json);
    lgv_meter_phase(&meter, "looking at the model and compiling kernels");
    const struct lgv_method *method;
    const char *chosen = NULL;
    enum lgv_status status = lgv_method_resolve(m, s->method, &method, &chosen, &err);
    if (!status) status = lgv_mlmc(m, s, method, o, lgv_meter_progress, &meter, &r, &err);
    r.chosen = chosen;
    lgv_meter_end(&meter);
    if (status == LGV_BAD_INPUT || status == LGV_CANNOT_RUN) {
        if (!lgv_stop_asked()) return lgv_complain(&err, status);
        fputs("lgv: interrupted before the run began\n", stderr);
        return LGV_EXIT_BROKEN;
    }
    r.command = lgv_copy(a->line);
    lgv_warn_events(m, "lgv run --mlmc");
    double largest = o->largest > 0 ? o->largest : s->step;
    if (r.nlevels && fabs(r.level[0].step - largest) > 1e-9 * largest)
        lgv_warn("the largest step is %.8g instead of %.8g: a whole number of them has to end at %.8g", r.level[0].step,
                 largest, s->until);
    if (status == LGV_INTERRUPTED) fputs("lgv: interrupted; the estimate is of the part that was done\n", stderr);
    if (!a->flags.json && !a->flags.quiet) lgv_mlmc_summary(stdout, &r, lgv_colour(stdout));
    bool good = status == LGV_OK && r.reached;
    int code = lgv_study_show(a, lgv_mlmc_json(&r), dir, "mlmc", good ? LGV_EXIT_DONE : LGV_EXIT_BROKEN);
    if (dir && code <= LGV_EXIT_BROKEN) {
        bool drawn = true;
        lgv_stop_keeps(false);
        status = a->flags.no_report ? LGV_OK : lgv_mlmc_report(&r, dir, &drawn, &err);
        code = lgv_study_written(a, dir, "mlmc", status, drawn, &err, code);
    }
    lgv_mlmc_clear(&r);
    return code;
}

int lgv_run_mlmc(const struct lgv_arguments *a, struct lgv_model *m, const struct lgv_settings *s) {
    struct lgv_error err = {0};
    struct lgv_mlmc_options o;
    bool made = false;
    enum lgv_status status = lgv_mlmc_read(&a->flags.study, &o, &err);
    char *dir = a->flags.out && !a->flags.no_files && !lgv_silent() ? lgv_copy(a->flags.out) : NULL;
    if (!status && dir) status = lgv_directory(dir, &made, &err);
    int code = status == LGV_OK ? estimate(a, m, s, &o, dir) : lgv_complain(&err, status);
    if (made) rmdir(dir);
    free(dir);
    return code;
}
