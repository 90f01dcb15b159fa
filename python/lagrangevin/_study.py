# SPDX-License-Identifier: BSD-3-Clause
"""Studies: convergence, comparison, multilevel Monte Carlo, sweeps, checks."""

from __future__ import annotations

import ctypes
import os
import tempfile
from typing import Any, Dict, List, Mapping, Optional, Tuple, Type, TypeVar, Union

import numpy as np

from ._arrays import Arrays
from ._library import Handle, Interrupted, call, check_names, encode, lib, option_text, take_json
from ._result import frame
from ._work import Progress, work

Path = Union[str, "os.PathLike[str]"]


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


class Study:
    """What a study has found: ``info`` is the document that the command prints with ``--json``.

    Its entries are attributes, too: ``check.separable`` is ``check.info["separable"]``.
    """

    def __init__(self, handle: Handle):
        self._handle = handle
        self.info: Dict[str, Any] = take_json(lib.lgv_study_json(handle.pointer))

    def __getattr__(self, name: str) -> Any:
        info = self.__dict__.get("info", {})
        if name in info:
            return info[name]
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *self.info})

    def report(self, folder: Path) -> str:
        """Writes report.html and its figures (by gnuplot) to a folder; returns the name of the page."""
        os.makedirs(folder, exist_ok=True)
        call("lgv_study_report", self._handle.pointer, encode(folder))
        return os.path.join(os.fspath(folder), "report.html")

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            with open(self.report(folder), encoding="utf-8") as page:
                return frame(page.read())


Kind = TypeVar("Kind", bound=Study)


def _axis(values: Any) -> str:
    return values if isinstance(values, str) else option_text(list(values))


def study(
    kind: Type[Kind],
    model: Any,
    command: str,
    options: Mapping[str, Any],
    progress: Progress,
    over: Optional[Mapping[str, Any]] = None,
) -> Kind:
    check_names(options, command)
    pointer = ctypes.c_void_p()
    call("lgv_study_create", model._pointer, encode(command), ctypes.byref(pointer))
    handle = Handle(pointer, lib.lgv_study_free, model)
    for name, values in (over or {}).items():
        call("lgv_study_set", pointer, b"over", encode(f"{name}={_axis(values)}"))
    for name, value in options.items():
        if isinstance(value, Mapping):  # expect={"H": "H0 + t/2"}
            value = "; ".join(f"{key} = {item}" for key, item in value.items())
        call("lgv_study_set", pointer, encode(name), encode(option_text(value)))
    _, interrupted = work(
        lambda function: lib.lgv_study_on_progress(pointer, function, None),
        lambda error: lib.lgv_study_execute(pointer, error),
        progress,
        f"{command} {model.name}",
    )
    try:
        found: Optional[Kind] = kind(handle)
    except MemoryError:
        found = None
    if interrupted or found is None:
        raise Interrupted(found)
    return found


class MethodOrder:
    """The order of one method: ``order stderr expected verdict``, and ``steps errors stderrs`` of its levels."""

    def __init__(self, info: Dict[str, Any]):
        self.info = info
        self.name: str = info["method"]
        self.observe: Optional[str] = info.get("observe")
        self.order, self.stderr = _number(info["order"]), _number(info["order_stderr"])
        self.expected = _number(info["expected_order"])
        self.verdict: str = info["verdict"]
        self.steps = np.array([_number(level["step"]) for level in info["levels"]])
        self.errors = np.array([_number(level["error"]) for level in info["levels"]])
        self.stderrs = np.array([_number(level["stderr"]) for level in info["levels"]])
        self.fitted = np.array([level["fitted"] for level in info["levels"]], dtype=bool)

    def __repr__(self) -> str:
        of = f" of {self.observe}" if self.observe else ""
        return (f"<{self.name}{of}: order {self.order:.3f} ± {self.stderr:.2g}, expected {self.expected:g}: "
                f"{self.verdict}>")


class Convergence(Study):
    """Orders of methods: ``convergence["verlet"].order``; :meth:`plot` draws the errors."""

    @property
    def methods(self) -> List[MethodOrder]:
        return [MethodOrder(row) for row in self.info["methods"]]

    def __getitem__(self, name: str) -> MethodOrder:
        for method in self.methods:
            if name == method.name:
                return method
        raise KeyError(f"{name!r}; there are {', '.join(method.name for method in self.methods)}")

    def plot(self, *, ax: Any = None, **style: Any) -> Any:
        """Errors against steps with matplotlib, and the expected slopes. Returns the axes."""
        from . import _plot

        return _plot.convergence(self, ax, style)

    def __repr__(self) -> str:
        rows = "".join(f"\n  {method!r}" for method in self.methods)
        return f"<Convergence of {self.info['model']}, {self.info['kind']} errors, {self.info['paths']} paths{rows}>"


class Comparison(Study):
    """Several methods on the same noise: ``comparison["verlet"]["observables"]["H"]["bias"]``; :meth:`plot`."""

    def __getitem__(self, name: str) -> Dict[str, Any]:
        for row in self.info["methods"]:
            if row["method"] == name:
                return row
        raise KeyError(f"{name!r}; there are {', '.join(row['method'] for row in self.info['methods'])}")

    def plot(self, name: Optional[str] = None, *, ax: Any = None, **style: Any) -> Any:
        """The mean of an observable along time by all methods. Returns the axes."""
        from . import _plot

        return _plot.comparison(self, name, ax, style)

    def __repr__(self) -> str:
        rows = []
        for row in self.info["methods"]:
            name, last = next(iter(row["observables"].items()))
            rows.append(f"\n  {row['method']}, step {row['step']:g}: {name} = {_number(last['mean']):.6g} "
                        f"± {_number(last['stderr']):.2g}, bias {_number(last['bias']):.2g}")
        return f"<Comparison on {self.info['model']}, {self.info['paths']} paths{''.join(rows)}>"


class Estimate(Study):
    """A mean by multilevel Monte Carlo: ``estimate stderr bias low high reached``, ``levels``."""

    def __float__(self) -> float:
        return _number(self.info["estimate"])

    def __repr__(self) -> str:
        info = self.info
        word = "" if info["reached"] else ", tolerance NOT reached"
        return (f"<Estimate of {info['observable']}: {_number(info['estimate']):.6g} ± {_number(info['stderr']):.2g}, "
                f"bias at most {_number(info['bias']):.2g}, {len(info['levels'])} levels{word}>")


class Check(Study):
    """What a model is and whether its claims hold: ``check.holds``, ``check.methods``, ``check.problems``, ..."""

    def __bool__(self) -> bool:
        return bool(self.info["holds"])

    def _repr_html_(self) -> str:
        import html

        rows = "".join(
            f"<tr><td>{html.escape(key)}</td><td>{html.escape(str(value))}</td></tr>"
            for key, value in self.info.items()
            if not isinstance(value, (list, dict)) or key in ("methods", "problems", "symmetries")
        )
        return f"<table>{rows}</table>"

    def __repr__(self) -> str:
        info = self.info
        lines = [f"<Check of {info['model']}: {_count(info['dof'], 'degree')} of freedom, "
                 f"{_count(info['noises'], 'noise')}, method {info['method']}"]
        lines += [f"  {problem}" for problem in info["problems"]]
        return "\n".join(lines) + ("\n  everything claimed holds>" if info["holds"] else ">")


class Sweep(Study):
    """Results over a grid: ``sweep.axes``, ``sweep.mean("H")`` with one dimension for each axis, :meth:`to_xarray`."""

    @property
    def arrays(self) -> Arrays:
        """Arrays over all points, the last axis fastest; they share the memory of the library."""
        if "_arrays" not in self.__dict__:
            pointer = self._handle.pointer
            self._arrays = Arrays(lambda index, row: lib.lgv_study_arrays(pointer, index, row), self._handle)
        return self._arrays

    @property
    def axes(self) -> Dict[str, np.ndarray]:
        """Names and values of the axes."""
        return {axis["name"]: np.array(axis["values"]) for axis in self.info["axes"]}

    @property
    def names(self) -> List[str]:
        return list(self.info["final"])

    @property
    def shape(self) -> Tuple[int, ...]:
        return tuple(len(axis["values"]) for axis in self.info["axes"])

    def _grid(self, array: str, name: str) -> np.ndarray:
        if name not in self.names:
            raise KeyError(f"no observable {name!r}; there are {', '.join(self.names)}")
        return self.arrays[array][:, self.names.index(name)].reshape(*self.shape, *self.arrays[array].shape[2:])

    def mean(self, name: str) -> np.ndarray:
        """Means at the end over the grid."""
        return self._grid("mean", name)

    def stderr(self, name: str) -> np.ndarray:
        """Their standard errors."""
        return self._grid("stderr", name)

    def std(self, name: str) -> np.ndarray:
        """Standard deviations over paths at the end."""
        return self._grid("std", name)

    def along(self, name: str) -> np.ndarray:
        """Means along time: the axes of the grid, then time."""
        return self._grid("mean_along_time", name)

    def to_xarray(self) -> Any:
        """A labelled ``xarray.Dataset`` over the grid. Needs xarray."""
        import xarray

        names, dims = self.names, tuple(self.axes)
        data = {
            key: ((*dims, "observable"), self.arrays[key].reshape(*self.shape, len(names)))
            for key in ("mean", "stderr", "std", "min", "max")
        }
        data.update({key: (dims, self.arrays[key].reshape(self.shape)) for key in ("paths", "failed", "holds")})
        return xarray.Dataset(data, {**self.axes, "observable": names}, {"model": self.info["model"]})

    def plot(self, name: Optional[str] = None, *, ax: Any = None, **style: Any) -> Any:
        """Means at the end over one axis (a curve), or two (a map). Returns the axes."""
        from . import _plot

        return _plot.sweep(self, name or self.names[0], ax, style)

    def __repr__(self) -> str:
        grid = ", ".join(f"{name}: {len(values)} values" for name, values in self.axes.items())
        return f"<Sweep of {self.info['model']} over {grid}; {self.info['done']} of {self.info['points']} points>"
