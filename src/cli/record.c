/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Single paths of a run (`record`): stored in the folder `recorded` of its directory while they run, and joined to
 * paths.h5 when it ends. */
#include "cli/cli.h"

#include <stdlib.h>
#include <unistd.h>

char *lgv_recorded_in(const char *dir) {
    return lgv_join(dir, "recorded");
}

int lgv_recorded_join(const struct lgv_arguments *a, struct lgv_engine *e, const char *const *folder, size_t folders,
                      const char *dir, bool complete, int code) {
    struct lgv_error err = {0};
    uint64_t paths = 0, wanted = 0;
    char *file = lgv_join(dir, "paths.h5");
    enum lgv_status status =
        file ? lgv_engine_record_join(e, folder, folders, file, &paths, &wanted, &err) : lgv_fail_memory(&err);
    if (status) {
        lgv_warn("the single paths that were recorded stay as they are, in %s", folders ? folder[0] : dir);
        code = lgv_complain(&err, status);
    }
    if (!status && complete && paths < wanted) {
        lgv_warn("%s has %llu of the %llu paths that were to be recorded", file, (unsigned long long)paths,
                 (unsigned long long)wanted);
        code = LGV_EXIT_CANNOT;
    }
    if (!status && !a->flags.json && !a->flags.quiet) {
        char plain[400];
        printf("  single paths: %s, %llu of them\n", lgv_plain(plain, sizeof plain, file), (unsigned long long)paths);
        code = lgv_finish(code);
    }
    free(file);
    return code;
}

int lgv_saving_paths(const struct lgv_saving *s, const struct lgv_arguments *a, struct lgv_engine *e, bool complete,
                     int code) {
    if (!s->place || lgv_silent() || code == LGV_EXIT_CANNOT) return code;
    char *folder = lgv_recorded_in(s->place), *old = lgv_join(s->place, "paths.h5");
    if (lgv_engine_records(e) && folder) {
        code = lgv_recorded_join(a, e, (const char *const *)&folder, 1, s->place, complete, code);
        if (complete && code != LGV_EXIT_CANNOT && !s->keep) lgv_record_remove(folder);
    } else if (old) {
        unlink(old); /* that of another run must not stay beside these results */
    }
    free(folder);
    free(old);
    return code;
}
