# SPDX-License-Identifier: BSD-3-Clause
#
# lgv converge: table, JSON, files, messages, exit codes.
source "$(dirname "$0")/shell.inc"
synchrotron=$SRC/examples/synchrotron/synchrotron.yaml
few=(--paths 200 --until 1 --largest 0.1 --levels 3)

# One method: the contract of the JSON document at top level, nothing else on stdout, no files.
gives 0 "$LGV" converge "$kubo" "${few[@]}" --set beta=1 --json
[ "$(head -c1 out)" = '{' ] && [ "$(tail -n1 out)" = '}' ] || die "not one document"
empty err
for f in kind method order order_stderr levels step error stderr expected_order verdict reference \
         reference_error methods gradient_evaluations seconds failed; do has out "\"$f\":"; done
has out '"kind": "strong"' '"reference": "exact"' '"method": "P1N1Q2Gau"'
[ "$(ls)" = "$(printf 'err\nout')" ] || die "--json wrote files"

# Several methods, a fine reference, files.
gives 0 "$LGV" converge "$synchrotron" "${few[@]}" --methods verlet,P1N1Q1Rec --out study
has out P2N2Q2Lob P1N1Q1Rec 'VZc at step' order 'written to study/'
for f in convergence.json convergence.svg convergence.png report.html; do [ -s "study/$f" ] || die "$f is missing"; done
[ -z "$(find study -name '*.tmp*')" ] || die "temporary files are left"
has study/report.html '<svg class="plot"' P1N1Q1Rec 'How to repeat it'
hasnot out $'\033'

# The same bits for any number of threads.
strip() { grep -vE '"(seconds|threads|date|command|reference_seconds)"' "$1"; }
gives 0 "$LGV" converge "$synchrotron" "${few[@]}" --json --threads 1 && strip out > one
gives 0 "$LGV" converge "$synchrotron" "${few[@]}" --json --threads 3 && strip out > three
cmp one three || die "threads change the result"

# Weak errors; the end is moved to a multiple of the steps, and that is said.
gives 0 "$LGV" converge "$synchrotron" --kind weak --observe q_squared --set beta=1 --methods P1N1Q1Rec \
    --steps 0.2,0.1,0.05 --until 1.63 --paths 2000 --no-files
has out 'weak convergence of q_squared' 'until 1.6'
has err 'until is 1.6 instead of 1.63'
# Nothing to be seen: the midpoint rule keeps the energy of the Kubo oscillator.  No verdict is exit code 4.
gives 4 "$LGV" converge "$kubo" "${few[@]}" --kind weak --no-files
has out 'not enough signal' 'at round-off'
gives 4 "$LGV" converge "$kubo" "${few[@]}" --kind weak --json
has out '"left_out": "round-off"' '"no_verdict_because": "not enough signal' '"verdict": "not enough signal"'

# Positions and momenta apart, strong and weak; the figure has both.
gives 0 "$LGV" converge "$synchrotron" "${few[@]}" --methods verlet,P1N1Q1Rec --observe positions,momenta,q --out apart
has out 'strong convergence of positions, momenta, q' 'P2N2Q2Lob, momenta' '6 orders: all as expected.'
has apart/convergence.json '"observe": "positions, momenta, q"' '"observe": "momenta"'
has apart/convergence.svg 'P1N1Q1Rec, momenta'
gives 2 "$LGV" converge "$synchrotron" "${few[@]}" --observe momentum
has err 'did you mean momenta'
gives 2 "$LGV" converge "$kubo" "${few[@]}" --observe q --reference exact
has err 'needs a method as reference'

# Joints with noise, and bodies of coupled inertia, have a reference, too.
cat > hinged.yaml <<'YAML'
coordinates: { "b in SE3": { position: [0, 0, -1] } }
momenta: { p: { angular: [0.1, 0.2, 0] } }
potential: b.position.z
constraints: "b*[0,0,1]"
noise: 0.1*b.position.x
run: { step: 0.05, until: 0.2, paths: 4 }
YAML
gives 4 "$LGV" converge hinged.yaml --levels 2 --no-files
has out 'reference  RATTLE-Jc'
cat > swimmer.yaml <<'YAML'
coordinates: { "b in SE3 coupled": {} }
momenta: { p: { linear: [1, 0, 0.2], angular: [0.1, 0.2, 0] } }
kinetic: { inertia: { b: { angular: [1, 2, 3], linear: [3, 2, 1] } } }
potential: 0.1*b.position.z
run: { step: 0.05, until: 1, paths: 1 }
YAML
gives 0 "$LGV" converge swimmer.yaml --levels 3 --no-files
has out 'reference  RATTLE-6' 'as expected: 2'
gives 0 "$LGV" check swimmer.yaml
has out 'structure'
hasnot out 'equations linear'

# A reference of lower order, and paths that have lost the solution: no verdict, and what would do.
cat > still.yaml <<'YAML'
name: still
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2 - cos(q)
YAML
gives 4 "$LGV" converge still.yaml --methods RK4 --reference P1N1Q1Rec --until 1 --largest 0.2 --levels 4 --no-files
has out 'no verdict: the reference is not reliable' 'name another --reference' 'not fitted: reference'
hasnot out WORSE
gives 4 "$LGV" converge "$synchrotron" --until 24 --set beta=2 --methods verlet --reference MRT32 --largest 0.1 \
    --levels 3 --paths 64 --no-files
has out 'no verdict: at 3 of 3 levels' 'lost the solution' 'would do'
hasnot out WORSE

# Noises that do not commute.
cat > rough.yaml <<'YAML'
name: rough
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2 + q^2/2
noise: [ q^2/4, p^2/4 ]
YAML
gives 0 "$LGV" converge rough.yaml --until 1 --largest 0.2 --levels 3 --paths 128 --json
has err 'do not commute' 'P1N1Q2Gau-Levy has areas'
has out '"expected_order": 0.5'

# Noise of q and p beside a bath: a reference is found, and no method with areas is named, because none fits.
cat > rough.yaml <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2 + q^2/2
noise: 0.2*q*p
langevin: { friction: 1, temperature: 0.5 }
YAML
gives 0 "$LGV" converge rough.yaml --until 1 --largest 0.1 --levels 3 --paths 128
has err 'do not commute'
hasnot err 'areas'
has out 'P1N1Q2Gau-GLA' 'reference  P2N2Q4Gau-GLA'

# Failed paths.
cat > fall.yaml <<'YAML'
name: fall
coordinates: { q: 1 + normal() }
momenta: { p: 0 }
hamiltonian: p^2/2 - q^6
run: { method: EEM, step: 0.1, until: 20, paths: 50 }
YAML
gives 1 "$LGV" converge fall.yaml --no-files --levels 2
hasnot out nan

# Nothing is random: no standard errors anywhere.
gives 0 "$LGV" converge still.yaml --methods verlet,midpoint --until 1 --largest 0.1 --levels 3 --out quiet
has out 'as expected: 2, off by' 'Orders of 2 methods: all as expected.'
for f in out quiet/report.html quiet/convergence.svg; do
    for t in '±' '&plusmn;' stderr nan; do hasnot $f "$t"; done
done
has quiet/report.html 'Orders of 2 methods: all as expected.'
# Too few paths for standard errors: said in words.
gives 4 "$LGV" converge "$synchrotron" --until 1 --largest 0.1 --levels 3 --paths 16 --no-files
has out 'standard errors need more than 16 paths'
hasnot out nan
# Better than expected is no failure: the noise is small.
gives 0 "$LGV" converge "$kubo" "${few[@]}" --methods midpoint,EEM --out better
has out 'better than the expected 1' 'Orders of 2 methods: all better than expected.'
has better/report.html '✓ better'

# Bad input: exit 2, before anything runs.
gives 2 "$LGV" converge "$kubo" --methods P1N1Q2Gau,VZc
has err 'VZc' 'does not fit'
gives 2 "$LGV" converge "$kubo" --methods Millstein
has err 'did you mean Milstein'
gives 2 "$LGV" converge "$kubo" --steps 0.1,0.07
has err 'whole multiple'
gives 2 "$LGV" converge "$synchrotron" --reference exact
has err 'the model synchrotron declares no exact solution'
gives 2 "$LGV" converge "$synchrotron" --kind weak --reference exact
has err 'the model synchrotron declares no exact solution'
gives 2 "$LGV" converge "$kubo" --kind medium
gives 2 "$LGV" converge "$kubo" --levels one
gives 2 "$LGV" converge "$kubo" --target 0.1 --paths 7
gives 2 "$LGV" converge "$kubo" --steps 0.1,0.05 --levels 3
gives 2 "$LGV" converge "$kubo" --observe nothing
empty out
[ ! -e lgv-kubo-converge ] || die "a directory is left"

# A discrete Lagrangian of rotations divides what is left of products of their entries by the step: small steps reach
# that round-off, which says nothing of an order.
cat > action.yaml << 'END'
coordinates: { "R in SO3": [0.4, 0.1, 0] }
momenta: { m: [0.5, 1, 0.3] }
kinetic: { inertia: [1, 2, 2.5] }
potential: R.zz
where: { "J(S)": 1.75*S.xx + 0.75*S.yy + 0.25*S.zz }
methods:
  mine: { discrete_lagrangian: "(2.75 - J(transpose(R0)*R1))/dt^2 - (R0.zz + R1.zz)/2" }
run: { step: 0.04, until: 1 }
END
gives 0 "$LGV" converge action.yaml --methods mine-4 --reference BRB-6 --no-files
has out 'not fitted: round-off' 'as expected: 4'
