/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Generated C text -> shared object -> symbols, with a cache.
 *
 * The compiler is started without a shell.  Results are kept in $XDG_CACHE_HOME/lgv (else ~/.cache/lgv) under a hash
 * of source, compiler version, flags and processor, so that a home directory may be shared by different machines.
 * An entry is used only when its stored source is the given one and its object has the stored checksum.  Any number
 * of processes may write the cache at once.  Without a usable cache directory everything happens in a private
 * temporary one. */
#ifndef LGV_COMPILE_H
#define LGV_COMPILE_H

#include "base/base.h"

enum lgv_compiler_kind { LGV_COMPILER_CLANG, LGV_COMPILER_GCC };
enum lgv_quarters { LGV_QUARTERS_IDLE, LGV_QUARTERS_ALWAYS, LGV_QUARTERS_NEVER }; /* see LGV_SHARED_END */

struct lgv_compiler {
    char path[1024];
    enum lgv_compiler_kind kind;
    enum lgv_quarters quarters;
    char version[256]; /* "Debian clang version 14.0.6", "gcc version 12.2.0 ..." */
    lgv_progress *progress;
    void *user; /* asked while it works for long, NULL: nobody */
};

/* What stands above this line in a source is the same for many kernels.  It is compiled apart, with LGV_HALF defined
 * as 1, kept in the cache as an object and linked to every kernel that begins with it; the whole source is then
 * compiled with LGV_HALF defined as 2, and need only declare what the first half defines.  Without LGV_HALF a source
 * is complete.  A source that has the word LGV_QUARTER can be compiled twice for its own half, at the same time, with
 * LGV_QUARTER defined as 1 and 2; both are linked.  That takes less time where processors are idle, and more work. */
#define LGV_SHARED_END "/* ---- above: the same for every kernel of this width ---- */\n"

struct lgv_module; /* a loaded shared object */

/* Finds the compiler: `wanted` (a name or a path), else $LGV_CC, else clang, gcc, cc from $PATH.  It runs without the
 * variables of the environment that would change what it does. */
enum lgv_status lgv_compiler_find(const char *wanted, struct lgv_compiler *out, struct lgv_error *err);

/* Compiles and loads `source`, or loads it from the cache.  keep_source: file to write the source to, or NULL.
 * seconds (NULL allowed) receives the time the compiler took, 0 when the cache had it.
 * Returns LGV_INTERRUPTED when a signal or `progress` stopped the compiler; no file is left behind then.  It may take
 * $LGV_COMPILE_SECONDS, half an hour unless that is set. */
enum lgv_status lgv_module_build(const char *source, const struct lgv_compiler *cc, const char *keep_source,
                                 struct lgv_module **out, double *seconds, struct lgv_error *err);

/* Removes what the cache has for this source: it was not what it should be. */
void lgv_module_forget(const char *source, const struct lgv_compiler *cc);

void *lgv_module_symbol(const struct lgv_module *module, const char *name); /* NULL when there is none */
bool lgv_module_cached(const struct lgv_module *module);                    /* it came from the cache */
void lgv_module_free(struct lgv_module *module);                            /* unloads; NULL allowed */

#endif
