# SPDX-License-Identifier: BSD-3-Clause
#
# Model files with mistakes: place, line and caret, exit 2, nothing on stdout.
source "$(dirname "$0")/shell.inc"

refuses() { # PLACE TEXT; the model on stdin
    cat > bad.yaml
    for command in run check; do
        gives 2 "$LGV" $command bad.yaml --json
        has err "bad.yaml:$1: " "$2"
        head -n1 err | grep -q "^bad.yaml:" || die "an editor could not jump there"
        [ "$(wc -l < err)" -le 4 ] || die "too many lines"
        empty out
    done
}
refuses 3:19 'qq' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2+ qq^2
YAML
refuses 3:1 'hamiltonian' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonain: p^2/2
YAML
refuses 3:14 '' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
run: { step: tiny }
hamiltonian: p^2/2
YAML
refuses 4:16 'did you mean P1N1Q2Gau' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2
run: { method: P1N1Q2Gua }
YAML
refuses 4:8 'did you mean "paths"' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2
run: { pahts: 3 }
YAML
# Words of other programs, and names that are known elsewhere in the file.
refuses 5:17 'name it under where' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2
observe: { r: q^2 }
events: { lost: r > 1 }
YAML
refuses 2:15 'start as maxwellian' <<'YAML'
coordinates: { q: 0 }
momenta: { p: maxwell }
hamiltonian: p^2/2
langevin: { friction: 1, temperature: 1 }
YAML
refuses 3:8 'what belongs to dW' <<'YAML'
coordinates: { q: 0 }
hamiltonian: p_q^2/2
noise: dW
YAML
refuses 2:14 'did you mean p_q' <<'YAML'
coordinates: { q: 0 }
hamiltonian: p^2/2
YAML
refuses 2:12 '(x > 0)' <<'YAML'
coordinates: { x: 0 }
potential: heaviside(x)
YAML
refuses 2:14 'mod(a, b)' <<'YAML'
coordinates: { x: 0 }
potential: x % 2
YAML
refuses 2:13 'abs(x)' <<'YAML'
coordinates: { x: 0 }
potential: "|x|"
YAML
[ ! -e lgv-bad ] || die "a refused model left a directory"
printf 'a\0b' > zero.yaml
gives 2 "$LGV" run zero.yaml
has err 'not a text file'
: > empty.yaml
gives 2 "$LGV" run empty.yaml

# A model file comes from anybody: it starts no program.
printf '#!/bin/sh\ntouch %s/started\nexec clang "$@"\n' "$work" > cc-x
chmod +x cc-x
refuses 4:8 'must not name programs' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2
run: { compiler: ./cc-x }
YAML
for command in 'compare bad.yaml' 'converge bad.yaml'; do
    gives 2 "$LGV" $command
    has err 'bad.yaml:4:8: ' 'must not name programs' '--compiler'
done
[ ! -e started ] || die "the program was started"

# Names that no formula uses are told with their place; those that one uses are not.
cat > unused.yaml <<'YAML'
parameters: { a: 1, b: 2, n: 1 }
where: { V(x): x^2, k: 3, u: b }
coordinates: { 'q[n]': 0.5 }
momenta: { p: 0 }
hamiltonian: p[1]^2/2 + q[1]^2*k
YAML
for command in check run; do
    gives 0 "$LGV" "$command" unused.yaml --paths 16 --until 0.1 $([ $command = run ] && echo --no-files)
    has err 'unused.yaml:1:15: a is not used' 'unused.yaml:2:10: V is not used' 'unused.yaml:2:27: u is not used'
    hasnot err 'b is not' 'n is not' 'k is not'
done
gives 0 "$LGV" check unused.yaml --json
has out '"unused": [' '"V"'

# A cutoff is for pairs(...): whoever writes sum(...) has all pairs.
for sum in sum pairs; do
    d=$([ $sum = pairs ] && echo 'd = x[i] - x[j], dot(d, d)' || echo 'dot(x[i] - x[j], x[i] - x[j])')
    printf '%s\n' "coordinates: { 'x[4] in R3': '[i, 0, 0]' }" 'cutoff: { radius: 1.5 }' \
        "potential: '$sum(i=1..4, j=i+1..4, $d)'" > cut.yaml
    gives 0 "$LGV" run cut.yaml --no-files --paths 2 --until 0.1 --step 0.1 --method BAB
    [ $sum = pairs ] || has err 'cut.yaml:2:19: no sum uses this cutoff'
    [ $sum = sum ] || hasnot err 'cutoff'
done

# A matrix that is not quite a rotation is made one, and that is told with its place.
turned() {
    printf 'coordinates: { R in SO3: { matrix: [[1, 0, 0], [0, 1, %s], [0, 0, 1]] } }\n' "$1" > turned.yaml
    echo 'potential: R.zz' >> turned.yaml
}
turned 1e-7
gives 0 "$LGV" check turned.yaml
has err 'turned.yaml:1:36: R^T R differs from 1 by 1e-07: the matrix is made a rotation'
turned 1e-14
gives 0 "$LGV" check turned.yaml
hasnot err 'differs from 1'
turned 1e-5
gives 2 "$LGV" check turned.yaml
has err 'turned.yaml:1:36: this is not a rotation: R^T R differs from 1 by 1e-05'

# Moments of inertia that no body has: of a formula this is a warning, since H may be that of something else.
spun() {
    printf 'coordinates: { R in SO3: [0, 0, 0] }\n%s\n' "$1" > spun.yaml
}
spun $'momenta: { m: [0, 0, 1] }\nhamiltonian: m.x^2/2 + m.y^2/2 + m.z^2/10'
gives 0 "$LGV" check spun.yaml
has err 'spun.yaml:3:14: no rigid body has the moments of inertia 1, 1, 5 that follow from this'
spun $'velocities: { w: [0, 0, 1] }\nlagrangian: w.x^2/2 + w.y^2/2 + 3*w.z^2/2 - R.zz'
gives 0 "$LGV" check spun.yaml
has err 'spun.yaml:3:13: no rigid body has the moments of inertia 1, 1, 3 that follow from this'
spun $'momenta: { m: [0, 0, 1] }\nhamiltonian: m.x^2/2 + m.y^2/2 + m.z^2/4'
gives 0 "$LGV" check spun.yaml
hasnot err 'rigid body'
spun $'momenta: { m: [0, 0, 1] }\nhamiltonian: m.x^2/2 + m.y^2/2 + m.z^4'
gives 0 "$LGV" check spun.yaml
hasnot err 'rigid body'

# A step that is lost in the rounding of the time: at its place in the file, or of the command line.
printf 'coordinates: { q: 0 }\nhamiltonian: p_q^2/2\nrun: { start: 1e10, until: 10000000001, step: 1e-7 }\n' > lost.yaml
gives 2 "$LGV" run lost.yaml
has err 'lost.yaml:3:47: the step 1e-07 is lost in rounding: near t = 1e+10'
gives 2 "$LGV" run lost.yaml --step 1e-8
has err 'the step 1e-08 is lost in rounding'

# A sum of exactly the largest number of terms is not refused.
printf 'coordinates: { q: 0 }\nhamiltonian: p_q^2/2 + sum(i=1..2000, j=1..2000, q)\n' > largest.yaml
gives 0 "$LGV" run largest.yaml --until 0.01 --paths 1 --method verlet --no-files --quiet

# What does not fit the model is told at the place of the option, where the file has given it.
misfits() { # PLACE TEXT OPTION KEY
    printf 'coordinates: {x: 1}\npotential: x^2/2\nlangevin: {friction: 1, temperature: 1}\n' > bad.yaml
    printf '%s\nrun: {%s}\n' "$4" "$3" >> bad.yaml
    gives 2 "$LGV" run bad.yaml --no-files
    has err "bad.yaml:$1: $2"
}
misfits 5:15 'method P2N2Q2Lob does not fit' 'method: verlet' ''
misfits 5:15 'method OBABO-Metropolis does not fit' 'method: OBABO-Metropolis' 'force: -x^3'
misfits 5:17 'extremes: nothing called y is observed' 'extremes: [y]' ''
misfits 5:20 'histograms2: nothing called y is observed' 'histograms2: [[x, y]]' ''
misfits 5:18 'quantiles: ' 'quantiles: exact' ''
misfits 5:17 'averages: ' 'averages: yes, burn_in: 50' ''
gives 2 "$LGV" run bad.yaml --no-files --set averages=no --method verlet
has err 'lgv: method P2N2Q2Lob does not fit'
gives 2 "$LGV" run bad.yaml --no-files --set averages=no --quantiles exact
has err 'lgv: quantiles: '
