/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What `lgv check` found out, printed by check_print.c. */
#ifndef LGV_CLI_CHECK_H
#define LGV_CLI_CHECK_H

#include "cli/cli.h"

void lgv_examination_print(const struct lgv_examination *x);

#endif
