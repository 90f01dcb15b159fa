/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The folder of compiled kernels: KEY.so, the object (KEY.o for the half that kernels share), and KEY.c, one line
 * with size and checksum of the object followed by the source.  Both are made in a folder KEY.XXXXXX of their own,
 * where the compiler keeps its temporary files, too, and renamed; KEY.c comes last, so an entry with a KEY.c that fits
 * is complete.  Entries not used for 90 days, and unfinished folders of a day ago, are removed when a new one is
 * built. */
#ifndef LGV_CACHE_H
#define LGV_CACHE_H

#include "base/base.h"

#define LGV_CACHE_KEY 33 /* 32 hexadecimal digits */

struct lgv_cache_files {
    char *work;                                    /* private folder to compile in */
    char *new_source, *middle, *rest, *new_object; /* inside it; `rest`: see LGV_SHARED_END */
    char *source, *object;                         /* where they go */
};

/* The folder, created when missing.  *folder stays NULL (and the status LGV_OK) when there can be none, so that a
 * temporary one must do; a folder that others can write to is an error. */
enum lgv_status lgv_cache_folder(char **folder, struct lgv_error *err);
void lgv_cache_key(const char *source, const char *compiler, const char *const *flags, char key[LGV_CACHE_KEY]);
/* Path of the object, or NULL; `end` is ".so" or ".o". */
char *lgv_cache_lookup(const char *folder, const char *key, const char *end, const char *source);
/* A work folder with the source in it, inside `folder` (NULL: inside $TMPDIR). */
enum lgv_status lgv_cache_begin(const char *folder, const char *key, const char *source, struct lgv_cache_files *files,
                                struct lgv_error *err);
/* The half that kernels share, KEY.o, made in the work folder of `whole` (folder NULL: and not to be kept). */
bool lgv_cache_shared(const struct lgv_cache_files *whole, const char *folder, const char *key, const char *source,
                      struct lgv_cache_files *shared);
bool lgv_cache_commit(struct lgv_cache_files *files, const char *source);
/* Removes the work folder, unless it is that of a shared half, and frees the names. */
void lgv_cache_discard(struct lgv_cache_files *files);
void lgv_cache_sweep(const char *folder);
/* Short notes, KEY.id: `about` (a line) and the text.  What was remembered about just that, or NULL. */
char *lgv_cache_recall(const char *folder, const char *key, const char *about);
void lgv_cache_remember(const char *folder, const char *key, const char *about, const char *text);

#endif
