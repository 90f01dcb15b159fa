/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What models of formulas answer, file by file; private to the model stage. */
#ifndef LGV_KIND_H
#define LGV_KIND_H

#include "model/model.h"

/* structure.c, constraints.c, differences.c; *out is filled with defaults already. */
enum lgv_status lgv_formulas_structure(struct lgv_model *m, struct lgv_structure *out, struct lgv_error *err);
enum lgv_status lgv_formulas_constraint_check(struct lgv_model *m, struct lgv_start_report *out, struct lgv_error *err);
double lgv_formulas_derivative_error(struct lgv_model *m);

#endif
