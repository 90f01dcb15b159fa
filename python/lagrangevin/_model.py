# SPDX-License-Identifier: BSD-3-Clause
"""Models."""

from __future__ import annotations

import ctypes
import os
import warnings
from typing import Any, Dict, List, Mapping, Optional, Union

from . import _text
from ._library import (INTERRUPTED, Handle, InputError, Interrupted, call, check_names, encode, lib, option_text,
                       take_json, take_text)
from ._result import Result
from ._study import Check, Comparison, Convergence, Estimate, Sweep, study
from ._work import Progress, work

Path = Union[str, "os.PathLike[str]"]


class ModelWarning(UserWarning):
    """What is no mistake in a model, but hardly meant so: names that no formula uses, noise that moves nothing."""


class Equations(str):
    """Equations as a text that notebooks show typeset."""

    markup: str

    def __new__(cls, text: str, markup: str) -> "Equations":
        out = super().__new__(cls, text)
        out.markup = markup
        return out

    def _repr_latex_(self) -> Optional[str]:
        return f"$${self}$$" if self.markup == "latex" else None

    def _repr_html_(self) -> Optional[str]:
        return str(self) if self.markup == "mathml" else None


class Model:
    """A random mechanical system: from a file, from a text, or from arguments.

    >>> m = Model(q={"x": -1}, p={"p": 0}, H="p^2/2 - x^2/2 + x^4/4", noise=["s*x"], params={"s": 0.2})
    >>> m.params
    {'s': 0.2}
    >>> m.coordinates, m.momenta
    (['x'], ['p'])

    ``Model("kubo.yaml")`` reads a file; a text of several lines is a model itself. Otherwise every key of a model file
    is a keyword: ``name parameters processes where coordinates momenta velocities hamiltonian lagrangian kinetic
    potential stiff constraints penalty noise noise_potential force langevin symmetries observe exact events stop
    sections methods run``, with the short words ``params q p v H L T V g F``. Formulas are texts, numbers or SymPy
    expressions.

    Wrong models are an :class:`InputError`, whose message shows the place. Names that no formula uses, and noise that
    moves nothing, are a :class:`ModelWarning`.
    """

    def __init__(self, source: Optional[Path] = None, **keys: Any):
        if source is None and not keys:
            raise TypeError("a model is a file, a text, or keywords such as q=, p= and H=")
        if source is not None and keys:
            raise TypeError("a model is a file or a text, or it is made of keywords: not both")
        out = ctypes.c_void_p()
        if source is None:
            text = _text.model_text(keys)
            call("lgv_model_parse", encode(text), encode(str(keys.get("name") or "model")), ctypes.byref(out))
        elif isinstance(source, str) and "\n" in source:
            call("lgv_model_parse", encode(source), b"model", ctypes.byref(out))
        else:
            call("lgv_model_load", encode(source), ctypes.byref(out))
        self._handle = Handle(out, lib.lgv_model_free)
        self._warn()

    @classmethod
    def parse(cls, text: str, name: str = "model") -> "Model":
        """A model from the text of a model file; ``name`` stands for the file in messages."""
        model = cls._silent(text, name)
        model._warn()
        return model

    @classmethod
    def _silent(cls, text: str, name: str) -> "Model":
        out = ctypes.c_void_p()
        call("lgv_model_parse", encode(text), encode(name), ctypes.byref(out))
        model = cls.__new__(cls)
        model._handle = Handle(out, lib.lgv_model_free)
        return model

    def _warn(self) -> None:
        for text in self.info.get("warnings", ()):
            warnings.warn(text, ModelWarning, stacklevel=3)

    @property
    def _pointer(self) -> ctypes.c_void_p:
        return self._handle.pointer

    # ---- what it is ----

    @property
    def info(self) -> Dict[str, Any]:
        """Names, formulas and values as a dictionary."""
        return take_json(lib.lgv_model_json(self._pointer))

    @property
    def name(self) -> str:
        return self.info["name"]

    @property
    def text(self) -> str:
        """The model as the text of a model file (parameters as they were there)."""
        return self.info["text"]

    @property
    def params(self) -> Dict[str, float]:
        """The parameters and their present values; :meth:`set` changes them."""
        return self.info["parameters"]

    @property
    def coordinates(self) -> List[str]:
        return self.info["coordinates"]

    @property
    def momenta(self) -> List[str]:
        return self.info["momenta"]

    def set(self, **values: Any) -> "Model":
        """Gives parameters other values, and returns the model.

        >>> m = Model(q={"x": 1}, H="p_x^2/2 + k*x^2/2", params={"k": 1})
        >>> m.set(k=4).params
        {'k': 4.0}

        An array takes one number for all its entries, or one for each:

        >>> m = Model(q={"x[2]": 1}, H="sum(i=1..2, p_x[i]^2/2 + k[i]*x[i]^2/2)", params={"k[2]": 1})
        >>> m.set(k=[4, 9]).params
        {'k[1]': 4.0, 'k[2]': 9.0}
        """
        known = self.info["parameters"]
        for name, value in values.items():
            for key, number in _text.entries(name, value, known):
                call("lgv_model_set", self._pointer, encode(key), number)
        return self

    def copy(self, **values: Any) -> "Model":
        """Another model with the same text and parameters, of which some may have other values."""
        info = self.info
        other = Model._silent(info["text"], info["file"] or "model")
        written = other.params
        changed = {key: value for key, value in info["parameters"].items() if value != written[key]}
        return other.set(**changed).set(**values)

    def __repr__(self) -> str:
        info = self.info
        words = [f"{info['dof']} degree{'s' if info['dof'] != 1 else ''} of freedom"]
        if info["noises"]:
            words.append(f"{info['noises']} noise{'s' if info['noises'] != 1 else ''}")
        if info["constraint_count"]:
            words.append(f"{info['constraint_count']} constraint{'s' if info['constraint_count'] != 1 else ''}")
        return f"<Model {info['name']}: {', '.join(words)}>"

    def equations(self, form: str = "stratonovich", markup: str = "latex") -> "Equations":
        """The equations of motion as LaTeX, shown typeset in notebooks.

        ``form`` is "stratonovich", "ito" or "definition" (H or L, noises, constraints); ``markup`` is "latex", "text"
        or "mathml".

        >>> m = Model(q={"x": 1}, p={"p": 0}, H="p^2/2 + x^2/2", noise="s*x^2/2", params={"s": 0.1})
        >>> print(m.equations("ito", "text"))
        dx = p dt
        dp = -x dt - s*x dW
        """
        forms, markups = ("definition", "stratonovich", "ito"), ("text", "latex", "mathml")
        if form not in forms or markup not in markups:
            raise ValueError(f"form is one of {', '.join(forms)}; markup is one of {', '.join(markups)}")
        out = ctypes.c_void_p()
        call("lgv_model_equations", self._pointer, forms.index(form), markups.index(markup), ctypes.byref(out))
        return Equations((take_text(out.value) or "").rstrip("\n"), markup)

    def _repr_html_(self) -> str:
        import html

        try:
            parts = [str(self.equations(form, "mathml")) for form in ("definition", "stratonovich")]
        except InputError:
            return f"<pre>{html.escape(repr(self))}</pre>"
        return f"<p>{html.escape(repr(self))}</p>" + "".join(f"<p>{part}</p>" for part in parts)

    # ---- what can be done with it ----

    def _chosen(self, values: Optional[Mapping[str, Any]]) -> "Model":
        return self.copy(**values) if values else self

    def run(
        self,
        *,
        set: Optional[Mapping[str, Any]] = None,
        increments: Optional[Path] = None,
        progress: Progress = None,
        **options: Any,
    ) -> Result:
        """Runs the ensemble: the command ``lgv run``, with its options as keywords.

        >>> m = Model(q={"x": 1}, H="p_x^2/2 + x^2/2", noise="0.1*x", run={"step": 0.1, "until": 1})
        >>> result = m.run(paths=64, seed=3, threads=1)
        >>> result.paths_run, result.failed
        (64, 0)

        ``set`` gives parameters other values for this run; ``increments`` names a file with Brownian increments.
        ``progress`` is True, False, None (shown where somebody looks), or a function of the fraction that is done.
        Paths that fail are counted in the result. Ctrl-C raises :class:`Interrupted`, with the part that was done.
        """
        check_names(options, "run")
        model = self._chosen(set)
        pointer = ctypes.c_void_p()
        call("lgv_run_create", model._pointer, ctypes.byref(pointer))
        try:
            for name, value in options.items():
                call("lgv_run_set", pointer, encode(name), encode(option_text(value)))
            if increments is not None:
                call("lgv_run_increments", pointer, encode(increments))
            out = ctypes.c_void_p()
            status, interrupted = work(
                lambda function: lib.lgv_run_on_progress(pointer, function, None),
                lambda error: lib.lgv_run_execute(pointer, ctypes.byref(out), error),
                progress,
                f"run {model.name}",
            )
        finally:
            lib.lgv_run_free(pointer)
        result = Result(out, model) if out else None
        if interrupted:
            raise Interrupted(result)
        if result is None:
            raise Interrupted() if status == INTERRUPTED else InputError("there is no result")
        return result

    def converge(self, *, set: Optional[Mapping[str, Any]] = None, progress: Progress = None,
                 **options: Any) -> Convergence:
        """Measures strong or weak orders of methods: the command ``lgv converge``.

        >>> m = Model(q={"x": 1}, H="p_x^2/2 + x^2/2", run={"step": 0.1, "until": 1})
        >>> c = m.converge(methods=["verlet"], levels=3)
        >>> round(c["P2N2Q2Lob"].order, 1)
        2.0
        """
        return study(Convergence, self._chosen(set), "converge", options, progress)

    def compare(self, *, set: Optional[Mapping[str, Any]] = None, progress: Progress = None,
                **options: Any) -> Comparison:
        """Several methods on the same noise: the command ``lgv compare``."""
        return study(Comparison, self._chosen(set), "compare", options, progress)

    def mlmc(self, *, set: Optional[Mapping[str, Any]] = None, progress: Progress = None, **options: Any) -> Estimate:
        """The mean of an observable to a tolerance, by multilevel Monte Carlo: the command ``lgv run --mlmc``."""
        return study(Estimate, self._chosen(set), "mlmc", options, progress)

    def sweep(
        self,
        over: Optional[Mapping[str, Any]] = None,
        *,
        set: Optional[Mapping[str, Any]] = None,
        progress: Progress = None,
        **options: Any,
    ) -> Sweep:
        """One ensemble for every point of a grid: the command ``lgv sweep``.

        >>> m = Model(q={"x": 1}, H="p_x^2/2 + k*x^2/2", params={"k": 1}, run={"step": 0.1, "until": 1, "paths": 1})
        >>> m.sweep({"k": [1, 2, 4]}).mean("H").round(1).tolist()
        [0.5, 1.0, 2.0]

        ``over`` has a parameter or an option and its values for every axis; a text is as on the command line, as in
        ``"0:1:11"``.
        """
        return study(Sweep, self._chosen(set), "sweep", options, progress, over=over)

    def check(self, *, set: Optional[Mapping[str, Any]] = None, **options: Any) -> Check:
        """What the model is, which methods fit, and whether its claims hold: the command ``lgv check``.

        >>> Model(q={"x": 1}, H="p_x^2/2 + x^2/2", noise="0.1*x").check().separable
        True
        """
        return study(Check, self._chosen(set), "check", options, False)


def load(path: Path) -> Model:
    """The model of a file."""
    return Model(os.fspath(path))
