/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A chain of 1000 beads in space with harmonic bonds and a bath, beside programs of molecular dynamics: LAMMPS (`lmp`)
 * and OpenMM (a Python module; the interpreter is python3, or what LGV_BENCH_PYTHON names).  Where one is not installed
 * what was once measured is shown instead.  All have mass, friction, kT and length of a bond of 1, U = 100 (r - 1)^2/2
 * and the step 0.01, one core, and run in turn; each keeps its least time. */
#include "base/process.h"
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#define BEADS 1000
#define STEPS 10 /* of a timed piece */
#define DT 0.01
#define REST 500 /* steps before the kinetic temperature is taken */

static const char model[] = "name: chain\n"
                            "parameters: { N: 1000, k: 100 }\n"
                            "coordinates: { 'x[N] in R3': '[i, 0, 0]' }\n"
                            "momenta: { p: '[normal(), normal(), normal()]' }\n"
                            "potential: sum(i=1..N-1, k*(norm(x[i+1] - x[i]) - 1)^2/2)\n"
                            "langevin: { friction: 1, temperature: 1 }\n";

/* A bond of LAMMPS has K (r - r0)^2.  Without pairs nothing is gained by looking at neighbours often. */
static const char lammps[] = "units lj\natom_style bond\nboundary s s s\nread_data chain.data\n"
                             "bond_style harmonic\nbond_coeff 1 50.0 1.0\npair_style none\ncomm_modify cutoff 3.0\n"
                             "neighbor 0.3 bin\nneigh_modify every 100 delay 100 check no\n"
                             "velocity all create 1.0 4711 dist gaussian\nfix 1 all nve\n"
                             "fix 2 all langevin 1.0 1.0 1.0 48279\ntimestep 0.01\nthermo 100000\nrun 500\n"
                             "fix t all ave/time 1 1000 1000 c_thermo_temp\nthermo_style custom step f_t\nrun 1500\n"
                             "print \"temperature $(f_t)\"\n"
                             "label again\nvariable i loop 200\nrun 10 pre no post no\nnext i\njump SELF again\n";

static const char openmm[] =
    "import sys, time, openmm as mm\n"
    "n, T = 1000, 1/0.00831446261815324\n"
    "s, b = mm.System(), mm.HarmonicBondForce()\n"
    "for i in range(n): s.addParticle(1.0)\n"
    "for i in range(n - 1): b.addBond(i, i + 1, 1.0, 100.0)\n"
    "s.addForce(b)\n"
    "it = mm.LangevinMiddleIntegrator(T, 1.0, 0.01)\n"
    "p = mm.Platform.getPlatformByName(sys.argv[1])\n"
    "c = mm.Context(s, it, p, {'Threads': '1'} if sys.argv[1] == 'CPU' else {})\n"
    "c.setPositions([mm.Vec3(i, 0, 0) for i in range(n)])\n"
    "c.setVelocitiesToTemperature(T, 1)\n"
    "it.step(500)\n"
    "K, best = 0, 1e9\n"
    "for r in range(100):\n"
    "    t = time.perf_counter(); it.step(10); best = min(best, (time.perf_counter() - t)/10)\n"
    "    K += c.getState(getEnergy=True).getKineticEnergy()._value/100\n"
    "print('temperature', K/(1.5*n)); print('seconds', best); print('version', mm.version.version)\n";

enum { MANY, SINGLE, LAMMPS, REFERENCE, CPU, ROWS };
struct chain_row {
    const char *title;
    double recorded, seconds, temperature; /* per step of one replica; seconds 0: not run */
    const char *version;                   /* of what was recorded */
};

/* ---- the others ---- */

bool bench_write(const char *folder, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    bool ok = f && fputs(text, f) >= 0;
    return f && fclose(f) == 0 && ok;
}

static bool write_chain(const char *folder) {
    struct lgv_text t = {0};
    lgv_text_add(&t,
                 "chain\n\n%d atoms\n%d bonds\n1 atom types\n1 bond types\n\n"
                 "0 %d xlo xhi\n-5 5 ylo yhi\n-5 5 zlo zhi\n\nMasses\n\n1 1.0\n\nAtoms\n\n",
                 BEADS, BEADS - 1, BEADS + 1);
    for (int i = 1; i <= BEADS; i++) lgv_text_add(&t, "%d 1 1 %d 0 0\n", i, i);
    lgv_text_add(&t, "\nBonds\n\n");
    for (int i = 1; i < BEADS; i++) lgv_text_add(&t, "%d 1 %d %d\n", i, i, i + 1);
    bool ok = !t.failed && bench_write(folder, "chain.data", t.data) && bench_write(folder, "chain.in", lammps) &&
              bench_write(folder, "chain.py", openmm);
    lgv_text_free(&t);
    return ok;
}

static double after(const char *text, const char *word) {
    const char *at = strstr(text, word);
    return at ? strtod(at + strlen(word), NULL) : 0;
}

static void keep_least(struct chain_row *row, double seconds) {
    if (seconds > 0 && (!(row->seconds > 0) || seconds < row->seconds)) row->seconds = seconds;
}

double bench_lammps(const char *folder, const char *file, struct lgv_text *printed) {
    char path[512], in[] = "-in", script[64], log[] = "-log", none[] = "none";
    double least = 0;
    snprintf(script, sizeof script, "%s", file);
    if (!lgv_process_find("lmp", path, sizeof path)) return 0;
    struct lgv_process p = {.argv = (char *[]){path, in, script, log, none, NULL}, .folder = folder, .seconds = 120,
                            .limit = 1 << 20, .printed = printed};
    if (lgv_process_run(&p) != 0 || !printed->data) return 0;
    static const char word[] = "Loop time of ";
    for (const char *at = printed->data; (at = strstr(at, word)); at++) {
        double seconds = strtod(at + strlen(word), NULL), steps = after(at, " procs for ");
        if (steps > 0 && (!(least > 0) || seconds / steps < least)) least = seconds / steps;
    }
    return least;
}

static void run_lammps(const char *folder, struct chain_row *row) {
    struct lgv_text printed = {0};
    double seconds = bench_lammps(folder, "chain.in", &printed);
    if (seconds > 0) row->temperature = after(printed.data, "\ntemperature ");
    keep_least(row, seconds);
    lgv_text_free(&printed);
}

bool bench_python(const char *folder, const char *file, const char *argument, struct lgv_text *printed) {
    char path[512], script[64], word[32];
    const char *python = getenv("LGV_BENCH_PYTHON");
    if (!lgv_process_find(python ? python : "python3", path, sizeof path)) return false;
    snprintf(script, sizeof script, "%s", file);
    snprintf(word, sizeof word, "%s", argument);
    struct lgv_process p = {.argv = (char *[]){path, script, word, NULL}, .folder = folder, .seconds = 120,
                            .limit = 1 << 16, .printed = printed};
    return lgv_process_run(&p) == 0 && printed->data;
}

static void run_openmm(const char *folder, const char *platform, struct chain_row *row) {
    struct lgv_text printed = {0};
    if (bench_python(folder, "chain.py", platform, &printed)) {
        row->temperature = after(printed.data, "temperature ");
        keep_least(row, after(printed.data, "seconds "));
    }
    lgv_text_free(&printed);
}

/* ---- ours ---- */

/* sum p^2 / (3 N) over all paths of the block. */
static double temperature(struct bench_kernel *k) {
    struct lgv_block *b = &k->block.block;
    size_t lanes = k->kernel.entry->lanes, rows = 3 * BEADS;
    double sum = 0;
    b->step = 0;
    k->kernel.entry->start(b);
    k->kernel.entry->advance(b, REST);
    for (int r = 0; r < 20; r++) {
        k->kernel.entry->advance(b, 50);
        for (size_t i = rows * lanes; i < 2 * rows * lanes; i++) sum += b->state[i] * b->state[i];
    }
    return sum / (20.0 * (double)(rows * lanes));
}

static void print_chain(struct bench *b, struct chain_row *row, unsigned lanes) {
    printf("  %-36s %8s %12s %8s\n", "", "us", "temperature", "/ lgv");
    for (int i = 0; i < ROWS; i++) {
        double us = 1e6 * (row[i].seconds > 0 ? row[i].seconds : row[i].recorded);
        char title[64];
        snprintf(title, sizeof title, i == MANY ? "%s, %u side by side" : "%s", row[i].title, lanes);
        printf("  %-36s %8.1f %12.3f %8.2f", title, us, row[i].temperature, 1e-6 * us / row[MANY].seconds);
        printf(row[i].seconds > 0 ? "\n" : "   not installed: recorded with %s\n", row[i].version);
        bench_json_row(b, "chain",
                       json_pack("{s:s,s:f,s:f,s:b}", "program", title, "us", us, "temperature", row[i].temperature,
                                 "recorded", !(row[i].seconds > 0)));
    }
}

void bench_peers(struct bench *b) {
    struct chain_row row[ROWS] = {
        [MANY] = {"lgv BAOAB", 0, 0, 0, ""},
        [SINGLE] = {"lgv BAOAB, one replica", 0, 0, 0, ""},
        [LAMMPS] = {"LAMMPS, nve and langevin", 74e-6, 0, 1.001, "LAMMPS 29 Sep 2021 of Debian 12"},
        [REFERENCE] = {"OpenMM Reference, LangevinMiddle", 75e-6, 0, 0.996, "OpenMM 8.6.1"},
        [CPU] = {"OpenMM CPU (single), LangevinMiddle", 130e-6, 0, 1.002, "OpenMM 8.6.1"},
    };
    struct bench_kernel k[2] = {0};
    printf("\nA chain of %d beads in space, harmonic bonds and a bath, step %g, one core: us per step of a replica\n",
           BEADS, DT);
    bool ready = bench_kernel_open(&k[0], model, NULL, "BAOAB", NULL, DT, STEPS) &&
                 bench_kernel_open_for(1, &k[1], model, NULL, "BAOAB", NULL, DT, STEPS) && write_chain(b->folder);
    for (int r = 0; ready && r < (b->quick ? 1 : 4); r++) {
        struct contender c[2] = {{"many", bench_kernel_run, &k[0], 0}, {"one", bench_kernel_run, &k[1], 0}};
        bench_race(c, 2, 50);
        keep_least(&row[MANY], c[0].best);
        keep_least(&row[SINGLE], c[1].best * k[1].kernel.entry->lanes);
        run_lammps(b->folder, &row[LAMMPS]);
        run_openmm(b->folder, "Reference", &row[REFERENCE]);
        run_openmm(b->folder, "CPU", &row[CPU]);
    }
    if (ready) {
        row[MANY].temperature = temperature(&k[0]);
        row[SINGLE].temperature = temperature(&k[1]);
        print_chain(b, row, k[0].kernel.entry->lanes);
    }
    bench_kernel_close(&k[0]);
    bench_kernel_close(&k[1]);
}
