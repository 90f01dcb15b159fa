/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Last include of every file in methods/: the time loop, and with it the callback kernel. */
#include "kernel/text/loop.h"

/* The step as a value: what methods made of it need. */
static long step_carry(struct ctx *c) {
    (void)c;
    return METHOD_CARRY;
}
static const struct lgv_step KERNEL_STEP = {step_carry, method_begin, method_step};
