/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The tables of results.h5 and the manners towards the HDF5 library. */
#include "out/hdf5.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define ROW(structure, name, type, field)                                                                              \
    { name, type, offsetof(struct structure, field), false }
#define LATER(structure, name, type, field)                                                                            \
    { name, type, offsetof(struct structure, field), true }
#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

const struct lgv_hdf5_field lgv_hdf5_result[] = {
    ROW(lgv_result, "model", LGV_HDF5_TEXT, model_name),
    ROW(lgv_result, "model_file", LGV_HDF5_TEXT, model_file),
    ROW(lgv_result, "method", LGV_HDF5_TEXT, method),
    ROW(lgv_result, "method_doc", LGV_HDF5_TEXT, method_doc),
    LATER(lgv_result, "method_reason", LGV_HDF5_TEXT, method_reason),
    ROW(lgv_result, "version", LGV_HDF5_TEXT, version),
    ROW(lgv_result, "compiler", LGV_HDF5_TEXT, compiler),
    ROW(lgv_result, "command", LGV_HDF5_TEXT, command),
    ROW(lgv_result, "date", LGV_HDF5_TEXT, date),
    ROW(lgv_result, "dof", LGV_HDF5_COUNT, dof),
    ROW(lgv_result, "noises", LGV_HDF5_COUNT, nnoise),
    ROW(lgv_result, "constraints", LGV_HDF5_COUNT, nconstraints),
    ROW(lgv_result, "start", LGV_HDF5_REAL, t0),
    ROW(lgv_result, "step", LGV_HDF5_REAL, step),
    ROW(lgv_result, "until", LGV_HDF5_REAL, until),
    ROW(lgv_result, "steps", LGV_HDF5_COUNT, steps),
    ROW(lgv_result, "steps_done", LGV_HDF5_COUNT, steps_done),
    ROW(lgv_result, "paths", LGV_HDF5_COUNT, paths),
    ROW(lgv_result, "paths_done", LGV_HDF5_COUNT, paths_done),
    ROW(lgv_result, "seed", LGV_HDF5_COUNT, seed),
    ROW(lgv_result, "threads", LGV_HDF5_COUNT, threads),
    ROW(lgv_result, "lanes", LGV_HDF5_COUNT, lanes),
    ROW(lgv_result, "interrupted", LGV_HDF5_INT, interrupted),
    ROW(lgv_result, "seconds", LGV_HDF5_REAL, seconds),
    LATER(lgv_result, "paths_seconds", LGV_HDF5_REAL, paths_seconds),
    ROW(lgv_result, "compile_seconds", LGV_HDF5_REAL, compile_seconds),
    ROW(lgv_result, "path_steps_per_second", LGV_HDF5_REAL, path_steps_per_second),
    ROW(lgv_result, "newton_iterations", LGV_HDF5_REAL, newton_iterations),
    ROW(lgv_result, "sample_paths", LGV_HDF5_COUNT, sample_paths),
    LATER(lgv_result, "tallied_paths", LGV_HDF5_COUNT, tallied_paths),
    ROW(lgv_result, "truncation", LGV_HDF5_REAL, truncation),
    ROW(lgv_result, "truncated", LGV_HDF5_COUNT, truncated),
    ROW(lgv_result, "failed", LGV_HDF5_COUNT, failed),
    LATER(lgv_result, "stopped", LGV_HDF5_COUNT, stopped),
    LATER(lgv_result, "metropolis", LGV_HDF5_INT, metropolis),
    LATER(lgv_result, "acceptance", LGV_HDF5_REAL, acceptance),
    LATER(lgv_result, "astray", LGV_HDF5_REAL, astray),
    LATER(lgv_result, "rescue", LGV_HDF5_INT, rescue),
    LATER(lgv_result, "weak", LGV_HDF5_INT, weak),
    LATER(lgv_result, "rescued", LGV_HDF5_COUNT, rescued),
    LATER(lgv_result, "halvings", LGV_HDF5_COUNT, halvings),
    LATER(lgv_result, "increments_file", LGV_HDF5_TEXT, increments_file),
};
const size_t lgv_hdf5_result_count = COUNT_OF(lgv_hdf5_result);

const struct lgv_hdf5_field lgv_hdf5_certificate[] = {
    ROW(lgv_certificate, "symplectic_defect", LGV_HDF5_REAL, symplectic_defect),
    ROW(lgv_certificate, "symplectic_defect_error", LGV_HDF5_REAL, symplectic_defect_error),
    LATER(lgv_certificate, "symplectic_defect_error_all", LGV_HDF5_REAL, defect_all_error),
    ROW(lgv_certificate, "defect_states", LGV_HDF5_COUNT, defect_states),
    ROW(lgv_certificate, "constraint", LGV_HDF5_REAL, constraint),
    ROW(lgv_certificate, "hidden_constraint", LGV_HDF5_REAL, hidden_constraint),
    LATER(lgv_certificate, "start_constraint", LGV_HDF5_REAL, start_constraint),
    LATER(lgv_certificate, "start_hidden", LGV_HDF5_REAL, start_hidden),
    LATER(lgv_certificate, "constraint_size", LGV_HDF5_REAL, constraint_size),
    LATER(lgv_certificate, "hidden_size", LGV_HDF5_REAL, hidden_size),
    ROW(lgv_certificate, "symplectic_claim", LGV_HDF5_INT, symplectic_claim),
    ROW(lgv_certificate, "time_dependent", LGV_HDF5_INT, time_dependent),
    ROW(lgv_certificate, "noise_commutes", LGV_HDF5_INT, noise_commutes),
    ROW(lgv_certificate, "commutes_decided", LGV_HDF5_INT, commutes_decided),
    ROW(lgv_certificate, "strong_order", LGV_HDF5_REAL, strong_order),
    ROW(lgv_certificate, "weak_order", LGV_HDF5_REAL, weak_order),
    ROW(lgv_certificate, "order_reason", LGV_HDF5_TEXT, order_reason),
    LATER(lgv_certificate, "commutes_reason", LGV_HDF5_TEXT, commutes_reason),
    LATER(lgv_certificate, "dissipative", LGV_HDF5_INT, dissipative),
    LATER(lgv_certificate, "bath", LGV_HDF5_INT, bath),
    LATER(lgv_certificate, "temperature", LGV_HDF5_REAL, temperature),
    LATER(lgv_certificate, "bias_order", LGV_HDF5_REAL, bias_order),
    LATER(lgv_certificate, "friction_step", LGV_HDF5_REAL, friction_step),
    LATER(lgv_certificate, "friction_limit", LGV_HDF5_REAL, friction_limit),
    LATER(lgv_certificate, "friction_exact", LGV_HDF5_INT, friction_exact),
    LATER(lgv_certificate, "highest_frequency", LGV_HDF5_REAL, highest_frequency),
    LATER(lgv_certificate, "stable_limit", LGV_HDF5_REAL, stable_limit),
    LATER(lgv_certificate, "largest_step", LGV_HDF5_REAL, largest_step),
    LATER(lgv_certificate, "penalty_step", LGV_HDF5_REAL, penalty_step),
    LATER(lgv_certificate, "stable", LGV_HDF5_INT, stable),
    LATER(lgv_certificate, "stability", LGV_HDF5_TEXT, stability),
    LATER(lgv_certificate, "stationary_law", LGV_HDF5_TEXT, law),
    LATER(lgv_certificate, "energy_rate", LGV_HDF5_REAL, energy_rate),
    LATER(lgv_certificate, "stationary_temperature", LGV_HDF5_REAL, law_temperature),
    LATER(lgv_certificate, "form_contraction", LGV_HDF5_REAL, form),
    LATER(lgv_certificate, "volume_contraction", LGV_HDF5_REAL, volume_expected),
    LATER(lgv_certificate, "volume_defect", LGV_HDF5_REAL, volume),
    LATER(lgv_certificate, "volume_defect_error", LGV_HDF5_REAL, volume_error),
    LATER(lgv_certificate, "volume_least", LGV_HDF5_REAL, volume_least),
    LATER(lgv_certificate, "volume_most", LGV_HDF5_REAL, volume_most),
    LATER(lgv_certificate, "volume_states", LGV_HDF5_COUNT, volume_states),
    LATER(lgv_certificate, "conservative_defect", LGV_HDF5_REAL, conservative),
    LATER(lgv_certificate, "conservative_defect_error", LGV_HDF5_REAL, conservative_error),
    LATER(lgv_certificate, "conservative_states", LGV_HDF5_COUNT, conservative_states),
    LATER(lgv_certificate, "conservative_claim", LGV_HDF5_INT, conservative_claim),
    LATER(lgv_certificate, "rotation", LGV_HDF5_REAL, rotation),
    LATER(lgv_certificate, "reduced", LGV_HDF5_INT, reduced),
    LATER(lgv_certificate, "rotation_claim", LGV_HDF5_INT, rotation_claim),
};
const size_t lgv_hdf5_certificate_count = COUNT_OF(lgv_hdf5_certificate);

const struct lgv_hdf5_field lgv_hdf5_series[] = {
    ROW(lgv_series, "name", LGV_HDF5_TEXT, name),
    ROW(lgv_series, "formula", LGV_HDF5_TEXT, formula),
    ROW(lgv_series, "kind", LGV_HDF5_INT, kind),
    ROW(lgv_series, "claim", LGV_HDF5_INT, claim),
    ROW(lgv_series, "scale", LGV_HDF5_REAL, scale),
    ROW(lgv_series, "drift", LGV_HDF5_REAL, drift),
    ROW(lgv_series, "drift_mean", LGV_HDF5_REAL, drift_mean),
    LATER(lgv_series, "period", LGV_HDF5_REAL, period),
    LATER(lgv_series, "period_from", LGV_HDF5_REAL, from),
};
const size_t lgv_hdf5_series_count = COUNT_OF(lgv_hdf5_series);

void lgv_hdf5_seal(unsigned char seal[LGV_HDF5_SEAL], uint64_t size, uint64_t hash) {
    memcpy(seal, LGV_HDF5_SEAL_MARK, 8);
    for (int k = 0; k < 8; k++) {
        seal[8 + k] = (unsigned char)(size >> 8 * k);
        seal[16 + k] = (unsigned char)(hash >> 8 * k);
    }
}

static pthread_mutex_t hdf5_lock = PTHREAD_MUTEX_INITIALIZER;

void lgv_hdf5_begin(struct lgv_hdf5_guard *guard) {
    pthread_mutex_lock(&hdf5_lock);
    H5Eget_auto2(H5E_DEFAULT, &guard->print, &guard->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void lgv_hdf5_end(const struct lgv_hdf5_guard *guard) {
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, guard->print, guard->data);
    pthread_mutex_unlock(&hdf5_lock);
}

struct reason {
    char *out;
    size_t size;
};

static herr_t take_first(unsigned n, const H5E_error2_t *e, void *data) {
    struct reason *reason = data;
    if (n == 0) lgv_plain(reason->out, reason->size, e->desc);
    return 0;
}

void lgv_hdf5_reason(char *out, size_t size) {
    struct reason reason = {out, size};
    snprintf(out, size, "no further details");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &reason);
}
