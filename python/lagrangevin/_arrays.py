# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of the library as NumPy arrays that share its memory."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, Dict

import numpy as np

from ._library import CArray


def view(array: CArray, owner: Any) -> np.ndarray:
    """The numbers of an array of the library, not copied and not to be written to; it keeps ``owner`` alive."""
    shape = tuple(array.shape[: array.ndim])
    kind, number = (np.float64, ctypes.c_double) if array.type == 0 else (np.uint64, ctypes.c_uint64)
    count = int(np.prod(shape, dtype=np.int64)) if shape else 1
    if count == 0 or not array.data:
        return np.empty(shape, dtype=kind)
    buffer: Any = (number * count).from_address(array.data)
    buffer._owner = owner  # the memory belongs to it
    out = np.frombuffer(buffer, dtype=kind).reshape(shape)
    out.flags.writeable = False
    return out


class Arrays(Dict[str, np.ndarray]):
    """Arrays by their names, with ``docs[name]`` and ``units[name]``."""

    def __init__(self, get: Callable[[int, Any], int], owner: Any):
        super().__init__()
        self.docs: Dict[str, str] = {}
        self.units: Dict[str, str] = {}
        row, index = CArray(), 0
        while get(index, ctypes.byref(row)):
            name = row.name.decode()
            self[name] = view(row, owner)
            self.docs[name], self.units[name] = (row.doc or b"").decode(), (row.unit or b"").decode()
            index += 1
