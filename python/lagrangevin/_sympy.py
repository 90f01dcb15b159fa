# SPDX-License-Identifier: BSD-3-Clause
"""SymPy expressions in the formula language. Only loaded when one is given."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.core.function import AppliedUndef
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from ._library import InputError

_CALLS = {
    "Abs": "abs", "sign": "sign", "exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin",
    "acos": "acos", "atan": "atan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "atan2": "atan2", "erf": "erf",
    "floor": "floor",
}


class _Printer(StrPrinter):
    def __init__(self) -> None:
        super().__init__({"full_prec": False})

    def _refuse(self, what: str) -> str:
        raise InputError(f"the formula language has no {what}")

    def emptyPrinter(self, expr: Any) -> str:
        return self._refuse(type(expr).__name__)

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:
        base, power = expr.as_base_exp()
        if power == sympy.S.Half:
            return f"sqrt({self._print(base)})"
        if power == -sympy.S.Half:
            return f"1/sqrt({self._print(base)})"
        if base == sympy.E:
            return f"exp({self._print(power)})"
        left = self.parenthesize(base, PRECEDENCE["Pow"] + 1, strict=False)
        whole = power.is_Symbol or power.is_Integer and power > 0
        right = self._print(power) if whole else f"({self._print(power)})"
        return f"{left}^{right}"

    def _print_Float(self, expr: Any) -> str:
        return repr(float(expr))

    def _print_Rational(self, expr: Any) -> str:
        return f"{expr.p}/{expr.q}" if expr.q != 1 else str(expr.p)

    def _print_Exp1(self, expr: Any) -> str:
        return "e"

    def _print_Pi(self, expr: Any) -> str:
        return "pi"

    def _print_Function(self, expr: Any) -> str:
        name = expr.func.__name__
        if isinstance(expr, AppliedUndef):  # a function of `where`, or x(t) of a coordinate x
            if [str(argument) for argument in expr.args] == ["t"]:
                return name
        elif name not in _CALLS:
            plain = expr.rewrite(sympy.exp)  # sec, coth, ...
            if plain.has(type(expr)):
                return self._refuse(name)
            return f"({self._print(plain)})"
        else:
            name = _CALLS[name]
        return f"{name}({', '.join(self._print(argument) for argument in expr.args)})"

    _print_Abs = _print_Function

    def _fold(self, name: str, arguments: Any) -> str:
        texts = [self._print(argument) for argument in sorted(arguments, key=sympy.default_sort_key)]
        out = texts[-1]
        for text in reversed(texts[:-1]):
            out = f"{name}({text}, {out})"
        return out

    def _print_Min(self, expr: Any) -> str:
        return self._fold("min", expr.args)

    def _print_Max(self, expr: Any) -> str:
        return self._fold("max", expr.args)

    def _print_sec(self, expr: Any) -> str:
        return f"1/cos({self._print(expr.args[0])})"

    def _print_csc(self, expr: Any) -> str:
        return f"1/sin({self._print(expr.args[0])})"

    def _print_cot(self, expr: Any) -> str:
        return f"1/tan({self._print(expr.args[0])})"

    def _print_Mod(self, expr: Any) -> str:
        return f"mod({self._print(expr.args[0])}, {self._print(expr.args[1])})"

    def _print_Sum(self, expr: Any) -> str:
        ranges = []
        for limits in expr.limits:
            if len(limits) != 3:
                return self._refuse("sum without ends")
            ranges.append(f"{limits[0]}={self._print(limits[1])}..{self._print(limits[2])}")
        return f"sum({', '.join(reversed(ranges))}, {self._print(expr.function)})"

    def _print_Indexed(self, expr: Any) -> str:
        return f"{expr.base}[{', '.join(self._print(index) for index in expr.indices)}]"

    def _print_Piecewise(self, expr: Any) -> str:
        out = None
        for value, condition in reversed(expr.args):
            if condition == sympy.true:
                out = self._print(value)
            elif out is None:
                return self._refuse("case without a value for all others")
            else:
                out = f"if({self._print(condition)}, {self._print(value)}, {out})"
        return str(out)

    def _print_Heaviside(self, expr: Any) -> str:
        return f"if({self._print(expr.args[0])} > 0, 1, 0)"

    def _print_Relational(self, expr: Any) -> str:
        return f"{self._print(expr.lhs)} {expr.rel_op} {self._print(expr.rhs)}"

    def _print_And(self, expr: Any) -> str:
        return " and ".join(f"({self._print(part)})" for part in expr.args)

    def _print_Or(self, expr: Any) -> str:
        return " or ".join(f"({self._print(part)})" for part in expr.args)

    def _print_ImaginaryUnit(self, expr: Any) -> str:
        return self._refuse("imaginary unit")

    def _print_Infinity(self, expr: Any) -> str:
        return self._refuse("infinity")

    _print_NegativeInfinity = _print_ComplexInfinity = _print_Infinity

    def _print_NaN(self, expr: Any) -> str:
        return self._refuse("NaN")

    def _print_Derivative(self, expr: Any) -> str:
        return self._refuse("derivative: use a symbol for it, a velocity for example")

    def _print_Integral(self, expr: Any) -> str:
        return self._refuse("integral")


def formula_of(expression: Any) -> str:
    """The expression in the formula language; what the language does not have is an InputError.

    >>> x, s = sympy.symbols("x s")
    >>> formula_of(x**4/4 - sympy.sqrt(x)*s + sympy.Rational(1, 3))
    '-s*sqrt(x) + x^4/4 + 1/3'
    """
    return _Printer().doprint(expression)
