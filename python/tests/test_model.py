# SPDX-License-Identifier: BSD-3-Clause
import warnings

import lagrangevin as lgv
import numpy as np
import pytest
from conftest import KUBO


def double_well(**more):
    keys = dict(q={"x": -1}, p={"p": 0}, H="p^2/2 - x^2/2 + x^4/4", noise=["s*x"], params={"s": 0.2})
    return lgv.Model(**{**keys, **more})


def test_from_arguments_text_and_file_are_the_same(tmp_path):
    run = {"step": 0.1, "until": 1, "paths": 32, "seed": 5}
    text = (
        "parameters: { s: 0.2 }\ncoordinates: { x: -1 }\nmomenta: { p: 0 }\n"
        "hamiltonian: p^2/2 - x^2/2 + x^4/4\nnoise: s*x\nrun: { step: 0.1, until: 1, paths: 32, seed: 5 }\n"
    )
    file = tmp_path / "well.yaml"
    file.write_text(text)
    means = [m.run()["x"].mean for m in (double_well(run=run), lgv.Model(text), lgv.load(file), lgv.Model.parse(text))]
    for other in means[1:]:
        assert np.array_equal(means[0], other)


def test_every_key_is_a_keyword():
    m = lgv.Model(
        name="everything",
        parameters={"k": 2, "N": 2},
        where={"r2": "dot(x, x)", "f(s)": "k*s^2"},
        coordinates={"x in R2": [1, 0]},
        momenta={"p": np.array([0.0, 1.0])},
        hamiltonian="dot(p, p)/2 + f(sqrt(r2))/2",
        noise=["0.1*x.x"],
        noise_potential=["0.2*x.y"],
        symmetries={"turn": {"x": "[-x.y, x.x]"}},
        observe={"radius": "sqrt(r2)", "both": "x"},
        events={"far": "dot(x, x) > 9"},
        stop="far",
        sections={"axis": "x.y"},
        methods={},
        run={"step": 0.1, "until": 1, "paths": 16, "keep": [0, 3], "averages": True, "outputs": 10},
    )
    info = m.info
    assert info["name"] == "everything" and info["noises"] == 2 and info["symmetries"] == ["turn"]
    assert "radius" in info["observe"]
    result = m.run()
    assert result.paths.shape[0] == 2 and list(result.arrays["paths/index"]) == [0, 3]


def test_lagrangian_and_langevin_and_constraints():
    pendulum = lgv.Model(q={"x": 0.6, "y": -0.8}, v={"u": 0, "w": 0}, L="(u^2 + w^2)/2 - y", g=["x^2 + y^2 - 1"])
    assert pendulum.info["constraint_count"] == 1
    bath = lgv.Model(q={"x": 0}, V="x^2/2", langevin={"friction": 1, "temperature": 0.5})
    assert bath.check().stationary_temperature == pytest.approx(0.5)


def test_sizes_are_parameters():
    chain = lgv.Model(
        params={"N": 8}, q={"x[N]": "0.1*i"}, H="sum(i=1..N, p_x[i]^2/2) + sum(i=1..N-1, (x[i+1] - x[i])^4/4)"
    )
    assert chain.info["dof"] == 8
    assert chain.set(N=5).info["dof"] == 5


def test_parameters(kubo):
    assert kubo.params == {"beta": 0.1}
    other = kubo.copy(beta=0.3)
    assert (kubo.params["beta"], other.params["beta"]) == (0.1, 0.3)
    assert not np.array_equal(kubo.run()["q"].mean, other.run()["q"].mean)
    assert np.array_equal(kubo.run(set={"beta": 0.3})["q"].mean, other.run()["q"].mean)
    assert kubo.params == {"beta": 0.1}
    with pytest.raises(lgv.InputError, match="gamma"):
        kubo.set(gamma=1)


def test_errors_show_the_place():
    with pytest.raises(lgv.InputError) as caught:
        lgv.Model("coordinates: { q: 0 }\nhamiltonian: p_q^2/2 + sinn(q)\n")
    error = caught.value
    assert (error.line, error.column) == (2, 24)
    assert "did you mean" in str(error) and str(error).splitlines()[-1].strip() == "^"
    with pytest.raises(lgv.InputError, match="double_wel"):
        lgv.Model("double_wel.yaml")
    with pytest.raises(lgv.InputError, match="hamiltonan"):
        lgv.Model(q={"x": 0}, hamiltonan="x^2")
    with pytest.raises(ValueError):
        double_well(params={"s": float("nan")})
    for wrong in ((), ("a\nb", 1)):
        with pytest.raises(TypeError):
            lgv.Model(*wrong[:1], **({"q": {}} if wrong else {}))
    with pytest.raises(TypeError, match="twice"):
        double_well(momenta={"p": 0})


def test_text_is_safe():
    """Names and texts that YAML would read as something else come out as they went in."""
    m = lgv.Model(q={"n": 1}, p={"y": "0.5"}, H="y^2/2 + n^2/2", name="a: b # c", observe={"on": "n"})
    assert m.coordinates == ["n"] and m.momenta == ["y"] and m.name == "a: b # c"


def test_hostile_arguments():
    with pytest.raises(lgv.InputError):
        lgv.Model("coordinates: {q: 0}\0\n")
    with pytest.raises(lgv.InputError):
        double_well(H="(" * 100000)
    with pytest.raises(TypeError):
        double_well(H=object())
    with pytest.raises(lgv.InputError):
        double_well(q={"x": "1\nmomenta: {z: 3}"})


def test_copy_of_text_round_trip(kubo):
    assert kubo.text == KUBO


sympy = pytest.importorskip  # asked for where it is needed


def test_sympy():
    sp = sympy("sympy")
    x, p, s = sp.symbols("x p s")
    m = lgv.Model(q={x: -1}, p={p: 0}, H=p**2 / 2 - x**2 / 2 + x**4 / 4, noise=[s * x], params={s: sp.Rational(1, 5)})
    run = dict(step=0.1, until=1, paths=32)
    assert np.array_equal(m.run(**run)["x"].mean, double_well().run(**run)["x"].mean)


def test_sympy_values():
    """Every printed expression has the value that SymPy gives it."""
    sp = sympy("sympy")
    x, y = sp.symbols("x y", positive=True)
    expressions = [
        x ** sp.Rational(-3, 2) + sp.sqrt(x) / y, (x + y) ** (x - y), -(x**-2), sp.exp(-x) * sp.E**y, sp.log(x) ** 2,
        sp.Abs(x - y), sp.Min(x, y, 2) + sp.Max(x, y), sp.atan2(y, x), sp.sec(x) + sp.cot(y), sp.erf(x), x / (y * 3),
        sp.pi * 0.1 + 1e-20 * x, (-x) ** 3, 2 ** (-x), sp.floor(3 * x), (x * y) ** 2 / (x - 3 * y) ** 3,
        sp.sinh(x) * sp.tanh(y) - sp.cosh(x), sp.coth(x), sp.Mod(5 * x, 2),
        sp.Piecewise((x, x > y), (y**2, sp.And(x < 1, y > 1)), (3, True)), sp.Heaviside(x - y) + sp.Heaviside(y),
    ]
    m = lgv.Model(
        q={"x": 0.7, "y": 1.3}, H="(p_x^2 + p_y^2)/2", observe={f"e{i}": e for i, e in enumerate(expressions)}
    )
    result = m.run(step=0.1, until=0.1, paths=1)
    for i, e in enumerate(expressions):
        assert result[f"e{i}"].mean[0] == pytest.approx(float(e.subs({x: 0.7, y: 1.3})), rel=1e-13), str(e)


def test_sympy_refusals():
    sp = sympy("sympy")
    x = sp.Symbol("x")
    for wrong in (sp.I * x, sp.oo, sp.gamma(x), sp.Integral(x, x), sp.Derivative(sp.Function("f")(x), x)):
        with pytest.raises(lgv.InputError, match="formula language"):
            lgv.Model(q={"x": 1}, H=wrong)


def test_tables_from_arrays_and_files(tmp_path, monkeypatch):
    x = np.linspace(-3, 3, 61)
    table = np.column_stack([x, x**4 / 4 - x**2 / 2])
    keys = dict(q={"x": -1.2}, p={"p": 0}, H="p^2/2 + V(x)", where={"V(x)": "table(well.csv)"})
    run = dict(step=0.05, until=5, paths=2, method="verlet")
    np.savetxt(tmp_path / "well.csv", table, delimiter=",")
    monkeypatch.chdir(tmp_path)
    from_array = lgv.Model(data={"well.csv": table}, **keys).run(**run)
    from_file = lgv.Model(**keys).run(**run)
    plain = lgv.Model(q={"x": -1.2}, p={"p": 0}, H="p^2/2 + x^4/4 - x^2/2").run(**run)
    assert np.allclose(from_array["x"].mean, plain["x"].mean, atol=1e-9)
    assert np.array_equal(from_array["x"].mean, from_file["x"].mean)
    with pytest.raises(lgv.InputError, match="well.csv:2: x must increase"):
        lgv.Model(data={"well.csv": [[1, 2], [0, 3]]}, **keys)


def test_random_parameters_and_columns():
    atoms = np.array([[1.0, 0.5], [2.0, -0.5], [3.0, 0.25]])
    m = lgv.Model(
        params={"N": 3, "m[N]": "file(atoms.csv, 1)", "k": "normal(1, 0.1)"},
        q={"x[N]": "file(atoms.csv, 2)"},
        p={"p": 0},
        H="sum(i=1..N, p[i]^2/(2*m[i]) + k*x[i]^2/2)",
        observe={"shift": "x[1] - 0.5*cos(sqrt(k)*t)"},
        data={"atoms.csv": atoms},
    )
    r = m.run(step=0.01, until=1, paths=400, method="verlet")
    assert abs(r["shift"].mean).max() < 1e-4
    assert abs(r["k"].mean[-1] - 1) < 0.02 and abs(r["k"].std[-1] - 0.1) < 0.02


def driven(**process):
    """x'' = -x - x'/2 + eta"""
    return lgv.Model(
        processes={"eta": {"sigma": "s", **process}},
        params={"s": 0.5},
        q={"x": 0},
        p={"p": 0},
        H="p^2/2 + x^2/2",
        F={"x": "eta - p/2"},
    )


def test_coloured_noise():
    """The law of an Ornstein-Uhlenbeck process, and that of an oscillator which it drives."""
    m = driven(tau=2)
    r = m.run(step=0.1, until=30, outputs=60, paths=8000, keep=8000, seed=3)
    eta = r["eta"]
    assert np.all(abs(eta.mean) < 5 * 0.5 / np.sqrt(8000)) and np.all(abs(eta.std / 0.5 - 1) < 5 / np.sqrt(2 * 8000))
    last = eta.paths[:, -1] / 0.5
    for lag in (1, 4, 12):  # output times are 0.5 apart
        assert abs(np.mean(last * eta.paths[:, -1 - lag] / 0.5) - np.exp(-lag / 4)) < 5 * np.sqrt(2 / 8000), lag
    # E x^2 = sigma^2 tau (1 + g tau)/(g w^2 (1 + g tau + w^2 tau^2)) with g = 1/2, w = 1: 1/3 here
    assert abs(r["x"].std[-1] ** 2 - 1 / 3) < 5 * np.sqrt(2 / 8000) / 3
    assert "deta = -eta/2 dt + s dW_eta" in m.equations("ito", "text")
    assert m.check().info["processes"] == {"eta": {"sigma": 0.5, "tau": 2}}
    louder = m.run(set={"s": 1}, step=0.1, until=30, paths=8000, seed=3)
    assert louder["eta"].std[-1] == pytest.approx(2 * eta.std[-1], rel=1e-12)


def test_coloured_noise_starts_and_peaks():
    assert driven(tau=2, start=0.25).run(step=0.1, until=1, paths=16)["eta"].mean[0] == 0.25
    r = driven(frequency=3, damping=0.2).run(step=0.1, until=20, paths=4000)
    assert abs(r["eta"].std[-1] / 0.5 - 1) < 5 / np.sqrt(8000)
    assert abs(r["eta_rate"].std[-1] / 1.5 - 1) < 5 / np.sqrt(8000)
    c = driven(tau=2).converge(levels=4, largest=0.2, until=2, paths=256)
    assert c["BAB"].expected == 2 and abs(c["BAB"].order - 2) < 0.15


def test_coloured_noise_is_refused_where_it_is_wrong():
    for process, words in (
        (dict(tau=-1), "tau"),
        (dict(), "tau"),
        (dict(tau=1, damping=2), "damping|frequency"),
        (dict(tau="normal(1, 0.1)"), "may only be used in"),
        (dict(memory=1), "memory"),
    ):
        with pytest.raises(lgv.InputError, match=words):
            driven(**process)
    with pytest.raises(lgv.InputError, match="coloured|process"):
        m = lgv.Model(processes={"eta": {"sigma": 1, "tau": 2}}, q={"x": 0}, p={"p": 0}, H="p^2/2 + x^2/2 - x*eta")
        m.run(step=0.1, until=1, method="Newmark(0.4)")


def test_arrays_of_parameters():
    m = lgv.Model(q={"x[2]": 1}, H="sum(i=1..2, s*p_x[i]^2/2 + k[i]*x[i]^2/2)", params={"k[2]": 1, "s": 1},
                  run={"step": 0.1, "until": 1, "paths": 16, "threads": 1})
    values = np.array([4.0, 9.0])
    by_name = m.run(set={"k[1]": 4, "k[2]": 9})["H"].mean
    assert (m.run(set={"k": values})["H"].mean == by_name).all()
    assert (m.run(set={"k": np.array(4.0)})["H"].mean == m.run(set={"k": 4})["H"].mean).all()
    assert (lgv.Engine(m).set(k=[4, 9]).run().finish()["H"].mean == by_name).all()
    assert m.copy(k=(4, 9)).params == {"k[1]": 4.0, "k[2]": 9.0, "s": 1.0}
    for wrong, why in ({"k": [1, 2, 3]}, "has 2 entries"), ({"s": [1]}, "no array"), ({"j": [1]}, "no parameter j"):
        with pytest.raises(lgv.InputError, match=why):
            m.copy().set(**wrong)
    with pytest.raises(lgv.InputError, match="has 2 entries"):
        lgv.Engine(m).set(k=[1])


def test_warnings():
    with pytest.warns(lgv.ModelWarning) as seen:
        lgv.Model(q={"x": 0}, p={"p": 1}, H="p^2/2 + x^2/2", noise=0.1, params={"k": 1})
    texts = [str(w.message) for w in seen]
    assert len(texts) == 2 and "k is not used" in texts[0] and "moves nothing" in texts[1]
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        double_well().copy(s=0.1)
