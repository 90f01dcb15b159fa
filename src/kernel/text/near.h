/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sums whose lanes are instances of one path instead of paths, and lists of near pairs for them.  Include-free; it
 * follows face.h.
 *
 * A sum over pairs is walked through path by path.  LANES instances are computed side by side; what they give is added
 * one after the other, in the order of the loops.  So every number of a path is the sum that it is when lanes are
 * paths, to the bit.  Paths of a block that stand at the same place (a block that is not full repeats its last one) are
 * computed once.
 *
 * A list of near pairs holds, for each first index, the second ones in ascending order whose point is nearer than
 * radius + skin.  It is good as long as no point has moved by more than half of the skin since it was made
 * (Verlet 1967, doi 10.1103/PhysRev.159.98).  Pairs beyond the radius add exactly 0, so nothing depends on when a list
 * was made: a path has the same bits whoever computes it and wherever it is resumed. */

/* Row by row the numbers of lane l. */
INLINE double *column_take(struct ctx *c, const vec *x, long rows, int l) {
    double *to = (double *)take(c, rows / LANES + 1);
    const double *from = (const double *)x + l;
    for (long i = 0; i < rows; i++) to[i] = from[i * LANES];
    return to;
}

INLINE void column_put(vec *x, long rows, int l, const double *from) {
    for (long i = 0; i < rows; i++) ((double *)x)[i * LANES + l] = from[i];
}

/* Are they those of the lane before? */
INLINE int column_same(const vec *x, long rows, int l) {
    for (long i = 0; i < rows; i++) {
        u64 a, b;
        __builtin_memcpy(&a, (const double *)(x + i) + l, sizeof a);
        __builtin_memcpy(&b, (const double *)(x + i) + l - 1, sizeof b);
        if (a != b) return 0;
    }
    return 1;
}

INLINE void column_repeat(vec *x, long rows, int l) {
    for (long i = 0; i < rows; i++) ((double *)(x + i))[l] = ((double *)(x + i))[l - 1];
}

/* A vector of what x is for each value of the index `var`. */
#define PICK(var, x)                                                                                                   \
    ({                                                                                                                 \
        vec picked;                                                                                                    \
        UNROLL for (int m = 0; m < LANES; m++) {                                                                       \
            const long var = pairs_at[m];                                                                              \
            picked[m] = (x);                                                                                           \
        }                                                                                                              \
        picked;                                                                                                        \
    })

#if NEAR_LISTS

struct near {
    double *where; /* points when the list was made: three numbers each, of the first index, then of the second */
    int *start;    /* [first + 1] */
    int *index;    /* second indices */
    long room;     /* for so many */
    int made;
};

/* What a list is about. */
struct near_kind {
    long low[2], count[2]; /* of both indices */
    double radius, skin, box[3];
};

static const struct near_kind near_kinds[] = NEAR_KINDS;

#define NEAR_LEAST 16       /* pairs for each first index, to begin with */
#define NEAR_MOST (1L << 27) /* pairs of a list */

INLINE long near_vecs(u64 bytes) {
    return (long)(bytes / sizeof(vec)) + 1;
}

INLINE char *near_part(char **memory, u64 bytes) {
    char *part = *memory;
    *memory += (bytes + 63) / 64 * 64;
    return part;
}

/* Memory for all lists of the block, none of which is made yet; each has room for `most` pairs, or for what is usual.
 */
OUTLINE struct near *near_lay_out(struct lgv_scratch *s, long most) {
    u64 bytes = sizeof(struct near) * NEAR_LISTS * LANES + 64;
    for (long k = 0; k < NEAR_LISTS; k++) {
        u64 points = (u64)(near_kinds[k].count[0] + near_kinds[k].count[1]);
        u64 room = (u64)(most ? most : NEAR_LEAST * near_kinds[k].count[0]);
        bytes += LANES * (3 * points * sizeof(double) + (points + room) * sizeof(int) + 256);
    }
    char *memory = s->keep ? s->keep(s, bytes) : 0;
    s->near = (struct near *)memory;
    if (!memory) return 0;
    near_part(&memory, sizeof(struct near) * NEAR_LISTS * LANES);
    for (long i = 0; i < NEAR_LISTS * LANES; i++) {
        const struct near_kind *k = &near_kinds[i / LANES];
        struct near *n = &s->near[i];
        n->room = most ? most : NEAR_LEAST * k->count[0];
        n->where = (double *)near_part(&memory, (u64)(3 * (k->count[0] + k->count[1])) * sizeof(double));
        n->start = (int *)near_part(&memory, (u64)(k->count[0] + 1) * sizeof(int));
        n->index = (int *)near_part(&memory, (u64)n->room * sizeof(int));
        n->made = 0;
    }
    return s->near;
}

/* Has any of the points moved by more than half of the skin? */
OUTLINE int near_moved(const struct near *n, const double *at, long count, double skin) {
    const double most = 0.25 * skin * skin * (1 - 1e-9);
    double largest = 0;
    if (!n->made) return 1;
    for (long i = 0; i < count; i++) {
        const double *a = at + 3 * i, *b = n->where + 3 * i;
        double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2], d = x * x + y * y + z * z;
        if (d > largest) largest = d;
    }
    return largest > most;
}

/* Cells at least as wide as the reach of the list: points that are near lie in cells that touch. */
struct near_cells {
    long count[3];
    double from[3], inverse[3]; /* of the width */
    int periodic[3];
    int *first, *order;
};

OUTLINE void near_choose_cells(struct near_cells *s, const struct near_kind *k, const double *at) {
    const double reach = k->radius + k->skin;
    for (int i = 0; i < 3; i++) {
        double low = __builtin_inf(), high = -__builtin_inf();
        for (long j = 0; j < k->count[1]; j++) {
            double x = at[3 * j + i];
            if (x < low) low = x;
            if (x > high) high = x;
        }
        s->periodic[i] = k->box[i] > 0;
        double length = s->periodic[i] ? k->box[i] : high - low, cells = 1;
        while (cells < 1000 && (cells + 1) * reach <= length && cells * cells * cells < 2.0 * (double)k->count[1])
            cells++;
        if (cells < 3) cells = 1;
        s->count[i] = (long)cells;
        s->from[i] = s->periodic[i] || !(low - low == 0) ? 0 : low;
        s->inverse[i] = length > 0 && length - length == 0 ? cells / length : 0;
    }
}

/* Of a point the number of its cell along axis i; one that is no number is in the first. */
INLINE long near_cell(const struct near_cells *s, double x, int i) {
    double n = (double)s->count[i], at = (x - s->from[i]) * s->inverse[i];
    at = __builtin_floor(at);
    if (s->periodic[i]) at -= n * __builtin_floor(at / n);
    return !(at > 0) ? 0 : at > n - 1 ? s->count[i] - 1 : (long)at;
}

INLINE long near_cell_of(const struct near_cells *s, const double *x) {
    return (near_cell(s, x[0], 0) * s->count[1] + near_cell(s, x[1], 1)) * s->count[2] + near_cell(s, x[2], 2);
}

OUTLINE void near_sort_points(struct ctx *c, struct near_cells *s, const struct near_kind *k, const double *at) {
    long cells = s->count[0] * s->count[1] * s->count[2], n = k->count[1];
    s->first = (int *)take(c, near_vecs((u64)(cells + 1) * sizeof(int)));
    s->order = (int *)take(c, near_vecs((u64)n * sizeof(int)));
    for (long i = 0; i <= cells; i++) s->first[i] = 0;
    for (long i = 0; i < n; i++) s->first[near_cell_of(s, at + 3 * i) + 1]++;
    for (long i = 0; i < cells; i++) s->first[i + 1] += s->first[i];
    for (long i = 0; i < n; i++) s->order[s->first[near_cell_of(s, at + 3 * i)]++] = (int)i;
    for (long i = cells; i > 0; i--) s->first[i] = s->first[i - 1];
    s->first[0] = 0;
}

/* Ascending; there are some dozens. */
INLINE void near_sort(int *x, long n) {
    for (long gap = n > 40 ? 13 : n > 13 ? 4 : 1; gap > 0; gap = gap == 13 ? 4 : gap == 4 ? 1 : 0)
        for (long i = gap; i < n; i++) {
            int v = x[i];
            long j = i;
            for (; j >= gap && x[j - gap] > v; j -= gap) x[j] = x[j - gap];
            x[j] = v;
        }
}

/* The neighbours of point i among those of one cell. */
INLINE long near_search(const struct near_cells *s, const struct near_kind *k, long cell, const double *x,
                        const double *at, long i0, int (*allows)(long, long), int *out, long room) {
    const double reach = k->radius + k->skin, most = reach * reach;
    long n = 0;
    for (int j = s->first[cell]; j < s->first[cell + 1]; j++) {
        const long i1 = s->order[j] + k->low[1];
        if (!allows(i0, i1)) continue;
        double square = 0;
        UNROLL for (int a = 0; a < 3; a++) {
            double d = x[a] - at[3 * s->order[j] + a];
            if (k->box[a] > 0) d -= k->box[a] * __builtin_floor(d / k->box[a] + 0.5);
            square += d * d;
        }
        if (!(square <= most)) continue;
        if (n == room) return -1;
        out[n++] = (int)i1;
    }
    return n;
}

/* Makes the list; 0: it has too little room. */
INLINE int near_make(struct ctx *c, struct near *n, const struct near_kind *k, const double *at,
                     int (*allows)(long, long)) {
    struct near_cells s;
    const double *second = at + 3 * k->count[0];
    long used = 0;
    near_choose_cells(&s, k, second);
    near_sort_points(c, &s, k, second);
    for (long i = 0; i < k->count[0]; i++) {
        const double *x = at + 3 * i;
        long begin = used, cell[3] = {near_cell(&s, x[0], 0), near_cell(&s, x[1], 1), near_cell(&s, x[2], 2)};
        n->start[i] = (int)begin;
        for (int t = 0; t < 27; t++) {
            long step[3] = {t / 9 - 1, t / 3 % 3 - 1, t % 3 - 1}, number = 0, found;
            int there = 1;
            for (int a = 0; a < 3; a++) {
                long j = cell[a] + step[a];
                if (s.periodic[a] && s.count[a] > 1) j = j < 0 ? j + s.count[a] : j < s.count[a] ? j : 0;
                there &= j >= 0 && j < s.count[a];
                number = number * s.count[a] + j;
            }
            if (!there) continue;
            found = near_search(&s, k, number, x, second, i + k->low[0], allows, n->index + used, n->room - used);
            if (found < 0) return 0;
            used += found;
        }
        near_sort(n->index + begin, used - begin);
    }
    n->start[k->count[0]] = (int)used;
    for (long i = 0; i < 3 * (k->count[0] + k->count[1]); i++) n->where[i] = at[i];
    return n->made = 1;
}

/* The state makes no sense any more, or there is no memory: the path ends here.  Who only looks at it sees nothing. */
OUTLINE const struct near *near_none(struct ctx *c, int l, int reason) {
    ivec mask = {0};
    mask[l] = -1;
    if (c->q && c->b->fail) lanes_failed(c, &mask, reason);
    return 0;
}

/* List `number` of lane l for points at `at`, or 0.  One that has become too long is made again with twice the room. */
INLINE const struct near *near_list(struct ctx *c, long number, const double *at, int (*allows)(long, long), int l) {
    const struct near_kind *k = &near_kinds[number];
    struct lgv_scratch *s = c->b->scratch;
    struct near *all = s->near ? s->near : near_lay_out(s, 0);
    vec *top = c->top;
    while (all && near_moved(&all[number * LANES + l], at, k->count[0] + k->count[1], k->skin)) {
        struct near *n = &all[number * LANES + l];
        if (near_make(c, n, k, at, allows)) break;
        c->top = top;
        if (n->room >= NEAR_MOST) return near_none(c, l, LGV_FAIL_NEAR);
        all = near_lay_out(s, 2 * n->room);
    }
    c->top = top;
    return all ? &all[number * LANES + l] : near_none(c, l, LGV_FAIL_SCRATCH);
}
#endif
