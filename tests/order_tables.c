/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The coefficients of methods made of others, from the tables that kernels are made of: the order conditions of
 * compositions, the power series of a step in dt against that of the solution, sums and symmetry. */
#include "helpers.h"

/* ---- compositions: Lyndon words ---- */

/* A symmetric step of width g is exp(g Y_1 + g^3 Y_3 + g^5 Y_5 + ...).  A composition has order r when in the product
 * the coefficients of all Lyndon words of odd weight up to r vanish, but for that of Y_1, which is 1. */
static double word_coefficient(const struct lgv_program *p, const int *word, int n) {
    long double c[10] = {1};
    for (size_t k = 0; k < p->count; k++)
        for (int end = n; end > 0; end--) { /* exp of one step: g^weight / length!, for the letters begin .. end */
            long double term = 1;
            for (int begin = end - 1; begin >= 0; begin--) {
                term *= powl((long double)p->substep[k].width, word[begin]) / (end - begin);
                c[end] += c[begin] * term;
            }
        }
    return (double)c[n];
}

static bool is_lyndon(const int *word, int n) {
    for (int i = 1; i < n; i++) {
        int k = 0;
        while (i + k < n && word[k] == word[i + k]) k++;
        if (i + k == n || word[k] > word[i + k]) return false;
    }
    return true;
}

/* The sum of squares of the coefficients of all Lyndon words of this weight. */
static double all_words(const struct lgv_program *p, int weight, int *word, int n, int used, double sum) {
    if (used == weight) {
        double c = is_lyndon(word, n) ? word_coefficient(p, word, n) : 0;
        return sum + c * c;
    }
    for (int letter = 1; used + letter <= weight; letter += 2) {
        word[n] = letter;
        sum = all_words(p, weight, word, n + 1, used + letter, sum);
    }
    return sum;
}

static double words_of(const struct lgv_program *p, int weight) {
    int word[10];
    return sqrt(all_words(p, weight, word, 0, 0, 0));
}

static void test_conditions(void **state) {
    (void)state;
    for (size_t i = 0; i < lgv_composition_count; i++) {
        const struct lgv_composition *c = &lgv_compositions[i];
        char name[64];
        snprintf(name, sizeof name, "P1N1Q2Gau-%s", c->suffix);
        const struct lgv_method *m = lgv_method_find(name);
        assert_non_null(m);
        double allowed = 1e-14 * fmax(1, c->error); /* the widths are rounded */
        assert_near(words_of(m->program, 1), 1, 4e-16, name);
        for (int weight = 3; weight <= c->order; weight += 2)
            if (!(words_of(m->program, weight) < allowed))
                fail_msg("%s: conditions of order %d: %g", name, weight, words_of(m->program, weight));
        assert_near(words_of(m->program, c->order + 1) / c->error, 1, 1e-3, name);
        assert_true(m->order == c->order);
    }
}

/* ---- power series ---- */

/* q'' = -U'(q), U = sum of q_i^2/2 + x^2 y - y^3/3 + x y z + z^4/4 + x^3 z/5 + y z^2/3: series in dt up to TERMS. */
enum { DOF = 3, TERMS = 12 };
typedef long double series[TERMS];
struct point {
    series q[DOF], p[DOF];
};

static void add_product_of(series out, long double factor, const long double *a, const long double *b) {
    series r = {0};
    for (int i = 0; i < TERMS; i++)
        for (int j = 0; i + j < TERMS; j++) r[i + j] += a[i] * b[j];
    for (int i = 0; i < TERMS; i++) out[i] += factor * r[i];
}

static void force_of(const struct point *at, series *F) {
    const long double *x = at->q[0], *y = at->q[1], *z = at->q[2];
    series xx = {0}, zz = {0};
    add_product_of(xx, 1, x, x);
    add_product_of(zz, 1, z, z);
    for (int d = 0; d < DOF; d++)
        for (int i = 0; i < TERMS; i++) F[d][i] = -at->q[d][i];
    add_product_of(F[0], -2, x, y);
    add_product_of(F[0], -1, y, z);
    add_product_of(F[0], -3.0L / 5, xx, z);
    add_product_of(F[1], -1, x, x);
    add_product_of(F[1], 1, y, y);
    add_product_of(F[1], -1, x, z);
    add_product_of(F[1], -1.0L / 3, z, z);
    add_product_of(F[2], -1, x, y);
    add_product_of(F[2], -1, zz, z);
    add_product_of(F[2], -1.0L / 5, xx, x);
    add_product_of(F[2], -2.0L / 3, y, z);
}

static struct point start_point(void) {
    static const long double q[] = {0.3L, -0.7L, 0.9L}, p[] = {1.1L, 0.4L, -0.6L};
    struct point at = {0};
    for (int d = 0; d < DOF; d++) {
        at.q[d][0] = q[d];
        at.p[d][0] = p[d];
    }
    return at;
}

static struct point solution(void) {
    struct point at = start_point();
    for (int n = 1; n < TERMS; n++) {
        series F[DOF];
        force_of(&at, F);
        for (int d = 0; d < DOF; d++) {
            at.q[d][n] = at.p[d][n - 1] / n;
            at.p[d][n] = F[d][n - 1] / n;
        }
    }
    return at;
}

/* x += width dt y */
static void move(series *x, double width, const series *y) {
    for (int d = 0; d < DOF; d++)
        for (int n = TERMS - 1; n > 0; n--) x[d][n] += (long double)width * y[d][n - 1];
}

static void kick(struct point *at, double width) {
    series F[DOF];
    force_of(at, F);
    move(at->p, width, (const series *)F);
}

static struct point step_of(const struct lgv_program *p) {
    struct point at = start_point();
    for (size_t k = 0; k < p->count; k++) {
        const struct lgv_substep *substep = &p->substep[k];
        const char *step = p->step[substep->step]->name;
        bool verlet = strcmp(step, "P2N2Q2Lob") == 0;
        if (verlet || *step == 'B') kick(&at, verlet ? substep->width / 2 : substep->width);
        if (verlet || *step == 'A') move(at.q, substep->width, (const series *)at.p);
        if (verlet) kick(&at, substep->width / 2);
    }
    return at;
}

static double difference_of(const struct point *a, const struct point *b, int n) {
    long double most = 0;
    for (int d = 0; d < DOF; d++)
        most = fmaxl(most, fmaxl(fabsl(a->q[d][n] - b->q[d][n]), fabsl(a->p[d][n] - b->p[d][n])));
    return (double)most;
}

static void test_series(void **state) {
    (void)state;
    static const char *const name[] = {
        "P2N2Q2Lob-Yoshida4", "P2N2Q2Lob-Suzuki4", "P2N2Q2Lob-Yoshida6", "P2N2Q2Lob-KahanLi6", "P2N2Q2Lob-6",
        "P2N2Q2Lob-Yoshida8", "P2N2Q2Lob-SuzukiUmeno8", "P2N2Q2Lob-KahanLi8", "P2N2Q2Lob-8", "BAB-8", "ABA-6",
        "BlanesMoan4", "BlanesMoan6", "RKN4", "RKN6", "RKN8", "ABABA"};
    struct point exact = solution();
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const struct lgv_method *m = lgv_method_find(name[i]);
        if (!m || !m->program) fail_msg("%s is no program", name[i]);
        struct point at = step_of(m->program);
        int order = (int)m->order;
        double allowed = strstr(name[i], "Yoshida8") ? 1e-13 : 1e-14; /* the widths are rounded */
        for (int n = 0; n <= order; n++)
            if (!(difference_of(&at, &exact, n) < allowed))
                fail_msg("%s: term %d differs by %g", name[i], n, difference_of(&at, &exact, n));
        double next = difference_of(&at, &exact, order + 1);
        print_message("%s: order %d, next term differs by %.3g\n", name[i], order, next);
        if (!(next > 1e3 * allowed)) fail_msg("%s has order %d or more", name[i], order + 1);
    }
}

/* ---- sums and symmetry ---- */

/* What ends at 1 must do so to the bit, or what is carried to the next step would depend on where calls begin. */
static void test_sums(void **state) {
    (void)state;
    static const char *const name[] = {"RATTLE-Yoshida4", "RATTLE-4", "verlet-6", "verlet-8", "verlet-KahanLi6",
                                       "verlet-Kahan-Li8", "verlet-SuzukiUmeno8", "verlet-Yoshida6", "verlet-Yoshida8",
                                       "RKN4", "RKN6", "RKN8", "blanes-moan4", "BlanesMoan6", "BAB-8", "ABA-4"};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const struct lgv_method *m = lgv_method_find(name[i]);
        if (!m) fail_msg("no method %s", name[i]);
        const struct lgv_program *p = m->program;
        double sum[2] = {0};
        for (size_t k = 0; k < p->count; k++) {
            const struct lgv_substep *mirror = &p->substep[p->count - 1 - k];
            sum[p->substep[k].step] += p->substep[k].width;
            assert_true(p->substep[k].width == mirror->width && p->substep[k].step == mirror->step);
        }
        for (size_t j = 0; j < p->steps; j++) assert_near(sum[j], 1, 1e-15, name[i]);
        const struct lgv_substep *last = &p->substep[p->count - 1];
        bool stands = p->step[last->step]->moves == LGV_MOVES_P; /* a kick takes no time */
        if (p->step[last->step]->moves != LGV_MOVES_Q) assert_true(last->from + (stands ? 0 : last->width) == 1);
        assert_true(m->symmetric || strncmp(name[i], "R", 1) != 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_series),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
