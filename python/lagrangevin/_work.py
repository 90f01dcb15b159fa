# SPDX-License-Identifier: BSD-3-Clause
"""Runs something of the library: in a thread of its own, so that Ctrl-C is heard, with progress shown."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
import warnings
from typing import Any, Callable, Optional, Union

from ._library import BAD_INPUT, CANNOT_RUN, PROGRESS, CError, fail

Progress = Union[None, bool, Callable[[float], Any]]


class _Plain:
    """One line on a terminal."""

    def __init__(self, title: str):
        self.title, self.drawn = title, False

    def show(self, fraction: float) -> None:
        self.drawn = True
        full = int(30 * fraction)
        sys.stderr.write(f"\r{self.title} [{'#' * full}{' ' * (30 - full)}] {100 * fraction:3.0f} %")
        sys.stderr.flush()

    def end(self) -> None:
        if self.drawn:
            sys.stderr.write("\r" + " " * (len(self.title) + 40) + "\r")
            sys.stderr.flush()


class _Tqdm:
    def __init__(self, title: str, tqdm: Any):
        self.bar: Any = None
        self.done = 0.0
        self.make = lambda: tqdm(
            total=100, desc=title, leave=False, bar_format="{desc} {bar} {n:.0f} % [{elapsed}<{remaining}]"
        )

    def show(self, fraction: float) -> None:
        if self.bar is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # without ipywidgets a notebook gets a bar of text
                self.bar = self.make()
        if fraction - self.done >= 0.01:
            self.bar.update(100 * (fraction - self.done))
            self.done = fraction

    def end(self) -> None:
        if self.bar is not None:
            self.bar.close()


class _Function:
    def __init__(self, function: Callable[[float], Any]):
        self.show = function

    def end(self) -> None:
        pass


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def _meter(progress: Progress, title: str) -> Any:
    if callable(progress):
        return _Function(progress)
    if progress is None:
        progress = _in_notebook() or bool(getattr(sys.stderr, "isatty", lambda: False)())
    if not progress:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return _Plain(title)
    return _Tqdm(title, tqdm)


def work(
    attach: Callable[[Any], None], execute: Callable[[Any], int], progress: Progress, title: str
) -> "tuple[int, bool]":
    """Status of ``execute(error)`` and whether Ctrl-C came; bad input and failures are raised.

    ``attach(function)`` gives the library its progress function. The library runs in a thread of its own and without
    the interpreter's lock; this thread waits, shows how far it has come, and asks it to stop when Ctrl-C comes. A
    progress function of the caller may stop it, too, by returning True; an exception of it is raised here afterwards.
    """
    error, seen, stop = CError(), [0.0], threading.Event()
    status = [CANNOT_RUN]
    done = threading.Event()

    def told(_user: Any, fraction: float) -> int:
        seen[0] = fraction
        return 1 if stop.is_set() else 0

    function = PROGRESS(told)  # kept alive until the end of this function
    attach(function)

    def run() -> None:
        try:
            status[0] = execute(ctypes.byref(error))
        finally:
            done.set()

    meter = _meter(progress, title)
    thread = threading.Thread(target=run, name="lagrangevin", daemon=True)
    begin, interrupted, problem = time.monotonic(), False, None
    thread.start()
    while not done.is_set():
        try:
            done.wait(0.05)
            # Short runs show nothing.
            if meter is not None and not stop.is_set() and (callable(progress) or time.monotonic() - begin > 0.5):
                if meter.show(min(max(seen[0], 0.0), 1.0)) is True:
                    stop.set()
        except KeyboardInterrupt:
            interrupted = True
            stop.set()
        except BaseException as exception:  # of the caller's progress function
            problem = exception
            stop.set()
    thread.join()
    if meter is not None:
        meter.end()
    if problem is not None:
        raise problem
    if status[0] in (BAD_INPUT, CANNOT_RUN) and not interrupted:
        error.status = status[0]
        raise fail(error)
    return status[0], interrupted
