/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods with a number in their names, private to the method stage. */
#ifndef LGV_METHOD_NUMBER_H
#define LGV_METHOD_NUMBER_H

#include "method/method.h"

/* NAME(number), or NAME alone with the usual one; NULL: none of these. */
const struct lgv_method *lgv_number_find(const char *name);
/* Why a name that looks like NAME(number) is none; else `why` is left alone. */
void lgv_number_explain(const char *name, char *why, size_t size);

#endif
