/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Accumulators of one run, private to the statistics stage. */
#ifndef LGV_GATHER_H
#define LGV_GATHER_H

#include "stats/stats.h"

/* Sums of x - shift over the paths of one group, at every time and observable.  The shift is the first value seen. */
struct lgv_moments {
    double shift, s1, s2, min, max;
};

struct lgv_group_sums {
    struct lgv_moments *moments; /* [ntimes][nseries], NULL while the group is empty */
    uint64_t *alive;             /* [ntimes] */
    double *drift, *drift_sum;   /* [nseries] largest change; sum over paths of the largest change */
    uint64_t paths, complete;
    struct lgv_failure *failure;
    size_t nfailures, failure_capacity;
    uint64_t failed;
};

struct lgv_gather {
    const uint64_t *time_step; /* [ntimes] */
    size_t ntimes, nseries;
    struct lgv_group_sums group[LGV_GROUPS];
    uint64_t nearly; /* paths behind quantiles along time: the first ones */
    double *early;   /* [ntimes][nseries][nearly] */
    uint64_t nfinal; /* paths behind histograms: the first ones */
    double *final;   /* [nseries][nfinal] */
    size_t nkept;
    uint64_t *kept;     /* path numbers, ascending */
    double *kept_value; /* [nkept][nseries][ntimes] */
};

bool lgv_gather_begin(struct lgv_gather *g, const uint64_t *time_step, size_t ntimes, size_t nseries, uint64_t paths,
                      const uint64_t *kept, size_t nkept);
bool lgv_gather_block(void *gather, const struct lgv_block_result *block);
void lgv_gather_end(struct lgv_gather *g);
/* Fills times' statistics, samples, failures, histograms of r (series names are set, arrays are allocated here). */
bool lgv_gather_finish(struct lgv_gather *g, size_t bins, struct lgv_result *r);

#endif
