# SPDX-License-Identifier: BSD-3-Clause
"""Results of runs."""

from __future__ import annotations

import ctypes
import html
import os
import tempfile
from typing import Any, Dict, Iterator, List, Optional, Union

import numpy as np

from ._arrays import Arrays
from ._library import Handle, InputError, call, encode, lib, take_json, take_text

Path = Union[str, "os.PathLike[str]"]


class Verdict:
    """One row of a certificate.

    ``name``, what it is about; ``value``, what was measured; ``error``, how well that is known; ``limit``, what it is
    held against; ``claim``: True where method and model promise it, False where the method does not, None where the
    model does not have it; ``holds``: True, False, or None where nothing is claimed or measured.
    """

    __slots__ = ("name", "value", "error", "limit", "claim", "holds")

    def __init__(self, name: str, value: float, error: float, limit: float, claim: int, holds: int):
        self.name, self.value, self.error, self.limit = name, value, error, limit
        self.claim: Optional[bool] = None if claim < 0 else bool(claim)
        self.holds: Optional[bool] = None if holds < 0 else bool(holds)

    def __repr__(self) -> str:
        word = {True: "holds", False: "DOES NOT HOLD", None: "no claim"}[self.holds]
        return f"<{self.name}: {self.value:.3g}, {word}>"


class Certificate:
    """What a run has kept: verdicts by name, ``holds`` for all of them, ``info`` with everything measured."""

    def __init__(self, verdicts: List[Verdict], info: Dict[str, Any]):
        self.verdicts, self.info = verdicts, info

    @property
    def holds(self) -> bool:
        """Everything claimed holds."""
        return all(verdict.holds is not False for verdict in self.verdicts)

    def __getitem__(self, name: str) -> Verdict:
        for verdict in self.verdicts:
            if verdict.name == name:
                return verdict
        raise KeyError(f"{name!r}; the certificate has {', '.join(v.name for v in self.verdicts)}")

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    def __repr__(self) -> str:
        rows = "".join(f"\n  {verdict!r}" for verdict in self.verdicts)
        return f"<Certificate: {'everything claimed holds' if self.holds else 'a claim DOES NOT HOLD'}{rows}>"


class Series:
    """An observable along time: ``mean std stderr min max q05 q25 q50 q75 q95`` at ``time``, and ``paths``."""

    def __init__(self, result: "Result", name: str):
        self._result, self.name = result, name

    def __getattr__(self, statistic: str) -> np.ndarray:
        if statistic.startswith("_"):
            raise AttributeError(statistic)
        try:
            return self._result.arrays[f"statistics/{self.name.replace('/', '_')}/{statistic}"]
        except KeyError:
            raise AttributeError(f"no statistic {statistic!r}") from None

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), "mean", "std", "stderr", "min", "max", "q05", "q25", "q50", "q75", "q95"]

    @property
    def time(self) -> np.ndarray:
        return self._result.time

    @property
    def paths(self) -> np.ndarray:
        """The observable along the kept paths, [path][time]."""
        return self._result.paths[:, self._result.names.index(self.name), :]

    @property
    def final(self) -> Dict[str, Any]:
        """Statistics at the end."""
        return self._result.info["final"][self.name]

    def __repr__(self) -> str:
        return f"<{self.name}: {self.mean[-1]:.6g} ± {self.stderr[-1]:.2g} at t = {self.time[-1]:g}>"


class Result:
    """What a run leaves behind. Arrays share the memory of the library and stay valid as long as they are used.

    ``result["q"].mean`` is an array over ``result.time``; ``result.arrays`` has everything under the names of
    results.h5; ``result.certificate`` says what was kept; ``result.plot("q")`` draws.
    """

    def __init__(self, pointer: ctypes.c_void_p, model: Any = None):
        self._handle = Handle(pointer, lib.lgv_result_free)
        self._model = model
        self._arrays: Optional[Arrays] = None
        self._info: Optional[Dict[str, Any]] = None

    # ---- numbers ----

    @property
    def arrays(self) -> Arrays:
        """All arrays by name: "time", "statistics/q/mean", "paths/value", "histograms/q/count", ..."""
        if self._arrays is None:
            pointer = self._handle.pointer
            self._arrays = Arrays(lambda index, row: lib.lgv_result_arrays(pointer, index, row), self._handle)
        return self._arrays

    @property
    def info(self) -> Dict[str, Any]:
        """The document of ``lgv run --json``."""
        if self._info is None:
            self._info = take_json(lib.lgv_result_json(self._handle.pointer))
        return self._info

    @property
    def time(self) -> np.ndarray:
        """Output times."""
        return self.arrays["time"]

    @property
    def names(self) -> List[str]:
        """Names of the observables, in the order of ``paths``."""
        return list(self.info["final"])

    @property
    def paths(self) -> np.ndarray:
        """Kept paths at the output times, [path][observable][time]."""
        return self.arrays.get("paths/value", np.empty((0, len(self.names), len(self.time))))

    @property
    def paths_run(self) -> int:
        """Number of paths that were run; less than asked for after an interruption."""
        return self.info["paths_done"]

    @property
    def failed(self) -> int:
        """Number of failed paths."""
        return int(lib.lgv_result_failed(self._handle.pointer))

    @property
    def method(self) -> str:
        return self.info["method"]

    @property
    def certificate(self) -> Certificate:
        """What was kept."""
        count = ctypes.c_size_t()
        row = lib.lgv_result_verdicts(self._handle.pointer, ctypes.byref(count))
        verdicts = [
            Verdict(v.name.decode(), v.value, v.error, v.limit, v.claim, v.holds)
            for v in (row[i] for i in range(count.value))
        ]
        return Certificate(verdicts, self.info["certificate"])

    def __getitem__(self, name: str) -> Series:
        if name not in self.names:
            import difflib

            near = difflib.get_close_matches(name, self.names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(self.names[:20])}"
            raise KeyError(f"no observable {name!r}; {hint}")
        return Series(self, name)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def to_xarray(self) -> Any:
        """Statistics and kept paths as a labelled ``xarray.Dataset``, without copying. Needs xarray."""
        import xarray

        data: Dict[str, Any] = {}
        time = ("time", self.time, {"units": "time"})
        for name in self.names:
            for statistic in ("mean", "std", "stderr", "min", "max"):
                data[f"{name}_{statistic}"] = ("time", getattr(self[name], statistic))
        coords: Dict[str, Any] = {"time": time, "observable": self.names}
        if self.paths.size:
            data["paths"] = (("path", "observable", "time"), self.paths)
            coords["path"] = self.arrays["paths/index"]
        attributes = {key: self.info[key] for key in ("model", "method", "step", "until", "paths", "seed")}
        return xarray.Dataset(data, coords, attributes)

    # ---- files and pages ----

    def save(self, path: Path) -> None:
        """Writes results.h5; :func:`lagrangevin.open` reads it."""
        call("lgv_result_write", self._handle.pointer, encode(path))

    def report(self, folder: Path) -> str:
        """Writes report.html and its figures (by gnuplot) to a folder; returns the name of the page."""
        os.makedirs(folder, exist_ok=True)
        call("lgv_result_report", self._handle.pointer, encode(folder))
        return os.path.join(os.fspath(folder), "report.html")

    def cite(self) -> str:
        """The software and the papers behind the method, in BibTeX."""
        text = take_text(lib.lgv_result_cite(self._handle.pointer))
        if text is None:
            raise MemoryError("lagrangevin: no memory")
        return text

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            with open(self.report(folder), encoding="utf-8") as page:
                return frame(page.read())

    def __repr__(self) -> str:
        info = self.info
        failed = f", {self.failed} failed" if self.failed else ""
        done = f"{info['paths_done']} of " if info["interrupted"] else ""
        lines = [f"<Result of {info['model']}: {info['method']}, step {info['step']:g} to t = {info['until']:g}, "
                 f"{done}{info['paths']} paths{failed}"]
        for name in self.names[:6]:
            last = info["final"][name]
            mean, stderr = last["mean"], last["stderr"]
            known = "" if mean is None else f": {mean:.6g}"
            lines.append(f"  {name}{known}" + ("" if mean is None or stderr is None else f" ± {stderr:.2g}"))
        if len(self.names) > 6:
            lines.append(f"  and {len(self.names) - 6} more")
        verdict = "everything claimed holds" if self.certificate.holds else "a claim DOES NOT HOLD"
        lines.append(f"  certificate: {verdict}>")
        return "\n".join(lines)

    # ---- pictures ----

    def plot(self, *names: str, ax: Any = None, paths: int = 5, **style: Any) -> Any:
        """Draws observables along time with matplotlib: the mean, the band that holds 90 % of the paths, some paths.

        ``plot("q", "p")`` draws both; without a name the first observable is drawn. Returns the axes.
        """
        from . import _plot

        return _plot.series(self, names or (self.names[0],), ax, paths, style)

    def phase(self, x: str, y: str, *, ax: Any = None, paths: int = 8, **style: Any) -> Any:
        """A phase portrait of the kept paths. Returns the axes."""
        from . import _plot

        return _plot.phase(self, x, y, ax, paths, style)

    def histogram(self, name: str, *, ax: Any = None, **style: Any) -> Any:
        """The histogram of an observable at the end. Returns the axes."""
        from . import _plot

        return _plot.histogram(self, name, ax, style)


def frame(page: str, height: int = 640) -> str:
    """A page inside a notebook."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" '
        f'style="width: 100%; height: {height}px; border: 1px solid #ccc"></iframe>'
    )


def open_result(path: Path) -> Result:
    """The result of a file results.h5, or of the folder that has one."""
    name = os.fspath(path)
    if os.path.isdir(name):
        name = os.path.join(name, "results.h5")
    out = ctypes.c_void_p()
    call("lgv_result_read", encode(name), ctypes.byref(out))
    if not out:
        raise InputError(f"cannot read {name}")
    return Result(out)
