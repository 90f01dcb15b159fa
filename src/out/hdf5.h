/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of results.h5, shared by its writer and its reader.  Its datasets are the rows of lgv_array_rows.
 *
 *   /                 attributes: software, format and the rows of lgv_hdf5_result
 *   /model/text       the model file as it was run
 *   /options          attributes: run options as text        /parameters   likewise, of the model
 *   /time /alive      output times, paths that contribute
 *   /statistics/NAME  mean std stderr min max q05 q25 q50 q75 q95; attributes name formula kind drift drift_mean
 *   /histograms/NAME  edge count; attributes name below above
 *   /paths            index [sample], value [sample][series][time]; dense_time, dense [sample][series][dense_time]
 *                     with keep_increments: increments, integrals [sample][step][noise], attributes bound and cut
 *   /failures         path step reason
 *   /events/NAME      and whatever else was found along the way: the rows of lgv_found_rows, numbers as attributes;
 *                     attributes name formula
 *   /certificate      attributes: the rows of lgv_hdf5_certificate; verdicts, one name a line, of which value error
 *                     limit claim holds are arrays (the reader judges the numbers anew)
 *
 * Texts have fixed length, numbers are little-endian 64 bit, datasets are contiguous: the reader accepts nothing else,
 * because every other feature of HDF5 is a way for a hostile file to reach less tested code. */
#ifndef LGV_OUT_HDF5_H
#define LGV_OUT_HDF5_H

#include "out/private.h"

#include <hdf5.h>

#define LGV_HDF5_FORMAT 1
#define LGV_HDF5_SOFTWARE "lagrangevin"

enum lgv_hdf5_type { LGV_HDF5_TEXT, LGV_HDF5_REAL, LGV_HDF5_COUNT, LGV_HDF5_INT };
struct lgv_hdf5_field {
    const char *name;
    enum lgv_hdf5_type type; /* char * (NULL: no attribute), double, uint64_t, int */
    size_t offset;
    bool later; /* older files have no such attribute: NaN or 0 then */
};
extern const struct lgv_hdf5_field lgv_hdf5_result[], lgv_hdf5_certificate[], lgv_hdf5_series[];
extern const size_t lgv_hdf5_result_count, lgv_hdf5_certificate_count, lgv_hdf5_series_count;

/* After the end of the HDF5 file proper, where HDF5 does not look, stands a seal: SEAL_MARK, size and hash of all
 * before it, 64-bit little-endian.  A file with a wrong seal is never handed to HDF5, which some damage makes crash.
 * A program that opens the file for writing (h5py to add a note, say) cuts the seal off; such a file is read, and told,
 * without it. */
#define LGV_HDF5_SEAL_MARK "LGVSEAL1"
#define LGV_HDF5_SEAL 24
void lgv_hdf5_seal(unsigned char seal[LGV_HDF5_SEAL], uint64_t size, uint64_t hash);

/* HDF5 may have been built without threads, and it prints its errors: between begin and end it is ours and silent. */
struct lgv_hdf5_guard {
    H5E_auto2_t print;
    void *data;
};
void lgv_hdf5_begin(struct lgv_hdf5_guard *guard);
void lgv_hdf5_end(const struct lgv_hdf5_guard *guard);
/* hdf5_write.c: what `put` writes, as a file.  It is built in memory, which grows in a few large steps, each of which
 * may be a copy of all that is there: `numbers` is about how many there will be. */
typedef bool lgv_hdf5_put(void *what, hid_t file);
enum lgv_status lgv_hdf5_store(lgv_hdf5_put *put, void *what, size_t numbers, const char *path, struct lgv_error *err);
bool lgv_hdf5_put_text(hid_t where, const char *name, const char *value); /* an attribute */
bool lgv_hdf5_put_array(hid_t where, const char *name, int rank, const hsize_t *dims, hid_t type, hid_t memory,
                        const void *data);

/* hdf5_read.c: looks at the bytes before HDF5 does; the seal, if there is one, is right. */
enum lgv_status lgv_hdf5_look(const char *path, uint64_t *size, bool *sealed, struct lgv_error *err);

/* What HDF5 itself says about its last failure, innermost first. */
void lgv_hdf5_reason(char *out, size_t size);

#endif
