/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The number of a program that was reaped may be another's at once: nothing may be sent to it any more.  The source is
 * included, so that a signal that ends this process can be put exactly behind the call that reaps. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <cmocka.h>

static pid_t watched_waitpid(pid_t pid, int *status, int flags);
static int watched_kill(pid_t pid, int number);
#define waitpid watched_waitpid
#define kill watched_kill
#include "base/process.c"
#undef waitpid
#undef kill

static int reaped, sent;

static pid_t watched_waitpid(pid_t pid, int *status, int flags) {
    pid_t got = waitpid(pid, status, flags);
    reaped += got > 0;
    if (got > 0) lgv_process_abandon();
    return got;
}

static int watched_kill(pid_t pid, int number) {
    (void)number;
    sent++;
    return kill(pid, 0);
}

static void test_reaped(void **state) {
    (void)state;
    char shell[] = "/bin/sh", flag[] = "-c", command[] = "exit 3", *argv[] = {shell, flag, command, NULL};
    struct lgv_process p = {.argv = argv};
    assert_int_equal(lgv_process_run(&p), 3);
    assert_int_equal(reaped, 1);
    assert_int_equal(sent, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reaped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
