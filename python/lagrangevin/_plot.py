# SPDX-License-Identifier: BSD-3-Clause
"""Pictures with matplotlib, one function each. Only loaded when something is drawn."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence

import numpy as np


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def series(result: Any, names: Sequence[str], ax: Any, paths: int, style: Dict[str, Any]) -> Any:
    ax = _axes(ax)
    several = len(names) > 1
    for name in names:
        s = result[name]
        (line,) = ax.plot(s.time, s.mean, label=f"mean of {name}" if result.paths_run > 1 else name, zorder=3, **style)
        colour = line.get_color()
        if result.paths_run > 1:
            ax.fill_between(s.time, s.q05, s.q95, color=colour, alpha=0.2, lw=0, label="5 to 95 % of paths")
        for path in s.paths[: 0 if several else paths]:
            ax.plot(s.time, path, color=colour, lw=0.6, alpha=0.5)
    ax.set_xlabel("t")
    ax.set_ylabel(", ".join(names))
    ax.set_title(f"{result.info['model']}, {result.method}")
    ax.legend(frameon=False)
    return ax


def phase(result: Any, x: str, y: str, ax: Any, paths: int, style: Dict[str, Any]) -> Any:
    ax = _axes(ax)
    style = {"lw": 0.8, **style}
    dense, names = result.arrays.get("paths/dense"), result.names
    for k in range(min(paths, len(result.paths))):
        values = dense[k] if dense is not None else result.paths[k]
        ax.plot(values[names.index(x)], values[names.index(y)], **style)
    result[x], result[y]  # names that are not there are told
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(f"{result.info['model']}, {min(paths, len(result.paths))} paths")
    return ax


def histogram(result: Any, name: str, ax: Any, style: Dict[str, Any]) -> Any:
    result[name]
    key = f"histograms/{name.replace('/', '_')}/"
    if key + "count" not in result.arrays:
        raise KeyError(f"there is no histogram of {name!r}: set the option bins")
    edge, count = result.arrays[key + "edge"], result.arrays[key + "count"]
    ax = _axes(ax)
    ax.stairs(count / (count.sum() * np.diff(edge)), edge, fill=True, **{"alpha": 0.6, **style})
    ax.set_xlabel(name)
    ax.set_ylabel("density")
    ax.set_title(f"{name} at t = {result.time[-1]:g}")
    return ax


def convergence(study: Any, ax: Any, style: Dict[str, Any]) -> Any:
    ax = _axes(ax)
    for method, marker in zip(study.methods, "osD^v<>pPX*hosD^v<>pPX*h"):
        good = np.isfinite(method.errors) & (method.errors > 0)
        label = f"{method.name}: {method.order:.2f}" + (f" ({method.observe})" if method.observe else "")
        bars = ax.errorbar(method.steps[good], method.errors[good], 2 * method.stderrs[good], marker=marker, capsize=2,
                           label=label, **{"lw": 1, **style})
        if np.isfinite(method.expected) and good.any():
            h, first = method.steps[good], np.argmax(method.steps[good])
            ax.plot(h, method.errors[good][first] * (h / h[first]) ** method.expected, ":", lw=0.8,
                    color=bars[0].get_color())
    ax.set_xscale("log")
    ax.set_yscale("log")
    steps = sorted({float(h) for method in study.methods for h in method.steps})
    ax.set_xticks(steps, minor=False)
    ax.set_xticks([], minor=True)
    ax.set_xticklabels([f"{h:.3g}" for h in steps])
    ax.set_xlabel("step")
    ax.set_ylabel(f"{study.info['kind']} error")
    ax.set_title(f"{study.info['model']}; dotted: expected order")
    ax.legend(frameon=False)
    return ax


def comparison(study: Any, name: Optional[str], ax: Any, style: Dict[str, Any]) -> Any:
    ax = _axes(ax)
    for row in study.info["methods"]:
        known = row["observables"]
        name = name or next(iter(known))
        ax.plot(study.info["time"], np.array(known[name]["means"], dtype=float),
                label=f"{row['method']}, {row['step']:g}", **style)
    ax.set_xlabel("t")
    ax.set_ylabel(f"mean of {name}")
    ax.set_title(study.info["model"])
    ax.legend(frameon=False)
    return ax


def sweep(study: Any, name: str, ax: Any, style: Dict[str, Any]) -> Any:
    axes, mean = study.axes, study.mean(name)
    if mean.ndim > 2:
        raise ValueError("a picture has one or two axes; choose from sweep.mean(name) what to draw")
    ax = _axes(ax)
    keys = list(axes)
    if mean.ndim == 1:
        ax.errorbar(axes[keys[0]], mean, 2 * study.stderr(name), **{"marker": "o", "capsize": 2, **style})
        ax.set_ylabel(f"mean of {name}")
    else:
        mesh = ax.pcolormesh(axes[keys[0]], axes[keys[1]], mean.T, **{"shading": "nearest", **style})
        ax.figure.colorbar(mesh, ax=ax, label=f"mean of {name}")
        ax.set_ylabel(keys[1])
    ax.set_xlabel(keys[0])
    ax.set_title(study.info["model"])
    return ax
