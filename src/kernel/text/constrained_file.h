/* SPDX-License-Identifier: BSD-3-Clause
 *
 * First include of a file in methods/ whose step keeps constraints: method_file.h, and behind it their algebra. */
#include "kernel/text/method_file.h"
/* it needs the one above */
#include "kernel/text/constrained.h"
