/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Newton's method on lanes, written once: a correction (residual, matrix, solve.h), a stopping rule, and what becomes
 * of lanes that are done, stuck or singular.  Every implicit step and every projection is a call of it; so are
 * iterations without a matrix, whose correction is a residual.
 *
 * A lane rests when it is done: its unknowns keep their bits, whatever the others still need.
 *
 * The three functions of a problem are given by name and inlined; `of` is theirs.
 * Include-free; it follows face.h and solve.h. */

struct newton {
    long n;        /* unknowns x, and what is to be taken off them: the residual, then the correction; 0: `correct` */
    vec *x, *e;    /* moves them itself */
    ivec live;     /* lanes that are not done: on entry those that take part */
    ivec singular; /* lanes whose matrix had no inverse */
    vec last;      /* size of the last correction, for rules that look at the pace; 0 before the first */
    int round;     /* from 0 */
};

#define NEWTON_RATE 1e-7
#define NEWTON_MAX 40
#define NEWTON_PATIENT 6 /* rounds before a problem is asked for a more patient rule */

/* e = the correction.  Returns the lanes where there is none. */
typedef ivec newton_correct(struct ctx *c, struct newton *s, void *of);
/* Behind the correction: the lanes that have to go on.  s->live still says who has moved. */
typedef ivec newton_moving(struct ctx *c, struct newton *s, void *of);
/* Of the lanes that still move after many rounds those that are done all the same. */
typedef ivec newton_settled(struct ctx *c, struct newton *s, void *of);

/* Lanes left in s->live have no solution.  most = 1: the equations are linear and one correction solves them, so that
 * nobody asks who is done: s->live stays what it was, and lanes that take no part are not kept apart. */
INLINE void newton_iterate(struct ctx *c, struct newton *s, int most, newton_correct *correct, newton_moving *moving,
                           newton_settled *settled, void *of) {
    vec *top = c->top;
    s->singular = (ivec){0};
    s->last = vec_set(0);
    s->round = 0;
    do {
        ivec now = correct(c, s, of);
        s->singular |= most == 1 ? now : now & s->live;
        for (long i = 0; i < s->n; i++)
            s->x[i] = most == 1 ? s->x[i] - s->e[i] : vec_select(s->live, s->x[i] - s->e[i], s->x[i]);
        ivec far = moving(c, s, of);
        if (most > 1) s->live &= far & ~s->singular;
        c->top = top;
        c->iterations++;
        if (settled && most > 1 && s->round >= NEWTON_PATIENT && vec_any(s->live)) s->live &= ~settled(c, s, of);
    } while (++s->round < most && vec_any(s->live));
}

/* Behind it: lanes without a solution fail. */
INLINE void newton_end(struct ctx *c, const struct newton *s, int most) {
    ivec left = s->live; /* a copy: what has its address known elsewhere does not live in registers */
    if (most > 1 && vec_any(left)) lanes_failed(c, &left, LGV_FAIL_NEWTON);
    if (!vec_any(s->singular)) return;
    ivec bad = most == 1 ? s->singular & s->live : s->singular;
    lanes_failed(c, &bad, LGV_FAIL_SINGULAR);
}

/* Both.  Clang simplifies the whole iteration once more for every function around it: the midpoint rule, which is to
 * be compiled soon, calls the two by themselves. */
INLINE void newton(struct ctx *c, struct newton *s, int most, newton_correct *correct, newton_moving *moving,
                   newton_settled *settled, void *of) {
    newton_iterate(c, s, most, correct, moving, settled, of);
    newton_end(c, s, most);
}

/* ---- stopping rules ---- */

/* The correction `e` was just subtracted from x for the lanes alive; `base` holds the state that x is an increment of
 * (or x itself).  A lane is done when |e| <= rate |x| + round-off of base: convergence is quadratic, so with rate =
 * 1e-7 the error left is of the order 1e-14 |x| times the nonlinearity of one step, which is small where Newton's
 * method converges at all. */
INLINE ivec still_moving(long n, const vec *e, const vec *x, const vec *base, double rate) {
    vec se = vec_set(0), sx = vec_set(0), sb = vec_set(0);
    for (long i = 0; i < n; i++) {
        se += vec_abs(e[i]);
        sx += vec_abs(x[i]);
        sb += vec_abs(base[i]);
    }
    return (ivec)(se > rate * sx + 2e-15 * sb);
}

#define PACE_ROUND 4e-16
#define PACE_FLOOR 1e-13 /* corrections below this part of the state that do not fall are round-off of forces */

/* A correction e after one of size |e0| leaves an error of about |e|^2 / |e0|, whatever the factors of the matrix are
 * worth, or without any: a lane is done when that is round-off of x, or e is round-off of base.  e, x, base: squares
 * of the sizes of correction, unknowns, state.  *rate: how much smaller the correction is than the one before it, 0
 * when there was none.
 *
 * Where errors fall by a factor a round, they may do so in parts, each with its own: a large part that is gone at once
 * hides how slow the others are.  `least` is the smallest factor that is believed. */
INLINE ivec still_falling(struct newton *s, vec e, vec x, vec base, vec least, vec *rate) {
    e = vec_sqrt(e);
    vec size = vec_sqrt(x), whole = vec_sqrt(base) + size;
    ivec first = (ivec)(s->last == 0.0);
    vec part = vec_select(first, vec_set(1), e / s->last), left = vec_max(part, least);
    ivec done = (vec_finite(part) & (ivec)(left * e <= PACE_ROUND * FUSED(part, whole, size))) | (ivec)(e == 0.0);
    ivec stalled = ~first & (ivec)(part >= 1.0) & (ivec)(e <= PACE_FLOOR * whole) & vec_finite(whole);
    s->last = e;
    *rate = vec_select(first, vec_set(0), part);
    return ~(done | stalled);
}
