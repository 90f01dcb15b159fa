# SPDX-License-Identifier: BSD-3-Clause
#
# lgv compare and lgv run --mlmc: files, tables, JSON, exit codes.
source "$(dirname "$0")/shell.inc"
anharmonic=$SRC/examples/anharmonic/anharmonic.yaml
few=(--paths 64 --until 4 --step 0.25 --ladder 2)

gives 0 "$LGV" compare "$anharmonic" "${few[@]}" --methods verlet,midpoint --expect 'H = H0 + beta^2*t/2; growth = H0'
has out P2N2Q2Lob P1N1Q2Gau 'work and precision' 'expected 0.52' 'written to lgv-anharmonic-compare/'
empty err
for f in comparison.json report.html mean-1.svg mean-1.png bias-1.svg work-strong-time.svg work-strong-evaluations.png \
         work-weak-time.svg; do [ -s "lgv-anharmonic-compare/$f" ] || die "$f is missing"; done
[ -z "$(find lgv-anharmonic-compare -name '*.tmp*')" ] || die "temporary files are left"
finding=$(grep -o '<p class="finding">.*' lgv-anharmonic-compare/report.html || true)
echo "$finding" > found
has found '</b> at t = 4 is <b>' 'with P2N2Q2Lob (step 0.25)' 'with P1N1Q2Gau (step 0.25)' 'The strong error is <b>'

# Steps per method, the reference by name, the contract of the JSON document; nothing but it, no files.
mkdir empty && cd empty
gives 0 "$LGV" compare "$anharmonic" "${few[@]}" --methods verlet,Taylor15 --steps 0.25,0.125 --reference VZc \
    --observe H --json
[ "$(head -c1 out)" = '{' ] && [ "$(tail -n1 out)" = '}' ] || die "not one document"
for f in model until paths seed methods method step failed evaluations_per_step energy_drift_max observables mean \
         stderr bias bias_stderr work_precision strong weak seconds_per_path evaluations_per_path reference; do
    has out "\"$f\":"
done
has out '"reference": "VZc"' '"bias_against": "reference"'
[ "$(ls)" = "$(printf 'err\nout')" ] || die "--json wrote files"
cd ..

# A known mean is for the bias; the ladder's weak errors are still differences on the same paths, and headings say so.
ladder() { sed -n '/work and precision/,$p' out | grep '^  [P ].*±' | awk '{ print $(NF-4) }'; }
expect=(--methods verlet,midpoint --observe H --no-files)
gives 0 "$LGV" compare "$anharmonic" "${few[@]}" "${expect[@]}"
ladder > one
[ "$(wc -l < one)" = 4 ] || die "no ladder"
has out 'on the same paths; weak error: difference of the means of H'
gives 0 "$LGV" compare "$anharmonic" "${few[@]}" "${expect[@]}" --expect 'H=5'
ladder | cmp - one || die "--expect changes the weak errors of the ladder"
has out 'on the same paths; weak error: difference of the means of H'
gives 0 "$LGV" compare "$anharmonic" "${few[@]}" "${expect[@]}" --expect 'H=5' --reference none
has out 'weak errors of H against the expected mean; no reference run, so no strong errors' ' 4.'
gives 0 "$LGV" compare "$anharmonic" "${few[@]}" "${expect[@]}" --reference none
has out 'no work and precision'
gives 0 "$LGV" compare "$kubo" --paths 64 --until 1 --step 0.1 --ladder 2 "${expect[@]}" --expect 'H=H0'
has out 'strong errors against the exact solution, weak errors of H against the expected mean' '"plain" is'
has lgv-anharmonic-compare/work-weak-time.svg 'Weak error of H against '

# Running time averages of a comparison are those of a run on the same paths.
few_times=(--paths 40 --until 4 --step 0.25 --outputs 16 --averages yes --burn-in 1)
gives 0 "$LGV" compare "$anharmonic" "${few_times[@]}" --ladder 0 --reference none --methods verlet,midpoint \
    --observe H --out averages
[ -s averages/average-1.svg ] && has averages/report.html 'time average' || die "no figure of running averages"
gives 0 "$LGV" compare "$anharmonic" "${few_times[@]}" --ladder 0 --reference none --methods verlet,midpoint \
    --observe H --json
grep -m1 -A1 '"time_average":' out | grep -o '[0-9.]*,' > here
gives 0 "$LGV" run "$anharmonic" "${few_times[@]}" --method verlet --out run
[ -s run/average-H.svg ] || die "no figure of the running average"
gives 0 "$LGV" run "$anharmonic" "${few_times[@]}" --method verlet --json
sed -n '/"averages": {/,$p' out | sed -n '/"H": {/,$p' | grep -m2 -E '"(mean|stderr)":' | grep -o '[0-9.]*,' > there
paste here there | awk '{ if ($1 - $2 > 1e-12 || $2 - $1 > 1e-12) bad = 1 } END { exit bad || NR != 2 }' ||
    die "averages of a comparison differ from those of a run: $(cat here there)"

# With constraints there are no control variates: said, and no column of them.
cat > bead.yaml <<'YAML'
name: bead
coordinates: { "x in R2": [1, 0] }
momenta: { p: 0 }
hamiltonian: dot(p, p)/2 + x.y
constraints: dot(x, x) - 1
noise: 0.2*x.x
observe: { y: x.y, rough: sin(1e6*x.x), tension: "lambda[1]" }
run: { method: RATTLE, step: 0.05, until: 1, paths: 64 }
YAML
gives 0 "$LGV" compare bead.yaml --methods RATTLE --observe y --ladder 2 --out bead
has out 'control variates: not with constraints'
has bead/report.html 'not with constraints'
hasnot out plain
hasnot bead/report.html 'plain stderr'

# The same numbers for any number of threads and lanes.
same=("$LGV" compare "$anharmonic" "${few[@]}" --methods verlet --ladder 0 --json)
gives 0 "${same[@]}" --threads 1 --lanes 4
grep -v seconds out | grep -v '"date"' > one
gives 0 "${same[@]}" --threads 3 --lanes 8
grep -v seconds out | grep -v '"date"' | cmp - one || die "results depend on threads or lanes"

# Failed paths: exit 1, counted.
cat > fall.yaml <<'YAML'
name: fall
coordinates: { q: 1 + normal() }
momenta: { p: 0 }
hamiltonian: p^2/2 - q^6
noise: 0.1*q
run: { step: 0.1, until: 20, paths: 50 }
YAML
gives 1 "$LGV" compare fall.yaml --methods EEM --ladder 0 --reference none --no-files
has out failed survivors

# A range of steps: energy error and survival against the step. On q^2/2 with frequency 10 Verlet survives to 0.2, which
# is told, and the energy error falls with the square of the step; the midpoint rule survives all and keeps the energy.
cat > stiff.yaml <<'YAML'
name: stiff
coordinates: { q: 0.1 + 0.01*normal() }
momenta: { p: 0 }
hamiltonian: p^2/2 + 50*q^2
run: { until: 50, paths: 20 }
YAML
gives 0 "$LGV" compare stiff.yaml --methods BAB,P1N1Q2Gau --steps 0.01:1:9 --out tried
has out 'stable up to 0.2, as far as the start tells' 'any step is stable for linear forces' '100 %' ' 0 %'
hasnot out 'work and precision' failed
for f in comparison.json report.html steps-energy.svg steps-survival.png; do
    [ -s "tried/$f" ] || die "$f is missing"
done
has tried/report.html 'Energy error' 'stable up to 0.2' 'mark broken'
has tried/steps-energy.svg 'Energy error against the step'
python3 - tried/comparison.json <<'PY' || die "steps that were tried are wrong"
import json, math, sys
bab, mid = json.load(open(sys.argv[1]))["methods"]
tried = bab["steps_tried"]
assert bab["stable_up_to"] == 0.2 or abs(bab["stable_up_to"] - 0.2) < 1e-6, bab["stable_up_to"]
assert mid["stable_up_to"] == "any step" and len(tried) == len(mid["steps_tried"]) >= 8
for t in tried: assert t["survive"] == (1 if t["step"] < 0.2 else 0), t
for t in mid["steps_tried"]: assert t["survive"] == 1 and t["energy_error_max"] < 1e-9, t
a, b = tried[0], tried[2]
slope = math.log(b["energy_error"] / a["energy_error"]) / math.log(b["step"] / a["step"])
assert abs(slope - 2) < 0.1, slope
assert tried[-1]["failed"] + tried[-1]["lost"] == 20, tried[-1]
PY
gives 0 "$LGV" compare "$anharmonic" --methods verlet --steps 0.05:0.5:3 --paths 16 --until 2 --no-files
has out 'noise and friction change the energy'
for bad in 0.1:1 0:1:5 1:0.1:5 0.1:1:1 0.1:1:5x 0.1:1:1000; do
    gives 2 "$LGV" compare stiff.yaml --steps $bad
    has err 'wanted is from:to:number'
done
gives 2 "$LGV" compare stiff.yaml --steps 0.1:60:4
has err 'goes beyond the time of the run, which is 50'
gives 2 "$LGV" compare stiff.yaml --steps 0.1:1:4 --ladder 2
has err 'leave out'

# Bad input: exit 2, and what is wrong.
gives 2 "$LGV" compare "$anharmonic" --methods verlet,nosuch
has err nosuch
gives 2 "$LGV" compare "$anharmonic" --methods verlet,midpoint --steps 0.1,0.2,0.3
has err '3 steps for 2 methods'
gives 2 "$LGV" compare "$anharmonic" --steps 0.25,0.1414213 --methods verlet,midpoint
has err 'common measure'
gives 2 "$LGV" compare "$anharmonic" --observe energy
has err 'energy'
gives 2 "$LGV" compare "$anharmonic" --expect 'H'
has err NAME=FORMULA
gives 2 "$LGV" compare "$anharmonic" --expect 'H=q'
gives 2 "$LGV" compare "$anharmonic" --reference exact
has err 'the model anharmonic declares no exact solution'
gives 2 "$LGV" compare "$anharmonic" --methods ,
gives 2 "$LGV" compare "$anharmonic" --ladder many

# Multilevel Monte Carlo.
mlmc=("$LGV" run "$anharmonic" --mlmc --until 4 --largest 0.5 --observe H)
gives 0 "${mlmc[@]}" --tolerance 0.01 --out levels
has out 'E[H]' 'is reached' 'plain Monte Carlo' 'written to levels/'
for f in mlmc.json report.html mlmc-levels.svg mlmc-paths.png; do [ -s "levels/$f" ] || die "$f is missing"; done
gives 0 "${mlmc[@]}" --tolerance 0.01 --json
for f in estimate stderr bias low high levels variance cost plain_cost reached; do has out "\"$f\":"; done
gives 2 "${mlmc[@]}"
has err tolerance
gives 2 "${mlmc[@]}" --tolerance 0
gives 2 "${mlmc[@]}" --tolerance 0.01 --observe nothing
gives 1 "${mlmc[@]}" --tolerance 0.0005 --levels 2
has out 'NOT reached' 'decay per level: not known from 2 levels'
hasnot out 'plain Monte Carlo'
# Where levels cannot help, this is said, before any work if possible.
gives 2 "$LGV" run bead.yaml --mlmc --tolerance 0.01 --observe tension
has err 'tension depends on multipliers' 'leave out --mlmc'
gives 0 "$LGV" run bead.yaml --mlmc --tolerance 0.05 --observe y
gives 0 "$LGV" run bead.yaml --mlmc --tolerance 0.01 --observe rough --levels 4
has out 'do not fall from level to level'
hasnot out '2^--'
gives 0 "$LGV" run "$kubo" --mlmc --until 1 --tolerance 0.01 --observe H
has out 'decay per level: none'
hasnot out 'try a smaller'
sed '/^noise/d; s/lambda.1./x.x/' bead.yaml > still.yaml
gives 2 "$LGV" run still.yaml --mlmc --tolerance 0.01
has err 'nothing is random: one path is enough (leave out --mlmc)'

# One path; a method that runs away has a figure with a logarithmic axis.
gives 0 "$LGV" compare "$kubo" --methods midpoint,verlet,Milstein --step 0.25 --observe H --reference none --ladder 0 \
    --until 100 --paths 1 --out away
hasnot out 'n/a'
has away/mean-1-escapes.svg Milstein
has away/report.html 'logarithmic axis'
gives 0 "$LGV" compare "$kubo" --methods midpoint,verlet --observe H --reference none --ladder 0 --until 10 \
    --paths 16 --out near
[ ! -e near/mean-1-escapes.svg ] || die "nothing leaves the frame"

# Stopped by a signal: exit 1, what was done is said, and no more than that.
gives 1 at stop:20 "$faulty" compare "$anharmonic" --methods verlet,midpoint --paths 4000 --ladder 0 --json
gives 1 at stop:20 "$faulty" compare "$anharmonic" --methods verlet --paths 4000 --ladder 0 --until 784 \
    --reference none --out cut
has out interrupted 'written to cut/: comparison.json, report.html'
[ -z "$(find cut -name '*.svg')" ] || die "there are figures"
gives 1 at stop:3000 "$faulty" "${mlmc[@]:1}" --tolerance 1e-6 --out cut2
has out interrupted 'cost '
hasnot out 'plain Monte Carlo'
hasnot cut2/report.html 'cost of plain Monte Carlo'

# Steps that do not divide the time are made shorter as in a run, all by one factor, and that is said.
gives 0 "$LGV" compare "$kubo" --methods midpoint,verlet --step 3 --until 10 --paths 16 --ladder 2 --json
has out '"until": 10' '"step": 2.5' '"step": 1.25' '"reference_step": 0.625' '"steps": 4'
has err 'the step of P2N2Q2Lob is 2.5 instead of 3'
gives 0 "$LGV" compare "$kubo" --methods midpoint,verlet --steps 0.2,0.3 --until 1 --paths 16 --ladder 0 --json
has out '"until": 1' '"step": 0.25' '"steps": 4' '"steps": 6'
gives 0 "$LGV" compare "$kubo" --methods midpoint --step 0.1 --until 0.3 --paths 16 --ladder 0 --json
has out '"step": 0.1' '"steps": 3'
empty err

# Metropolis methods have no order to extrapolate by; studies say that they look at no events.
cat > bath.yaml <<'YAML'
name: bath
coordinates: { q: 0.3 }
momenta: { p: 0.5 }
hamiltonian: p^2/2 + q^2/2
langevin: { friction: 1, temperature: 1 }
stop: q > 5
run: { step: 0.1, until: 1, paths: 64, method: BAOAB }
YAML
gives 2 "$LGV" converge bath.yaml --methods BAOAB-Metropolis --no-files
has err 'BAOAB-Metropolis has no order that could be measured'
gives 2 "$LGV" run bath.yaml --method OBABO-Metropolis --mlmc --tolerance 0.1 --no-files
has err 'OBABO-Metropolis has no order, and levels of steps extrapolate'
gives 0 "$LGV" compare bath.yaml --methods BAOAB,BAOAB-Metropolis --ladder 0 --no-files
has err 'lgv compare follows all paths to the end'
"$LGV" converge bath.yaml --methods BAOAB --paths 64 --levels 2 --no-files > out 2> err || true
has err 'lgv converge follows all paths to the end'
gives 0 "$LGV" run bath.yaml --mlmc --tolerance 0.2 --no-files
has err 'mlmc follows all paths to the end'

# Bodies of coupled inertia, with a bath and without, and joints with noise have a reference.
cat > swimmer.yaml <<'YAML'
coordinates: { "b in SE3 coupled": {} }
momenta: { p: { linear: [1, 0, 0.2], angular: [0.1, 0.2, 0] } }
kinetic: { inertia: { b: { angular: [1, 2, 3], linear: [3, 2, 1] } } }
potential: 0.1*b.position.z
run: { step: 0.05, until: 0.2, paths: 4 }
YAML
sed '$i langevin: { friction: 1, temperature: 1 }' swimmer.yaml > warm.yaml
cat > jointed.yaml <<'YAML'
coordinates: { "b in SE3": { position: [0, 0, -1] } }
potential: b.position.z
constraints: "b*[0,0,1]"
noise: 0.1*b.position.x
run: { step: 0.05, until: 0.2, paths: 4 }
YAML
for f in swimmer warm jointed; do
    gives 0 "$LGV" compare $f.yaml --methods auto --no-files
    has out 'bias ± stderr'
done

# Noises that do not commute: methods with areas see the same areas at different steps, those of coarse steps being sums
# of fine ones, and the reference has areas, too.  On the free group of step 2 nothing but round-off is then left.
cat > group.yaml <<'YAML'
name: group
coordinates: { x: 0, y: 0, a: 0 }
momenta: { u: 0, v: 0, d: 1 }
hamiltonian: 0*a
noise: [ u - y*d/2, v + x*d/2 ]
run: { until: 1, paths: 100 }
YAML
gives 0 "$LGV" compare group.yaml --methods P1N1Q2Gau-Levy,Heun-Levy,P1N1Q2Gau --steps 0.25,0.125,0.0625 --ladder 3 \
    --observe a --json
python3 - out <<'PY' || die "coarse areas are not sums of fine ones"
import json, sys
c = json.load(open(sys.argv[1]))
assert c["reference"] == "P2N2Q4Gau-Levy", c["reference"]
for m in c["methods"]:
    levy = m["method"].endswith("-Levy")
    for rung in m["work_precision"]:
        assert (rung["strong"] < 1e-13) if levy else (rung["strong"] > 0.03), rung
    bias = abs(m["observables"]["a"]["bias"])
    assert bias < 1e-13 if levy else bias > 1e-6, m["observables"]
PY
