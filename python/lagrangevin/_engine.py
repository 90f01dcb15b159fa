# SPDX-License-Identifier: BSD-3-Clause
"""Engines: runs that are kept."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Optional, Union

import numpy as np

from ._library import INTERRUPTED, PROGRESS, Interrupted, call, check_names, encode, lib, option_text
from ._model import Model
from ._result import Result
from ._text import entries
from ._work import Progress, work

Path = Union[str, "os.PathLike[str]"]


class Engine:
    """A run that is prepared once and used many times: other parameters, more paths, parts that are saved and merged.

    >>> m = Model(q={"x": 1}, H="p_x^2/2 + x^2/2", noise="s*x", params={"s": 0.1}, run={"step": 0.1, "until": 1})
    >>> engine = Engine(m, paths=64, threads=1)
    >>> one = engine.run(0, 32).run(32, 32).finish()
    >>> bool((one["x"].mean == m.run(paths=64, threads=2)["x"].mean).all())
    True

    The bits of a result do not depend on how its paths were run.
    """

    def __init__(self, model: Model, **options: Any):
        self._pointer = ctypes.c_void_p()
        self.model = model
        self._arrays = {key.partition("[")[0] for key in model.params if "[" in key}
        call("lgv_engine_create", model._pointer, ctypes.byref(self._pointer))
        check_names(options, "run")
        self.set(**options)

    def __del__(self) -> None:
        if getattr(self, "_pointer", None) and lib is not None:
            lib.lgv_engine_free(self._pointer)
            self._pointer = ctypes.c_void_p()

    def set(self, **values: Any) -> "Engine":
        """Other parameters of the model, or options. The kernel stays, unless a value is part of it."""
        for name, value in values.items():
            if np.ndim(value) == 0 or name not in self._arrays:
                call("lgv_engine_set", self._pointer, encode(name), encode(option_text(value)))
                continue
            for key, number in entries(name, value, self.model.params):
                call("lgv_engine_set", self._pointer, encode(key), encode(option_text(number)))
        return self

    def prepare(self) -> "Engine":
        """Looks at the model and compiles the kernel; everything else does this when it is needed."""
        call("lgv_engine_prepare", self._pointer)
        return self

    def run(self, first: Optional[int] = None, count: Optional[int] = None, *, progress: Progress = None) -> "Engine":
        """Runs paths first .. first + count - 1 (multiples of 16), or all that are missing."""
        if (first is None) != (count is None):
            raise TypeError("first and count belong together")
        if first is None or count is None:
            execute = lambda error: lib.lgv_engine_continue(self._pointer, error)  # noqa: E731
        else:
            execute = lambda error: lib.lgv_engine_run(self._pointer, first, count, error)  # noqa: E731
        status, interrupted = work(
            lambda function: lib.lgv_engine_on_progress(self._pointer, function, None), execute, progress, "run"
        )
        lib.lgv_engine_on_progress(self._pointer, PROGRESS(), None)  # the function ends with `work`
        if interrupted or status == INTERRUPTED:
            raise Interrupted()
        return self

    def clear(self) -> "Engine":
        """Forgets the paths that were run."""
        lib.lgv_engine_clear(self._pointer)
        return self

    def save(self, path: Path) -> None:
        """Writes what was collected; :meth:`load` adds it to another engine."""
        call("lgv_engine_save", self._pointer, encode(path))

    def load(self, path: Path) -> "Engine":
        call("lgv_engine_load", self._pointer, encode(path))
        return self

    def merge(self, other: "Engine") -> "Engine":
        """Adds what another engine has collected."""
        call("lgv_engine_merge", self._pointer, other._pointer)
        return self

    def finish(self) -> Result:
        """The result of the paths there are; more can be added afterwards."""
        out = ctypes.c_void_p()
        call("lgv_engine_finish", self._pointer, ctypes.byref(out))
        return Result(out, self.model)

