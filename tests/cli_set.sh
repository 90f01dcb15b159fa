# SPDX-License-Identifier: BSD-3-Clause
#
# Options and parameters from the command line.
source "$(dirname "$0")/shell.inc"

final() { sed -n '/"final"/,/"certificate"/p' "$1"; }

gives 0 "$LGV" run "$kubo" "${small[@]}" --json
cp out base
# Every way to say the same.
gives 0 "$LGV" run "$kubo" --paths=64 --step=0.1 --until=5 --json && final out > a
gives 0 "$LGV" run "$kubo" --set paths=64 --set step=0.1 --set until=5 --set beta=0.1 --json && final out > b
gives 0 "$LGV" run --json "$kubo" --paths 1 --paths 64 --step 0.1 --until 5 --check_states 2 && final out > c
for f in a b c; do final base | cmp - $f || die "$f differs"; done

gives 0 "$LGV" run "$kubo" "${small[@]}" --set beta=0.2 --json
has out '"beta": 0.2'
final out | cmp -s - a && die "beta has no effect"
gives 0 "$LGV" run "$kubo" "${small[@]}" --seed 18446744073709551615 --json
has out 18446744073709551615

refuses() { # MESSAGE FLAGS...
    local message=$1
    shift
    gives 2 "$LGV" run "$kubo" "$@"
    has err "$message"
    empty out
}
refuses 'did you mean beta?' --set bta=3
refuses 'did you mean paths?' --set path=3
refuses '--set xyzzy: neither a parameter of kubo nor a run option' --set xyzzy=3
refuses '--set wants NAME=VALUE' --set beta
refuses '--set wants NAME=VALUE' --set =3
refuses '--set beta: a number is wanted' --set beta=x
refuses '--set beta' --set beta=inf
refuses '--set step: a number is wanted' --set step=small
refuses '--paths: a whole number from' --paths -3
refuses '--paths: a whole number from' --paths 1.5
refuses '--paths: 0 is out of range' --paths 0
refuses '--step: 0 is out of range' --step 0
refuses 'must lie after start' --until -1
refuses 'did you mean verlet?' --method Verlett
refuses 'Methods that fit: P2N2Q2Lob' --method P1N1Q1Rec
refuses 'lanes must be' --lanes 3
refuses 'keep:' --keep all
[ ! -e lgv-kubo ] || die "a refused run left its directory"

# An array as a whole, one entry of it, and a random one.
cat > masses.yaml <<'Y'
parameters: { N: 3, "mass[N]": [1, 2, 4], "k[N]": "uniform(1, 3)" }
coordinates: { "x[N]": 1 }
momenta: { "p[N]": 0 }
hamiltonian: sum(i=1..N, p[i]^2/(2*mass[i]) + k[i]*x[i]^2/2)
observe: { m1: "mass[1]", m2: "mass[2]", k1: "k[1]", k3: "k[3]" }
run: { step: 0.1, until: 1, paths: 32 }
Y
gives 0 "$LGV" run masses.yaml --set mass=3 --set mass[2]=5 --set k[3]=2 --no-report --no-files
grep -Eq '^ *m1 +3 ± 0' out && grep -Eq '^ *m2 +5 ± 0' out && grep -Eq '^ *k3 +2 ± 0' out || die "not these masses"
! grep -Eq '^ *k1 +[0-9.]+ ± 0 ' out || die "k[1] is not random any more"
gives 2 "$LGV" run masses.yaml --set mas=3
has err 'neither a parameter of masses nor a run option'

# Pair sums with a random number for each row: two paths by themselves, whose lanes could be pairs, and among others.
cat > pairs.yaml <<'Y'
parameters: { N: 40, "m[N]": "exp(normal(0, 0.3))" }
coordinates: { "q[N] in R3": "[normal(), normal(), normal()]" }
momenta: { "p[N] in R3": 0 }
hamiltonian: sum(i=1..N, dot(p[i], p[i])/2) - sum(i=1..N, j=i+1..N, m[i]/sqrt(dot(q[i]-q[j], q[i]-q[j]) + 0.1))
observe: { x: "q[3].x" }
run: { step: 0.01, until: 1, method: verlet, record: final }
Y
for paths in 2 16; do
    gives 0 "$LGV" run pairs.yaml --paths $paths --no-report --quiet --out pairs-$paths
    gives 0 "$LGV" ends pairs-$paths
    sed -n 2,3p out > end-$paths
done
cmp end-2 end-16 || die "other bits of two paths alone"
