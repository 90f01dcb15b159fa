// SPDX-License-Identifier: BSD-3-Clause
//
// Boost.odeint beside Lagrangevin.  odeint sde DT STEPS PATHS: the pendulum with noise by a stepper of one's own, as
// in its tutorial, since odeint brings none for stochastic equations.  odeint leapfrog DT STEPS: the five bodies by
// its velocity_verlet.  Prints seconds and, for sde, the mean of H; for leapfrog the state.
#include <array>
#include <boost/numeric/odeint.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

namespace odeint = boost::numeric::odeint;
typedef std::array<double, 2> state;

// Stochastic Stoermer-Verlet: half a kick, drift, half a kick.
struct verlet {
    typedef state state_type;
    typedef state deriv_type;
    typedef double value_type, time_type;
    typedef unsigned short order_type;
    typedef odeint::stepper_tag stepper_category;
    std::mt19937_64 &random;
    std::normal_distribution<double> normal;
    explicit verlet(std::mt19937_64 &r) : random(r) {}
    template <class System> void do_step(System beta, state &x, double, double dt) {
        double dw = std::sqrt(dt) * normal(random);
        x[1] -= 0.5 * (dt * std::sin(x[0]) + beta * std::cos(x[0]) * dw);
        x[0] += dt * x[1];
        x[1] -= 0.5 * (dt * std::sin(x[0]) + beta * std::cos(x[0]) * dw);
    }
};

static double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

typedef std::array<double, 15> vec;
static const double GM = 39.478417604357434475; // 4 pi^2
static const double mass[5] = {1, 9.54791938424326609e-04, 2.85885980666130812e-04, 4.36624404335156298e-05,
                               5.15138902046611451e-05};

static void force(const vec &q, const vec &, vec &a, double) {
    a.fill(0);
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 5; j++) {
            double d[3], s = 0;
            for (int k = 0; k < 3; k++) d[k] = q[3 * i + k] - q[3 * j + k], s += d[k] * d[k];
            double r = GM / (s * std::sqrt(s));
            for (int k = 0; k < 3; k++) a[3 * i + k] -= r * mass[j] * d[k], a[3 * j + k] += r * mass[i] * d[k];
        }
}

int main(int n, char **a) {
    if (n < 4) return 2;
    double dt = std::atof(a[2]);
    long steps = std::atol(a[3]);
    if (std::strcmp(a[1], "sde") == 0) {
        long paths = std::atol(a[4]);
        double sum = 0, begin = seconds();
#pragma omp parallel for reduction(+ : sum)
        for (long k = 0; k < paths; k++) {
            std::mt19937_64 random(k);
            verlet step(random);
            state x = {{0, 1}};
            odeint::integrate_n_steps(std::ref(step), 0.1, x, 0.0, dt, steps);
            sum += x[1] * x[1] / 2 - std::cos(x[0]);
        }
        std::printf("%.17g %.17g\n", seconds() - begin, sum / paths);
        return 0;
    }
    std::pair<vec, vec> x;
    for (int i = 0; i < 15; i++)
        if (std::scanf("%lf", &x.first[i]) != 1) return 2;
    for (int i = 0; i < 15; i++)
        if (std::scanf("%lf", &x.second[i]) != 1) return 2;
    odeint::velocity_verlet<vec> stepper;
    double begin = seconds();
    odeint::integrate_n_steps(stepper, force, x, 0.0, dt, steps);
    std::printf("%.17g\n", seconds() - begin);
    for (double v : x.first) std::printf("%.17g ", v);
    return 0;
}
