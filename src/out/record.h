/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of what `record` writes, in the files of a folder and in paths.h5 alike:
 *
 *   /                 attributes: software, record (version of this layout), run, model, method, version, seed, step
 *   /path             numbers of the paths, ascending; in the same order:
 *   /status /steps    0 or why the path failed or stopped (names in the attribute `words`), and steps it has made
 *   /time             of states                     /rows   names of the components of a state, one in each row
 *   /final            [path][row]                   at the end, or where the path stopped; NaN where it failed
 *   /states           [path][time][row]             NaN after a failure or a stop
 *   /dW /dZ           [path][step][noise]
 *
 * The large ones are in compressed chunks of about a megabyte. */
#ifndef LGV_OUT_RECORD_H
#define LGV_OUT_RECORD_H

#include "out/hdf5.h"

#define LGV_RECORD_FORMAT 1
#define LGV_RECORD_COLUMNS 4

struct lgv_column { /* [path][dims] numbers */
    const char *name;
    int rank; /* of dims */
    hsize_t dims[2];
    size_t count; /* of one path */
};
struct lgv_rows { /* paths in memory */
    size_t count;
    uint64_t *path, *steps;
    int64_t *status;
    double *value[LGV_RECORD_COLUMNS]; /* [count][dims]; NULL: there is no such column */
};
size_t lgv_record_columns(const struct lgv_plan *plan, struct lgv_column out[LGV_RECORD_COLUMNS]);
bool lgv_rows_create(struct lgv_rows *r, const struct lgv_column *c, size_t columns, size_t count);
void lgv_rows_free(struct lgv_rows *r);

/* What a file of records is about. */
struct lgv_record_head {
    const struct lgv_plan *plan;
    const struct lgv_model *model;
    const char *run;
};
/* All but the rows: attributes, times, names; and datasets for so many paths, which lgv_record_put fills from `at` on.
 * False: HDF5 knows why. */
bool lgv_record_begin_file(hid_t file, const struct lgv_record_head *h, size_t paths);
bool lgv_record_put(hid_t file, const struct lgv_record_head *h, const struct lgv_rows *rows, size_t at);

#define LGV_RECORD_PREFIX "unit-" /* of the names of files in a folder */

#endif
