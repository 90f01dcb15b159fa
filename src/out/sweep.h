/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files about sweeps share. */
#ifndef LGV_OUT_SWEEP_H
#define LGV_OUT_SWEEP_H

#include "out/study_compare.h"

#define LGV_SWEEP_OBSERVABLES 8 /* that are drawn */
#define LGV_SWEEP_FIGURES (3 * LGV_SWEEP_OBSERVABLES)
size_t lgv_sweep_plan(const struct lgv_sweep *s, struct lgv_figure list[LGV_SWEEP_FIGURES]);
void lgv_sweep_script(struct lgv_text *out, const void *study, const char *dir, const struct lgv_figure *list,
                      size_t count);

#endif
