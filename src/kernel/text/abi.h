/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The binary interface between the runner and a kernel.  This file has no includes: it is compiled into the library and
 * is also the first part of every generated kernel. */
#ifndef LGV_ABI_H
#define LGV_ABI_H

#define LGV_ABI 15
#define LGV_MOST_LANES 16 /* of a block */
#define LGV_CLIP_INTEGRAL 0.78867513459481288 /* (1 + 1/sqrt 3)/2: dZ is cut at this times dt times the bound of dW */

/* Are more than p Fourier modes of Levy areas needed for steps of size dt? See brackets.h. */
#define LGV_AREA_MORE(p, dt) \
    ((double)(((p) + 1) * ((p) + 1) * ((p) + 1)) * (0.01 * (dt)) < 0.081 * 0.081 * 0.081)
/* Normals of a step for the areas of m noises. */
#define LGV_AREA_NORMALS(p, m) ((2 * (p) + 1) * (m) + (m) * ((m) - 1) / 2)

/* Numbers of a body for rotor.h: of its inertia along principal axes, and the quaternion (w, x, y, z) that turns these
 * to the axes of the body frame. */
enum lgv_spin_number {
    LGV_SPIN_I,            /* I1, I2, I3 */
    LGV_SPIN_INVERSE = 3,  /* 1/I1, 1/I2, 1/I3 */
    LGV_SPIN_FIRST = 6,    /* axis in front of the one with the intermediate moment, in cyclic order: a, b, c */
    LGV_SPIN_MIDDLE,       /* 1/I_b */
    LGV_SPIN_SPREAD,       /* 1/I_a - 1/I_c, of either sign */
    LGV_SPIN_PART,         /* (1/I_a - 1/I_b) / (1/I_a - 1/I_c), between 0 and 1 */
    LGV_SPIN_REST,         /* (1/I_b - 1/I_c) / (1/I_a - 1/I_c) */
    LGV_SPIN_TILT = 12,
    LGV_SPIN = 16          /* how many numbers there are */
};
/* Numbers of a coupled body for kirchhoff.h, behind those of all rotations: matrices of six rows, angular
 * before linear. */
enum lgv_coupled_number {
    LGV_COUPLED_INERTIA,
    LGV_COUPLED_INVERSE = 36,
    LGV_COUPLED_LENGTH = 72, /* what angles are compared with lengths by: sqrt(tr J / tr M) */
    LGV_COUPLED_LIGHT,       /* the inverse of M, three rows */
    LGV_COUPLED_SCREWS = LGV_COUPLED_LIGHT + 9, /* three of seven numbers: kirchhoff_screws */
    LGV_COUPLED_NUMBERS = LGV_COUPLED_SCREWS + 21
};

/* Modes of a quadratic stiff part (src/kernel/modes.c): their number, then of each these numbers and for each of its
 * entries the row of a coordinate, u and w there. */
enum lgv_mode_number {
    LGV_MODE_LAMBDA, /* square of its frequency */
    LGV_MODE_CENTRE, /* where it rests */
    LGV_MODE_FORCE,  /* a constant force, where it has no frequency */
    LGV_MODE_COUNT,  /* of entries */
    LGV_MODE_ENTRIES
};

enum lgv_fail_reason {
    LGV_FAIL_NONE = 0,
    LGV_FAIL_NONFINITE = 1, /* the state became infinite or NaN */
    LGV_FAIL_NEWTON = 2,    /* the equations of the step were not solved within the allowed iterations */
    LGV_FAIL_SINGULAR = 3,  /* the linear system of the step is singular */
    LGV_FAIL_START = 4,     /* the start values are not finite */
    LGV_FAIL_PROJECT = 5,   /* the start values could not be moved onto the constraints */
    LGV_FAIL_SCRATCH = 6,   /* there was not enough memory for the scratch of the step */
    LGV_STOPPED = 7,        /* no failure: the path has come to where `stop` holds, and rests */
    LGV_STOPPED_START = 8,  /* the same, where it starts: it has made no step.  Inside a block only */
    LGV_FAIL_FRICTION = 9,  /* friction became negative */
    LGV_FAIL_INDEFINITE = 10, /* M + beta dt^2 V'' of a method for stiff potentials is not positive definite */
    LGV_FAIL_NEAR = 11,       /* a list of near pairs became too long */
    LGV_FAIL_LAST = LGV_FAIL_NEAR
};

/* Scratch memory of a block.  A kernel that needs more calls `grow` and begins its call again from what it found;
 * nobody counts in advance. */
struct near;
struct lgv_scratch {
    double *memory;            /* aligned to 128 bytes */
    unsigned long long room;   /* bytes there, never less than the kernel's `work` */
    unsigned long long wanted; /* bytes that could not be had; 0: all is well */
    double *state;             /* a copy of the block's state while the kernel advances it */
    int (*grow)(struct lgv_scratch *, unsigned long long bytes); /* 0: no memory.  What was in it is lost */
    /* Memory that stays from call to call, once there is more of it without what was in it; NULL: there is none. */
    void *(*keep)(struct lgv_scratch *, unsigned long long bytes);
    struct near *near; /* lists of near pairs in it, see near.h */
};

/* One block: `lanes` paths side by side.  Arrays are [component][lane], aligned to 128 bytes. Row order of `state`:
 * q (nx), p (np); for methods on a Lagrangian the velocities (np), with constraints their multipliers, for
 * compensated methods what was rounded off q and p; then what
 * observables use of W (nnoise) and of the start values q0 (nx), p0 (np); then, when control variates are asked for,
 * the martingale part of every observable; then two rows for each tally, its least and its largest value so far;
 * then three rows for each event (events.h), two for each section. */
struct lgv_block {
    double *state;
    const unsigned long long *path; /* [lane] with seed and step it determines all noise: the number of the path, or one
                                       that it has in common with others */
    const unsigned long long *number; /* [lane] of the path, for start values that go by it */
    unsigned long long step;        /* number of the next step; its time is t0 + step * dt */
    unsigned long long seed;
    double t0, dt;
    unsigned long long coarsen;    /* each step uses the sum of this many increments of size dt / coarsen */
    const double *par;             /* parameters of the model */
    struct lgv_scratch *scratch;
    int *fail;                     /* [lane] enum lgv_fail_reason; a failed lane keeps the first reason */
    unsigned long long *fail_step; /* [lane] number of the step that failed */
    double clip;                   /* increments beyond clip * sqrt(dt) are cut there; 0: no limit; < 0: three points */
    unsigned long long *clipped;   /* [lane] number of steps with a cut increment, or of proposals not accepted */
    unsigned long long *astray;    /* [lane] those of them that do not lead back, or to no place at all */
    unsigned long long iterations;  /* Newton iterations, summed over steps and vecs */
    unsigned long long evaluations; /* evaluations of forces (with or without Hessian), summed likewise */
    const double *bath; /* friction and its noise as numbers of this step size: src/kernel/bath.c; NULL: none */
    const double *spin; /* inertia of rotations, LGV_SPIN numbers for each body: src/kernel/spin.c; NULL: none */
    const double *modes; /* of a quadratic stiff part: src/kernel/modes.c; NULL: not asked for */
    int tally;                      /* update the tallies after every step */
    int events;                     /* look at the events after every step */
    /* Crossings of sections, [lane][section][crossings][SECTION_WIDTH]: time, then what is observed; NULL: none. */
    double *crossing;
    unsigned long long crossings;
    const void *user;               /* models given as callbacks: their description */
    /* Where advance comes to the step *time_step it writes what is observed there to value, then goes on to the next of
     * them: ntimes are left.  A step that the block stands at already counts. */
    const __UINT64_TYPE__ *time_step;
    unsigned long long ntimes, row; /* row: doubles from one time to the next in value */
    double *value;                  /* [ntimes][nobserve][lane], aligned to 128 bytes */
    /* Increments to use instead of noise, from the next step on, aligned to 128 bytes; NULL: draw them.  advance moves
     * it on.  [step][row][lane], rows dW and, for methods that use it, dZ. */
    const double *given;
    const double *process; /* coloured noise as numbers of this step size: src/kernel/process.c; NULL: none */
};

struct lgv_entry {
    unsigned abi, lanes, vecs; /* a block of `lanes` paths is `vecs` vecs that take each step in turn */
    unsigned long long (*work)(const void *user); /* bytes of scratch to begin with */
    void (*start)(struct lgv_block *);            /* fills state with the start values of each lane's path */
    void (*advance)(struct lgv_block *, unsigned long long steps);
    void (*observe)(struct lgv_block *, double *out); /* out [nobserve][lane] at the present state and time */
    void (*project)(struct lgv_block *); /* moves the state onto the constraints; does nothing without any */
    /* The noise of the next `steps` steps as advance draws it, before any cut: out [step][row][lane] as in `given`.
     * Returns the number of rows; NULL for out asks for nothing else. */
    unsigned long long (*increments)(const struct lgv_block *, unsigned long long steps, double *out);
};

#endif
