/* SPDX-License-Identifier: BSD-3-Clause
 *
 * 512 rigid bodies with pair forces, of all 130816 pairs: the word BRB beside its hand-written floor (floor_pairs.c),
 * whose path is compared with that of the kernel, and BAOAB beside LAMMPS, `fix rigid/small` with `langevin`, if `lmp`
 * is installed; else what was once measured is shown.  One core; ns per pair of one replica. */
#include "base/process.h"
#include "bench.h"
#include "floor.h"

#include <math.h>
#include <stdlib.h>

#define BODIES 512
#define PAIRS (0.5 * BODIES * (BODIES - 1))
#define DT 0.002
#define STEPS 2 /* of a timed piece */
#define CHECK_STEPS 5
#define CHECK_DIFFERENCE 1e-9
#define ARM 0.2
#define RECORDED 11e-9 /* seconds per pair of LAMMPS */
#define RECORDED_WITH "LAMMPS 29 Sep 2021 of Debian 12"

static const char model[] =
    "name: pairs\nparameters: { K: 512, arm: 0.2 }\n"
    "where:\n  site(a, A): a + A*[0,0,arm]\n  square(r): dot(r, r)\n  LJ(s): 4*(s^-6 - s^-3)\n"
    "coordinates:\n"
    "  'x[K] in R3': '[1.3*mod(i-1, 8), 1.3*mod(floor((i-1)/8), 8), 1.3*floor((i-1)/64)]'\n"
    "  'R[K] in SO3': '[0.1*i, 0.2, 0]'\n"
    "momenta: { p: 0, m: '[0.3, 1, 0.5]' }\nkinetic: { mass: 1, inertia: [1, 2, 2.5] }\n"
    "potential: sum(i=1..K, j=i+1..K, LJ(square(site(x[i], R[i]) - site(x[j], R[j]))))\n";
static const char bath[] = "langevin: { friction: 1, temperature: 1 }\n";

/* ---- LAMMPS ---- */

/* A flat body of three atoms (type 2), and the site (type 1), which alone has pair forces.  No list of neighbours is
 * made anew while it is timed: all pairs are in it. */
static const char lammps[] =
    "units lj\natom_style molecular\nboundary s s s\nread_data pairs.data\n"
    "pair_style lj/cut 40.0\npair_coeff * * 0.0 1.0\npair_coeff 1 1 1.0 1.0\ncomm_modify cutoff 60.0\n"
    "neighbor 5.0 nsq\nneigh_modify every 100000 delay 100000 check no one 4000\n"
    "neigh_modify exclude type 1 2\nneigh_modify exclude type 2 2\nneigh_modify exclude molecule/intra all\n"
    "fix 1 all rigid/small molecule langevin 1.0 1.0 1.0 48279\ntimestep 0.002\nthermo 100000\nrun 20\n"
    "label again\nvariable i loop 30\nrun 5 pre no post no\nnext i\njump SELF again\n";

static bool write_bodies(const char *folder) {
    static const double at[4][3] = {{1, 0, 0}, {-0.5, 0.866, 0}, {-0.5, -0.866, 0}, {0, 0, ARM}};
    struct lgv_text t = {0};
    lgv_text_add(&t,
                 "bodies\n\n%d atoms\n2 atom types\n\n-3 13 xlo xhi\n-3 13 ylo yhi\n-3 13 zlo zhi\n\nMasses\n\n"
                 "1 0.001\n2 0.333\n\nAtoms\n\n",
                 4 * BODIES);
    for (int k = 0; k < BODIES; k++)
        for (int i = 0; i < 4; i++)
            lgv_text_add(&t, "%d %d %d %g %g %g\n", 4 * k + i + 1, k + 1, i == 3 ? 1 : 2, 1.3 * (k % 8) + at[i][0],
                         1.3 * (k / 8 % 8) + at[i][1], 1.3 * (k / 64) + at[i][2]);
    bool ok = !t.failed && bench_write(folder, "pairs.data", t.data) && bench_write(folder, "pairs.in", lammps);
    lgv_text_free(&t);
    return ok;
}

/* ---- the floor ---- */

/* x, q, p, m of each body of a state of the kernel's block, first lane. */
static void take(const struct bench_kernel *k, double *out) {
    const double *s = k->block.block.state;
    size_t lanes = k->kernel.entry->lanes, p = 7 * BODIES;
    for (size_t b = 0; b < BODIES; b++)
        for (size_t i = 0; i < 13; i++) {
            size_t row = i < 3    ? 3 * b + i
                         : i < 7  ? 3 * BODIES + 4 * b + i - 3
                         : i < 10 ? p + 3 * b + i - 7
                                  : p + 3 * BODIES + 3 * b + i - 10;
            out[13 * b + i] = s[row * lanes];
        }
}

static double first[13 * BODIES], last[13 * BODIES], floor_last[13 * BODIES];

static double run_floor(void *unused) {
    (void)unused;
    return floor_pairs_run(BODIES, STEPS, DT, first, NULL);
}

/* The largest difference of the two after some steps. */
static double difference(struct bench_kernel *k) {
    struct lgv_block *b = &k->block.block;
    double most = 0;
    b->step = 0;
    k->kernel.entry->start(b);
    take(k, first);
    k->kernel.entry->advance(b, CHECK_STEPS);
    take(k, last);
    floor_pairs_run(BODIES, CHECK_STEPS, DT, first, floor_last);
    for (size_t i = 0; i < 13 * BODIES; i++) {
        double d = fabs(last[i] - floor_last[i]);
        most = isfinite(d) ? fmax(most, d) : INFINITY;
    }
    return most;
}

/* ---- all of them ---- */

enum { FLOOR, BRB, BAOAB, SINGLE, LAMMPS, ROWS };

static void print_rows(struct bench *b, double *seconds, unsigned lanes, double lammps_seconds) {
    static const char *const title[] = {"floor, BRB", "lgv BRB", "lgv BAOAB", "lgv BAOAB, one replica",
                                        "LAMMPS, rigid/small and langevin"};
    printf("  %-36s %8s %10s\n", "", "ns", "us a step");
    for (int i = 0; i < ROWS; i++) {
        bool recorded = i == LAMMPS && !(lammps_seconds > 0);
        double ns = 1e9 * (i == LAMMPS ? (recorded ? RECORDED : lammps_seconds / PAIRS) : seconds[i] / PAIRS);
        char name[64];
        snprintf(name, sizeof name, i == BRB || i == BAOAB ? "%s, %u side by side" : "%s", title[i], lanes);
        printf("  %-36s %8.2f %10.0f%s\n", name, ns, 1e-3 * ns * PAIRS,
               recorded ? "   not installed: recorded with " RECORDED_WITH : "");
        bench_json_row(b, "pairs", json_pack("{s:s,s:f,s:b}", "program", name, "ns", ns, "recorded", recorded));
    }
}

void bench_pairs(struct bench *b) {
    struct bench_kernel k[3] = {0};
    char text[sizeof model + sizeof bath];
    double seconds[ROWS] = {0}, theirs = 0;
    snprintf(text, sizeof text, "%s%s", model, bath);
    if (!bench_kernel_open(&k[0], model, NULL, "BRB", NULL, DT, STEPS)) return;
    double d = floor_available() ? difference(&k[0]) : 0;
    printf("\n%d rigid bodies with pair forces, all %.0f pairs, step %g, one core: ns per pair of a replica; BRB and "
           "its floor differ by %.1e after %d steps\n\n",
           BODIES, PAIRS, DT, d, CHECK_STEPS);
    if (!(d < CHECK_DIFFERENCE)) {
        printf("  THE FLOOR IS NOT THIS METHOD: its paths end elsewhere\n");
        b->wrong++;
    }
    if (!b->check && bench_kernel_open(&k[1], text, NULL, "BAOAB", NULL, DT, STEPS) &&
        bench_kernel_open_for(1, &k[2], text, NULL, "BAOAB", NULL, DT, STEPS) && write_bodies(b->folder)) {
        struct contender c[] = {{"floor", floor_available() ? run_floor : NULL, NULL, 0},
                                {"BRB", bench_kernel_run, &k[0], 0},
                                {"BAOAB", bench_kernel_run, &k[1], 0},
                                {"one", bench_kernel_run, &k[2], 0}};
        for (int r = 0; r < (b->quick ? 1 : 3); r++) {
            struct lgv_text printed = {0};
            bench_race(c, 4, b->quick ? 10 : 30);
            double s = bench_lammps(b->folder, "pairs.in", &printed);
            if (s > 0 && (!(theirs > 0) || s < theirs)) theirs = s;
            lgv_text_free(&printed);
        }
        for (int i = 0; i < 4; i++) seconds[i] = c[i].best;
        seconds[SINGLE] *= k[2].kernel.entry->lanes;
        print_rows(b, seconds, k[0].kernel.entry->lanes, theirs);
    }
    for (int i = 0; i < 3; i++) bench_kernel_close(&k[i]);
}
