# SPDX-License-Identifier: BSD-3-Clause
#
# lgv check: what a model is, which methods fit, claims that do not hold.
source "$(dirname "$0")/shell.inc"

gives 0 "$LGV" check "$kubo"
has out 'degrees of freedom' 'refused P1N1Q1Rec' 'do not depend on the momenta' 'fits    P2N2Q2Lob' 'only one noise' \
    'Hessian of H        2 of 4' 'everything claimed holds'
[ "$(ls)" = "$(printf 'err\nout')" ] || die "check wrote files"

gives 0 "$LGV" check "$rotation" --json
for f in dof noises separable kinetic noise_depends_on noise_commutes predicted_strong_order derivative_error \
         symplectic_defect symmetries methods name invariant drift; do has out "\"$f\":"; done
has out '"dof": 2' '"separable": true' '"kinetic": "quadratic"' '"noise_depends_on": "q"' '"invariant": true' \
    '"holds": true'
empty err

# Parameters may be sizes.
gives 0 "$LGV" check "$SRC/examples/lattice/lattice.yaml" --set N=5
has out 'degrees of freedom  5' 'Hessian of H        20 of 100'

# A symmetry that is none.
sed 's/r2^2\/4/x.x^4/' "$rotation" > broken.yaml
gives 1 "$LGV" check broken.yaml
has out 'FAIL rotation' 'NOT invariant' 'symmetry rotation: H is not invariant'
gives 1 "$LGV" check broken.yaml --json
has out '"invariant": false' '"holds": false'

# A method that does not fit.
gives 1 "$LGV" check "$kubo" --method symplectic-euler
has out 'FAIL method P1N1Q1Rec does not fit'

# Noises that do not commute.
cat > two.yaml <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2 + q^2/2
noise: [ 0.1*q^2, 0.1*p^2 ]
YAML
gives 0 "$LGV" check two.yaml
has out 'noise commutes      no' 'strong 0.5' 'Levy areas          (1,2)' 'P1N1Q2Gau-Levy        strong 1, weak 1'

# How it was decided is said, and the times are those of the run as given on the command line.
cat > late.yaml <<'YAML'
coordinates: { q: 0.3 }
momenta: { p: 1 }
hamiltonian: p^2/2 + q^2/2
noise: [ 0.01*exp(q)*p, 0.01*exp(q)^2*p^2 + exp(100*t - 2000)*q^2 ]
run: { until: 1, step: 0.001, paths: 16 }
YAML
gives 0 "$LGV" check late.yaml --json
has out '"noise_commutes": true' '"noise_commutes_decided": "points"' \
    'constant to 1e-13 of its terms at 48 random points'
gives 0 "$LGV" check late.yaml --json --until 30
has out '"noise_commutes": false' 't from 0 to 30'
gives 0 "$LGV" check late.yaml --json --start 19 --until 30
has out '"noise_commutes": false' 't from 19 to 30'
gives 0 "$LGV" run late.yaml --until 0.01 --json --out none
has out '"noise_commutes": true' '"noise_commutes_reason": "every bracket' 't from 0 to 0.01'
sed 's/0.01.exp(q)\*p,.*/abs(q), p ]/' late.yaml > bent.yaml
gives 0 "$LGV" check bent.yaml
has out 'noise commutes      not decided: a noise uses abs, sign' 'whether the noises commute is not known'
gives 0 "$LGV" check two.yaml --json
has out '"noise_commutes": false' '"predicted_strong_order": 0.5'

# More momenta than degrees and h_pp: paths are lost, and no order is promised. As many nodes as degrees lose none.
cat > curved.yaml <<'YAML'
coordinates: { q: 0.5 }
momenta: { p: 0.5 }
hamiltonian: p^2/2
noise: cos(q)*cos(p)
run: { method: P2N3Q4Lob, step: 0.01, until: 0.05, paths: 2 }
YAML
"$LGV" check curved.yaml > out 2> err || [ $? = 1 ] || die "check of a method that loses paths"
has out 'expected order      none (dt H_pp' 'fits    P2N3Q4Lob             no order' \
    'fits    P2N2Q4Gau             strong 1, weak 1'
hasnot out nan
"$LGV" check curved.yaml --json > out 2> err || [ $? = 1 ] || die "check of a method that loses paths"
has out '"predicted_strong_order": null' '"predicted_weak_order": null' 'paths are lost'
"$LGV" run curved.yaml --no-files > out 2> err || [ $? = 1 ] || die "run of a method that loses paths"
has err 'P2N3Q4Lob promises no order here' 'paths are lost at every step size'
hasnot out nan
gives 0 "$LGV" check "$kubo" --method P2N3Q4Lob
has out 'strong 1, weak 1 (one noise'

# Without a compiler the formulas still speak.
gives 0 env LGV_CC=/nonexistent "$LGV" check "$kubo" --json
has out '"symplectic_defect": null' '"derivative_error":'
has err 'nothing was measured'

# Constraints: a start that is off them is moved, and said to be; one without a value is an error, not a warning.
cat > circle.yaml <<'YAML'
parameters: { r: 2, N: 1 }
coordinates: { "x[N] in R2": "[1, 0]" }
momenta: { p: "[0, 1]" }
hamiltonian: sum(i=1..N, dot(p[i], p[i])/2)
constraints: [ "dot(x[1], x[1]) - r^2", "each(k=2..N, x[k].x - k)" ]
run: { until: 1, paths: 2 }
YAML
gives 0 "$LGV" check circle.yaml
has out 'constraints         1' 'moved: as given |g| was 3'
gives 0 "$LGV" run circle.yaml --no-files
has err 'start values do not meet the constraints and were moved'
gives 0 "$LGV" run circle.yaml --no-files --set r=1
empty err
gives 2 "$LGV" check circle.yaml --set N=2 --set r=0/0
sed 's/- r^2/- log(-r)/' circle.yaml > nan.yaml
gives 2 "$LGV" check nan.yaml
has err 'is not a number at the start'

# Formulas with a kink.
sed 's/dot(x\[1\], x\[1\]) - r^2/abs(x[1].x) + abs(x[1].y) - 1/' circle.yaml > square.yaml
gives 1 "$LGV" check square.yaml --method RATTLE
has out 'smoothness' 'paths failed'

# A family of noises whose sum cancels has derivatives all the same.
cat > ring.yaml <<'YAML'
coordinates: { "q[3]": 0 }
momenta: { p: 0 }
hamiltonian: sum(i=1..3, p[i]^2/2)
noise: "each(k=1..3, 0.05*(q[wrap(k+1)] - q[k]))"
YAML
gives 0 "$LGV" check ring.yaml --json
grep -qE '"derivative_error": [0-9.]+e-[0-9]+' out || grep -q '"derivative_error": 0' out ||
    die "derivatives of a sum that cancels"

# A noise without derivatives has right ones, and is told to move nothing; one that is written as none is not told.
for noise in 0.1 'cos(t)' 0.7*0.3 0; do
    printf '%s\n' 'coordinates: { x: 0 }' 'momenta: { p: 1 }' 'hamiltonian: p^2/2 + x^2/2' "noise: $noise" > idle.yaml
    gives 0 "$LGV" check idle.yaml --json
    grep -qE '"derivative_error": [0-9.]+e-[0-9]+' out || die "derivatives of a noise that moves nothing"
    if [ "$noise" = 0 ]; then empty err; else has err 'idle.yaml:4:8: this noise depends on neither'; fi
done

# Chains whose random points all have bonds that are too long: derivatives are looked at where paths start.
cat > bonds.yaml <<'YAML'
coordinates: { "x[12]": "i + 0.01*normal()" }
momenta: { p: 0 }
hamiltonian: "sum(i=1..12, p[i]^2/2) - sum(i=1..11, log(2.25 - (x[i+1] - x[i])^2))"
YAML
gives 0 "$LGV" check bonds.yaml --json
grep -qE '"derivative_error": [0-9.]+e-(0[7-9]|1[0-9])' out || die "derivatives of bonds were not looked at"

# Time averages of the run need more time than the short run of a check has.
sed 's/^run: {/run: { averages: yes, burn_in: 5,/' "$kubo" > averaged.yaml
grep -q burn_in averaged.yaml || die "no averages in the file"
gives 0 "$LGV" check averaged.yaml
has out 'everything claimed holds'

# With a bath the form is contracted, not kept; forces spoil what symplectic methods claim, and orders above 4 of kicks.
cat > bath.yaml <<'YAML'
coordinates: { x: 1 }
potential: x^2/2
langevin: { friction: 1, temperature: 1 }
YAML
gives 0 "$LGV" check bath.yaml
has out 'form contraction' 'contract'
hasnot out 'claims to be symplectic'
sed 's/^langevin.*/force: -0.5*p_x + cos(t)/' bath.yaml > forced.yaml
gives 0 "$LGV" check forced.yaml
has out 'does not claim' 'Without the force: Symplectic'
grep -qE 'fits +RKN8 +order 4, explicit here, symplectic but for the force' out || die "RKN8 with such a force"
grep -qE 'fits +RATTLE-6 +order 6,' out || die "RATTLE-6 takes forces at the ends of its steps"
gives 0 "$LGV" converge forced.yaml --methods RKN8,RATTLE-6 --until 4 --largest 0.4 --levels 3
has out 'Orders of 2 methods: all as expected.'

# Pairs of observables, for which check needs bins.
sed 's/^run: {/run: { histograms2: "q:p",/' "$kubo" > pairs.yaml
gives 0 "$LGV" check pairs.yaml

# The step against the highest frequency at the start: told by check, before a run, and where paths are lost.
cat > fast.yaml <<'YAML'
coordinates: { x: 1, y: 0 }
momenta: { a: 0, b: 0 }
hamiltonian: a^2/2 + b^2/2 + 200*x^2 + y^2/2 + x^4
run: { method: verlet, step: 0.05, until: 2, paths: 2 }
YAML
gives 0 "$LGV" check fast.yaml
has out 'highest frequency   20.3' 'and P2N2Q2Lob is stable up to 2'
gives 0 "$LGV" check fast.yaml --json
has out '"stable": true' '"limit": 2' '"highest_frequency": 20.29'
"$LGV" check fast.yaml --step 0.15 --json > out 2> err || [ $? = 1 ] || die "check of an unstable step"
has out '"stable": false'
"$LGV" run fast.yaml --step 0.15 --until 60 --no-files > out 2> err && die "an unstable run ends well"
has err 'the step may be too large: dt omega = 3.04 at the start'
has out 'beyond the limit 2 of' 'NOT stable'
gives 0 "$LGV" run fast.yaml --no-files --json
has out '"stable": true'
empty err

# Where the kinetic energy is negative in some direction there is no law exp(-H/kT); on a joint only what is along it
# counts.
cat > falls.yaml <<'YAML'
coordinates: { R in SO3: [0, 0, 0] }
velocities: { w: [0, 0, 0] }
lagrangian: w.x^2 + w.y^2 - (2 + R.zz)*w.z^2
langevin: { friction: 1, temperature: 1 }
YAML
gives 1 "$LGV" check falls.yaml
has out 'cannot be normalised' '(falls.yaml:3:13)'
sed 's/ - (2/ + (2/' falls.yaml > warm.yaml
gives 0 "$LGV" check warm.yaml
hasnot out 'cannot be'
cat > held.yaml <<'YAML'
coordinates: { x: 0, y: 0, z: 0 }
velocities: { u: 0, v: 0, w: 0 }
lagrangian: (1 + x^2)*(u^2 + v^2 - w^2)/2 - x^2 - y^2
constraints: [z - x/2]
langevin: { friction: 1, temperature: 1 }
YAML
gives 0 "$LGV" check held.yaml
has out 'exp(-H/kT)'
hasnot out 'cannot be normalised'
sed "s|- w^2|- 9*w^2|" held.yaml > tilted.yaml
gives 1 "$LGV" check tilted.yaml
has out 'cannot be normalised'

# Noises of many sites: their bracket is not written out, and that it is not known is said.
cat > sites.yaml <<'YAML'
name: sites
parameters: { N: 10000 }
coordinates: { "q[N]": 0.1*i/N }
momenta: { "p[N]": 0 }
hamiltonian: sum(i=1..N, p[i]^2/2 + q[i]^2/2)
noise: { a: "0.1*sum(i=1..N, q[i]^2)", b: "0.1*sum(i=1..N, p[i]^2)" }
YAML
gives 0 "$LGV" run sites.yaml --method midpoint --step 0.01 --until 0.01 --paths 1 --outputs 1 --no-files \
    --check-states 0
has out 'there are too many brackets'

# Kicks by a force are symplectic where its derivative is symmetric, whatever the masses; a sum, and a factor of 2.
force() { # F of x, F of y
    cat > force.yaml << END
coordinates: { x: 1, y: 0.5 }
momenta: { px: 0, py: 0.2 }
hamiltonian: px^2/2 + px*py/10 + py^2 + x^2/2
force: { x: "$1", y: "$2" }
run: { method: BAB, step: 0.05, until: 5, paths: 4 }
END
}
force 'sum(i=1..2, -x*y^2/i)' '-3*x^2*y/2'
gives 0 "$LGV" check force.yaml
has out 'are symplectic'
gives 0 "$LGV" check force.yaml --json
has out '"force_symmetric": true' '"linear": false'
[ "$(grep -oP '"symplectic_defect": \K[^,]*' out | awk '{ print ($1 < 1e-11) }')" = 1 ] || die "not symplectic"
force 'sum(i=1..2, -x*y^2/i)' '-2*x^2*y'
gives 0 "$LGV" check force.yaml
has out 'not symplectic'
gives 0 "$LGV" check force.yaml --json
has out '"force_symmetric": false'
[ "$(grep -oP '"symplectic_defect": \K[^,]*' out | awk '{ print ($1 > 1e-4) }')" = 1 ] || die "symplectic"
force '-x*y^2 - px' '-x^2*y'
gives 0 "$LGV" check force.yaml --json
has out '"force_symmetric": null'
