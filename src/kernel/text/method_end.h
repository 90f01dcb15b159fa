/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Last include of every file in methods/: the time loop, and with it the callback kernel. */
#include "kernel/text/loop.h"
