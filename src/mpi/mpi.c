/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program lgv-mpi: lgv with several processes, by MPI.  Nothing else knows MPI.
 *
 * All processes run the same command (run/peers.c); only process 0 prints and writes files.  Two numbers live in a
 * window of process 0 that all can reach: how many units have been dealt, and whether somebody has said stop.  A
 * process that ends with an error while others wait for it ends them all after a while, with its message. */
#include "cli/cli.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE ((size_t)1 << 30) /* bytes of a message: MPI counts in int */
#define PATIENCE 10.0             /* seconds that one who has failed waits for the others */
enum { DEALT, STOP, CELLS };

static MPI_Win window;
static uint64_t *cell; /* [CELLS] of process 0 */
static int spoken = -1; /* what a process other than 0 prints, kept for the case that it fails */
static int terminal = STDERR_FILENO; /* where it is told then */
static struct lgv_peers peers;

static uint64_t change(int which, uint64_t by, MPI_Op op) {
    uint64_t before = 0;
    MPI_Fetch_and_op(&by, &before, MPI_UINT64_T, 0, which, op, window);
    MPI_Win_flush(0, window);
    return before;
}

static void begin(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (peers.number == 0)
        for (int i = 0; i < CELLS; i++) change(i, 0, MPI_REPLACE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static uint64_t deal(uint64_t count) {
    return change(DEALT, count, count ? MPI_SUM : MPI_NO_OP);
}

static bool stop(bool mine) {
    return change(STOP, mine, mine ? MPI_REPLACE : MPI_NO_OP) || mine;
}

static bool any(bool mine) {
    int one = mine, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void send_bytes(unsigned to, const char *data, size_t size) {
    uint64_t n = size;
    MPI_Send(&n, 1, MPI_UINT64_T, (int)to, 0, MPI_COMM_WORLD);
    for (size_t at = 0; at < size; at += AT_ONCE) {
        size_t count = size - at < AT_ONCE ? size - at : AT_ONCE;
        MPI_Send(data + at, (int)count, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD);
    }
}

/* What does not fit into memory ends all processes: the others could not know. */
static char *room(uint64_t size) {
    char *data = malloc((size_t)size + 1);
    if (data) return data;
    dprintf(terminal, "lgv-mpi: process %u has no memory for %.3g MB that others have sent\n", peers.number,
            1e-6 * (double)size);
    MPI_Abort(MPI_COMM_WORLD, LGV_EXIT_CANNOT);
    return NULL;
}

static char *receive_bytes(unsigned from, size_t *size) {
    uint64_t n = 0;
    MPI_Recv(&n, 1, MPI_UINT64_T, (int)from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    char *data = room(n);
    for (size_t at = 0; data && at < n; at += AT_ONCE) {
        size_t count = n - at < AT_ONCE ? n - at : AT_ONCE;
        MPI_Recv(data + at, (int)count, MPI_BYTE, (int)from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    *size = n;
    return data;
}

static char *spread(const char *data, size_t *size) {
    uint64_t n = *size;
    MPI_Bcast(&n, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    char *copy = room(n);
    if (peers.number == 0 && copy) memcpy(copy, data, (size_t)n);
    for (size_t at = 0; copy && at < n; at += AT_ONCE) {
        size_t count = n - at < AT_ONCE ? n - at : AT_ONCE;
        MPI_Bcast(copy + at, (int)count, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    *size = n;
    return copy;
}

/* ---- the program ---- */

/* What the others have to say is said by process 0, too. */
static void be_silent(void) {
    FILE *kept = tmpfile();
    spoken = kept ? fileno(kept) : -1;
    int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    fflush(stdout);
    if (none >= 0) dup2(none, STDOUT_FILENO);
    if (spoken >= 0) dup2(spoken, STDERR_FILENO);
}

static void speak(void) {
    char text[4000];
    ssize_t n = spoken < 0 ? 0 : pread(spoken, text, sizeof text - 1, 0);
    if (n > 0) dprintf(terminal, "lgv-mpi: process %u of %u has ended:\n%.*s", peers.number, peers.count, (int)n, text);
}

/* The others come to their end, too, or wait in vain for one that has failed. */
static void meet(int code) {
    MPI_Request all;
    int done = 0;
    double begun = MPI_Wtime();
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    while (!done && (code < LGV_EXIT_INPUT || MPI_Wtime() - begun < PATIENCE)) {
        MPI_Test(&all, &done, MPI_STATUS_IGNORE);
        if (!done) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    if (done) return;
    if (peers.number) speak();
    MPI_Abort(MPI_COMM_WORLD, code);
}

int main(int argc, char **argv) {
    int provided, number, count;
    terminal = dup(STDERR_FILENO);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (provided < MPI_THREAD_SERIALIZED) {
        fputs("lgv-mpi: this MPI does not allow calls from different threads\n", stderr);
        MPI_Abort(MPI_COMM_WORLD, LGV_EXIT_CANNOT);
    }
    peers = (struct lgv_peers){.number = (unsigned)number, .count = (unsigned)count, .begin = begin, .deal = deal,
                               .stop = stop, .any = any, .send = send_bytes, .receive = receive_bytes,
                               .spread = spread};
    MPI_Win_allocate(CELLS * sizeof *cell, sizeof *cell, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &window);
    MPI_Win_lock_all(0, window);
    if (count > 1) lgv_peers = &peers;
    if (number) be_silent();
    int code = lgv_main(argc, argv);
    fflush(stdout);
    fflush(stderr);
    meet(code);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return number ? LGV_EXIT_DONE : code; /* one process tells how it was */
}
