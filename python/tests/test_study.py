# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import subprocess

import lagrangevin as lgv
import numpy as np
import pytest


def by_program(model, tmp_path, *arguments):
    """The document that the program prints."""
    program = os.environ.get("LGV")
    if not program:
        pytest.skip("LGV does not name the program")
    file = tmp_path / "kubo.yaml"
    file.write_text(model.text)
    out = subprocess.run([program, arguments[0], str(file), *arguments[1:], "--json"], capture_output=True, text=True)
    assert out.returncode in (0, 1, 4), out.stderr
    return json.loads(out.stdout)


def same(a, b, *leave):
    """Equal documents, but for times, the command line and the name of the file."""
    leave = {"seconds", "date", "command", "file", "reference_seconds", "seconds_per_path", "path_steps_per_second",
             *leave}
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k], *leave) for k in a if k not in leave)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y, *leave) for x, y in zip(a, b))
    return a == b


def test_converge(kubo, tmp_path):
    c = kubo.converge(methods=["midpoint", "verlet"], largest=0.1, levels=4, paths=256, until=1.6, set={"beta": 1})
    for name in ("P1N1Q2Gau", "P2N2Q2Lob"):
        assert c[name].expected == 1 and abs(c[name].order - 1) < max(0.15, 4 * c[name].stderr), c
    assert np.allclose(c["P2N2Q2Lob"].steps, [0.1, 0.05, 0.025, 0.0125])
    assert c.kind == "strong" and "order" in repr(c)
    theirs = by_program(kubo, tmp_path, "converge", "--methods", "midpoint,verlet", "--largest", "0.1", "--levels", "4",
                        "--paths", "256", "--until", "1.6", "--set", "beta=1")
    assert same(theirs, c.info)


def test_converge_refuses(kubo):
    with pytest.raises(lgv.InputError, match="^kind"):
        kubo.converge(kind="stong")
    with pytest.raises(TypeError, match="methods"):
        kubo.converge(method_s="verlet")
    with pytest.raises(lgv.InputError, match="^levels"):
        kubo.converge(levels=100)


def test_compare(kubo, tmp_path):
    c = kubo.compare(methods="midpoint,EEM", expect={"H": "H0"}, ladder=2, ladder_paths=64, observe="H")
    assert abs(c["P1N1Q2Gau"]["observables"]["H"]["bias"]) < 1e-12 < c["EEM"]["observables"]["H"]["bias"]
    theirs = by_program(kubo, tmp_path, "compare", "--methods", "midpoint,EEM", "--expect", "H = H0", "--ladder", "2",
                        "--ladder-paths", "64", "--observe", "H")
    assert same(theirs, c.info)


def test_mlmc(kubo, tmp_path):
    e = kubo.mlmc(observe="q", tolerance=0.02, largest=0.5)
    # E q(t) = exp(-beta^2 t / 2) sin t
    assert float(e) == pytest.approx(np.exp(-0.01) * np.sin(2), abs=0.08) and e.reached and e.levels
    theirs = by_program(kubo, tmp_path, "run", "--mlmc", "--observe", "q", "--tolerance", "0.02", "--largest", "0.5")
    assert same(theirs, e.info, "plain_seconds")
    with pytest.raises(lgv.InputError, match="tolerance"):
        kubo.mlmc(observe="q")


def test_sweep(kubo, tmp_path):
    s = kubo.sweep({"beta": "0.1:0.3:3", "step": [0.1, 0.05]}, paths=32)
    assert s.shape == (3, 2) and list(s.axes["step"]) == [0.1, 0.05]
    one = kubo.run(set={"beta": 0.2}, step=0.05, paths=32)
    assert s.mean("q")[1, 1] == one["q"].mean[-1] and s.stderr("q")[1, 1] == one["q"].stderr[-1]
    assert np.array_equal(s.along("q")[1, 1], one["q"].mean)
    assert np.array_equal(s.arrays["sample_paths"][3], one.paths)
    assert not s.arrays["mean"].flags.owndata and kubo.params == {"beta": 0.1}
    theirs = by_program(kubo, tmp_path, "sweep", "--over", "beta=0.1:0.3:3", "--over", "step=0.1,0.05", "--paths", "32")
    assert same(theirs, s.info)
    words = kubo.sweep({"method": ["midpoint", "verlet"]}, paths=16)
    assert list(words.axes["method"]) == ["midpoint", "verlet"]


def test_sweep_together(kubo, tmp_path):
    over = {"beta": "0.1:0.3:3"}
    apart, one = kubo.sweep(over, paths=5), kubo.sweep(over, paths=5, together=True)
    assert one.info["together"] and not apart.info["together"] and one.names == apart.names
    for name in ("mean", "stderr", "std", "min", "max", "mean_along_time", "sample_paths", "paths", "time"):
        assert np.allclose(one.arrays[name], apart.arrays[name], rtol=0, atol=1e-12), name
    assert kubo.params == {"beta": 0.1}
    theirs = by_program(kubo, tmp_path, "sweep", "--over", "beta=0.1:0.3:3", "--paths", "5", "--together")
    assert same(theirs, one.info)
    with pytest.raises(lgv.InputError, match="step is an option of a run"):
        kubo.sweep({"step": [0.1, 0.05]}, together=True)


def test_sweep_refuses(kubo):
    with pytest.raises(lgv.InputError, match="over"):
        kubo.sweep()
    with pytest.raises(lgv.InputError, match="gamma"):
        kubo.sweep({"gamma": [1, 2]})
    with pytest.raises(lgv.InputError, match="too often"):
        kubo.sweep({name: [1] for name in ("step", "until", "paths", "seed", "beta")})


def test_sweep_xarray(kubo):
    pytest.importorskip("xarray")
    s = kubo.sweep({"beta": [0.1, 0.2]}, paths=16)
    assert float(s.to_xarray()["mean"].sel(beta=0.2, observable="H")) == pytest.approx(0.5)


def test_check(kubo, tmp_path):
    c = kubo.check()
    assert c and c.holds and c.dof == 1 and c.noise_commutes and "P1N1Q2Gau" in c.methods
    assert same(by_program(kubo, tmp_path, "check"), c.info)
    turn = {"turn": {"x": "-y", "y": "x"}}
    wrong = lgv.Model(q={"x": 1, "y": 0}, H="(p_x^2 + p_y^2)/2 + x^2", symmetries=turn).check()
    assert not wrong and "not invariant" in wrong.problems[0] and "<table>" in wrong._repr_html_()


def test_reports(kubo, tmp_path):
    for name, study in {
        "converge": kubo.converge(levels=3, paths=32),
        "sweep": kubo.sweep({"beta": [0.1, 0.2]}, paths=16),
    }.items():
        page = study.report(tmp_path / name)
        assert os.path.getsize(page) > 1000
    with pytest.raises(lgv.InputError, match="nothing to report"):
        kubo.check().report(tmp_path / "check")
