# SPDX-License-Identifier: BSD-3-Clause
"""Lagrangevin: ensembles of random mechanical systems by structure-preserving integrators.

    import lagrangevin as lgv

    m = lgv.Model(q={"x": -1}, p={"p": 0}, H="p^2/2 - x^2/2 + x^4/4", noise=["s*x"], params={"s": 0.2})
    result = m.run(step=0.05, until=50, paths=10000)
    result["x"].mean            # a NumPy array over result.time
    result.certificate          # what was kept
    result.plot("x")

The commands ``run converge compare mlmc sweep check`` are methods of a model, with the words of the command line as
keywords. See docs/python.md.
"""

from ._engine import Engine
from ._library import Error, InputError, Interrupted, Option, RunError, build, methods, options, version
from ._model import Model, ModelWarning, load
from ._result import Certificate, Result, Series, Verdict
from ._result import open_result as open
from ._study import Check, Comparison, Convergence, Estimate, MethodOrder, Sweep

for _error in (Error, InputError, Interrupted, ModelWarning, RunError):
    _error.__module__ = __name__  # where users import them from, in tracebacks
__version__ = version()
__all__ = [
    "Certificate", "Check", "Comparison", "Convergence", "Engine", "Error", "Estimate", "InputError", "Interrupted",
    "MethodOrder", "Model", "ModelWarning", "Option", "Result", "RunError", "Series", "Sweep", "Verdict", "build",
    "load", "methods", "open", "options", "version",
]
