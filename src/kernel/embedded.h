/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The sources a generated kernel is put together from, as text inside the library: abi.h lanes.h noise.h seldom.h
 * solve.h stages.h loop.h face.h of src/kernel, and every file of methods.  Written by scripts/embed.cmake at build
 * time. */
#ifndef LGV_EMBEDDED_H
#define LGV_EMBEDDED_H

#include <stddef.h>

struct lgv_embedded {
    const char *name; /* file name without folders: "lanes.h", "verlet.c" */
    const char *text;
};
extern const struct lgv_embedded lgv_embedded[];
extern const size_t lgv_embedded_count;

#endif
