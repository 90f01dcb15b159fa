/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers in columns: what tables, arrays of parameters and start values are read from. */
#ifndef LGV_CSV_H
#define LGV_CSV_H

#include "base/base.h"

#define LGV_MAX_ROWS 100000
#define LGV_MAX_COLUMNS 20000

struct lgv_csv {
    size_t rows, columns;
    double *value; /* [rows][columns]; NaN where there is no number */
    int *line;     /* [rows] of the file */
    char **name;   /* [columns], or NULL: there is no line of names */
    char **odd;    /* [columns] "LINE: ..." of the first field of a column that is no number, NULL: all are; or NULL */
};

/* Every row is a line of equally many fields between commas, semicolons, tabs or blanks: finite numbers in all columns
 * that somebody uses.  The first line may be one of names; # begins a comment.  False with the reason, "LINE: ...". */
bool lgv_csv_read(const char *text, struct lgv_csv *out, char *why, size_t size);
void lgv_csv_free(struct lgv_csv *c);
/* The column of that name or number, from 0; -1: there is none. */
long lgv_csv_column(const struct lgv_csv *c, const char *name);

#endif
