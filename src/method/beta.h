/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods with a number beta in their names, private to the method stage. */
#ifndef LGV_METHOD_BETA_H
#define LGV_METHOD_BETA_H

#include "method/method.h"

/* NAME(beta), or NAME alone with the usual beta; NULL: none of these. */
const struct lgv_method *lgv_beta_find(const char *name);
/* Why a name that looks like NAME(beta) is none; else `why` is left alone. */
void lgv_beta_explain(const char *name, char *why, size_t size);

#endif
