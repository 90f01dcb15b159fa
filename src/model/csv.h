/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers in columns: what tables, arrays of parameters and start values are read from. */
#ifndef LGV_CSV_H
#define LGV_CSV_H

#include "base/base.h"

#define LGV_MAX_ROWS 100000
#define LGV_MAX_COLUMNS 1000

struct lgv_csv {
    size_t rows, columns;
    double *value; /* [rows][columns] */
    int *line;     /* [rows] of the file */
    char **name;   /* [columns], or NULL: there is no line of names */
};

/* Every row is a line of numbers, all of them finite and equally many, between commas, semicolons, tabs or blanks.  The
 * first may be one of names; # begins a comment.  False with the reason, "LINE: ...", in `why`. */
bool lgv_csv_read(const char *text, struct lgv_csv *out, char *why, size_t size);
void lgv_csv_free(struct lgv_csv *c);
/* The column of that name or number, from 0; -1: there is none. */
long lgv_csv_column(const struct lgv_csv *c, const char *name);

#endif
