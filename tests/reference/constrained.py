#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Independent reference for steps of the methods for constrained systems, written from the discrete action alone.

    python3 tests/reference/constrained.py         prints tests/reference_constrained.h (half a minute)

Needs SymPy (derivatives) and mpmath.  Every step solves the equations of all stages for all velocities V_i and impulses
lam_i at once, by Newton with a difference quotient for the Jacobian, in 60 digits; nothing is eliminated.

    Q_i = q + dt sum_j a_ij V_j,   F_j = dt b_j L_q(Q_j, V_j) + sum_r w_jr grad gamma_r(Q_j) + G(Q_j)^T lam_j
    L_v(Q_i, V_i) = p + sum_j (1 - a_ji/b_i) F_j,   g(Q_i) = 0 (i = 2..s),   q' = Q_s,   p* = p + sum_j F_j
    p' = p* + G(q')^T mu,  L_v(q', v') = p',  G(q') v' = 0,   lam_s = 0                           (SHAKE: p' = p*)

VE is the discrete Lagrangian dt L(q, v) + dW gamma(q), its adjoint dt L(q', v) + dW gamma(q'), v = (q' - q)/dt.
"""
import mpmath as mp
import sympy as sp

mp.mp.dps = 60
f = mp.mpf
ratio = lambda a, b: f(a) / f(b)
dot = lambda a: sum(x * x for x in a)
R = sp.Rational

# What the library draws with seed 9 for (path, step, dt), for two and for three noises.
INCREMENTS = {
    (0, 0, 0.1): {2: ([0.056320951061936214, -0.38683149531414429], [0.020158172368773951, -0.0091440152221293741]),
                  3: ([0.056320951061936214, -0.38683149531414429, -0.35148154229051959],
                      [0.020158172368773951, -0.0091440152221293741, -0.0098295105288081809])},
    (0, 1, 0.1): {2: ([-0.35148154229051959, 0.11298186714238249], [-0.0098295105288081809, 0.014759072049245436]),
                  3: ([0.11298186714238249, -0.27326302252008328, 0.27030332229415477],
                      [0.014759072049245436, -0.011856629009280988, 0.01196124199830432])},
    (1, 0, 0.2): {2: ([0.58814459298425859, 0.17312595961729854], [0.052579616110724391, 0.031435020849549855]),
                  3: ([0.58814459298425859, 0.17312595961729854, 0.34367981706560896],
                      [0.052579616110724391, 0.031435020849549855, 0.033614199231617833])},
}


class Model:
    def __init__(self, name, n, lagrangian, potentials, constraints, q0, v0, corrected=True):
        self.name, self.n = name, n
        q, v = sp.symbols("q0:%d" % n), sp.symbols("v0:%d" % n)
        L, gamma, g = sp.sympify(lagrangian(q, v)), potentials(q), constraints(q)
        self.m, self.k, self.corrected = len(gamma), len(g), corrected
        G = sp.Matrix(g).jacobian(q)
        C = sp.Integer(0)
        if corrected:  # C = sum_r |P grad gamma_r|^2 in the metric M^-1, written out before it is differentiated
            M1 = sp.hessian(L, v).inv()
            S = (G * M1 * G.T).inv()
            for potential in gamma:
                d = sp.Matrix([potential]).jacobian(q).T
                C += (d.T * M1 * d)[0] - (d.T * M1 * G.T * S * G * M1 * d)[0]
        gradient = lambda e, x: [sp.diff(e, y) for y in x]
        what = dict(L_q=gradient(L, q), L_v=gradient(L, v), C_q=gradient(C, q), g=list(g),
                    G=[gradient(e, q) for e in g], noise=[gradient(e, q) for e in gamma])
        self.of = {key: sp.lambdify((q, v), value, modules="mpmath", cse=True) for key, value in what.items()}
        self.q, self.p = self.start([f(x) for x in q0], [f(x) for x in v0])

    def __call__(self, key, q, v=None):
        return self.of[key](q, v if v is not None else q)

    def start(self, q, v):
        """A state on the constraints near the given one, rounded to double."""
        n = self.n
        G0 = self("G", q)
        x = newton(lambda y: self("g", plus(q, transposed(G0, y))), [f(0)] * self.k)
        q = rounded(plus(q, transposed(G0, x)))
        G = self("G", q)
        y = newton(lambda y: times(G, plus(v, transposed(G, y))), [f(0)] * self.k)
        return q, rounded(self("L_v", q, plus(v, transposed(G, y))))


plus = lambda a, b: [x + y for x, y in zip(a, b)]
times = lambda A, x: [sum(row[j] * x[j] for j in range(len(x))) for row in A]
transposed = lambda A, y: [sum(A[c][i] * y[c] for c in range(len(y))) for i in range(len(A[0]))]
rounded = lambda x: [f(float(mp.nstr(y, 20))) for y in x]


def newton(F, x):
    n, h = len(x), f(10) ** -28
    for _ in range(40):
        r, J = F(x), mp.matrix(n, n)
        for j in range(n):
            y = list(x)
            y[j] += h
            for i, value in enumerate(F(y)):
                J[i, j] = (value - r[i]) / h
        d = mp.lu_solve(J, mp.matrix(r))
        x = [x[i] - d[i] for i in range(n)]
        if max(abs(e) for e in d) < f(10) ** -40:
            return x
    raise ArithmeticError("Newton does not converge")


s5, s12 = mp.sqrt(5), mp.sqrt(12)
LOBATTO = {
    2: ([[0, 0], [ratio(1, 2)] * 2], [ratio(1, 2)] * 2),
    3: ([[0] * 3, [ratio(5, 24), ratio(1, 3), -ratio(1, 24)], [ratio(1, 6), ratio(2, 3), ratio(1, 6)]],
        [ratio(1, 6), ratio(2, 3), ratio(1, 6)]),
    4: ([[0] * 4, [(11 + s5) / 120, (25 - s5) / 120, (25 - 13 * s5) / 120, (s5 - 1) / 120],
         [(11 - s5) / 120, (25 + 13 * s5) / 120, (25 + s5) / 120, (-1 - s5) / 120],
         [ratio(1, 12), ratio(5, 12), ratio(5, 12), ratio(1, 12)]],
        [ratio(1, 12), ratio(5, 12), ratio(5, 12), ratio(1, 12)]),
}
alpha = (3 - 2 * mp.sqrt(2)) / 6
METHODS = {  # stages, weights of dW and of psi = sqrt 12 (J - dW/2), J = dZ/dt; factor of dt C(q)
    "VE": (0,), "SVE": (0,), "VE-adjoint": (1,),
    "RATTLE": (2, LOBATTO[2][1], [0, 0], 0),
    "RATTLE-J": (2, LOBATTO[2][1], [1 / s12, -1 / s12], 0),
    "RATTLE-Jc": (2, LOBATTO[2][1], [1 / s12, -1 / s12], ratio(1, 12)),
    "RATTLE-weak2": (2, LOBATTO[2][1], [0, 0], ratio(1, 8)),
    "SHAKE": (2, LOBATTO[2][1], [0, 0], 0),
    "Lobatto3": (3, LOBATTO[3][1], [0, 0, 0], 0),
    "Lobatto4": (4, LOBATTO[4][1], [0, 0, 0, 0], 0),
    "Lobatto3-W1": (3, [alpha, 1 - 2 * alpha, alpha], [1 / s12, 0, -1 / s12], 0),
    "Lobatto3-W2": (3, LOBATTO[3][1], [1 / s12 - ratio(1, 3), ratio(2, 3), -1 / s12 - ratio(1, 3)], 0),
}


def euler(m, adjoint, q, p, dt, dW, v):
    n = m.n
    G = m("G", q)

    def parts(x):
        u, lam = x[:n], x[n:]
        Q = [a + dt * b for a, b in zip(q, u)]
        at = Q if adjoint else q
        force = [dt * e + d for e, d in zip(m("L_q", at, u), transposed(m("noise", at), dW))]
        return Q, m("L_v", at, u), force, transposed(G, lam)

    def F(x):
        Q, Lv, force, Gl = parts(x)
        return [Lv[i] - p[i] - Gl[i] - (0 if adjoint else force[i]) for i in range(n)] + [e / dt for e in m("g", Q)]
    x = newton(F, v + [f(0)] * m.k)
    Q, Lv, force, _ = parts(x)
    return Q, plus(Lv, force) if adjoint else Lv, [x[n:]]


def runge_kutta(m, s, w, c, q, p, dt, v):
    n, k, (a, b) = m.n, m.k, LOBATTO[s]

    def parts(x):
        V = [x[i * n:i * n + n] for i in range(s)]
        lam = [x[s * n + i * k:s * n + i * k + k] for i in range(s - 1)] + [[f(0)] * k]
        Q = [[q[l] + dt * sum(a[i][j] * V[j][l] for j in range(s)) for l in range(n)] for i in range(s)]
        forces = []
        for j in range(s):
            Lq = m("L_q", Q[j], V[j])
            if c:
                Lq = [e - c * dt * d for e, d in zip(Lq, m("C_q", Q[j]))]
            rest = plus(transposed(m("noise", Q[j]), w[j]), transposed(m("G", Q[j]), lam[j]))
            forces.append([dt * b[j] * e + d for e, d in zip(Lq, rest)])
        return V, lam, Q, forces

    def F(x):
        V, _, Q, forces = parts(x)
        out = []
        for i in range(s):
            Lv = m("L_v", Q[i], V[i])
            out += [Lv[l] - p[l] - sum((1 - a[j][i] / b[i]) * forces[j][l] for j in range(s)) for l in range(n)]
        for i in range(1, s):
            out += [e / dt for e in m("g", Q[i])]
        return out
    _, lam, Q, forces = parts(newton(F, v * s + [f(0)] * (k * (s - 1))))
    return Q[-1], [p[l] + sum(e[l] for e in forces) for l in range(n)], lam[:-1]


def step(m, method, q, p, dt, dW, dZ):
    n = m.n
    v = newton(lambda x: [a - b for a, b in zip(m("L_v", q, x), p)], list(p))
    if METHODS[method][0] < 2:
        Q, end, lam = euler(m, METHODS[method][0], q, p, dt, dW, v)
    else:
        s, nu, kappa, c = METHODS[method]
        psi = [s12 * (z / dt - d / 2) for d, z in zip(dW, dZ)]
        w = [[nu[j] * d + kappa[j] * x for d, x in zip(dW, psi)] for j in range(s)]
        Q, end, lam = runge_kutta(m, s, w, c, q, p, dt, v)
    if method != "SHAKE":
        G = m("G", Q)
        x = newton(lambda x: [a - b - c for a, b, c in zip(m("L_v", Q, x[:n]), end, transposed(G, x[n:]))] +
                   times(G, x[:n]), v + [f(0)] * m.k)
        end, lam = plus(end, transposed(G, x[n:])), lam + [x[n:]]
    return Q, end, [sum(e[c] for e in lam) / dt for c in range(m.k)]


sines = lambda q: [sp.sin(x) for x in q]
unit = lambda q: [dot(q) - 1]
SPHERE = ((0.6, -0.48, 0.64), (0.3, 0.7, 0.5))
MODELS = [
    Model("sphere", 3, lambda q, v: dot(v) / 2 - q[2], sines, unit, *SPHERE),
    Model("double pendulum", 4,
          lambda q, v: (R(13, 10) * dot(v[:2]) + R(7, 10) * dot(v[2:])) / 2 - R(13, 10) * q[1] - R(7, 10) * q[3],
          lambda q: [R(2, 5) * sp.sin(q[2]), R(3, 10) * sp.cos(q[1] + q[2])],
          lambda q: [dot(q[:2]) - 1, (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - R(9, 4)],
          (0.8, -0.6, 1.7, -1.8), (0.5, 0.9, -0.4, 0.6)),
    Model("torus", 3, lambda q, v: dot(v) / 2 - q[2], lambda q: [sp.sin(q[0]) / 2, R(3, 10) * q[1] * q[2]],
          lambda q: [(sp.sqrt(q[0] ** 2 + q[1] ** 2) - 2) ** 2 + q[2] ** 2 - R(49, 100)],
          (1.8, 1.2, 0.65), (0.4, 0.6, -0.3)),
    Model("mass of position", 3, lambda q, v: (1 + R(3, 10) * q[2] ** 2) * dot(v) / 2 - q[2], sines, unit, *SPHERE),
    Model("magnetic", 3, lambda q, v: dot(v) / 2 + R(4, 5) * (q[0] * q[2] * v[1] - q[1] * v[0]) - q[2], sines, unit,
          *SPHERE),
    Model("quartic", 3, lambda q, v: (1 + R(3, 10) * q[2] ** 2) * dot(v) / 2 + dot(v) ** 2 / 10 - q[2], sines, unit,
          *SPHERE, corrected=False),
]

HEAD = """/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Made by tests/reference/constrained.py: single steps of the methods for constrained systems, from an independent
 * implementation that solves the equations of all stages together in 60 digits.  Do not edit; run the script.
 *
 * The increments are those that the library draws with seed 9 for the path, step number and dt of a row:
 * constrained_dW and constrained_dZ, two noises, then three noises.  The second row of three starts where the first
 * one ends (rounded).  q0, p0 satisfy the constraints, p0 the hidden ones, to round-off, except in second rows of
 * SHAKE.  lambda is the sum of the impulses of the step divided by dt.  RATTLE-Jc and RATTLE-weak2 are refused for
 * masses that depend on velocities. */
#ifndef LGV_TESTS_REFERENCE_CONSTRAINED_H
#define LGV_TESTS_REFERENCE_CONSTRAINED_H

struct constrained_case {
    const char *model, *method;
    unsigned path, step;
    double dt, q0[4], p0[4], q[4], p[4], lambda[2];
};

/* clang-format off */"""


def numbers(x, count):
    return "{" + ", ".join(repr(float(mp.nstr(y, 20))) for y in list(x) + [f(0)] * (count - len(x))) + "}"


def main():
    print(HEAD)
    for i, name in enumerate(["dW", "dZ"]):
        print("static const double constrained_%s[3][2][3] = {" % name)
        for row in INCREMENTS.values():
            print("    {%s,\n     %s}," % (numbers(row[2][i], 3), numbers(row[3][i], 3)))
        print("};")
    print("static const struct constrained_case constrained_cases[] = {")
    for m in MODELS:
        for method in METHODS:
            if method in ("RATTLE-Jc", "RATTLE-weak2") and not m.corrected:
                continue
            q, p = m.q, m.p
            for path, number, dt in INCREMENTS:
                if path == 1:
                    q, p = m.q, m.p
                dW, dZ = [[f(x) for x in values] for values in INCREMENTS[path, number, dt][m.m]]
                Q, P, lam = step(m, method, q, p, f(dt), dW, dZ)
                print('    {"%s", "%s", %d, %d, %r,\n     %s,\n     %s,\n     %s,\n     %s,\n     %s},' % (
                    m.name, method, path, number, dt, numbers(q, 4), numbers(p, 4), numbers(Q, 4), numbers(P, 4),
                    numbers(lam, 2)))
                q, p = rounded(Q), rounded(P)
    print("};\n/* clang-format on */\n\n#endif")


if __name__ == "__main__":
    main()
