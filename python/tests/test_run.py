# SPDX-License-Identifier: BSD-3-Clause
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import lagrangevin as lgv
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_numbers_are_those_of_the_program(kubo, tmp_path):
    """The same statistics to the bit as `lgv run --json` prints."""
    program = os.environ.get("LGV")
    if not program:
        pytest.skip("LGV does not name the program")
    file = tmp_path / "kubo.yaml"
    file.write_text(kubo.text)
    out = subprocess.run([program, "run", str(file), "--json"], capture_output=True, check=True, text=True)
    theirs, mine = json.loads(out.stdout), kubo.run()
    assert theirs["final"] == mine.info["final"]
    assert mine["q"].mean[-1] == theirs["final"]["q"]["mean"]


def test_arrays(kubo):
    result = kubo.run(outputs=20, keep=3)
    assert result.time.shape == (21,) and result.time[-1] == 2
    q = result["q"]
    assert q.mean.dtype == np.float64 and q.paths.shape == (3, 21)
    assert np.all(q.min <= q.q05) and np.all(q.q05 <= q.q95) and np.all(q.q95 <= q.max)
    assert result.names == [name.split("/")[1] for name in result.arrays if name.endswith("/mean")]
    assert result.arrays["alive"].dtype == np.uint64 and set(result.arrays["alive"]) == {64}
    assert "mean" in result.arrays.docs["statistics/q/mean"]
    # along a kept path of the Kubo oscillator the radius is 1
    assert np.allclose(result["radius"].paths, 1, atol=1e-12)
    with pytest.raises(KeyError, match="radius"):
        result["radiu"]
    with pytest.raises(AttributeError):
        q.meann


def test_arrays_share_memory_and_outlive_the_result(kubo):
    result = kubo.run()
    mean = result["q"].mean
    copy = mean.copy()
    assert np.shares_memory(mean, result.arrays["statistics/q/mean"]) and not mean.flags.owndata
    with pytest.raises(ValueError):
        mean[0] = 1
    handle = result._handle
    del result
    gc.collect()
    assert handle.pointer  # the array keeps it
    del handle
    gc.collect()
    junk = [kubo.run(paths=16) for _ in range(3)]
    assert np.array_equal(mean, copy) and len(junk) == 3


def test_the_last_array_frees_the_result(kubo, monkeypatch):
    freed = []
    result = kubo.run()
    monkeypatch.setattr(type(result._handle), "__del__", lambda self: freed.append(1))
    mean = result["q"].mean
    del result
    gc.collect()
    assert not freed
    del mean
    gc.collect()
    assert freed == [1]


def test_certificate(kubo):
    good = kubo.run().certificate
    assert good.holds and good["symplectic"].holds and good["symplectic"].value < 1e-9
    assert good["symplectic"].value <= good["symplectic"].limit and good["symplectic"].claim is True
    bad = kubo.run(method="EEM").certificate
    assert bad["symplectic"].claim is False and bad["symplectic"].holds is None
    with pytest.raises(KeyError, match="symplectic"):
        good["simplectic"]


def test_options(kubo):
    assert kubo.run(check_states=0, seed=2**63 + 5, paths=np.int64(16), truncate=np.float64(0)).paths_run == 16
    with pytest.raises(TypeError, match="paths"):
        kubo.run(path=3)
    with pytest.raises(lgv.InputError, match="step"):
        kubo.run(step=-1)
    with pytest.raises(lgv.InputError, match="did you mean"):
        kubo.run(method="verlett")
    with pytest.raises(lgv.RunError):
        kubo.run(compiler="/no/such/compiler", seed=99, outputs=7)
    names = [option.name for option in lgv.options("run")]
    assert names[0] == "method" and "check_states" in names


def test_paths_until_an_error_is_reached(kubo):
    r = kubo.run(paths=100, until_stderr="q=0.005", step=0.1, until=5)
    n = r.paths_run
    assert n > 112 and n % 16 == 0 and 0.0025 < r["q"].stderr[-1] <= 0.005
    assert np.array_equal(r["q"].mean, kubo.run(paths=n, step=0.1, until=5)["q"].mean)
    with pytest.raises(lgv.InputError, match="there is no observable energy; there are"):
        kubo.run(until_stderr="energy=1")


def test_failed_paths_are_counted():
    m = lgv.Model(q={"x": "normal()"}, H="p_x^2/2 - x^4/4", run={"step": 0.05, "until": 20, "paths": 64})
    result = m.run(method="verlet")
    assert 0 < result.failed <= 64 and not result.certificate["failed_paths"].holds
    assert "failed" in repr(result) and result.arrays["failures/path"].size == result.failed


def test_files(kubo, tmp_path):
    result = kubo.run(keep=2)
    result.save(tmp_path / "results.h5")
    for again in (lgv.open(tmp_path / "results.h5"), lgv.open(tmp_path)):
        assert again.names == result.names and again.info["final"] == result.info["final"]
        for name, array in result.arrays.items():
            assert np.array_equal(array, again.arrays[name], equal_nan=True), name
        assert again.certificate["symplectic"].value == result.certificate["symplectic"].value
    with pytest.raises(lgv.InputError, match="nothing.h5"):
        lgv.open(tmp_path / "nothing.h5")
    (tmp_path / "broken.h5").write_bytes(b"not HDF5")
    with pytest.raises(lgv.InputError):
        lgv.open(tmp_path / "broken.h5")


def test_increments(kubo, tmp_path):
    first = kubo.run(paths=4, keep=4, keep_increments=True)
    first.save(tmp_path / "results.h5")
    again = kubo.run(increments=tmp_path / "results.h5", paths=4, keep=4)
    assert np.array_equal(first.paths, again.paths)


def test_engine_parts(kubo, tmp_path):
    engine = lgv.Engine(kubo, paths=64)
    engine.run(0, 32).save(tmp_path / "one.part")
    other = lgv.Engine(kubo, paths=64).run(32, 32).load(tmp_path / "one.part")
    assert np.array_equal(other.finish()["q"].mean, kubo.run()["q"].mean)
    assert engine.run().finish().info["final"] == kubo.run().info["final"]
    engine.set(beta=0.3)
    assert np.array_equal(engine.run().finish()["q"].mean, lgv.Model(kubo.text).run(set={"beta": 0.3})["q"].mean)


def test_progress_function(kubo):
    seen = []

    def told(part):  # would go on for days
        seen.append(part)
        return len(seen) == 4

    assert kubo.run(until=1e6, step=0.001, paths=10000, progress=told).info["interrupted"]
    assert len(seen) == 4 and seen == sorted(seen) and seen[-1] <= 1


def test_progress_can_stop(kubo):
    result = kubo.run(until=1e4, step=0.001, paths=10000, progress=lambda part: True)
    assert result.info["interrupted"]
    with pytest.raises(ZeroDivisionError):
        kubo.run(until=1e4, step=0.001, paths=10000, progress=lambda part: 1 / 0)


def test_the_lock_is_released(kubo):
    """Another thread goes on while a run computes."""
    count, stop = [0], threading.Event()

    def other():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=other)
    thread.start()
    try:  # the run would go on for days: it ends once the other thread has
        before = count[0]
        result = kubo.run(until=1e6, step=0.001, paths=10000, progress=lambda part: count[0] >= before + 10)
        assert result.info["interrupted"]
    finally:
        stop.set()
        thread.join()


INTERRUPT = """
import sys, threading, os, signal, time
sys.path.insert(0, {root!r})
import lagrangevin as lgv
m = lgv.Model({text!r})
m.run()  # the kernel is there
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored from outside, perhaps
begun = threading.Event()
def told(part):
    begun.set()
def later():
    begun.wait()
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=later, daemon=True).start()
try:  # would go on for days
    m.{what}
except KeyboardInterrupt as stop:
    print(type(stop).__name__, stop.result is not None)
print("goes on", m.run().failed)
"""


@pytest.mark.parametrize("what, kept", [
    ("run(until=1e6, step=0.001, paths=100000, progress=told)", True),
    ("converge(until=1e5, paths=100000, progress=told)", None),
])
def test_ctrl_c(kubo, what, kept):
    code = INTERRUPT.format(root=str(ROOT), text=kubo.text, what=what)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=3000)
    words = out.stdout.split()
    assert words[0] == "Interrupted", out
    assert kept is None or words[1] == str(kept)
    assert words[2:] == ["goes", "on", "0"]


def test_report_and_html(kubo, tmp_path):
    result = kubo.run()
    page = Path(result.report(tmp_path / "pages"))
    assert page.name == "report.html" and "kubo" in page.read_text(encoding="utf-8")
    shown = result._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "kubo" in shown
    assert "everything claimed holds" in repr(result)


def test_cite(kubo):
    text = kubo.run(method="verlet-8").cite()
    assert "@software{lagrangevin" in text
    assert "10.1080/10556780500140664" in text and "10.1007/s10543-018-0720-2" in text


def test_xarray(kubo):
    pytest.importorskip("xarray")
    result = kubo.run(keep=3)
    data = result.to_xarray()
    assert data["paths"].dims == ("path", "observable", "time")
    assert np.shares_memory(data["q_mean"].values, result["q"].mean)
    assert float(data["paths"].sel(observable="radius", path=0).mean()) == pytest.approx(1)


def test_pictures(kubo):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = kubo.run()
    assert result.plot("q").get_ylabel() == "q"
    assert len(result.phase("q", "p", paths=3).lines) == 3
    assert result.histogram("q").patches
    assert len(kubo.converge(levels=3, methods=["verlet", "midpoint"]).plot().get_legend().get_texts()) == 2
    matplotlib.pyplot.close("all")


def test_build_and_methods():
    assert lgv.build()["version"] == lgv.__version__
    names = [method["name"] for method in lgv.methods()]
    assert "BAOAB" in names and len(names) == len(set(names))
    with pytest.raises(lgv.InputError):
        lgv.methods("nothing")


def signals_are_left_alone():
    return signal.getsignal(signal.SIGINT)


def test_signals(kubo):
    before = signals_are_left_alone()
    kubo.run()
    assert signals_are_left_alone() is before
