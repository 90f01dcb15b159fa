/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The program of a method made of others: its table of substeps, and how the steps are called.
 * Include-free. */

/* In a generated kernel the steps stand in front of this text, each with names of its own. */
#ifndef PROGRAM_SUBSTEPS
#define PROGRAM_SUBSTEPS ((long)c->program->count)
#define PROGRAM_STEPS ((long)c->program->steps)
#define SUBSTEP_STEP(k) ((long)c->program->substep[k].step)
#define SUBSTEP_FROM(k) (c->program->substep[k].from)
#define SUBSTEP_WIDTH(k) (c->program->substep[k].width)
#define SUBSTEP_BEGINS(k) (c->program->substep[k].begins)
#define SUBSTEP_SPAN(k) ((long)c->program->substep[k].span)
#define METHOD_DZ 0
#define METHOD_CARRY carry_before(c, PROGRAM_STEPS)

/* The step of a model given as C functions reads its own constants. */
INLINE const struct lgv_step *step_of(struct ctx *c, long j) {
    c->option = c->program->step[j]->values;
    return c->program->step[j]->step;
}

INLINE long carry_before(struct ctx *c, long j) {
    long sum = 0;
    for (long i = 0; i < j; i++) sum += step_of(c, i)->carry(c);
    return sum;
}

INLINE void substep_begin(struct ctx *c, long j, const vec *q, const vec *p, vec *carry) {
    carry += carry_before(c, j);
    step_of(c, j)->begin(c, q, p, carry);
}

INLINE void substep_step(struct ctx *c, long j, vec *q, vec *p, const vec *dW, const vec *dZ, vec *carry) {
    carry += carry_before(c, j);
    step_of(c, j)->step(c, q, p, dW, dZ, carry);
}
#endif

INLINE void enter(struct ctx *c, double from, double width) {
    c->from = from;
    c->width = width;
    c->dt = width * c->b->dt;
}

/* Steps whose first substep does not begin by itself. */
INLINE void method_begin(struct ctx *c, const vec *q, const vec *p, vec *carry) {
    for (long j = 0; j < PROGRAM_STEPS; j++) {
        long k = 0;
        while (SUBSTEP_STEP(k) != j) k++;
        enter(c, SUBSTEP_FROM(k), SUBSTEP_WIDTH(k));
        if (!SUBSTEP_BEGINS(k)) substep_begin(c, j, q, p, carry);
    }
    enter(c, 0, 1);
}
