/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Steps between two looks at the stop flag. */
#include "run/run.h"

#define AT_MOST 0.3 /* seconds without a look */
#define CHEAP 0.05  /* of that: steps of which the most take no longer are not measured again */

uint64_t lgv_pace_begin(struct lgv_pace *p, uint64_t left, uint64_t most) {
    uint64_t n = left < most ? left : most;
    p->steps = 0;
    if (n <= 1 || (p->seconds > 0 && p->seconds * (double)most < CHEAP * AT_MOST)) return n;
    double fit = p->seconds > 0 ? AT_MOST / p->seconds : 1;
    if (fit < (double)n) n = fit > 1 ? (uint64_t)fit : 1;
    p->steps = n;
    p->begin = lgv_seconds();
    return n;
}

void lgv_pace_end(struct lgv_pace *p) {
    if (p->steps) p->seconds = (lgv_seconds() - p->begin) / (double)p->steps;
}
