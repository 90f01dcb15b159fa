/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Running another program without a shell. */
#ifndef LGV_PROCESS_H
#define LGV_PROCESS_H

#include "base/base.h"

/* Absolute path of program `name` by $PATH (a name with a slash is taken as it is).  False when there is none. */
bool lgv_process_find(const char *name, char *path, size_t size);

struct lgv_process {
    char *const *argv;  /* argv[0] is a path */
    const char *folder; /* to work in; NULL: the current one */
    const char *tmpdir; /* for its temporary files; NULL: as usual */
    int input;          /* descriptor of its standard input; 0: empty */
    bool bare;          /* it gets only those variables of the environment without which nothing can be started */
    double seconds;     /* it is ended after so long; 0: never */
    lgv_progress *progress;
    void *user;              /* asked from time to time once it takes long: it is ended when the answer is not 0 */
    size_t limit;            /* bytes to keep of what it prints */
    struct lgv_text *printed; /* NULL: nothing is kept */
};

enum lgv_process_end {
    LGV_PROCESS_NOT_STARTED = -1, /* errno says why */
    LGV_PROCESS_UNKNOWN = -2,     /* the caller's process ignores SIGCHLD: nobody knows how it ended */
    LGV_PROCESS_STOPPED = -3,     /* ended here: `progress` said so, or a SIGINT, SIGTERM or SIGHUP waits */
    LGV_PROCESS_TOO_LONG = -4     /* ended here after `seconds` */
};

/* Runs it with messages in English.  Its children that hold its output have ended, too, when this returns.  Returns
 * its exit code, 128 + n when signal n ended it, or one of the above.  It is in a process group of its own: Ctrl-C in a
 * terminal does not reach it, so a caller that blocks signals meanwhile decides alone when it ends. */
int lgv_process_run(const struct lgv_process *p);

/* Ends the programs that lgv_process_run waits for, in any thread.  For handlers of signals that are about to end this
 * one. */
void lgv_process_abandon(void);

#endif
