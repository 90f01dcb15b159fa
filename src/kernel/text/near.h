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

/* Cells for the points of the first index.  Points that are near lie at most `far` cells apart along an axis: cells are
 * half as wide as the reach of the list, or as wide, or there is one. */
struct near_cells {
    long count[3], far[3];
    double from[3], inverse[3]; /* of the width */
    double box[3], per_box[3];
    int *first;       /* [cells + 1] */
    int *order;       /* indices of points, cell by cell */
    double *place[3]; /* their places in that order, and LANES numbers more */
};

OUTLINE void near_choose_cells(struct near_cells *s, const struct near_kind *k, const double *at) {
    const double reach = k->radius + k->skin;
    for (int i = 0; i < 3; i++) {
        double low = __builtin_inf(), high = -__builtin_inf();
        for (long j = 0; j < k->count[0]; j++) {
            double x = at[3 * j + i];
            if (x < low) low = x;
            if (x > high) high = x;
        }
        s->box[i] = k->box[i];
        s->per_box[i] = k->box[i] > 0 ? 1 / k->box[i] : 0;
        double length = k->box[i] > 0 ? k->box[i] : high - low, cells = 1;
        while (cells < 1000 && (cells + 1) * 0.5 * reach <= length && cells * cells * cells < 4.0 * (double)k->count[0])
            cells++;
        if (cells < 5) cells = 1;
        s->far[i] = cells == 1 ? 0 : reach * cells <= length ? 1 : 2;
        s->count[i] = (long)cells;
        s->from[i] = k->box[i] > 0 || !(low - low == 0) ? 0 : low;
        s->inverse[i] = length > 0 && length - length == 0 ? cells / length : 0;
    }
}

/* Of a point the number of its cell along axis i; one that is no number is in the first. */
INLINE long near_cell(const struct near_cells *s, double x, int i) {
    double n = (double)s->count[i], at = (x - s->from[i]) * s->inverse[i];
    at = __builtin_floor(at);
    if (s->box[i] > 0) at -= n * __builtin_floor(at / n);
    return !(at > 0) ? 0 : at > n - 1 ? s->count[i] - 1 : (long)at;
}

OUTLINE void near_sort_points(struct ctx *c, struct near_cells *s, const struct near_kind *k, const double *at) {
    long cells = s->count[0] * s->count[1] * s->count[2], n = k->count[0];
    int *cell = (int *)take(c, near_vecs((u64)n * sizeof(int)));
    s->first = (int *)take(c, near_vecs((u64)(cells + 1) * sizeof(int)));
    s->order = (int *)take(c, near_vecs((u64)(n + LANES) * sizeof(int)));
    for (int a = 0; a < 3; a++) s->place[a] = (double *)take(c, near_vecs((u64)(n + LANES) * sizeof(double)));
    for (long i = 0; i <= cells; i++) s->first[i] = 0;
    for (long i = 0; i < n; i++) {
        const double *x = at + 3 * i;
        cell[i] = (int)((near_cell(s, x[0], 0) * s->count[1] + near_cell(s, x[1], 1)) * s->count[2] +
                        near_cell(s, x[2], 2));
        s->first[cell[i] + 1]++;
    }
    for (long i = 0; i < cells; i++) s->first[i + 1] += s->first[i];
    for (long i = 0; i < n; i++) {
        int j = s->first[cell[i]]++;
        s->order[j] = (int)i;
        for (int a = 0; a < 3; a++) s->place[a][j] = at[3 * i + a];
    }
    for (long i = cells; i > 0; i--) s->first[i] = s->first[i - 1];
    s->first[0] = 0;
    for (long j = n; j < n + LANES; j++) {
        s->order[j] = 0;
        for (int a = 0; a < 3; a++) s->place[a][j] = 0;
    }
}

/* Which points from `begin` to `end` in the order of cells are near x, the point of second index i1. */
INLINE long near_search(const struct near_cells *s, const struct near_kind *k, long begin, long end, const double *x,
                        long i1, int (*allows)(long, long), int *out) {
    const double reach = k->radius + k->skin, most = reach * reach;
    long n = 0;
    for (long j = begin; j < end; j += LANES) {
        vec square = {0};
        UNROLL for (int a = 0; a < 3; a++) {
            vec d;
            __builtin_memcpy(&d, s->place[a] + j, sizeof d);
            d = x[a] - d;
            if (s->box[a] > 0) d -= s->box[a] * vec_floor(d * s->per_box[a] + 0.5);
            square += d * d;
        }
        UNROLL for (long m = 0; m < LANES; m++) {
            const int i = s->order[j + m];
            out[n] = i;
            n += (square[m] <= most) & (j + m < end) & allows(i + k->low[0], i1);
        }
    }
    return n;
}

/* Goes through second indices one after the other, so that those of each first index come in ascending order.  Points
 * of cells that follow each other along the last axis lie side by side.  0: there is too little room. */
INLINE int near_make(struct ctx *c, struct near *n, const struct near_kind *k, const double *at,
                     int (*allows)(long, long)) {
    struct near_cells s;
    long used = 0;
    near_choose_cells(&s, k, at);
    near_sort_points(c, &s, k, at);
    int *const found = (int *)take(c, near_vecs((u64)(n->room + k->count[0] + LANES) * sizeof(int)));
    int *const until = (int *)take(c, near_vecs((u64)k->count[1] * sizeof(int)));
    for (long i = 0; i <= k->count[0]; i++) n->start[i] = 0;
    for (long j = 0; j < k->count[1]; j++) {
        const double *x = at + 3 * (k->count[0] + j);
        const long cell[3] = {near_cell(&s, x[0], 0), near_cell(&s, x[1], 1), near_cell(&s, x[2], 2)};
        const long last = s.count[2], from = cell[2] - s.far[2], to = cell[2] + s.far[2] + 1;
        for (long a = cell[0] - s.far[0]; a <= cell[0] + s.far[0]; a++) {
            const long there = s.box[0] > 0 ? (a + s.count[0]) % s.count[0] : a;
            if (there < 0 || there >= s.count[0]) continue;
            for (long b = cell[1] - s.far[1]; b <= cell[1] + s.far[1]; b++) {
                const long beside = s.box[1] > 0 ? (b + s.count[1]) % s.count[1] : b;
                if (beside < 0 || beside >= s.count[1]) continue;
                /* a row of cells, which goes on at the other end of a periodic box */
                const int *const row = s.first + (there * s.count[1] + beside) * last;
                const long begin[2] = {from > 0 ? from : 0, s.box[2] > 0 && from < 0 ? from + last : 0};
                const long end[2] = {to < last ? to : last, s.box[2] > 0 && from < 0   ? last
                                                            : s.box[2] > 0 && to > last ? to - last
                                                                                        : 0};
                for (int part = 0; part < 2; part++) {
                    if (begin[part] >= end[part]) continue;
                    used += near_search(&s, k, row[begin[part]], row[end[part]], x, j + k->low[1], allows,
                                        found + used);
                    if (used > n->room) return 0;
                }
            }
        }
        until[j] = (int)used;
    }
    for (long e = 0; e < used; e++) n->start[found[e] + 1]++;
    for (long i = 0; i < k->count[0]; i++) n->start[i + 1] += n->start[i];
    for (long j = 0, e = 0; j < k->count[1]; j++)
        for (; e < until[j]; e++) n->index[n->start[found[e]]++] = (int)(j + k->low[1]);
    for (long i = k->count[0]; i > 0; i--) n->start[i] = n->start[i - 1];
    n->start[0] = 0;
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
