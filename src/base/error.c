/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Filling struct lgv_error. */
#include "base/base.h"

#include <string.h>

enum lgv_status lgv_fail(struct lgv_error *err, enum lgv_status status, const char *format, ...) {
    if (!err) return status;
    /* The arguments may point into err->message (a caller that puts a file name in front), hence the second buffer. */
    char message[sizeof err->message] = {0};
    va_list args;
    va_start(args, format);
    int n = vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (n < 0)
        message[0] = '\0';
    else if ((size_t)n >= sizeof message)
        memcpy(message + sizeof message - 4, "...", 4);
    memcpy(err->message, message, sizeof message);
    err->status = status;
    err->line = err->column = 0;
    return status;
}

enum lgv_status lgv_fail_memory(struct lgv_error *err) {
    return lgv_fail(err, LGV_CANNOT_RUN, "out of memory");
}
