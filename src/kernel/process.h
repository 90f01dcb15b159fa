/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running another program without a shell. */
#ifndef LGV_PROCESS_H
#define LGV_PROCESS_H

#include "base/base.h"

/* Absolute path of program `name` by $PATH (a name with a slash is taken as it is).  False when there is none. */
bool lgv_process_find(const char *name, char *path, size_t size);

/* Runs argv[0] (a path), stdin empty, messages in English, temporary files in `tmpdir` (NULL: as usual), and
 * collects at most `limit` bytes of what it prints.  Its children that hold its output have ended, too, when this
 * returns. Returns its exit code, 128 + n when signal n ended it, -1 when it could not be started (errno says why),
 * and -2 when the caller's process ignores SIGCHLD, so that nobody knows how it ended. */
int lgv_process_run(char *const argv[], const char *tmpdir, size_t limit, struct lgv_text *printed);

#endif
