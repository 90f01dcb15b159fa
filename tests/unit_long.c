/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Methods with stages for constraints and Lagrangians on more than 200 coordinates and constraints, without dense
 * matrices: copies of a small system against that system alone, whose matrices are dense; RATTLE on a Lagrangian with
 * variable masses against Stoermer-Verlet on its Hamiltonian, other equations for the same step; symplecticity. */
#include "helpers.h"

#define MOST 300

/* Copies of a chain of 3 rods that hangs in a plane, */
static const char rods_start[] =
    "coordinates: {'x[N]': '0.6*(1 + mod(i - 1, 3))', 'y[N]': '-0.8*(1 + mod(i - 1, 3))'}\n"
    "constraints: ['each(i=0..C-1, x[3*i+1]^2 + y[3*i+1]^2 - 1)',\n"
    "  'each(i=0..C-1, j=2..3, (x[3*i+j] - x[3*i+j-1])^2 + (y[3*i+j] - y[3*i+j-1])^2 - 1)']\n";
/* or of a ring of 6, */
static const char rings_start[] = "coordinates: {'x[N]': '0.2*sin(1 + mod(i - 1, 6))'}\n"
                                  "where: {V(r): r^2/2 + r^4/8}\n";
/* with constant masses or a Lagrangian with masses that depend on positions and are coupled. */
static const char *const motion[] = {
    "momenta: {p: '0.3*cos(mod(i - 1, 6))'}\n"
    "hamiltonian: sum(i=1..N, p[i]^2/2) + sum(i=0..C-1, j=1..6, V(x[6*i+j] - x[6*i+wrap(j+1, 6)]))\n",
    "momenta: {px: 0.08, py: 0.06}\n"
    "hamiltonian: sum(i=1..N, (px[i]^2 + py[i]^2)/2 + y[i])\n",
    "velocities: {v: '0.3*cos(mod(i - 1, 6))'}\n"
    "lagrangian: sum(i=1..N, v[i]^2/2*(1 + 0.1*cos(x[i]))) + sum(i=0..C-1, j=1..6,\n"
    "  0.1*v[6*i+j]*v[6*i+wrap(j+1, 6)]*sin(x[6*i+j]) - V(x[6*i+j] - x[6*i+wrap(j+1, 6)]))\n",
    "velocities: {u: 0.08, w: 0.06}\n"
    "lagrangian: sum(i=1..N, (1 + 0.2*sin(x[i]))*(u[i]^2 + w[i]^2)/2 - y[i])\n"
    "  + sum(i=0..C-1, j=2..3, 0.1*u[3*i+j]*u[3*i+j-1]*cos(y[3*i+j]))\n"};

static struct lgv_model *many(bool rods, bool lagrangian, int copies) {
    char text[2000];
    snprintf(text, sizeof text, "parameters: {C: %d, N: %d}\n%s%s%s", copies, rods ? 3 * copies : 6 * copies,
             rods ? rods_start : rings_start, motion[rods + 2 * lagrangian],
             "noise: ['0.2*sum(i=1..N, x[i]^2/2)', '0.1*sum(i=1..N, x[i])']\n");
    return model_of(text);
}

static void walk(const struct lgv_kernel *k, double dt, uint64_t steps, double *x) {
    struct lgv_own_block b;
    assert_true(lgv_block_create(k, 0, dt, 7, 1, &b));
    lgv_block_start(k, &b, 0, k->entry->lanes);
    k->entry->advance(&b.block, steps);
    for (size_t i = 0; i < k->nx + k->np; i++) x[i] = b.block.state[i * k->entry->lanes];
    assert_int_equal(b.block.fail[0], LGV_FAIL_NONE);
    assert_true(b.block.scratch->room / (k->entry->lanes * sizeof(double)) < 400 * (k->np + 20));
    lgv_block_free(&b);
}

/* Every copy does what the small system does. */
static void test_copies(void **state) {
    (void)state;
    static const char *const method[] = {"Lobatto3", "RATTLE"};
    static double x[4 * MOST], y[4 * MOST];
    for (int kind = 0; kind < 4; kind++) {
        bool rods = kind & 1, lagrangian = kind & 2;
        const int copies = rods ? 26 : 35;
        struct lgv_model *large = many(rods, lagrangian, copies), *small = many(rods, lagrangian, 1);
        for (int i = 0; i < (lagrangian ? 2 : 1); i++) { /* with constant masses RATTLE is kicks and a drift */
            struct lgv_kernel k = kernel_of(large, method[i]), one = kernel_of(small, method[i]);
            double most = 0;
            walk(&k, 0.05, 5, x);
            walk(&one, 0.05, 5, y);
            const size_t n = small->np / (rods ? 2 : 1), all = large->np / (rods ? 2 : 1);
            for (size_t a = 0; a < 2 * large->np; a++)
                most = fmax(most, fabs(x[a] - y[a / all * n + a % all % n]));
            print_message("%s, %s, %s: %.2g from the small system\n", rods ? "rods" : "rings",
                          lagrangian ? "Lagrangian" : "constant masses", method[i], most);
            if (!(most <= 1e-13)) fail_msg("%g", most);
            lgv_kernel_free(&k);
            lgv_kernel_free(&one);
        }
        lgv_model_free(large);
        lgv_model_free(small);
    }
}

/* The velocities of stages as unknowns, all coordinates coupled along a ring, against implicit kicks and drifts. */
static void test_verlet(void **state) {
    (void)state;
    static double x[2 * MOST], y[2 * MOST];
    struct lgv_model *m = model_of("parameters: {N: 250}\ncoordinates: {'x[N]': 0.2*sin(i)}\n"
                                   "velocities: {v: 0.3*cos(2*i)}\n"
                                   "lagrangian: sum(i=1..N, v[i]^2/2*(1 + 0.2*cos(x[i] - x[wrap(i+1)]))\n"
                                   "  - (x[i] - x[wrap(i+1)])^2/2)\nnoise: 0.1*sum(i=1..N, x[i]^2/2)\n");
    struct lgv_kernel k = kernel_of(m, "RATTLE"), other = kernel_of(m, "P2N2Q2Lob");
    struct lgv_defect how = {0};
    double most = 0;
    walk(&k, 0.1, 10, x);
    walk(&other, 0.1, 10, y);
    for (int i = 0; i < 500; i++) most = fmax(most, fabs(x[i] - y[i]));
    double d = lgv_certificate_defect(&other, 0, 0.1, 7, 0, 3, x, NULL, NULL, NULL, &how);
    print_message("RATTLE and Stoermer-Verlet: %.2g; defect %.2g\n", most, d);
    assert_true(most > 0 && most <= 1e-13);
    assert_true(d >= 0 && d < 1e-11);
    lgv_kernel_free(&k);
    lgv_kernel_free(&other);
    lgv_model_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies), cmocka_unit_test(test_verlet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
