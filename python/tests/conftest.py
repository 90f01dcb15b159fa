# SPDX-License-Identifier: BSD-3-Clause
import sys
from pathlib import Path

import pytest

# The package of this folder, not one that is installed, unless it was built into a wheel.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

KUBO = """name: kubo
parameters: { beta: 0.1 }
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2 + q^2/2
noise: beta*H
observe: { radius: sqrt(q^2 + p^2) }
exact:
  q: p0*sin(t + beta*W[1]) + q0*cos(t + beta*W[1])
  p: p0*cos(t + beta*W[1]) - q0*sin(t + beta*W[1])
run: { method: P1N1Q2Gau, step: 0.1, until: 2, paths: 64, seed: 1, threads: 2, outputs: 10 }
"""


@pytest.fixture
def kubo():
    import lagrangevin as lgv

    return lgv.Model(KUBO)
