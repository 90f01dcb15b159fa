/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Exact sums: what is not done in every addition. */
#include "base/exact.h"
#include "base/base.h"
#include <math.h>
#include <stdlib.h>

__extension__ typedef unsigned __int128 wide_bits;

#define MANY (1u << 30)         /* additions of less than 2^32 that an int64 takes */
#define MUCH ((int64_t)1 << 61)      /* the top digit of a window is emptied beyond */
#define TOP (LGV_EXACT_DIGITS - 1)

/* Brings every digit but the top one into 0 .. 2^32 - 1; the sign lives in the top digit. */
static void carry(int64_t *digit, int count) {
    int64_t c = 0;
    for (int k = 0; k < count - 1; k++) {
        int64_t v = digit[k] + c;
        c = v >> 32; /* rounds down */
        digit[k] = v - c * ((int64_t)1 << 32);
    }
    digit[count - 1] += c;
}

static void wide_add(struct lgv_exact_wide *w, double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    int e = (int)(u >> 52 & 2047);
    uint64_t m = u & 0xfffffffffffffULL;
    if (e == 2047) {
        *(m ? &w->nan : u >> 63 ? &w->down : &w->up) += 1;
        return;
    }
    if (e)
        m |= 1ULL << 52;
    else
        e = 1;
    int at = e - 1 + (LGV_EXACT_SHIFT - 1074), k = at >> 5;
    unsigned r = (unsigned)at & 31;
    int64_t sign = (int64_t)u >> 63;
    uint64_t low = m << r, high = r > 11 ? m >> (64 - r) : 0;
    w->digit[k] += ((int64_t)(uint32_t)low ^ sign) - sign;
    w->digit[k + 1] += ((int64_t)(low >> 32) ^ sign) - sign;
    w->digit[k + 2] += ((int64_t)high ^ sign) - sign;
    if (++w->pending == MANY) {
        carry(w->digit, LGV_EXACT_DIGITS);
        w->pending = 0;
    }
}

static void wide_merge(struct lgv_exact_wide *a, const struct lgv_exact_wide *b) {
    struct lgv_exact_wide c = *b;
    carry(a->digit, LGV_EXACT_DIGITS);
    carry(c.digit, LGV_EXACT_DIGITS);
    for (int k = 0; k < LGV_EXACT_DIGITS; k++) a->digit[k] += c.digit[k];
    carry(a->digit, LGV_EXACT_DIGITS);
    a->pending = 0;
    a->nan += b->nan;
    a->up += b->up;
    a->down += b->down;
}

/* The window's digits into w. */
static void window_into(struct lgv_exact_wide *w, const struct lgv_exact *s) {
    int64_t digit[LGV_EXACT_WINDOW];
    if (!s->base) return;
    memcpy(digit, s->digit, sizeof digit);
    carry(digit, LGV_EXACT_WINDOW);
    carry(w->digit, LGV_EXACT_DIGITS);
    int first = s->base - 1;
    for (int j = 0; j < LGV_EXACT_WINDOW - 1; j++) w->digit[first + j] += digit[j];
    /* the top digit of a window may be larger than 2^32, or negative */
    int top = first + LGV_EXACT_WINDOW - 1;
    if (top == TOP)
        w->digit[TOP] += digit[LGV_EXACT_WINDOW - 1];
    else {
        int64_t high = digit[LGV_EXACT_WINDOW - 1] >> 32;
        w->digit[top] += digit[LGV_EXACT_WINDOW - 1] - high * ((int64_t)1 << 32);
        w->digit[top + 1] += high;
    }
    carry(w->digit, LGV_EXACT_DIGITS);
    w->pending = 0;
}

static bool need_wide(struct lgv_exact *s) {
    if (!s->wide) s->wide = lgv_new(1, sizeof *s->wide);
    return s->wide != NULL;
}

/* Empties the window when its top digit, the only one that carrying does not make small, has become large. */
static bool empty_window(struct lgv_exact *s) {
    int64_t top = s->digit[LGV_EXACT_WINDOW - 1];
    if (top <= MUCH && top >= -MUCH) return true;
    if (!need_wide(s)) return false;
    window_into(s->wide, s);
    memset(s->digit, 0, sizeof s->digit);
    return true;
}

bool lgv_exact_add_slowly(struct lgv_exact *s, double x) {
    if (s->pending >= MANY) {
        carry(s->digit, LGV_EXACT_WINDOW);
        s->pending = 0;
        return empty_window(s) && lgv_exact_add(s, x);
    }
    if (s->base == 0 && isnormal(x)) { /* room for numbers 2^32 times as large, and down to a 2^64th */
        int e;
        frexp(x, &e);
        int k = ((e + 1022 - 1 + (LGV_EXACT_SHIFT - 1074)) >> 5) - 2;
        int last = LGV_EXACT_DIGITS - LGV_EXACT_WINDOW;
        s->base = (k < 0 ? 0 : k > last ? last : k) + 1;
        return lgv_exact_add(s, x);
    }
    if (!need_wide(s)) return false;
    wide_add(s->wide, x);
    return true;
}

/* Adds the window of b to that of a, which lies at the same place. */
static bool same_window(struct lgv_exact *a, const struct lgv_exact *b) {
    struct lgv_exact c = *b;
    carry(a->digit, LGV_EXACT_WINDOW);
    carry(c.digit, LGV_EXACT_WINDOW);
    for (int j = 0; j < LGV_EXACT_WINDOW; j++) a->digit[j] += c.digit[j];
    a->pending = 1;
    return empty_window(a);
}

bool lgv_exact_merge(struct lgv_exact *a, const struct lgv_exact *b) {
    if (b->base && b->base == a->base) {
        if (!same_window(a, b)) return false;
    } else if (b->base && !a->base) {
        memcpy(a->digit, b->digit, sizeof a->digit);
        a->base = b->base;
        a->pending = b->pending;
    } else if (b->base) {
        if (!need_wide(a)) return false;
        window_into(a->wide, b);
    }
    if (!b->wide) return true;
    if (!need_wide(a)) return false;
    wide_merge(a->wide, b->wide);
    return true;
}

/* ---- results ---- */

/* Nearest double to the sum of the digits, ties to even; infinite beyond the largest double.  Most sums have few digits
 * that are not zero: only these are looked at, and two more for what is carried. */
static double wide_round(const struct lgv_exact_wide *in) {
    int64_t digit[LGV_EXACT_DIGITS];
    int first = 0, top = TOP;
    while (first < TOP && in->digit[first] == 0) first++;
    while (top > first && in->digit[top] == 0) top--;
    int count = (top + 2 > TOP ? TOP : top + 2) - first + 1;
    memcpy(digit, in->digit + first, (size_t)count * sizeof *digit);
    carry(digit, count);
    bool negative = digit[count - 1] < 0;
    if (negative) {
        for (int k = 0; k < count; k++) digit[k] = -digit[k];
        carry(digit, count);
    }
    top = count - 1;
    while (top > 0 && digit[top] == 0) top--;
    wide_bits m = (wide_bits)(uint64_t)digit[top]; /* the leading digits; is anything left below? */
    int low = top;
    while (low > 0 && low > top - 3 && m >> 96 == 0) m = m << 32 | (uint32_t)digit[--low];
    if (m == 0) return 0;
    bool more = false;
    for (int k = 0; k < low; k++) more = more || digit[k] != 0;
    int scale = 32 * (first + low) - LGV_EXACT_SHIFT;
    uint64_t h = (uint64_t)(m >> 64), l = (uint64_t)m;
    int lead = h ? 127 - __builtin_clzll(h) : 63 - __builtin_clzll(l), drop = lead - 52;
    if (scale + drop < -1074) drop = -1074 - scale; /* results below 2^-1022 keep fewer bits */
    if (drop > lead + 1) return negative ? -0.0 : 0;
    uint64_t kept = drop > 0 ? (uint64_t)(m >> drop) : l;
    if (drop > 0) {
        wide_bits rest = m & (((wide_bits)1 << drop) - 1), half = (wide_bits)1 << (drop - 1);
        if (rest > half || (rest == half && (more || (kept & 1)))) kept++;
    } else
        drop = 0;
    double x = ldexp((double)kept, scale + drop);
    return negative ? -x : x;
}

static void total(const struct lgv_exact *s, struct lgv_exact_wide *w) {
    if (s->wide) {
        *w = *s->wide;
        window_into(w, s);
        return;
    }
    memset(w, 0, sizeof *w);
    if (s->base) memcpy(w->digit + s->base - 1, s->digit, sizeof s->digit);
}

static void parts_of(const struct lgv_exact *s, int count, double *part) {
    struct lgv_exact_wide w;
    total(s, &w);
    for (int k = 0; k < count; k++) part[k] = 0;
    if (w.nan || (w.up && w.down))
        part[0] = (double)NAN;
    else if (w.up || w.down)
        part[0] = w.up ? INFINITY : -INFINITY;
    else
        for (int k = 0; k < count; k++) {
            part[k] = wide_round(&w);
            if (!isfinite(part[k])) return;
            wide_add(&w, -part[k]);
        }
}

void lgv_exact_parts(const struct lgv_exact *s, double part[3]) {
    parts_of(s, 3, part);
}

double lgv_exact_round(const struct lgv_exact *s) {
    double sum;
    parts_of(s, 1, &sum);
    return sum;
}

/* ---- saved sums: sign and digits between the first and the last that is not 0 ---- */

struct saved {
    uint8_t first, count, base, negative, special, none[3];
};

void lgv_exact_save(const struct lgv_exact *s, struct lgv_text *out) {
    struct lgv_exact_wide w;
    struct saved head = {.base = (uint8_t)s->base};
    uint32_t digit[LGV_EXACT_DIGITS];
    total(s, &w);
    carry(w.digit, LGV_EXACT_DIGITS);
    head.negative = w.digit[TOP] < 0;
    for (int k = 0; head.negative && k < LGV_EXACT_DIGITS; k++) w.digit[k] = -w.digit[k];
    carry(w.digit, LGV_EXACT_DIGITS);
    int first = 0, end = LGV_EXACT_DIGITS;
    while (end > 0 && w.digit[end - 1] == 0) end--;
    while (first < end && w.digit[first] == 0) first++;
    head.first = (uint8_t)first;
    head.count = (uint8_t)(end - first);
    head.special = w.nan || w.up || w.down;
    for (int k = first; k < end; k++) digit[k] = (uint32_t)w.digit[k];
    lgv_text_append(out, (const char *)&head, sizeof head);
    lgv_text_append(out, (const char *)(digit + first), head.count * sizeof *digit);
    if (!head.special) return;
    lgv_text_append_count(out, w.nan);
    lgv_text_append_count(out, w.up);
    lgv_text_append_count(out, w.down);
}

bool lgv_exact_load(struct lgv_exact *s, struct lgv_bytes *from) {
    struct saved head;
    uint32_t digit[LGV_EXACT_DIGITS];
    lgv_bytes_take(from, &head, sizeof head);
    if (head.first + head.count > LGV_EXACT_DIGITS || head.base > LGV_EXACT_DIGITS - LGV_EXACT_WINDOW + 1)
        from->bad = true;
    if (from->bad) return true;
    lgv_bytes_take(from, digit, head.count * sizeof *digit);
    int low = head.base - 1; /* of the window */
    bool window = head.base && head.first >= low && head.first + head.count <= low + LGV_EXACT_WINDOW;
    if ((!window && head.count) || head.special)
        if (!need_wide(s)) return false;
    s->base = head.base;
    for (int k = 0; k < head.count; k++)
        *(window ? &s->digit[head.first - low + k] : &s->wide->digit[head.first + k]) =
            head.negative ? -(int64_t)digit[k] : (int64_t)digit[k];
    s->pending = 1;
    if (!head.special) return true;
    s->wide->nan = lgv_bytes_count(from);
    s->wide->up = lgv_bytes_count(from);
    s->wide->down = lgv_bytes_count(from);
    return true;
}

void lgv_exact_free(struct lgv_exact *s, size_t count) {
    for (size_t i = 0; s && i < count; i++) free(s[i].wide);
}

/* w += a b, exact while a b has no part below 2^-1074. */
static void add_product(struct lgv_exact_wide *w, double a, double b) {
    double high = a * b;
    wide_add(w, high);
    if (isfinite(high)) wide_add(w, fma(a, b, -high));
}

double lgv_exact_comoment(uint64_t n, const struct lgv_exact *x, const struct lgv_exact *y,
                          const struct lgv_exact *xy) {
    struct lgv_exact_wide w = {0};
    double a[3], b[3], c[3], count = (double)n;
    lgv_exact_parts(x, a);
    if (x == y)
        memcpy(b, a, sizeof b);
    else
        lgv_exact_parts(y, b);
    lgv_exact_parts(xy, c);
    for (int i = 0; i < 3; i++) add_product(&w, count, c[i]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; i + j < 3; j++) add_product(&w, -a[i], b[j]);
    return w.nan || w.up || w.down ? (double)NAN : wide_round(&w) / count;
}
