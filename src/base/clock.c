/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The clock that durations are measured with. */
#include "base/base.h"
#include <time.h>

double lgv_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
