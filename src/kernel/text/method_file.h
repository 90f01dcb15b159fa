/* SPDX-License-Identifier: BSD-3-Clause
 *
 * First include of every file in methods/.  Inside the library it surrounds the step with the callback face, so that
 * the file also yields a kernel for models given as C functions; in generated kernels include lines are left out and
 * the generated face stands in front of the step instead. */
#ifndef LGV_METHOD_FILE_H
#define LGV_METHOD_FILE_H

#define LGV_HOST 1
#define LANES 8

#include "kernel/text/abi.h"
#include "method/method.h"
#include <lgv/lgv.h>

#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC diagnostic ignored "-Wunused-function"
#ifndef __clang__ /* gcc does not see through the small-system branch of solve_dense */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "kernel/text/lanes.h"
#include "kernel/text/noise.h"
#include "kernel/text/seldom.h"
#include "kernel/text/pivot.h"
#include "kernel/text/solve.h"
/* the callback face needs those above */
#include "kernel/text/face_callbacks.h"
#include "kernel/text/system.h"
#include "kernel/text/newton.h"
#include "kernel/text/stages.h"

#endif
