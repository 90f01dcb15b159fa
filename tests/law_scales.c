/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Solvers must not depend on units, on where the origin lies, or on how stiff a direction is: models whose small
 * linear systems cancel, whose constraints pass through the origin, whose velocities vanish, or that are written in
 * units of molecules. */
#include "helpers.h"

static const struct scale {
    const char *what, *method, *text;
    double step, until, drift; /* largest change of H that is accepted, relative to `energy` */
    double energy;
} scales[] = {
    /* 1 + B with B of rank one and 2.5e5: Cramer's rule alone loses the energy altogether for larger k */
    {"a stiff direction", "P1N1Q2Gau",
     "parameters: {k: 1e8}\ncoordinates: {x: 0.3, y: 0.7, z: -1.0}\nmomenta: {px: 0.3, py: 0.2, pz: 0.5}\n"
     "hamiltonian: (px^2+py^2+pz^2)/2 + k*(x+y+z)^2/2 + (x^2+y^2+z^2)/2\n",
     0.1, 10, 1e-7, 1},
    {"a stiffer direction", "P1N1Q2Gau",
     "parameters: {k: 1e10}\ncoordinates: {x: 0.3, y: 0.7, z: -1.0}\nmomenta: {px: 0.3, py: 0.2, pz: 0.5}\n"
     "hamiltonian: (px^2+py^2+pz^2)/2 + k*(x+y+z)^2/2 + (x^2+y^2+z^2)/2 + x^4/4\n",
     0.1, 10, 1e-2, 1},
    {"a pendulum through the origin", "RATTLE",
     "coordinates: {x: 0, y: 0}\nmomenta: {px: 0.01, py: 0}\nhamiltonian: (px^2+py^2)/2 + y\n"
     "constraints: [x^2 + (y - 1)^2 - 1]\n",
     1e-3, 5, 1e-4, 5e-5},
    {"the same by three stages", "Lobatto3",
     "coordinates: {x: 0, y: 0}\nmomenta: {px: 0.01, py: 0}\nhamiltonian: (px^2+py^2)/2 + y\n"
     "constraints: [x^2 + (y - 1)^2 - 1]\n",
     1e-3, 5, 1e-4, 5e-5},
    {"at rest in the minimum", "RATTLE",
     "coordinates: {x: 0, y: 0}\nvelocities: {u: 0, v: 0}\nlagrangian: (1 + 0.1*x^2)*(u^2+v^2)/2 - y\n"
     "constraints: [x^2 + (y - 1)^2 - 1]\n",
     1e-2, 1, 1e-12, 1},
    {"a molecule in SI units", "Lobatto3",
     "parameters: {m: 3e-26, R: 1e-10}\ncoordinates: {x: R, y: 0}\nvelocities: {u: 0, v: 100}\n"
     "lagrangian: m*(1 + 0.1*(x/R)^2)*(u^2+v^2)/2\nconstraints: [x^2 + y^2 - R^2]\n",
     1e-14, 1e-12, 1e-6, 1.65e-22},
    {"the same, RATTLE", "RATTLE",
     "parameters: {m: 3e-26, R: 1e-10}\ncoordinates: {x: R, y: 0}\nmomenta: {px: 0, py: 3e-24}\n"
     "hamiltonian: (px^2+py^2)/(2*m)\nconstraints: [x^2 + y^2 - R^2]\n",
     1e-14, 1e-12, 1e-6, 1.5e-22},
    {"a constraint times a number", "Lobatto3",
     "parameters: {k: 1}\ncoordinates: {x: 0, y: 0}\nmomenta: {px: 0.01, py: 0}\nhamiltonian: (px^2+py^2)/2 + y\n"
     "constraints: ['k*(x^2 + (y - 1)^2 - 1)']\n",
     1e-3, 5, 1e-4, 5e-5},
    {"a function of a constraint", "Lobatto3",
     "coordinates: {x: 0, y: 0}\nmomenta: {px: 0.01, py: 0}\nhamiltonian: (px^2+py^2)/2 + y\n"
     "constraints: [sinh(x^2 + (y - 1)^2 - 1)]\n",
     1e-3, 5, 1e-4, 5e-5},
    {"a quotient that begins at round-off", "RATTLE",
     "parameters: {l: 1}\ncoordinates: {x: cos(0.4), y: sin(0.4)}\nvelocities: {u: -y/2, v: x/2}\n"
     "lagrangian: (u^2+v^2)/2 - y\nconstraints: [(x^2 + y^2 - 1)/l]\n",
     0.01, 5, 1e-4, 1},
    {"a tiny constraint", "RATTLE",
     "parameters: {f: 1e-90}\ncoordinates: {x: 1, y: 0, z: 0}\nmomenta: {px: 0, py: 0.5, pz: 0.6}\n"
     "hamiltonian: (px^2+py^2+pz^2)/2 + z\nconstraints: ['f*(x^2+y^2+z^2-1)']\n",
     0.01, 5, 1e-4, 1},
    /* forces normal to the constraint that throw the free motion beyond the centre in one step: they do nothing */
    {"a normal force on a sphere", "RATTLE",
     "parameters: {k: 2000}\ncoordinates: {x: 1, y: 0, z: 0}\nmomenta: {px: 0, py: 1, pz: 0.3}\n"
     "hamiltonian: (px^2+py^2+pz^2)/2 + k*(x^2+y^2+z^2)/2 + z\nconstraints: [x^2+y^2+z^2-1]\n",
     0.05, 1, 1e-3, 1},
    {"the same by Newton's method", "RATTLE",
     "parameters: {k: 2000}\ncoordinates: {x: 1, y: 0, z: 0}\nmomenta: {px: 0, py: 1, pz: 0.3}\n"
     "hamiltonian: (px^2+py^2+pz^2)/2 + k*(x^2+y^2+z^2)/2 + z\nconstraints: [exp(x^2+y^2+z^2-1) - 1]\n",
     0.05, 1, 1e-3, 1},
    {"the same on a double pendulum", "RATTLE",
     "parameters: {k: 1500}\ncoordinates: {x: 1, y: 0, a: 2, b: 0}\nmomenta: {u: 0, v: 1, c: 0, d: 1.3}\n"
     "hamiltonian: (u^2+v^2+c^2+d^2)/2 + k*(x^2+y^2)/2 + y + b\n"
     "constraints: [x^2+y^2-1, (a-x)^2+(b-y)^2-1]\n",
     0.05, 1, 2e-3, 1},
    {"a huge one on a sphere", "RATTLE",
     "parameters: {k: 1e7}\ncoordinates: {x: 1, y: 0, z: 0}\nmomenta: {px: 0, py: 1, pz: 0.3}\n"
     "hamiltonian: (px^2+py^2+pz^2)/2 + k*(x^2+y^2+z^2)/2 + z\nconstraints: [x^2+y^2+z^2-1]\n",
     0.05, 1, 1e-3, 1},
    {"forces along the rods of a chain", "RATTLE",
     "parameters: {N: 3, k: 5000}\ncoordinates: {'x[N] in R2': '[i, 0]'}\nmomenta: {'p[N] in R2': '[0, 0.1*i]'}\n"
     "hamiltonian: sum(i=1..N, dot(p[i], p[i])/2 + x[i].y) + k*dot(x[1], x[1])/2\n"
     "  + k*sum(i=2..N, dot(x[i]-x[i-1], x[i]-x[i-1])/2)\n"
     "constraints: ['dot(x[1], x[1]) - 1', 'each(k=2..N, dot(x[k]-x[k-1], x[k]-x[k-1]) - 1)']\n",
     0.02, 0.5, 5e-3, 1},
    {"a coordinate far away", "RATTLE",
     "coordinates: {x: 1, y: 0, a: 2, b: 0, s: 1e8}\nmomenta: {u: 0, v: 1, c: 0, d: 1.3, w: 1}\n"
     "hamiltonian: (u^2+v^2+c^2+d^2+w^2)/2 + y + b\nconstraints: [x^2+y^2-1, (a-x)^2+(b-y)^2-1]\n",
     0.02, 1, 2e-3, 1},
    {"the same by three stages", "Lobatto3",
     "coordinates: {x: 1, y: 0, a: 2, b: 0, s: 1e8}\nmomenta: {u: 0, v: 1, c: 0, d: 1.3, w: 1}\n"
     "hamiltonian: (u^2+v^2+c^2+d^2+w^2)/2 + y + b\nconstraints: [x^2+y^2-1, (a-x)^2+(b-y)^2-1]\n",
     0.02, 1, 1e-5, 1},
    {"masses off the diagonal", "RATTLE",
     "parameters: {N: 4}\ncoordinates: {'x[N]': 1, 'y[N]': 0, 'z[N]': 0}\nmomenta: {'a[N]': 0, 'b[N]': 0, 'c[N]': "
     "0.3}\n"
     "hamiltonian: sum(i=1..N, a[i]*b[i] + c[i]^2/2 + z[i])\n"
     "constraints: ['each(k=1..N, x[k] - 1 + 0.1*z[k]^2)', 'each(k=1..N, y[k] - 0.1*z[k]^2)']\n",
     0.01, 0.5, 1e-4, 1},
};

static void test_scales(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        const struct scale *s = &scales[i];
        struct lgv_model *m = model_of(s->text);
        struct lgv_settings set = settings_of(m);
        struct lgv_result r;
        snprintf(set.method, sizeof set.method, "%s", s->method);
        set.step = s->step;
        set.until = s->until;
        set.paths = 4;
        set.outputs = 20;
        set.check_states = 0;
        run_with(m, &set, LGV_OK, &r);
        double drift = series_of(&r, "H")->drift / s->energy;
        print_message("%s: drift of H %.1e\n", s->what, drift);
        if (!(drift <= s->drift)) fail_msg("%s, %s: H changes by %g", s->what, s->method, drift);
        if (r.nconstraints) assert_true(r.certificate.constraint <= 1e-13 * r.certificate.constraint_size);
        lgv_result_clear(&r);
        lgv_model_free(m);
    }
}

/* Motions along which some coordinates stand still, or hardly move, are certified as well as others. */
static void test_certificate(void **state) {
    (void)state;
    static const struct {
        const char *method, *text;
        double step;
        bool broken; /* not symplectic, and that has to be seen */
    } motion[] = {
        {"Lobatto3",
         "coordinates: {'x in R3': [1, 0, 0.5]}\nvelocities: {v: [0, 1, 0]}\nlagrangian: dot(v, v)/2 - x.z\n"
         "constraints: x.z - (x.x^2 + x.y^2)/2\n",
         0.01, false}, /* a circular orbit: x.z and v.z are constant */
        {"RATTLE",
         "coordinates: {x: 1, y: 0, z: 0.5}\nmomenta: {px: 0, py: 1, pz: 0}\n"
         "hamiltonian: (px^2 + py^2 + pz^2)/2 + z\nconstraints: z - (x^2 + y^2)/2\n",
         1e-3, false},
        {"Lobatto4",
         "coordinates: {'x in R2': [0, -1]}\nvelocities: {v: [1e-3, 0]}\nlagrangian: dot(v, v)/2 - x.y\n"
         "constraints: dot(x, x) - 1\n",
         0.1, false}, /* a small oscillation: x.y moves by 1e-6 */
        {"EEM",
         "parameters: {N: 40}\ncoordinates: {'x[N]': 1 + 0.1*i}\nmomenta: {p: 0.5}\n"
         "hamiltonian: sum(i=1..N, p[i]^2/2) + 50*x[17]^2\n",
         0.02, true}, /* one degree of freedom of many */
        {"RK4", "coordinates: {x: 1e6, y: 1}\nmomenta: {p: 1, r: 0}\nhamiltonian: p^2/2 + r^2/2 + 50*y^2\n", 0.02,
         true}, /* positions far away are known less well */
    };
    for (size_t i = 0; i < sizeof motion / sizeof *motion; i++) {
        struct lgv_model *m = model_of(motion[i].text);
        struct lgv_settings set = settings_of(m);
        struct lgv_result r;
        snprintf(set.method, sizeof set.method, "%s", motion[i].method);
        set.step = motion[i].step;
        set.until = 500 * set.step;
        set.paths = 1;
        set.check_states = 2;
        run_with(m, &set, LGV_OK, &r);
        double defect = r.certificate.symplectic_defect, error = r.certificate.symplectic_defect_error;
        print_message("%s: defect %.2g, known to %.2g\n", motion[i].method, defect, error);
        assert_true(error <= 1e-8 && motion[i].broken == (defect > error));
        lgv_result_clear(&r);
        lgv_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scales), cmocka_unit_test(test_certificate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
