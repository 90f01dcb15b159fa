# SPDX-License-Identifier: BSD-3-Clause
#
# lgv run: files, summary, JSON.
source "$(dirname "$0")/shell.inc"

# A formula that bends has no order where it does.
cat > bends.yaml <<'YAML'
coordinates: { q: 0.3 }
momenta: { p: 0.5 }
hamiltonian: p^2/2 + q^2/2
noise: 0.3*abs(q)
run: { step: 0.1, until: 1, paths: 16 }
YAML
gives 0 "$LGV" run bends.yaml --no-files
has out 'none is kept where a formula bends or jumps'
sed -i 's/abs(q)/q^2/' bends.yaml
gives 0 "$LGV" run bends.yaml --no-files
hasnot out 'bends or jumps'

# Noises that do not commute: a method with areas is named where one fits.
cat > bends.yaml <<'YAML'
momenta: { m in so3*: [0, 1, 0.3] }
kinetic: { inertia: [1, 2, 2.5] }
noise: [0.2*m.x, 0.1*m.y]
run: { step: 0.1, until: 1, paths: 16 }
YAML
gives 0 "$LGV" run bends.yaml --no-files
has err 'the noises do not commute' 'BCB-Levy has order 1'
gives 0 "$LGV" run bends.yaml --no-files --method BCB-Levy
hasnot err 'do not commute'
rm bends.yaml

# Friction that becomes negative is named, whatever the method; much friction in a step is told or warned about.
cat > friction.yaml <<'YAML'
name: friction
parameters: { g: 0.2, s: 1 }
coordinates: { q: 0.3 }
momenta: { p: 0.5 }
hamiltonian: p^2/2 + q^2/2
langevin: { friction: g + s*q, temperature: 1 }
run: { step: 0.1, until: 10, paths: 40 }
YAML
for m in BAOAB SVE-Q EEM OBABO-Metropolis; do
    gives 1 "$LGV" run friction.yaml --method $m --no-files
    has out 'the friction became negative there'
done
gives 2 "$LGV" run friction.yaml --no-files --set s=-1
has err 'friction.yaml:6:23: the friction is -0.1 at the start'
sed -i 's/g + s\*q/g/' friction.yaml
for m in SVE-Q EEM; do
    "$LGV" run friction.yaml --method $m --no-files --set g=30 > out 2> err || true
    has err 'friction over mass times step is 3: beyond 2 this method is unstable'
done
gives 0 "$LGV" run friction.yaml --method BBK --no-files --set g=30
has err 'not exact in it'
gives 0 "$LGV" run friction.yaml --method BAOAB --no-files --set g=30
hasnot err 'friction over mass'
has out 'friction a step' 'diffusion is up to 1.66 times too fast, except with UBU'
gives 0 "$LGV" run friction.yaml --method BAOAB --no-files --paths 1
has out 'at the end of one path, kT = 1'
hasnot out nan
gives 0 "$LGV" run friction.yaml --method BAOAB --no-files
hasnot out 'friction a step'
gives 0 "$LGV" run friction.yaml --method BAOAB --no-files --truncate 3
has err 'the noise of a bath is never cut'
# Friction 0, or that reaches one direction only: many laws are at rest.  Temperature 0: kT of the law is not known.
gives 0 "$LGV" run friction.yaml --no-files --set g=0
has out 'exp(-H/kT), where that can be normalised; unique when the bath reaches all coordinates'
gives 0 "$LGV" run friction.yaml --no-files
hasnot out 'unique when'
sed 's/temperature: 1/temperature: 0/' friction.yaml > cold.yaml
gives 0 "$LGV" run cold.yaml --no-files
has out 'there is friction and no noise' 'there is no kT to compare it with'
rm friction.yaml cold.yaml

gives 0 "$LGV" run "$kubo" "${small[@]}"
has out kubo 'symplectic defect' 'written to lgv-kubo/' 'P1N1Q2Gau'
empty err
for f in results.h5 report.html energy.svg energy.png; do [ -s "lgv-kubo/$f" ] || die "$f is missing"; done
[ -z "$(find lgv-kubo -name '*.tmp*')" ] || die "temporary files are left"
hasnot out $'\033'

# An existing directory is used again; a new one is made with its parents.
gives 0 "$LGV" run "$kubo" "${small[@]}" --out lgv-kubo --quiet
empty out
gives 0 "$LGV" run "$kubo" "${small[@]}" -o a/b/c --no-report
[ "$(ls a/b/c)" = results.h5 ] || die "--no-report wrote more than results.h5"
has out 'written to a/b/c/: results.h5'

gives 0 "$LGV" run "$kubo" "${small[@]}" --no-files
[ "$(ls)" = "$(printf 'a\nerr\nlgv-kubo\nout')" ] || die "--no-files wrote files"

# The contract of the JSON document; nothing else on stdout, no files without --out.
gives 0 "$LGV" run "$kubo" "${small[@]}" --json
[ "$(head -c1 out)" = '{' ] && [ "$(tail -n1 out)" = '}' ] || die "not one document"
empty err
for f in model method step until paths seed steps failed seconds path_steps_per_second final certificate mean std \
         stderr min max symplectic_defect constraint hidden_constraint momentum; do has out "\"$f\":"; done
has out '"model": "kubo"' '"paths": 64' '"steps": 50' '"failed": 0'
mkdir json
gives 0 "$LGV" run "$kubo" "${small[@]}" --json --out json --no-report
[ -s json/results.h5 ] || die "--json --out wrote no results"

# A model from standard input.
gives 0 "$LGV" run - "${small[@]}" --json < "$kubo"
has out '"model": "kubo"'

# A method that does not claim to be symplectic gets no "ok", however small the defect of its step is.
printf 'coordinates: {q: 0}\nmomenta: {p: 1}\nhamiltonian: p^2/2 + q^2/2\n' > still.yaml
gives 0 "$LGV" run still.yaml --method RK4 --step 0.005 --until 0.1 --paths 1 --no-files
has out '-    symplectic defect' 'the method does not claim it' 'at every step'

# Failed paths: exit 1, the others are counted, nothing crashes.
cat > fall.yaml <<'YAML'
name: fall
coordinates: { q: 1 + normal() }
momenta: { p: 0 }
hamiltonian: p^2/2 - q^6
run: { method: EEM, step: 0.1, until: 20, paths: 50 }
YAML
gives 1 "$LGV" run fall.yaml --out fall
has out 'paths failed' FAIL 'not a fair sample'
[ -s fall/report.html ] || die "no report of a run with failed paths"
gives 1 "$LGV" run fall.yaml --json
hasnot out nan
hasnot out Infinity
# A bound for increments that does not exist for such a step.
gives 2 "$LGV" run "$kubo" "${small[@]}" --no-files --step 1 --until 5 --truncate 4
has err 'truncate = 4' 'steps below 1'
gives 0 "$LGV" run "$kubo" "${small[@]}" --no-files --step 1 --until 5
# What the method does not promise is said and is no failure.
gives 0 "$LGV" run "$rotation" "${small[@]}" --method EEM --no-files
has out "NOT kept"

# Without a method the rule chooses one and says why, everywhere: on the terminal, in JSON, in the file and so in the
# report.
cat > toda.yaml <<'YAML'
name: toda
coordinates: { 'q[64]': 0 }
momenta: { 'p[64]': normal() }
hamiltonian: sum(i=1..64, p[i]^2/2) + sum(i=1..63, exp(q[i]-q[i+1]))
noise: each(i=1..64, 0.1*q[i])
run: { step: 0.01, until: 0.1, paths: 16 }
YAML
gives 0 "$LGV" run toda.yaml --out toda --no-report
has out 'method  VZc' 'chosen by `auto`: explicit, strong order 3/2'
gives 0 "$LGV" report toda
has toda/report.html 'Chosen by <code>method: auto</code>: explicit, strong order 3/2' '--method VZc'
gives 0 "$LGV" run toda.yaml --json
has out '"method": "VZc"' '"method_reason": "explicit, strong order 3/2'
gives 0 "$LGV" run toda.yaml --method verlet --json
has out '"method": "P2N2Q2Lob"' '"method_reason": null'
gives 0 "$LGV" check toda.yaml --json
has out '"method": "VZc"' '"method_reason": "explicit, strong order 3/2'
gives 0 "$LGV" compare toda.yaml --paths 16 --ladder 0 --reference none --json
has out '"method": "VZc"' '"method_reason": "explicit, strong order 3/2'
gives 4 "$LGV" converge toda.yaml --paths 16 --levels 2 --reference verlet --json
has out '"method": "VZc"' '"method_reason": "explicit, strong order 3/2'

# A step that does not divide the time is made shorter, and that is said; one that does is left alone.
gives 0 "$LGV" run "$kubo" --paths 16 --step 3 --until 10 --out shorter
has out 'step 2.5, until 10 (4 steps)'
has err 'the step is 2.5 instead of 3'
has shorter/report.html '2.5 (3 was asked for)' '--step 2.5 --until 10 '
gives 0 "$LGV" run "$kubo" --paths 16 --step 0.1 --until 10 --json
has out '"steps": 100' '"step": 0.1'
empty err

# More degrees of freedom than are stored one by one: the run says what is stored, and how to get more.
gives 0 "$LGV" run toda.yaml --no-files
has out 'With 64 degrees of freedom single' 'observe: {' 'keep: N'
gives 0 "$LGV" run "$kubo" "${small[@]}" --no-files
hasnot out 'degrees of freedom'

# Histograms of pairs have their edges and cells in the JSON document.
gives 0 "$LGV" run "$kubo" --paths 64 --step 0.1 --until 1 --json --histograms2 q:p --bins 4
has out '"x_edge": [' '"y_edge": [' '"count": ['
! command -v python3 > /dev/null || python3 - out <<'PY' || die "cells of a histogram of a pair"
import json, sys
(h,) = json.load(open(sys.argv[1]))["histograms2"].values()
assert len(h["x_edge"]) == len(h["count"]) + 1 and len(h["y_edge"]) == len(h["count"][0]) + 1
assert sum(map(sum, h["count"])) == h["values"] - h["outside"] > 50
PY

# On a terminal no phase is silent.
if command -v script > /dev/null && script -qec true /dev/null > out < /dev/null; then
    script -qec "'$LGV' run '$kubo' --paths 64 --step 0.1 --until 5 --out terminal" /dev/null > out < /dev/null
    has out 'compiling its kernel ...' 'drawing the figures' 'written to terminal/'
fi

# Many calls of long functions are calls, not copies; the values are the same.
{
    printf 'coordinates: { q: 0.5 }\nmomenta: { p: 0 }\nhamiltonian: p^2/2\nobserve:\n'
    for k in $(seq 40); do echo "  o$k: sin($k*q)^2 + cos($k*q)^2 - 1 + exp(0.1*$k*p) - exp(-0.1*$k*p)"; done
} > many.yaml
gives 0 "$LGV" run many.yaml --until 0.1 --paths 16 --quiet --no-files --keep-source many.c --json
has many.c 'far_sincos(t' 'far_exp(t'
awk '/"o[0-9]+":/ { inside = 1 }
     inside && /"mean":/ { sub(",", "", $2); bad += ($2 > 1e-14 || $2 < -1e-14); count++; inside = 0 }
     END { exit bad || count < 40 }' out || die "observables"

# Milstein's scheme is explicit and needs second derivatives where the noise is h(q,p).
gives 0 "$LGV" run "$kubo" "${small[@]}" --method Milstein --no-files

# The temperatures of a bath, where H is a sum that stays a loop: the same numbers as formulas of one's own.
cat > bath.yaml <<'YAML'
parameters: { N: 40 }
coordinates: { "x[N]": 0.1*i }
momenta: { p: 1 }
kinetic: { mass: 2 }
potential: sum(i=1..N, (x[wrap(i+1)] - x[i])^2/2 + x[i]^4/4)
langevin: { friction: 1, temperature: 1 }
observe:
  mine: sum(i=1..N, p[i]^2/2)/N
  mine_q: sum(i=1..N, (x[wrap(i+1)] - x[i])^2 + x[i]^4)/N
run: { until: 1, step: 0.05, paths: 16 }
YAML
gives 0 "$LGV" run bath.yaml --json --no-files
awk '/"(mine|mine_q|kinetic_temperature|configurational_temperature)": \{/ { gsub(/[":]/, ""); name = $1 }
     /"mean":/ && name { sub(",", ""); mean[name] = $2; name = "" }
     function off(a, b) { return !(mean[b] > 0) || mean[a] / mean[b] - 1 > 1e-12 || mean[a] / mean[b] - 1 < -1e-12 }
     END { exit off("kinetic_temperature", "mine") || off("configurational_temperature", "mine_q") }' out ||
    die "temperatures of a bath are not p . H_p and q . U_q over the degrees of freedom"

# Correlations are in the JSON document with their lags; a periodic coordinate, which jumps where it is shown, has none.
cat > ring.yaml <<'YAML'
coordinates: { "x mod 1": 0 }
potential: 0*x
langevin: { friction: 1, temperature: 1 }
observe: { turned: x }
run: { step: 0.1, until: 20, paths: 64, outputs: 100, correlations: yes }
YAML
gives 0 "$LGV" run ring.yaml --json --no-files
has_python() { command -v python3 > /dev/null; }
! has_python || python3 - <<'PY' || die "correlations in JSON"
import json
c = json.load(open("out"))["correlations"]
assert "x" not in c and len(c["turned"]["lag"]) == len(c["turned"]["msd"]) > 20
assert c["turned"]["msd"][-1] > 5, "the mean squared displacement counts turns"
PY

# Tables of the summary: names of any length stand beside their numbers; correlations have a line of their own.
sed 's/turned: x/a_rather_long_name_of_an_angle: x/; s/100, corr/100, averages: yes, corr/' ring.yaml > long.yaml
gives 0 "$LGV" run long.yaml --no-files
has out 'falls to 1/e at' 'msd / (2 lag)'
[ "$(grep -c '^  a_rather_long_name_of_an_angle  *[0-9-]' out)" = 2 ] || die "two tables with a long name"

# Where Metropolis accepts few steps the certificate names slow mixing beside the law.
printf 'coordinates: {x: 0}\npotential: x^4\nlangevin: {friction: 1, temperature: 1}\n' > slow.yaml
gives 1 "$LGV" run slow.yaml --method OBABO-Metropolis --step 4 --until 40 --paths 64 --no-files
has out 'FAIL acceptance' 'of the steps accepted paths mix slowly' 'steps that are not accepted reverse momenta'
hasnot out "stationary averages have no bias"

# Phase volume on a constraint set: exp(-gamma dt) where friction is a multiple of the mass.  On the circle with
# friction 0.5 and 2 along the axes the factor of g-SVE-QI is between 1/(1 + 2 dt) and 1/(1 + 0.5 dt).
cat > circle.yaml <<'YAML'
coordinates: { x: 1, y: 0 }
momenta: { u: 0, v: 1 }
potential: y + x^2
constraints: x^2 + y^2 - 1
langevin: { friction: 0.7, temperature: 1 }
run: { step: 0.1, until: 10, paths: 64, check_states: 16 }
YAML
gives 0 "$LGV" run circle.yaml --no-files
has out 'contracts by 0.9323938199 a step'
sed 's/0.7/[0.5, 2]/' circle.yaml > axes.yaml
gives 0 "$LGV" run axes.yaml --no-files
has out 'phase volume' 'is what a step multiplies it by'
gives 0 "$LGV" run axes.yaml --method g-SVE-QI --json --no-files
! has_python || python3 - <<'PY' || die "phase volume on the circle"
import json
c = json.load(open("out"))["certificate"]
assert 1/1.2 - 1e-9 < c["volume_least"] < 0.9 and 0.93 < c["volume_most"] < 1/1.05 + 1e-9, c
PY
# Friction of q: exp(-Gamma(q) dt) where the bath is, which is nowhere less than 0.5.
printf 'coordinates: {x: 0}\npotential: x^2/2\nlangevin: {friction: 0.5 + x^2, temperature: 1}\n' > place.yaml
gives 0 "$LGV" run place.yaml --json --no-files --step 0.1 --paths 64
! has_python || python3 - <<'PY' || die "phase volume with friction of q"
import json, math
c = json.load(open("out"))["certificate"]
assert c["volume_least"] < c["volume_most"] <= math.exp(-0.05) + 1e-9 and c["volume_contraction"] is None, c
PY

# With the bath switched off a step is symplectic: a verdict of its own, also where the form is not contracted by one
# factor.  EEM promises nothing.  Where friction of q is a force of the step it is not measured.
conservative() { # FILE METHOD ABOUT: what is asserted of its verdict v
    gives 0 "$LGV" run "$1" --method "$2" --json --no-files --step 0.1 --paths 32 --until 2
    ! has_python || python3 - "$3" <<'PY' || die "conservative part of $2 on $1"
import json, sys
c = json.load(open("out"))["certificate"]
v = next((v for v in c["verdicts"] if v["name"] == "conservative"), None)
assert eval(sys.argv[1]), (v, c["conservative_defect"])
PY
}
held='v["claim"] and v["holds"] and v["value"] == c["conservative_defect"] < 1e-11 and c["symplectic_defect"] > 0.01'
conservative axes.yaml g-BAOAB "$held"
conservative place.yaml BAOAB 'v["claim"] and v["holds"]'
conservative place.yaml EEM 'v is None'
conservative place.yaml SVE-Q 'v is None'
sed 's/0.5 + x^2/0.5/' place.yaml > steady.yaml
conservative steady.yaml EEM 'not v["claim"] and v["holds"] is None and v["value"] > 1e-4'
gives 0 "$LGV" run axes.yaml --no-files
has out 'ok   conservative part' 'symplectic to round-off with the bath switched off'

# Phase volume of more than 32 components at one state, exp(-18*0.5*0.02); of too many it is said that there are.
cat > beads.yaml <<'YAML'
parameters: { N: 6 }
coordinates: { "x[N] in R3": "[0.9*i, 0.1*i, 0.05*i^2]" }
momenta: { p: 0.1 }
potential: sum(i=1..N-1, (norm(x[i+1] - x[i]) - 1)^2*10)
langevin: { friction: 0.5, temperature: 1 }
run: { step: 0.02, until: 1, paths: 16 }
YAML
gives 0 "$LGV" run beads.yaml --no-files
has out 'contracts by 0.8352702114 a step (1 state'
gives 0 "$LGV" run beads.yaml --no-files --set N=34
has out 'not measured' '204 components of q and p, and it is measured up to 200'

# Memory: told before the run where it is much, and refused with the number where there is not so much.
gives 0 "$LGV" run "$kubo" --step 0.001 --until 100 --outputs 100000 --paths 16 --no-files
has err 'the run needs about' 'GB of memory'
gives 3 "$LGV" run "$kubo" --step 0.001 --until 300 --outputs 300000 --paths 65536 --threads 4096 --no-files
has err 'GB; ask for fewer outputs'

# A momentum map that is 0 at the start is kept to round-off all the same; with a force nothing is promised; a mass that
# nobody has is refused.
cat > spin.yaml <<'Y'
coordinates: { "R in SO3": [0, 0, 0] }
momenta: { m: [0, 0, 1] }
kinetic: { inertia: [1, 1, 0.5] }
potential: 0
symmetries: { Lx: { R: "[1,0,0]*R" }, Ly: { R: "[0,1,0]*R" } }
run: { step: 0.05, until: 2, paths: 1 }
Y
gives 0 "$LGV" run spin.yaml --no-files
cat > torque.yaml <<'Y'
momenta: { "m in so3*": [0.3, 0.8, 0.5] }
kinetic: { inertia: [1, 2, 2.5] }
force: { m: [0, 0, -1] }
run: { step: 0.05, until: 0.5, paths: 4 }
Y
gives 0 "$LGV" run torque.yaml --no-files
has out 'not promised'
cat > mass.yaml <<'Y'
momenta: { "p in se3*": { linear: [1, 0.2, 0], angular: [0.1, 0.5, 0.3] } }
kinetic: { mass: 5, inertia: { p: { angular: [1, 2, 2.5] } } }
Y
gives 2 "$LGV" run mass.yaml --no-files
has err 'mass.yaml:2:18: no coordinate has a mass'
