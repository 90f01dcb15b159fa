# SPDX-License-Identifier: BSD-3-Clause
#
# Steps without a solution are taken in parts: certificate, JSON, parts of a run, and --rescue no.
source "$(dirname "$0")/shell.inc"

cat > strong.yaml << 'END'
coordinates: { q: 0.5 }
momenta: { p: 0.3 }
hamiltonian: p^2/2 - cos(q)
noise: cos(q)*cos(p)
run: { method: P1N1Q2Gau, step: 0.8, until: 8, paths: 2000 }
END
numbers() { # the JSON document without what is measured by a clock
    grep -vE '"(seconds|paths_seconds|compile_seconds|path_steps_per_second|command|date)"' "$1" |
        grep -vE '"(threads|lanes|newton_iterations)"'
}
gives 0 "$LGV" run strong.yaml --no-files
has out 'steps in parts' 'path-steps without a solution, taken in parts down to dt/' 'no path failed'
gives 0 "$LGV" run strong.yaml --json
has out '"rescued": 5'
mv out whole.json
gives 0 "$LGV" run strong.yaml --json --lanes 2
diff <(numbers whole.json) <(numbers out) || die "lanes change bits"
for k in 2 1; do gives 0 "$LGV" run strong.yaml --part $k/2 --out parts --threads $k; done
gives 0 "$LGV" merge parts --json
diff <(numbers whole.json) <(numbers out) || die "parts have other bits than the whole"
gives 1 "$LGV" run strong.yaml --no-files --rescue no
has out 'paths failed' "Newton's method did not converge"

# The end of a rod of length 1 that moves at speed 60 has a step where 60 dt < 1: sin(turn) = 60 dt.
cat > rod.yaml << 'END'
coordinates: { x in R2: [0, 1] }
momenta: { p: [60, 0] }
kinetic: { mass: 1 }
potential: 0
constraints: dot(x, x) - 1
run: { method: RATTLE, step: 0.02, until: 2, paths: 1 }
END
gives 0 "$LGV" run rod.yaml --no-files
has out 'steps in parts     100' 'taken in parts down to dt/' '100 % of all, so the step is too large'
gives 1 "$LGV" run rod.yaml --no-files --rescue no
gives 0 "$LGV" run rod.yaml --no-files --step 0.0166
hasnot out 'steps in parts'
gives 0 "$LGV" run strong.yaml --no-files
hasnot out 'of all, so the step'

# In studies the parts of a step have the noise of the fine steps that it is made of (law_rescue).
gives 1 "$LGV" compare strong.yaml --methods P1N1Q2Gau,P2N2Q4Gau --ladder 1 --rescue no --no-files
has out 'failed paths count until they fail'
gives 0 "$LGV" compare strong.yaml --methods P1N1Q2Gau,P2N2Q4Gau --ladder 1 --no-files
has out '4 path-steps without a solution were taken in parts'
gives 1 "$LGV" run strong.yaml --mlmc --tolerance 0.02 --rescue no --no-files
has out 'pairs of paths failed'
gives 0 "$LGV" run strong.yaml --mlmc --tolerance 0.02 --json
has out '"failed": 0' '"rescued": 2'
