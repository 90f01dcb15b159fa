/* SPDX-License-Identifier: BSD-3-Clause
 *
 * In place of solve.h, system.h, newton.h and stages.h in kernels that have no equations to solve: explicit methods
 * name them in branches that are not taken.  Include-free. */

#define NEWTON_RATE 0
#define NEWTON_MAX 1
#define SYSTEM_SCRATCH(n) 0
enum { SYSTEM_ANY, SYSTEM_NEAR_ONE, SYSTEM_GRAM, SYSTEM_FREE };

struct newton {
    long n;
    vec *x, *e, last;
    ivec live, singular;
    int round;
};

#define NOT_SOLVED (__builtin_trap(), (ivec){0})
#define newton(...) __builtin_trap()
#define newton_iterate(...) __builtin_trap()
#define newton_end(...) __builtin_trap()
#define system_solve(...) NOT_SOLVED
#define still_moving(...) NOT_SOLVED
#define still_falling(...) NOT_SOLVED
#define solve_partitioned(...) NOT_SOLVED
#define settle(...) __builtin_trap()
#define implicit_kick(...) __builtin_trap()
#define implicit_drift(...) __builtin_trap()
