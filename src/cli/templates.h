/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The model files of `lgv new`, the files of src/cli/templates as text inside the program.  Written by
 * scripts/embed.cmake at build time. */
#ifndef LGV_TEMPLATES_H
#define LGV_TEMPLATES_H

#include <stddef.h>

struct lgv_template {
    const char *name; /* file name without folders: "oscillator.yaml" */
    const char *text; /* its first line is a comment that says what it is */
};
extern const struct lgv_template lgv_templates[];
extern const size_t lgv_templates_count;

#endif
