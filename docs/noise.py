#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The noise of Lagrangevin, written down a second time (docs/noise.md), with the standard library alone.

    noise.py SEED PATH           state of examples/synchrotron at t = 2 along that path, by Verlet and by VZ
    noise.py SEED PATH --text    the increments of that path: 100 lines dW dZ for lgv run --increments
"""
import math
import sys

WORD = 0xFFFFFFFF
STREAM_W, STREAM_Z = 0, 1


def philox(key, counter):
    """Philox4x32-10: two key words and four counter words to four random words."""
    k0, k1 = key
    c0, c1, c2, c3 = counter
    for _ in range(10):
        a, b = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (b >> 32) ^ c1 ^ k0, b & WORD, (a >> 32) ^ c3 ^ k1, a & WORD
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return c0, c1, c2, c3


def normal(seed, path, stream, number):
    """Normal number `number` of a path's stream."""
    pair = number // 2
    key = seed & WORD, seed >> 32
    counter = pair & WORD, pair >> 32 | stream << 16, path & WORD, path >> 32
    x = philox(key, counter)
    u = 1 - ((x[1] << 32 | x[0]) >> 12) * 2.0**-52
    v = ((x[3] << 32 | x[2]) >> 12) * 2.0**-52
    radius, angle = math.sqrt(-2 * math.log(u)), 2 * math.pi * v
    return radius * (math.sin(angle) if number % 2 else math.cos(angle))


def increments(seed, path, step, dt, noises=1, coarsen=1):
    """dW and dZ of every noise over step number `step` of size dt, which is made of `coarsen` fine ones."""
    fine = dt / coarsen
    dW, dZ = [0.0] * noises, [0.0] * noises
    for n in range(step * coarsen, (step + 1) * coarsen):
        for m in range(noises):
            chi = normal(seed, path, STREAM_W, n * noises + m)
            eta = normal(seed, path, STREAM_Z, n * noises + m)
            dZ[m] += fine * dW[m] + fine**1.5 * (chi + eta / math.sqrt(3)) / 2
            dW[m] += math.sqrt(fine) * chi
    return dW, dZ


def synchrotron(seed, path, with_dz, dt=0.02, steps=100, beta=0.1):
    """H = p^2/2 - cos q with noise beta sin q, from (0, 1): half a kick, a drift, the other half of the kick."""
    q, p = 0.0, 1.0
    for n in range(steps):
        (dW,), (dZ,) = increments(seed, path, n, dt)
        first = dZ / dt if with_dz else dW / 2
        p -= dt / 2 * math.sin(q) + beta * math.cos(q) * first
        q += dt * p
        p -= dt / 2 * math.sin(q) + beta * math.cos(q) * (dW - first)
    return q, p


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    seed, path = int(sys.argv[1]), int(sys.argv[2])
    if sys.argv[3:] == ["--text"]:
        for n in range(100):
            (dW,), (dZ,) = increments(seed, path, n, 0.02)
            print(f"{dW!r} {dZ!r}")
        return
    for name, with_dz in (("P2N2Q2Lob", False), ("VZ", True)):
        print(name, *(f"{x!r}" for x in synchrotron(seed, path, with_dz)))


if __name__ == "__main__":
    main()
