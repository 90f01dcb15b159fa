# SPDX-License-Identifier: BSD-3-Clause
"""Models as text: keywords to the keys of a model file, Python values and SymPy expressions to formulas."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Dict, List, Mapping, Tuple

import numpy as np

from ._library import InputError

# Short words for keys of model files; every key can also be given by its own name.
SHORT = {
    "params": "parameters",
    "q": "coordinates",
    "p": "momenta",
    "v": "velocities",
    "H": "hamiltonian",
    "L": "lagrangian",
    "T": "kinetic",
    "V": "potential",
    "g": "constraints",
    "F": "force",
}
ORDER = (
    "name parameters processes where coordinates momenta velocities hamiltonian lagrangian kinetic potential stiff "
    "constraints penalty noise noise_ito noise_potential force langevin symmetries observe exact events stop sections "
    "methods run data"
).split()

# What YAML reads as a text without quotes, and formulas mostly are.
_PLAIN = re.compile(r"[A-Za-z0-9_(.+][A-Za-z0-9_ ()+*/^.-]*\Z")
_WORDS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def entries(name: str, value: Any, known: Mapping[str, Any]) -> List[Tuple[str, float]]:
    """Parameters that are set by ``name=value``: one, or the entries of an array.

    >>> entries("k", [4, 9], {"k[1]": 1, "k[2]": 1})
    [('k[1]', 4.0), ('k[2]', 9.0)]
    """
    if np.ndim(value) == 0:
        return [(name, float(value))]
    count = sum(key.startswith(f"{name}[") for key in known)
    if count == 0:
        raise InputError(f"the parameter {name} is no array, and takes one number" if name in known
                         else f"the model has no parameter {name}")
    if len(value) != count:
        raise InputError(f"the array {name} has {count} entries, and {len(value)} numbers are given")
    return [(f"{name}[{k}]", float(number)) for k, number in enumerate(value, 1)]


def is_sympy(value: Any) -> bool:
    return any(base.__module__.startswith("sympy.") for base in type(value).__mro__)


def formula(value: Any) -> str:
    """A value as a formula: a text as it is, numbers, SymPy expressions.

    >>> formula(0.1), formula("p^2/2")
    ('0.1', 'p^2/2')
    """
    if isinstance(value, str):
        return value
    if is_sympy(value):
        from ._sympy import formula_of

        return formula_of(value)
    if hasattr(value, "item") and getattr(value, "shape", None) == ():  # NumPy scalars
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"{value} is not a number that a model can have")
        return repr(value)
    raise TypeError(f"a formula is a text, a number or a SymPy expression, not {type(value).__name__}")


def _scalar(value: Any) -> str:
    if value is None:
        raise TypeError("None is no formula")
    text = formula(value)
    if isinstance(value, str) or is_sympy(value):
        plain = _PLAIN.match(text) and text == text.strip() and text.lower() not in _WORDS and " #" not in text
        return text if plain else json.dumps(text, ensure_ascii=False)
    return text


def _key(name: Any) -> str:
    text = str(name)
    return text if re.match(r"[A-Za-z_][A-Za-z0-9_]*\Z", text) and text.lower() not in _WORDS else json.dumps(
        text, ensure_ascii=False
    )


def _flow(value: Any) -> str:
    """The value on one line."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)}: {_flow(v)}" for k, v in value.items()) + " }" if value else "{}"
    if hasattr(value, "tolist") and not is_sympy(value):
        value = value.tolist()
    if is_sympy(value) and hasattr(value, "tolist"):  # a matrix
        rows = value.tolist()
        value = [row[0] for row in rows] if value.shape[1] == 1 else rows
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, str) and not _PLAIN.match(value):
        return json.dumps(value, ensure_ascii=False)
    return _scalar(value)


def model_text(keys: Mapping[str, Any]) -> str:
    """The text of a model file with these keys.

    >>> print(model_text({"q": {"x": -1}, "H": "p_x^2/2 + x^4/4", "noise": ["s*x"], "params": {"s": 0.2}}), end="")
    parameters:
      s: 0.2
    coordinates:
      x: -1
    hamiltonian: p_x^2/2 + x^4/4
    noise:
      - s*x
    """
    full: Dict[str, Any] = {}
    for key, value in keys.items():
        if value is None:
            continue
        name = SHORT.get(key, key)
        if name in full:
            raise TypeError(f"{name} is given twice, also as {key}")
        full[name] = value
    lines = []
    rank = {name: place for place, name in enumerate(ORDER)}
    for name in sorted(full, key=lambda key: rank.get(key, len(ORDER))):
        value = full[name]
        if name == "run" and isinstance(value, Mapping):
            from ._library import option_text

            value = {key: _RunWord(option_text(item)) for key, item in value.items()}
        if name == "data" and isinstance(value, Mapping):
            value = {key: _rows(item) for key, item in value.items()}
        if isinstance(value, Mapping) and value:
            lines.append(f"{_key(name)}:")
            lines += [f"  {_key(key)}: {_entry(item)}" for key, item in value.items()]
        elif isinstance(value, (list, tuple)) and value:
            lines.append(f"{_key(name)}:")
            lines += [f"  - {_entry(item)}" for item in value]
        else:
            lines.append(f"{_key(name)}: {_entry(value)}")
    return "\n".join(lines) + "\n"


def _rows(value: Any) -> str:
    """A file of numbers: its lines as they are, or an array with a row for each line.

    >>> _rows([[0, 0.5], [1, 0.25]])
    '0,0.5\\n1,0.25\\n'
    """
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    rows = [row if isinstance(row, (list, tuple)) else [row] for row in value]
    return "".join(",".join(formula(x) for x in row) + "\n" for row in rows)


class _RunWord(str):
    """An option of a run: never a formula."""


def _entry(value: Any) -> str:
    if isinstance(value, _RunWord):
        return str(value) if re.match(r"[A-Za-z0-9_.+-]+\Z", value) else json.dumps(str(value))
    return _scalar(value) if isinstance(value, str) else _flow(value)
