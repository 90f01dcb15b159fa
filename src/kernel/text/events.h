/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Events: conditions that are looked at after every step.  Include-free; part of kernels that have any, in front of
 * loop.h.
 *
 * A condition holds where its margin g(q, p, v, t) is positive.  Each has three rows of the state: the margin at the
 * last step, the time when it first began to hold (infinite: never so far), and how often it has begun to hold.  Where
 * g goes from g0 <= 0 to g1 > 0 in a step it begins to hold at the part g0 / (g0 - g1) of it: g is a straight line
 * there.  For paths that are smooth the error of that time is of second order in the step.  What begins and ends inside
 * one step is not seen. */

#ifndef NC
#define NC 0L
#define MODEL_L 0
#endif

static const int event_stops[] = {EVENT_STOPS};

/* Lanes where a condition begins to hold: when, and how often so far.  The step began at t; `begin`: it is the start of
 * a path, and there was none. */
static __attribute__((noinline, cold)) void note_events(vec *row, const vec *x, double t, double dt, int begin) {
    const vec never = vec_set(__builtin_inf());
    for (long k = 0; k < EVENTS; k++, row += 3 * VECS) {
        const ivec enters = (ivec)(x[k] > 0) & ~(ivec)(row[0] > 0);
        vec part = begin ? vec_set(1) : row[0] / (row[0] - x[k]);
        part = vec_select((ivec)(part >= 0) & (ivec)(part <= 1), part, vec_set(1)); /* g was no number before */
        row[VECS] = vec_select(enters & (ivec)(row[VECS] == never), t + (part - (begin ? 1 : 0)) * dt, row[VECS]);
        row[2 * VECS] += vec_select(enters, vec_set(1), vec_set(0));
    }
}

/* Lanes where a condition holds that stops paths are put to rest. */
INLINE void stop_lanes(struct ctx *c, const vec *x, int begin) {
    ARRAY(state, NX + NP);
    struct ctx own = apart(c, state);
    ivec stop = {0};
    for (long k = 0; k < EVENTS; k++)
        if (event_stops[k]) stop |= (ivec)(x[k] > 0);
    fail_lanes(c->b, begin ? 0 : c->step - 1, &stop, NX + NP, own.q, begin ? LGV_STOPPED_START : LGV_STOPPED);
    for (long i = 0; i < NX + NP; i++) c->q[i] = state[i];
}

/* `begin`: the start of a path, where a condition that holds begins to hold. */
INLINE void see_events(struct ctx *c, vec *row, int begin) {
    vec *top = c->top;
    int news = 0, stop = 0;
    ARRAY(x, EVENTS);
    ARRAY(v, MODEL_L ? NP : 0);
    for (long i = 0; MODEL_L && i < NP; i++) v[i] = c->extra[i * VECS];
    model_events(c, time_at(c, 0), c->q, c->p, v, x);
    for (long k = 0; k < EVENTS; k++) {
        vec *own = row + 3 * k * VECS;
        if (begin) {
            own[0] = vec_set(-1);
            own[VECS] = vec_set(__builtin_inf());
            own[2 * VECS] = vec_set(0);
        }
        news |= vec_more((ivec)(x[k] > 0), (ivec)(own[0] > 0));
        if (event_stops[k]) stop |= vec_more((ivec)(x[k] > 0), (ivec){0});
    }
    if (RARELY(news)) {
        vec now[EVENTS]; /* a copy: only here the margins need a place in memory */
        for (long k = 0; k < EVENTS; k++) now[k] = x[k];
        note_events(row, now, time_at(c, begin ? 0 : -1), c->b->dt, begin);
    }
    for (long k = 0; k < EVENTS; k++) row[3 * k * VECS] = x[k];
    if (RARELY(stop)) stop_lanes(c, x, begin);
    c->top = top;
}
