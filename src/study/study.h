/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The study stage: questions that take many runs to answer. */
#ifndef LGV_STUDY_H
#define LGV_STUDY_H

#include "study/compare.h"
#include "study/converge.h"
#include "study/mlmc.h"

#endif
