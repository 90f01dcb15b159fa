# SPDX-License-Identifier: BSD-3-Clause
"""The C library: where it is, what its functions take, and its errors as exceptions."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Iterator, List, Optional, Union

OK, FAILED_PATHS, BAD_INPUT, CANNOT_RUN, INTERRUPTED = range(5)


class Error(Exception):
    """Something is wrong with a model, a method or an option, or a run was not possible.

    ``str(error)`` is the whole message: place, line and caret where there is a place in a model text.
    ``line`` and ``column`` are 1-based, 0 when there is none.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0):
        super().__init__(message)
        self.line, self.column = line, column


class InputError(Error, ValueError):
    """A model, a method or an option is wrong; the message says where."""


class RunError(Error, RuntimeError):
    """It could not run: no compiler, no memory, a full disk."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C has stopped a run cleanly. ``result`` is what was done until then, or None."""

    def __init__(self, result: Any = None):
        super().__init__("interrupted" if result is None else "interrupted; .result has what was done")
        self.result = result


class CError(ctypes.Structure):
    _fields_ = [("status", c_int), ("line", c_int), ("column", c_int), ("message", ctypes.c_char * 2048)]


class CArray(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p), ("unit", c_char_p), ("doc", c_char_p), ("type", c_int), ("ndim", c_int),
        ("shape", c_size_t * 4), ("data", c_void_p),
    ]


class CVerdict(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p), ("value", c_double), ("error", c_double), ("limit", c_double), ("claim", c_int),
        ("holds", c_int),
    ]


class COption(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p), ("type", c_char_p), ("standard", c_char_p), ("unit", c_char_p), ("doc", c_char_p),
        ("low", c_double), ("high", c_double),
    ]


PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, c_double)

_ERR = POINTER(CError)
# name: (result, arguments); functions that return a text to be freed have c_void_p.
_FUNCTIONS = {
    "lgv_version": (c_char_p, []),
    "lgv_build": (c_char_p, []),
    "lgv_options": (c_int, [c_char_p, c_size_t, POINTER(COption)]),
    "lgv_methods_json": (c_void_p, [c_char_p]),
    "lgv_model_load": (c_int, [c_char_p, POINTER(c_void_p), _ERR]),
    "lgv_model_parse": (c_int, [c_char_p, c_char_p, POINTER(c_void_p), _ERR]),
    "lgv_model_set": (c_int, [c_void_p, c_char_p, c_double, _ERR]),
    "lgv_model_json": (c_void_p, [c_void_p]),
    "lgv_model_equations": (c_int, [c_void_p, c_int, c_int, POINTER(c_void_p), _ERR]),
    "lgv_model_free": (None, [c_void_p]),
    "lgv_engine_create": (c_int, [c_void_p, POINTER(c_void_p), _ERR]),
    "lgv_engine_open": (c_int, [c_char_p, POINTER(c_void_p), POINTER(c_void_p), _ERR]),
    "lgv_engine_set": (c_int, [c_void_p, c_char_p, c_char_p, _ERR]),
    "lgv_engine_increments": (c_int, [c_void_p, c_char_p, _ERR]),
    "lgv_engine_on_progress": (None, [c_void_p, PROGRESS, c_void_p]),
    "lgv_engine_prepare": (c_int, [c_void_p, _ERR]),
    "lgv_engine_run": (c_int, [c_void_p, c_uint64, c_uint64, _ERR]),
    "lgv_engine_continue": (c_int, [c_void_p, _ERR]),
    "lgv_engine_clear": (None, [c_void_p]),
    "lgv_engine_save": (c_int, [c_void_p, c_char_p, _ERR]),
    "lgv_engine_load": (c_int, [c_void_p, c_char_p, _ERR]),
    "lgv_engine_merge": (c_int, [c_void_p, c_void_p, _ERR]),
    "lgv_engine_finish": (c_int, [c_void_p, POINTER(c_void_p), _ERR]),
    "lgv_engine_free": (None, [c_void_p]),
    "lgv_run_create": (c_int, [c_void_p, POINTER(c_void_p), _ERR]),
    "lgv_run_set": (c_int, [c_void_p, c_char_p, c_char_p, _ERR]),
    "lgv_run_increments": (c_int, [c_void_p, c_char_p, _ERR]),
    "lgv_run_on_progress": (None, [c_void_p, PROGRESS, c_void_p]),
    "lgv_run_execute": (c_int, [c_void_p, POINTER(c_void_p), _ERR]),
    "lgv_run_free": (None, [c_void_p]),
    "lgv_result_failed": (c_uint64, [c_void_p]),
    "lgv_result_arrays": (c_int, [c_void_p, c_size_t, POINTER(CArray)]),
    "lgv_result_verdicts": (POINTER(CVerdict), [c_void_p, POINTER(c_size_t)]),
    "lgv_result_json": (c_void_p, [c_void_p]),
    "lgv_result_write": (c_int, [c_void_p, c_char_p, _ERR]),
    "lgv_result_read": (c_int, [c_char_p, POINTER(c_void_p), _ERR]),
    "lgv_result_report": (c_int, [c_void_p, c_char_p, _ERR]),
    "lgv_result_cite": (c_void_p, [c_void_p]),
    "lgv_result_free": (None, [c_void_p]),
    "lgv_study_create": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), _ERR]),
    "lgv_study_set": (c_int, [c_void_p, c_char_p, c_char_p, _ERR]),
    "lgv_study_on_progress": (None, [c_void_p, PROGRESS, c_void_p]),
    "lgv_study_execute": (c_int, [c_void_p, _ERR]),
    "lgv_study_json": (c_void_p, [c_void_p]),
    "lgv_study_arrays": (c_int, [c_void_p, c_size_t, POINTER(CArray)]),
    "lgv_study_report": (c_int, [c_void_p, c_char_p, _ERR]),
    "lgv_study_free": (None, [c_void_p]),
}


def _places() -> Iterator[str]:
    """Where the library may be: what LGV_LIBRARY names; in the package; built beside it; on the system."""
    given = os.environ.get("LGV_LIBRARY")
    if given:
        yield given
        return
    here = Path(__file__).resolve().parent
    yield from (str(path) for path in (here / "liblgv.so", here.parent.parent / "build" / "liblgv.so") if path.exists())
    found = ctypes.util.find_library("lgv")
    if found:
        yield found


def _open() -> ctypes.CDLL:
    tried = []
    for place in _places():
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            tried.append(f"{place}: {error}")
    raise ImportError(
        "lagrangevin: the C library liblgv.so was not found; build it (`make`) and set LGV_LIBRARY to it, or install "
        "the package with pip" + "".join(f"\n  {line}" for line in tried)
    )


lib = _open()
for _name, (_result, _arguments) in _FUNCTIONS.items():
    try:
        _function = getattr(lib, _name)
    except AttributeError:
        raise ImportError(
            f"lagrangevin: {lib._name} has no {_name}: it is of another version than this package") from None
    _function.restype, _function.argtypes = _result, _arguments

_libc = ctypes.CDLL(None)
_libc.free.argtypes = [c_void_p]
_libc.free.restype = None


def take_text(pointer: Optional[int]) -> Optional[str]:
    """A text that the library has given away, as a str; None when there is none."""
    if not pointer:
        return None
    try:
        return ctypes.string_at(pointer).decode("utf-8", "replace")
    finally:
        _libc.free(pointer)


class Handle:
    """An object of the library, freed by the function ``free`` with the last reference to it.

    ``keep`` is what has to live as long.
    """

    def __init__(self, pointer: ctypes.c_void_p, free: Any, keep: Any = None):
        self.pointer, self._free, self.keep = pointer, free, keep

    def __del__(self) -> None:
        if self.pointer:
            self._free(self.pointer)
            self.pointer = ctypes.c_void_p()


def take_json(pointer: Optional[int]) -> Any:
    text = take_text(pointer)
    if text is None:
        raise MemoryError("lagrangevin: no memory")
    return json.loads(text)


def encode(text: Union[str, os.PathLike]) -> bytes:
    data = os.fsencode(text)
    if b"\0" in data:
        raise InputError("a text has a zero byte in it")
    return data


def fail(error: CError) -> Error:
    """The exception that belongs to an error of the library."""
    message = error.message.decode("utf-8", "replace")
    kind = RunError if error.status == CANNOT_RUN else InputError
    if message.startswith("--"):  # an option as the command line calls it
        name, rest = (message[2:].split(":", 1) + [""])[:2]
        first = name.split(" ", 1)
        first[0] = first[0].replace("-", "_")
        message = " ".join(first) + (":" + rest if rest else "")
    return kind(message, error.line, error.column)


def call(name: str, *arguments: Any) -> int:
    """A function of the library that takes an error last; bad input and failures are raised, other states returned."""
    error = CError()
    status = getattr(lib, name)(*arguments, ctypes.byref(error))
    if status in (BAD_INPUT, CANNOT_RUN):
        error.status = status
        raise fail(error)
    return status


def option_text(value: Any) -> str:
    """A value as the library reads it: yes and no, numbers, lists with commas."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "yes" if value else "no"
    if isinstance(value, (str, bytes)):
        return value.decode() if isinstance(value, bytes) else value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):  # NumPy
        return option_text(value.tolist())
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (list, tuple, range, set)):
        return ",".join(option_text(item) for item in value)
    return str(value)


class Option:
    """A row of the library's table of options: ``name type default unit doc low high``."""

    __slots__ = ("name", "type", "default", "unit", "doc", "low", "high")

    def __init__(self, row: COption):
        self.name = row.name.decode().replace("-", "_")
        self.type, self.default = row.type.decode(), row.standard.decode()
        self.unit, self.doc = row.unit.decode(), row.doc.decode()
        self.low, self.high = row.low, row.high

    def __repr__(self) -> str:
        default = f", default {self.default}" if self.default else ""
        return f"<{self.name}: {self.type}{default}; {self.doc}>"


def options(command: str = "run") -> List[Option]:
    """The options of ``run``, ``converge``, ``compare``, ``mlmc`` or ``sweep``, from the library's own table.

    >>> [option.name for option in options("run")][:4]
    ['method', 'step', 'until', 'start']
    >>> [option.name for option in options("mlmc")]
    ['tolerance', 'observe', 'largest', 'levels']
    """
    row = COption()
    found: List[Option] = []
    while lib.lgv_options(command.encode(), len(found), ctypes.byref(row)):
        found.append(Option(row))
    return found


_ELSEWHERE = {"dt": "step", "h": "step", "timestep": "step", "T": "until", "t_end": "until", "tmax": "until",
              "steps": "until",
              "n": "paths", "samples": "paths", "n_paths": "paths", "solver": "method", "integrator": "method"}


def check_names(given: Any, command: str) -> None:
    """Keywords that are no options are a TypeError, as for any function; the nearest name is proposed."""
    import difflib

    known = [option.name for option in options("run")]
    if command not in ("run", "check"):
        known += [option.name for option in options(command)]
    for name in given:
        if name.replace("-", "_") not in known:
            near = [_ELSEWHERE[name]] if name in _ELSEWHERE else difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; see lagrangevin.options({command!r})"
            raise TypeError(f"{command}() has no option {name!r}{hint}")


def version() -> str:
    """The version of the C library."""
    return lib.lgv_version().decode()


def build() -> dict:
    """What the C library was built from and with.

    >>> sorted(build())[:3]
    ['AMD', 'HDF5', 'Jansson']
    """
    lines = lib.lgv_build().decode().splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def methods(name: Optional[str] = None) -> Any:
    """All methods, or one of them, as the dictionaries of ``lgv methods --json``.

    >>> methods("verlet")["name"]
    'P2N2Q2Lob'
    """
    text = take_text(lib.lgv_methods_json(name.encode() if name else None))
    if text is None:
        raise InputError(f"unknown method {name}")
    found = json.loads(text)
    return found[0] if name else found
