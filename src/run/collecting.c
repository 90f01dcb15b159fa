/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a list of collectors has, as bytes: that of each begins with its size. */
#include "run/run.h"

void lgv_collecting_save(const struct lgv_collecting *list, size_t count, struct lgv_text *out) {
    for (size_t i = 0; i < count; i++) {
        struct lgv_text part = {0};
        list[i].kind->save(list[i].object, &part);
        lgv_text_append_count(out, part.size);
        if (part.size) lgv_text_append(out, part.data, part.size);
        out->failed |= part.failed;
        lgv_text_free(&part);
    }
}

bool lgv_collecting_load(const struct lgv_collecting *list, size_t count, struct lgv_bytes *from) {
    for (size_t i = 0; i < count && !from->bad; i++) {
        uint64_t size = lgv_bytes_count(from);
        if (size > from->left) from->bad = true;
        if (from->bad) break;
        struct lgv_bytes part = {.at = from->at, .left = (size_t)size};
        if (!list[i].kind->load(list[i].object, &part)) return false;
        if (part.bad || part.left) from->bad = true;
        from->at += size;
        from->left -= (size_t)size;
    }
    return true;
}
