/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Files inside the library as text: the sources a generated kernel is put together from (src/kernel/text, every file of
 * methods), and the style and script of pages (src/out/text).  Written by scripts/embed.cmake at build time. */
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
