/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Figures and report of made-up results: axes whose labels can be told apart, runs of one path without the words of
 * ensembles, trajectories, numbers as people write them; and every odd result is drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_result.h"
#include "out/study_compare.h"

/* --- axes --- */

static struct lgv_axis axis_over(double low, double high, double start) {
    struct lgv_axis a = LGV_AXIS_EMPTY;
    lgv_axis_extend(&a, low);
    lgv_axis_extend(&a, high);
    lgv_axis_extend(&a, (double)NAN);
    lgv_axis_extend(&a, (double)INFINITY);
    lgv_axis_settle(&a, start);
    return a;
}

static void near(double x, double expected, double tolerance) {
    if (!(fabs(x - expected) <= tolerance)) fail_msg("%.17g instead of %.17g", x, expected);
}

static void test_axis(void **state) {
    (void)state;
    struct lgv_axis a = axis_over(-1, 2, 0.5); /* wide: as it is */
    assert_false(a.shifted);
    near(a.low, -1, 0);
    near(a.high, 2, 0);
    a = axis_over(11.28147, 11.28151, 11.2815); /* a drift that labels of six digits would not show */
    assert_true(a.shifted);
    near(a.base, 11.2815, 0);
    near(a.low, -3e-5, 1e-14);
    near(a.high, 1e-5, 1e-14);
    a = axis_over(-1, -1 + 3e-16, -1); /* round-off: flat */
    assert_true(a.shifted);
    near(a.low, -1e-12, 1e-20);
    near(a.high, 1e-12, 1e-20);
    a = axis_over(2e-16, 5e-16, 2e-16); /* small numbers are not small changes */
    assert_false(a.shifted);
    near(a.high, 5e-16, 0);
    a = axis_over(0, 0, 0);
    assert_false(a.shifted);
    near(a.low, -1, 0);
    near(a.high, 1, 0);
    a = axis_over(7, 7, (double)NAN); /* no start known */
    assert_true(a.shifted);
    near(a.base, 7, 0);
    a = LGV_AXIS_EMPTY; /* nothing to draw */
    lgv_axis_settle(&a, (double)NAN);
    assert_true(a.low < a.high);
}

static void expect_label(const struct lgv_axis *a, const char *name, const char *symbol, const char *expected) {
    struct lgv_text out = {0};
    lgv_axis_label(&out, 'y', a, name, symbol, 0);
    assert_string_equal(out.data, expected);
    lgv_text_free(&out);
}

static void test_axis_text(void **state) {
    (void)state;
    struct lgv_axis a = axis_over(11.28147, 11.28151, 11.2815);
    expect_label(&a, "H", NULL, "set ylabel 'H - H(0), H(0) = 11.2815' noenhanced\n");
    expect_label(&a, "H", "mean", "set ylabel 'H - mean(0), mean(0) = 11.2815' noenhanced\n");
    expect_label(&a, "a_name_that_is_long", NULL, "set ylabel 'change from 11.2815' noenhanced\n");
    struct lgv_text out = {0};
    lgv_axis_number(&out, &a, 11.28151);
    lgv_axis_number(&out, &a, (double)NAN);
    near(strtod(out.data, NULL), 1e-5, 1e-13);
    assert_non_null(strstr(out.data, " NaN"));
    lgv_text_free(&out);
    a = axis_over(-1, 1, 0);
    expect_label(&a, "it's", NULL, "set ylabel 'it''s' noenhanced\n");
}

/* --- which figures there are --- */

static size_t count_kind(const struct lgv_result *r, enum lgv_figure_kind kind, struct lgv_figure *last) {
    size_t count, n = 0;
    struct lgv_figure *list = lgv_figure_plan(r, &count);
    for (size_t i = 0; i < count; i++)
        if (list[i].kind == kind) {
            *last = list[i];
            n++;
        }
    free(list);
    return n;
}

static void make_single(struct lgv_result *r) {
    make_result(r, 50, 1);
    r->paths = r->paths_done = r->sample_paths = 1;
    r->failed = r->nfailures = 0;
    for (size_t i = 0; i < r->nseries; i++)
        for (size_t k = 0; k < r->ntimes; k++) r->series[i].err[k] = (double)NAN;
}

static void test_single_path(void **state) {
    (void)state;
    struct lgv_result r;
    size_t count;
    make_single(&r);
    struct lgv_figure *list = lgv_figure_plan(&r, &count), last;
    static const char *const words[] = {"nsemble", "quantile", "confidence", "sample paths", " of a path", "of paths"};
    for (size_t i = 0; i < count; i++) {
        struct lgv_text script = {0};
        lgv_figure_script(&script, &r, &list[i]);
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (strstr(list[i].caption, words[k]) || strstr(list[i].title, words[k]) || strstr(script.data, words[k]))
                fail_msg("'%s' in figure %s of one path", words[k], list[i].file);
        lgv_text_free(&script);
    }
    free(list);
    assert_int_equal(count_kind(&r, LGV_FIGURE_HISTOGRAM, &last), 0);
    assert_int_equal(count_kind(&r, LGV_FIGURE_PATHS, &last), 0);
    assert_int_equal(count_kind(&r, LGV_FIGURE_MEAN, &last), 4);
    lgv_result_clear(&r);
}

static void test_trajectory(void **state) {
    (void)state;
    struct lgv_result r;
    struct lgv_figure f;
    make_result(&r, 50, 2);
    assert_int_equal(count_kind(&r, LGV_FIGURE_TRAJECTORY, &f), 0); /* one coordinate */
    r.series[1].kind = LGV_OBSERVABLE_COORDINATE;
    r.dof = 2;
    assert_int_equal(count_kind(&r, LGV_FIGURE_TRAJECTORY, &f), 1);
    assert_int_equal(f.dimension, 2);
    r.dof = 40; /* two of many that are shown are not a place */
    assert_int_equal(count_kind(&r, LGV_FIGURE_TRAJECTORY, &f), 0);
    rename_series(&r, 0, "x[1].y");
    rename_series(&r, 1, "x[1].x");
    assert_int_equal(count_kind(&r, LGV_FIGURE_TRAJECTORY, &f), 1);
    assert_int_equal(f.dimension, 2);
    assert_int_equal(f.place[0], 1);
    assert_int_equal(f.place[1], 0);
    rename_series(&r, 2, "x[1].z");
    assert_int_equal(count_kind(&r, LGV_FIGURE_TRAJECTORY, &f), 1);
    assert_int_equal(f.dimension, 2); /* an observable of that name is no coordinate */
    r.series[2].kind = LGV_OBSERVABLE_COORDINATE;
    assert_int_equal(count_kind(&r, LGV_FIGURE_TRAJECTORY, &f), 1);
    assert_int_equal(f.dimension, 3);
    size_t kept = r.nsamples;
    r.nsamples = 0;
    assert_int_equal(count_kind(&r, LGV_FIGURE_TRAJECTORY, &f), 0); /* nothing was kept */
    r.nsamples = kept;
    lgv_result_clear(&r);
}

/* Whether a turn by so many radians between kept times is drawn to its end. */
static bool is_cut(struct lgv_result *r, const struct lgv_figure *f, double angle) {
    struct lgv_text script = {0};
    for (size_t i = 0; i < r->ntimes; i++)
        for (size_t c = 0; c < 4; c++)
            r->sample[0].value[f->place[c] * r->ntimes + i] = c == 0   ? cos(angle * (double)i / 2)
                                                              : c == 3 ? sin(angle * (double)i / 2)
                                                                       : 0;
    lgv_figure_script(&script, r, f);
    bool cut = strstr(script.data, "up to t = ") != NULL;
    lgv_text_free(&script);
    return cut;
}

/* A rotation is drawn as the axes of its body, not as a place that its quaternion would be. */
static void test_orientation(void **state) {
    (void)state;
    static const char *const name[] = {"R.x", "R.w", "R.z", "R.y"};
    struct lgv_result r;
    struct lgv_figure f;
    struct lgv_text script = {0};
    make_result(&r, 50, 2);
    assert_int_equal(count_kind(&r, LGV_FIGURE_ORIENTATION, &f), 0);
    for (size_t i = 0; i < 4; i++) {
        rename_series(&r, i, name[i]);
        r.series[i].kind = LGV_OBSERVABLE_COORDINATE;
    }
    r.dof = 3;
    assert_int_equal(count_kind(&r, LGV_FIGURE_TRAJECTORY, &f), 0);
    assert_int_equal(count_kind(&r, LGV_FIGURE_PHASE, &f), 0);
    assert_int_equal(count_kind(&r, LGV_FIGURE_ORIENTATION, &f), 1);
    assert_string_equal(f.title, "Axes of the body R");
    for (size_t c = 0; c < 4; c++) assert_int_equal(f.place[c], c ^ 1);
    lgv_figure_script(&script, &r, &f);
    assert_non_null(strstr(script.data, "title 'axis 3'"));
    lgv_text_free(&script);
    assert_false(is_cut(&r, &f, 0.5)); /* 49 times half a radian */
    assert_false(is_cut(&r, &f, 0.9));
    assert_int_equal(count_kind(&r, LGV_FIGURE_ORIENTATION, &f), 1);
    assert_true(is_cut(&r, &f, 2.5));
    assert_int_equal(count_kind(&r, LGV_FIGURE_ORIENTATION, &f), 0); /* what is between is not known */
    (void)is_cut(&r, &f, 0.5);
    r.series[1].kind = LGV_OBSERVABLE_CONJUGATE; /* without w it is an ordinary vector */
    assert_int_equal(count_kind(&r, LGV_FIGURE_ORIENTATION, &f), 0);
    assert_int_equal(count_kind(&r, LGV_FIGURE_TRAJECTORY, &f), 1);
    lgv_result_clear(&r);
}

/* --- the page --- */

static char *page_of(const struct lgv_result *r) {
    struct lgv_error err = {0};
    size_t size;
    if (lgv_report(r, place, &err) != LGV_OK) fail_msg("%s", err.message);
    return slurp(in_place("report.html"), &size);
}

/* One path escapes to 1e299 and takes the mean with it: axes stay with the others, and the figure says so. */
static void test_escape(void **state) {
    (void)state;
    struct lgv_result r;
    size_t count = 0;
    make_result(&r, 50, 3);
    for (size_t i = 30; i < 33; i++) {
        r.series[0].mean[i] = 1e290;
        r.series[0].err[i] = 1e289;
        r.sample[1].value[i] = pow(10, 90.0 * (double)(i - 30) + 20); /* of series 0 */
    }
    struct lgv_figure *list = lgv_figure_plan(&r, &count);
    size_t clipped = 0;
    for (size_t k = 0; k < count; k++) {
        struct lgv_text script = {0};
        lgv_figure_script(&script, &r, &list[k]);
        clipped += strstr(script.data, "clipped: values") != NULL;
        const char *range = strstr(script.data, "set yrange [");
        double low = 0, high = 0;
        assert_int_equal(sscanf(range, "set yrange [%lf:%lf]", &low, &high), 2);
        if (list[k].kind != LGV_FIGURE_HISTOGRAM) assert_true(low > -20 && high < 20);
        for (const char *s = script.data; (s = strstr(s, "e+")); s += 2) /* nothing far outside is left in the data */
            assert_true(strtod(s + 1, NULL) < 4 || strstr(script.data, "clipped: values"));
        assert_null(strstr(script.data, "e+290\n"));
        assert_null(strstr(script.data, " 1e+290"));
        lgv_text_free(&script);
    }
    assert_int_equal(clipped, 3); /* mean, paths and phase portrait of q */
    free(list);
    lgv_result_clear(&r);
}

static void test_report_numbers(void **state) {
    (void)state;
    struct lgv_result r;
    make_single(&r);
    r.step = 0.1;
    r.steps = r.steps_done = 628;
    r.until = 628 * 0.1; /* 62.800000000000004 */
    free(r.parameter[0].value);
    r.parameter[0].value = lgv_copy("0.10000000000000001");
    char *page = page_of(&r);
    assert_non_null(strstr(page, "--step 0.1 --until 62.8 "));
    assert_non_null(strstr(page, "--set beta=0.1 "));
    assert_null(strstr(page, "62.80000000"));
    assert_non_null(strstr(page, "Values at t"));
    assert_null(strstr(page, "stderr"));
    assert_null(strstr(page, "nsemble"));
    free(page);
    r.t0 = 1e6; /* here 12 digits would be other steps */
    r.step = 1e-7;
    r.steps = r.steps_done = 3;
    r.until = r.t0 + 3 * r.step;
    page = page_of(&r);
    const char *until = strstr(page, "--until ");
    assert_non_null(until);
    assert_true(strtod(until + 8, NULL) - r.until == 0);
    free(page);
    lgv_result_clear(&r);
}

static void test_summary_of_one_path(void **state) {
    (void)state;
    struct lgv_result r;
    char *text = NULL;
    size_t size;
    make_single(&r);
    r.until = 628 * 0.1;
    r.steps = r.threads = r.lanes = 1;
    FILE *f = open_memstream(&text, &size);
    lgv_summary(f, &r, false);
    fclose(f);
    assert_non_null(strstr(text, "until 62.8 (1 step), 1 path, "));
    assert_non_null(strstr(text, "1 thread x 1 lane"));
    assert_non_null(strstr(text, "largest change"));
    assert_null(strstr(text, "stderr"));
    free(text);
    lgv_result_clear(&r);
}

/* --- drawn --- */

static bool have_gnuplot(void) {
    return system("command -v gnuplot >/dev/null 2>&1") == 0;
}

static void expect_figure(const char *name) {
    struct stat st;
    if (stat(in_place(name), &st) != 0 || st.st_size < 1000) fail_msg("%s was not drawn", name);
}

static void test_figures_and_report(void **state) {
    (void)state;
    struct lgv_result r;
    struct lgv_error err = {0};
    if (!have_gnuplot()) skip();
    make_result(&r, 50, 3);
    make_hostile(&r);
    if (lgv_figures(&r, place, &err) != LGV_OK || lgv_report(&r, place, &err) != LGV_OK) fail_msg("%s", err.message);
    expect_figure("energy.svg");
    expect_figure("energy.png");
    expect_figure("phase.svg");
    expect_figure("phase.pdf");
    expect_figure("mean-_touch_pwned_.png");
    assert_false(exists("pwned"));
    assert_true(access("pwned", F_OK) != 0);
    size_t size;
    char *page = slurp(in_place("report.html"), &size);
    assert_null(strstr(page, "<script>alert"));
    assert_non_null(strstr(page, "&lt;script&gt;"));
    assert_non_null(strstr(page, "<svg class=\"plot\""));
    assert_non_null(strstr(page, "data-axes=\""));
    assert_null(strstr(page, "id=\"gnuplot_canvas\"")); /* identifiers of figures do not meet */
    assert_null(strstr(page, "not drawn"));
    assert_null(memchr(page, '\033', size));
    assert_null(strstr(page, "data:image/svg+xml"));
    free(page);
    /* a figure that is not ours is an image, where nothing of it runs */
    static const char *const foreign[] = {"<script>alert(2)</script>", "<g onload='alert(2)'/>",
                                          "<a href='javascript:alert(2)'/>", "<use href='http://x/y.svg#z'/>",
                                          "<foreignObject/>", "<g style='x'/>", "<g/onload='alert(2)'/>",
                                          "<g id='x'onload='alert(2)'/>", "<use href = 'http://x/y.svg#z'/>"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        FILE *f = fopen(in_place("energy.svg"), "w");
        assert_non_null(f);
        fprintf(f, "<svg viewBox=\"0 0 600 350\" xmlns=\"http://www.w3.org/2000/svg\">%s</svg>\n", foreign[i]);
        fclose(f);
        assert_int_equal(lgv_report(&r, place, &err), LGV_OK);
        page = slurp(in_place("report.html"), &size);
        assert_non_null(strstr(page, "data:image/svg+xml;base64,"));
        assert_null(strstr(page, "alert(2)"));
        free(page);
    }
    lgv_result_clear(&r);
}

/* One time, one path, constants, nothing but NaN, nothing. */
static void test_figures_degenerate(void **state) {
    (void)state;
    struct lgv_result r;
    struct lgv_error err = {0};
    if (!have_gnuplot()) skip();
    for (int way = 0; way < 5; way++) {
        make_result(&r, way == 4 ? 0 : way == 0 ? 1 : 6, way == 2 ? 0 : 1);
        for (size_t k = 0; k < r.ntimes; k++) {
            for (int c = 0; c < LGV_QUANTILES; c++) r.series[0].quantile[c][k] = way == 1 ? (double)NAN : 0;
            r.series[0].mean[k] = way == 1 ? (double)NAN : 0;
            r.series[0].err[k] = way == 3 ? (double)NAN : 0;
            for (size_t i = 0; r.nsamples && i < r.nseries; i++)
                r.sample[0].value[i * r.ntimes + k] = way == 1 ? (double)NAN : 1e300 * (double)(way - 1);
        }
        memset(r.histogram[0].count, 0, 40 * sizeof(double));
        if (lgv_figures(&r, place, &err) != LGV_OK || lgv_report(&r, place, &err) != LGV_OK)
            fail_msg("case %d: %s", way, err.message);
        lgv_result_clear(&r);
    }
    expect_figure("mean-q.png");
}

/* --- a dozen methods that nearly coincide, one of which runs away --- */

#define METHODS 12

static void test_many_methods(void **state) {
    (void)state;
    enum { TIMES = 50 };
    static double time[TIMES], mean[METHODS][TIMES], err[TIMES];
    static struct lgv_outcome outcome[METHODS];
    static struct lgv_rung rung[METHODS][2];
    static struct lgv_compared method[METHODS];
    char names[METHODS][40], h[] = "H";
    char *observable[] = {h}, *none[] = {NULL};
    double *expected[] = {NULL};
    for (size_t i = 0; i < METHODS; i++) {
        snprintf(names[i], sizeof names[i], "Lobatto%zu-W%zu", i, i);
        for (size_t k = 0; k < TIMES; k++) {
            time[k] = 0.1 * (double)k;
            err[k] = (double)NAN;
            mean[i][k] = 11.2815 + (i == 5 ? 0.3 : 1e-5) * sin(time[k]);
        }
        outcome[i] = (struct lgv_outcome){.mean = mean[i], .err = err, .plain = mean[i], .plain_err = err};
        for (size_t j = 0; j < 2; j++)
            rung[i][j] = (struct lgv_rung){.step = 0.1,
                                           .strong = 0.02,
                                           .weak = (double)NAN,
                                           .seconds = 1e-6 * (double)(i + j + 1),
                                           .evaluations = 100 * (double)(j + 1)};
        method[i] = (struct lgv_compared){
            .name = names[i], .step = 0.1, .outcome = &outcome[i], .nrungs = 2, .rung = rung[i], .done = true};
    }
    struct lgv_comparison c = {.model_name = h,
                               .until = 628 * 0.1,
                               .paths = 1,
                               .ntimes = TIMES,
                               .time = time,
                               .nobservables = 1,
                               .observable = observable,
                               .formula = observable,
                               .expected = expected,
                               .expected_text = none,
                               .count = METHODS,
                               .method = method,
                               .ladder_paths = 1,
                               .exact = true};
    for (size_t i = 0; i < METHODS; i++)
        for (size_t k = 0; k < i; k++) {
            struct lgv_study_style a = lgv_study_style(i, METHODS), b = lgv_study_style(k, METHODS);
            assert_true(a.mark != b.mark && (strcmp(a.colour, b.colour) != 0 || strcmp(a.dash, b.dash) != 0));
            assert_true(a.width < b.width);
        }
    struct lgv_figure list[LGV_COMPARISON_FIGURES];
    size_t count = lgv_comparison_plan(&c, list);
    assert_int_equal(count, 4); /* along time, the one that leaves the frame alone, work by time, by evaluations */
    assert_string_equal(list[1].file, "mean-1-escapes");
    struct lgv_text script = {0};
    lgv_comparison_script(&script, &c, place, list, count);
    assert_non_null(strstr(script.data, "'Lobatto5-W5 (off frame)'")); /* and nobody else */
    assert_non_null(strstr(script.data, "'Lobatto11-W11'"));
    assert_non_null(strstr(script.data, "set ylabel 'H - H(0), H(0) = 11.2815'"));
    assert_non_null(strstr(script.data, "vertical maxrows 4 "));
    lgv_text_free(&script);
    struct lgv_error why = {0};
    bool drawn;
    assert_int_equal(lgv_comparison_report(&c, place, &drawn, &why), LGV_OK);
    if (have_gnuplot() && !drawn) fail_msg("%s", why.message);
    size_t size;
    char *page = slurp(in_place("report.html"), &size);
    assert_non_null(strstr(page, "62.8<"));
    assert_null(strstr(page, "1 paths"));
    assert_null(strstr(page, "nsemble"));
    free(page);
}

/* One path in the plane and in space: round, on a line, at rest, far from zero with small changes, nowhere. */
static void test_trajectories_drawn(void **state) {
    (void)state;
    static const double middle[] = {0, 0, 3, 5, (double)NAN},
                        size[][3] = {{1, 1, 1}, {1, 0, 0}, {0, 0, 0}, {1e-6, 1e-8, 1e-6}, {1, 1, 1}};
    struct lgv_result r;
    struct lgv_error err = {0};
    if (!have_gnuplot()) skip();
    for (size_t way = 0; way < 10; way++) {
        make_single(&r);
        r.dof = way < 5 ? 3 : 2;
        for (size_t i = 0; i < r.dof; i++) {
            static const char *const name[] = {"x.x", "x.y", "x.z"};
            rename_series(&r, i, name[i]);
            r.series[i].kind = LGV_OBSERVABLE_COORDINATE;
            for (size_t k = 0; k < r.ntimes; k++)
                r.sample[0].value[i * r.ntimes + k] = r.series[i].mean[k] =
                    middle[way % 5] + size[way % 5][i] * sin(r.time[k] * (double)(i + 1));
        }
        if (lgv_figures(&r, place, &err) != LGV_OK) fail_msg("case %zu: %s", way, err.message);
        expect_figure("trajectory.svg");
        expect_figure("trajectory.png");
        lgv_result_clear(&r);
    }
}

static void test_no_gnuplot(void **state) {
    (void)state;
    struct lgv_result r;
    struct lgv_error err = {0};
    make_result(&r, 5, 1);
    char *path = lgv_copy(getenv("PATH") ? getenv("PATH") : "");
    setenv("PATH", place, 1);
    enum lgv_status status = lgv_figures(&r, place, &err);
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(status, LGV_CANNOT_RUN);
    assert_non_null(strstr(err.message, "gnuplot-nox"));
    assert_int_equal(lgv_report(&r, place, &err), LGV_OK); /* the report does without */
    size_t size;
    char *page = slurp(in_place("report.html"), &size);
    assert_non_null(strstr(page, "not drawn"));
    free(page);
    assert_int_equal(lgv_figures(&r, in_place("nowhere"), &err), LGV_CANNOT_RUN);
    lgv_result_clear(&r);
}

/* Titles are cut, with dots, before they leave the figure; wide letters take more of it. */
static void test_titles(void **state) {
    (void)state;
    static const char letters[] = "correlation: each(r=0..6, sum(i=1..12, x[wrap(i+r)]*x[i])/12 + sum(i=1..12, "
                                  "p[i]^2)/12)";
    char wide[100];
    for (size_t i = 0; i < 90; i++) wide[i] = 'M';
    wide[90] = 0;
    struct lgv_text a = {0}, b = {0}, c = {0};
    lgv_title(&a, letters, LGV_TITLE_LEFT);
    lgv_title(&b, wide, LGV_TITLE_LEFT);
    lgv_title(&c, "short: p^2/2", LGV_TITLE_LEFT);
    assert_true(a.size > 50 && a.size < 75 && strcmp(a.data + a.size - 4, "...'") == 0);
    assert_true(b.size > 30 && b.size < 45 && strcmp(b.data + b.size - 4, "...'") == 0);
    assert_string_equal(c.data, "'short: p^2/2'");
    lgv_text_free(&a);
    lgv_text_free(&b);
    lgv_text_free(&c);
}

/* Every piece of the surface lies on the sphere of the parameter of the run, not on that of the file. */
static void test_surface(void **state) {
    (void)state;
    char text[] = "parameters: { R: 2 }\ncoordinates: { x in R3: [1, 0, 0] }\nvelocities: { v: [0, 1, 0] }\n"
                  "lagrangian: dot(v, v)/2\nconstraints: dot(x, x) - R^2\n",
         name[] = "sphere", parameter[] = "R", value[] = "1";
    struct lgv_setting set = {parameter, value};
    struct lgv_result r = {.model_text = text, .model_name = name, .nconstraints = 1, .parameter = &set,
                           .nparameters = 1};
    struct lgv_axis axis[3];
    for (size_t k = 0; k < 3; k++) axis[k] = (struct lgv_axis){.low = -1, .high = 1};
    struct lgv_text out = {0};
    assert_true(lgv_surface_put(&out, &r, axis));
    size_t lines = 0;
    for (char *at = strchr(out.data, '\n') + 1; strncmp(at, "END", 3) != 0; at = strchr(at, '\n') + 1, lines++)
        for (int half = 0; half < 2; half++) {
            double x = strtod(at, &at), y = strtod(at, &at), z = strtod(at, &at);
            assert_true(fabs(sqrt(x * x + y * y + z * z) - 1) < 2e-3); /* cells are 0.07 wide */
        }
    assert_true(lines > 1000);
    lgv_text_free(&out);
    r.nconstraints = 0;
    assert_false(lgv_surface_put(&out, &r, axis));
    lgv_text_free(&out);
}

/* The colours of a map end at its fullest cell, unless that is far fuller than the others: where all paths start. */
static void test_map_colours(void **state) {
    (void)state;
    struct lgv_result r;
    struct lgv_figure f;
    make_result(&r, 50, 2);
    struct lgv_finding *map = lgv_finding_add(&r, LGV_FOUND_DENSITIES, "x:y", "x:y");
    double *x = lgv_finding_array(map, "x_edge", 21, 1), *y = lgv_finding_array(map, "y_edge", 21, 1);
    double *count = lgv_finding_array(map, "count", 20, 20);
    for (int i = 0; i <= 20; i++) x[i] = y[i] = i;
    for (int i = 0; i < 400; i++) count[i] = 1 + i % 100;
    for (int far = 0; far < 2; far++) {
        struct lgv_text script = {0};
        if (far) count[210] = 10000;
        assert_int_equal(count_kind(&r, LGV_FIGURE_MAP, &f), 1);
        lgv_figure_script(&script, &r, &f);
        assert_int_equal(strstr(script.data, "set cbrange [0:*]") != NULL, !far);
        assert_int_equal(strstr(script.data, "set cbrange [0:100]") != NULL, far);
        assert_int_equal(strstr(script.data, "the darkest: 100 or more") != NULL, far);
        lgv_text_free(&script);
    }
    lgv_result_clear(&r);
}

int main(void) {
#define IN_PLACE(f) cmocka_unit_test_setup_teardown(f, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis),        cmocka_unit_test(test_axis_text),
        cmocka_unit_test(test_single_path), cmocka_unit_test(test_trajectory),
        cmocka_unit_test(test_orientation), cmocka_unit_test(test_surface),
        cmocka_unit_test(test_escape),      cmocka_unit_test(test_titles),
        cmocka_unit_test(test_map_colours),
        IN_PLACE(test_report_numbers),      cmocka_unit_test(test_summary_of_one_path),
        IN_PLACE(test_figures_and_report),  IN_PLACE(test_figures_degenerate),
        IN_PLACE(test_trajectories_drawn),  IN_PLACE(test_many_methods),
        IN_PLACE(test_no_gnuplot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
