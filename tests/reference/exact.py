# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of tests/unit_exact.c by rational arithmetic:  python3 tests/reference/exact.py > tests/reference_exact.h"""
from fractions import Fraction
from math import ldexp

MASK = (1 << 64) - 1
N = 1000


class Draw:
    def __init__(self, state):
        self.state = state

    def __call__(self):
        s = self.state
        s = (s ^ s << 13) & MASK
        s ^= s >> 7
        s = (s ^ s << 17) & MASK
        self.state = s
        return float(s - (1 << 64) if s >> 63 else s) / 9223372036854775808.0


def numbers(kind):
    draw = Draw(88172645463325252 + kind)
    for _ in range(N):
        x = draw()
        y = draw()
        if kind == 1:
            x = ldexp(x, int(60 * y))
        if kind == 2:
            x = ldexp(x, int(1000 * y))
        if kind == 3:
            x += 1e8
            y = x + 1e-7 * y
        if kind == 4:
            x = ldexp(x, -1040)
            y = 1.0
        yield x, y


def nearest(f):
    return f.numerator / f.denominator  # correctly rounded


print("/* SPDX-License-Identifier: BSD-3-Clause")
print(" *")
print(" * Made by tests/reference/exact.py. */")
print("static const struct row reference_exact[] = {")
for kind in range(5):
    pairs = [(Fraction(x), Fraction(y)) for x, y in numbers(kind)]
    sx = sum(x for x, _ in pairs)
    sy = sum(y for _, y in pairs)
    xy = sum(x * y for x, y in pairs)
    parts = []
    left = sx
    for _ in range(3):
        parts.append(nearest(left))
        left -= Fraction(parts[-1])
    com = nearest(xy - sx * sy / N)
    print("    {%d, {%s}, %s}," % (kind, ", ".join(p.hex() for p in parts), com.hex()))
print("};")
