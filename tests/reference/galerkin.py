#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Independent reference for one step and ten steps of the unconstrained methods, written from the equations alone.

    python3 tests/reference/galerkin.py            checks itself, then prints tests/reference_values.h
    python3 tests/reference/galerkin.py --check    only checks itself

Needs NumPy.  Stratonovich convention: dq = H_p dt + sum_m h_m,p o dW_m,  dp = -H_q dt - sum_m h_m,q o dW_m.
A model gives gradients of H and h_m, and Hessians of h_m, by hand.  Implicit equations are solved by Newton with a
complex-step Jacobian (exact to round-off, so nothing else has to be derived) until the iteration stands still.
"""
import sys
import numpy as np

# ---- models: grad(q, p) -> (q-part, p-part); hess(q, p) -> (h_qq, h_qp, h_pp) ----


class Kubo:
    """H = p^2/2 + q^2/2,  h = beta H,  beta = 0.1"""
    name, beta = "kubo", 0.1
    q0, p0 = [0.3], [0.9]

    def energy(self, q, p):
        return (p[0] ** 2 + q[0] ** 2) / 2

    def noise(self, q, p):
        return [self.beta * self.energy(q, p)]

    def energy_gradient(self, q, p):
        return q, p

    def noise_gradients(self, q, p):
        return [(self.beta * q, self.beta * p)]

    def noise_hessians(self, q, p):
        b = np.array([[self.beta]])
        return [(b, 0 * b, b)]


class Synchrotron:
    """H = p^2/2 - cos q,  h = beta sin q,  beta = 0.1"""
    name, beta = "synchrotron", 0.1
    q0, p0 = [0.3], [0.9]

    def energy(self, q, p):
        return p[0] ** 2 / 2 - np.cos(q[0])

    def noise(self, q, p):
        return [self.beta * np.sin(q[0])]

    def energy_gradient(self, q, p):
        return np.sin(q), p

    def noise_gradients(self, q, p):
        return [(self.beta * np.cos(q), 0 * p)]

    def noise_hessians(self, q, p):
        zero = np.zeros((1, 1))
        return [(np.array([-self.beta * np.sin(q)]), zero, zero)]


class TwoNoises:
    """H = p1^2/2 + p2^2/2 + q1^2 q2^2/4 + (q1^2 + q2^2)/2 + 0.1 q1 p2,
    h1 = 0.1 (q1 p1 + q2^2),  h2 = 0.2 cos(q2) p2"""
    name = "twonoises"
    q0, p0 = [0.7, -0.4], [0.2, 0.5]

    def energy(self, q, p):
        return (p[0] ** 2 + p[1] ** 2 + q[0] ** 2 + q[1] ** 2) / 2 + q[0] ** 2 * q[1] ** 2 / 4 + 0.1 * q[0] * p[1]

    def noise(self, q, p):
        return [0.1 * (q[0] * p[0] + q[1] ** 2), 0.2 * np.cos(q[1]) * p[1]]

    def energy_gradient(self, q, p):
        return (np.array([q[0] * q[1] ** 2 / 2 + q[0] + 0.1 * p[1], q[0] ** 2 * q[1] / 2 + q[1]]),
                np.array([p[0], p[1] + 0.1 * q[0]]))

    def noise_gradients(self, q, p):
        return [(np.array([0.1 * p[0], 0.2 * q[1]]), np.array([0.1 * q[0], 0 * q[0]])),
                (np.array([0 * q[0], -0.2 * np.sin(q[1]) * p[1]]), np.array([0 * q[0], 0.2 * np.cos(q[1])]))]

    def noise_hessians(self, q, p):
        zero = np.zeros((2, 2))
        return [(np.array([[0, 0], [0, 0.2]]), np.array([[0.1, 0], [0, 0]]), zero),
                (np.array([[0, 0], [0, -0.2 * np.cos(q[1]) * p[1]]]),
                 np.array([[0, 0], [0, -0.2 * np.sin(q[1])]]), zero)]


# ---- tools ----


def solve(residual, x):
    """Newton.  Stops when a move no longer changes x, or no longer shrinks once it is at round-off."""
    x, last = np.array(x, dtype=float), np.inf
    for _ in range(60):
        jacobian = np.empty((len(x), len(x)))
        for j in range(len(x)):
            y = x.astype(complex)
            y[j] += 1e-30j
            jacobian[:, j] = residual(y).imag / 1e-30
        move = np.linalg.solve(jacobian, residual(x))
        x = x - move
        size = np.max(np.abs(move) / (1 + np.abs(x)))
        if size < 1e-16 or (size < 1e-14 and size >= last):
            return x
        last = size
    raise ArithmeticError("Newton did not converge")


def increment(model, q, p, dt, dW):
    """(K_q, K_p) of K = dt H + sum_m dW_m h_m."""
    kq, kp = (dt * g for g in model.energy_gradient(q, p))
    for w, (hq, hp) in zip(dW, model.noise_gradients(q, p)):
        kq, kp = kq + w * hq, kp + w * hp
    return kq, kp


# ---- closed forms ----


def midpoint(model, q, p, dt, dW):
    n = len(q)

    def residual(x):
        kq, kp = increment(model, (q + x[:n]) / 2, (p + x[n:]) / 2, dt, dW)
        return np.concatenate([x[:n] - q - kp, x[n:] - p + kq])
    x = solve(residual, np.concatenate([q, p]))
    return x[:n], x[n:]


def verlet(model, q, p, dt, dW):
    """P = p - K_q(q,P)/2,  q' = q + (K_p(q,P) + K_p(q',P))/2,  p' = P - K_q(q',P)/2"""
    P = solve(lambda x: x - p + increment(model, q, x, dt, dW)[0] / 2, p)
    first = increment(model, q, P, dt, dW)[1]
    q1 = solve(lambda x: x - q - (first + increment(model, x, P, dt, dW)[1]) / 2, q)
    return q1, P - increment(model, q1, P, dt, dW)[0] / 2


def symplectic_euler(model, q, p, dt, dW):
    """q' = q + K_p(q',p),  p' = p - K_q(q',p)"""
    q1 = solve(lambda x: x - q - increment(model, x, p, dt, dW)[1], q)
    return q1, p - increment(model, q1, p, dt, dW)[0]


def ito_drift(model, q, p):
    """Drift of the Ito equation.  With X = (q, p) and g_m = (h_p, -h_q), going from Stratonovich to Ito adds
    1/2 sum_m (Dg_m) g_m, that is  q: (h_pq h_p - h_pp h_q)/2,  p: (-h_qq h_p + h_qp h_q)/2.
    It vanishes when every h depends on q only."""
    hq, hp = model.energy_gradient(q, p)
    fq, fp = hp, -hq
    for (gq, gp), (qq, qp, pp) in zip(model.noise_gradients(q, p), model.noise_hessians(q, p)):
        fq = fq + (qp.T @ gp - pp @ gq) / 2
        fp = fp + (-qq @ gp + qp @ gq) / 2
    return fq, fp


def eem(model, q, p, dt, dW):
    """Explicit Euler-Maruyama: X' = X + a(X) dt + sum_m g_m(X) dW_m, a the Ito drift."""
    fq, fp = ito_drift(model, q, p)
    kq, kp = increment(model, q, p, 0.0, dW)
    return q + dt * fq + kp, p + dt * fp - kq


def iem(model, q, p, dt, dW):
    """Implicit Euler-Maruyama: X' = X + a(X') dt + sum_m g_m(X) dW_m; the whole Ito drift at the end of the step."""
    n = len(q)
    kq, kp = increment(model, q, p, 0.0, dW)

    def residual(x):
        fq, fp = ito_drift(model, x[:n], x[n:])
        return np.concatenate([x[:n] - q - dt * fq - kp, x[n:] - p - dt * fp + kq])
    x = solve(residual, np.concatenate([q, p]))
    return x[:n], x[n:]


def rk4(model, q, p, dt, dW):
    """Classical Runge-Kutta of the model without noise."""
    n = len(q)

    def f(x):
        hq, hp = model.energy_gradient(x[:n], x[n:])
        return np.concatenate([hp, -hq])
    x = np.concatenate([q, p])
    k1 = f(x)
    k2 = f(x + dt / 2 * k1)
    k3 = f(x + dt / 2 * k2)
    k4 = f(x + dt * k3)
    x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x[:n], x[n:]


# ---- the general Galerkin step PsNrQu ----

r3, r5, r15 = np.sqrt(3), np.sqrt(5), np.sqrt(15)
RULES = {
    "N1Q1Rec": ([1], [1]),
    "N1Q2Gau": ([1 / 2], [1]),
    "N2Q2Lob": ([0, 1], [1 / 2, 1 / 2]),
    "N2Q2Otr": ([1 / 3, 2 / 3], [1 / 2, 1 / 2]),
    "N2Q4Gau": ([1 / 2 - r3 / 6, 1 / 2 + r3 / 6], [1 / 2, 1 / 2]),
    "N3Q4Lob": ([0, 1 / 2, 1], [1 / 6, 2 / 3, 1 / 6]),
    "N3Q4Mil": ([1 / 4, 1 / 2, 3 / 4], [2 / 3, -1 / 3, 2 / 3]),
    "N3Q6Gau": ([1 / 2 - r15 / 10, 1 / 2, 1 / 2 + r15 / 10], [5 / 18, 8 / 18, 5 / 18]),
    "N4Q6Lob": ([0, 1 / 2 - r5 / 10, 1 / 2 + r5 / 10, 1], [1 / 12, 5 / 12, 5 / 12, 1 / 12]),
}


def lagrange(s):
    """Lagrange polynomials on the control points 0, 1/s, .., 1 and their derivatives."""
    points = np.arange(s + 1) / s
    polynomials = []
    for m in range(s + 1):
        l = np.poly1d([1.0])
        for n in range(s + 1):
            if n != m:
                l = l * np.poly1d([1, -points[n]]) / (points[m] - points[n])
        polynomials.append(l)
    return polynomials, [l.deriv() for l in polynomials]


def galerkin(name):
    """The step of "P<s><rule>": unknowns q^1..q^s and P_1..P_r, equations as in Holm & Tyranowski (2018)."""
    s, (c, alpha) = int(name[1]), RULES[name[2:]]
    r = len(c)
    l, dl = lagrange(s)

    def step(model, q, p, dt, dW):
        n = len(q)

        def stages(x):
            Q = np.concatenate([[q], x[:s * n].reshape(s, n)])
            P = x[s * n:].reshape(r, n)
            position = [sum(l[m](c[i]) * Q[m] for m in range(s + 1)) for i in range(r)]
            velocity = [sum(dl[m](c[i]) * Q[m] for m in range(s + 1)) for i in range(r)]
            G = [increment(model, position[i], P[i], alpha[i] * dt, alpha[i] * np.array(dW)) for i in range(r)]
            moment = [sum(alpha[i] * P[i] * dl[m](c[i]) - G[i][0] * l[m](c[i]) for i in range(r)) for m in range(s + 1)]
            return Q, velocity, G, moment

        def residual(x):
            _, velocity, G, moment = stages(x)
            return np.concatenate([p + moment[0]] + moment[1:s] + [alpha[i] * velocity[i] - G[i][1] for i in range(r)])
        x = solve(residual, np.concatenate([np.tile(q, s), np.tile(p, r)]))
        Q, _, _, moment = stages(x)
        return Q[s].real, moment[s].real
    return step


# ---- checks, tables ----

CLOSED = {"P1N1Q2Gau": midpoint, "P2N2Q2Lob": verlet, "P1N1Q1Rec": symplectic_euler}
SEPARABLE_ONLY = ["P1N2Q2Lob", "P1N2Q2Otr", "P1N3Q4Lob", "P1N3Q4Mil"]
GENERAL = ["P2N2Q4Gau", "P2N2Q2Otr", "P2N3Q4Lob", "P3N4Q6Lob"]
BASELINE = {"EEM": eem, "IEM": iem, "RK4": rk4}
MODELS = [Kubo(), Synchrotron(), TwoNoises()]
DT = 0.05
CHI = [[0.75, -1.25], [-0.5, 0.375], [1.5, 0.625], [-1.125, -0.875], [0.25, 1.75],
       [-1.75, 0.5], [0.125, -0.25], [2.0, -1.5], [-0.625, 1.0], [1.0, 0.125]]
DW = np.sqrt(DT) * np.array(CHI)


def methods(model):
    table = dict(CLOSED)
    names = GENERAL + (SEPARABLE_ONLY if model.name != "twonoises" else [])
    table.update({name: galerkin(name) for name in names})
    table.update(BASELINE)
    return table


def run(model, step, steps):
    q, p = np.array(model.q0), np.array(model.p0)
    for k in range(steps):
        q, p = step(model, q, p, DT, DW[k][:len(model.noise(q, p))])
    return q, p


def numeric_jacobian(f, x, e=1e-5):
    return np.array([(f(x + d) - f(x - d)) / (2 * e) for d in e * np.eye(len(x))]).T


def check_model(model):
    n = len(model.q0)
    x = np.concatenate([model.q0, model.p0])
    split = lambda f: lambda y: np.concatenate(f(y[:n], y[n:]))
    worst = np.max(np.abs(numeric_jacobian(lambda y: np.array([model.energy(y[:n], y[n:])]), x)[0]
                          - split(model.energy_gradient)(x)))
    drift = split(lambda q, p: (model.energy_gradient(q, p)[1], -model.energy_gradient(q, p)[0]))(x)
    for m in range(len(model.noise(x[:n], x[n:]))):
        gradient = split(lambda q, p: model.noise_gradients(q, p)[m])
        value = lambda y: np.array([model.noise(y[:n], y[n:])[m]])
        field = split(lambda q, p: (model.noise_gradients(q, p)[m][1], -model.noise_gradients(q, p)[m][0]))
        worst = max(worst, np.max(np.abs(numeric_jacobian(value, x)[0] - gradient(x))))
        drift = drift + numeric_jacobian(field, x) @ field(x) / 2
    worst = max(worst, np.max(np.abs(drift - split(lambda q, p: ito_drift(model, q, p))(x))))
    assert worst < 1e-9, (model.name, "derivatives", worst)
    return worst


def check():
    for model in MODELS:
        print(f"{model.name}: derivatives and Ito drift {check_model(model):.1e}", file=sys.stderr)
        n = len(model.q0)
        omega = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
        x = np.concatenate([model.q0, model.p0])
        for name, step in methods(model).items():
            J = numeric_jacobian(lambda y: np.concatenate(step(model, y[:n], y[n:], DT, DW[7])), x)
            defect = np.max(np.abs(J.T @ omega @ J - omega))
            line = f"  {name:10s} symplectic defect {defect:.1e}"
            if name in CLOSED:
                a, b = np.array(run(model, step, 10)), np.array(run(model, galerkin(name), 10))
                line += f", closed form against Galerkin equations {np.max(np.abs(a - b)):.1e}"
                assert np.max(np.abs(a - b)) < 1e-14, (model.name, name)
            print(line, file=sys.stderr)
            assert name in BASELINE or defect < 1e-8, (model.name, name, defect)
    q, p = run(MODELS[0], midpoint, 10)
    assert abs(MODELS[0].energy(q, p) - MODELS[0].energy(*map(np.array, (Kubo.q0, Kubo.p0)))) < 1e-14


def numbers(x, size):
    """Shortest text that reads back as the same doubles (at most 17 digits)."""
    return "{" + ", ".join(repr(float(v)) for v in list(x) + [0.0] * (size - len(x))) + "}"


def header():
    print("/* SPDX-License-Identifier: BSD-3-Clause")
    print(" *")
    print(" * Made by tests/reference/galerkin.py: states after one and after ten steps with given increments, from an")
    print(" * independent implementation that solves each method's equations to round-off.")
    print(" * Do not edit; run the script.")
    print(" *")
    print(" * Models:")
    for model in MODELS:
        lines = [line.strip() for line in model.__doc__.splitlines()]
        for label, line in zip([model.name, ""], lines):
            print(f" *   {label:12s} {line}")
    print(" * Step k of every case uses the first `noises` numbers of reference_dW[k]; RK4 takes no noise.")
    print(" * EEM and IEM use the Ito drift; IEM takes the whole of it at the end of the step, the noise at its start.")
    print(" * P1N1Q1Rec is consistent for h(q) only; for the other models its equations are solved all the same. */")
    print("#ifndef LGV_TESTS_REFERENCE_VALUES_H\n#define LGV_TESTS_REFERENCE_VALUES_H\n")
    print(f"#define REFERENCE_STEPS {len(DW)}\n")
    print("/* clang-format off */\nstatic const double reference_dW[REFERENCE_STEPS][2] = {")
    for row in DW:
        print(f"    {numbers(row, 2)},")
    print("};\n")
    print("struct reference_case {\n    const char *model, *method;\n    int dof, noises, steps;\n    double dt;")
    print("    double q0[2], p0[2], q[2], p[2];\n};\n")
    print("static const struct reference_case reference_cases[] = {")
    for model in MODELS:
        for name, step in methods(model).items():
            for steps in (1, 10):
                q, p = run(model, step, steps)
                noises = 0 if name == "RK4" else len(model.noise(q, p))
                print(f'    {{"{model.name}", "{name}", {len(q)}, {noises}, {steps}, {DT!r},')
                print(f"     {numbers(model.q0, 2)}, {numbers(model.p0, 2)},")
                print(f"     {numbers(q, 2)}, {numbers(p, 2)}}},")
    print("};\n/* clang-format on */\n\n#endif")


if __name__ == "__main__":
    check()
    if "--check" not in sys.argv[1:]:
        header()
