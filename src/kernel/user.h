/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a block's `user` points to for models given as C functions. */
#ifndef LGV_USER_H
#define LGV_USER_H

#include <lgv/lgv.h>

#define LGV_WATCHED_DOF 8 /* up to this many degrees of freedom all coordinates and momenta are observed */

struct lgv_kernel_user {
    const struct lgv_callbacks *callbacks;
    const double *values; /* constants of the method */
    const struct lgv_program *program; /* its substeps, when it is made of others */
};

#endif
