# SPDX-License-Identifier: BSD-3-Clause
#
# lgv reproduce: the list, a name that is not there, an experiment whose claims hold and one whose claims do not.
source "$(dirname "$0")/shell.inc"
export LGV_EXAMPLES=$SRC/examples

gives 0 "$LGV" reproduce
has out kubo-convergence synchrotron-convergence kubo-long anharmonic-energy order-three-halves commuting-noise 'claims'
gives 0 "$LGV" reproduce --json
has out '"name": "commuting-noise"' '"title":' '"source":'
[ "$(ls)" = "$(printf 'err\nout')" ] || die "the list wrote files"

gives 2 "$LGV" reproduce comuting-noise
has err 'no experiment comuting-noise' 'did you mean commuting-noise'
gives 2 "$LGV" reproduce xyzzy
has err 'lists them'
[ ! -e lgv-reproduce ] || die "a directory is left"

# Quick size, as JSON; the report and the files of every run are written.
gives 0 "$LGV" reproduce commuting-noise --out study --json
[ "$(head -c1 out)" = '{' ] && [ "$(tail -n1 out)" = '}' ] || die "not one document"
empty err
for f in full experiments name claims claim kind expected measured stderr holds; do has out "\"$f\":"; done
has out '"holds": true'
hasnot out '"holds": false'
has study/report.html 'holds' 'noises sin q and cos q' 'svg'
hasnot study/report.html 'does not hold'
for r in commuting noncommuting; do [ -s "study/commuting-noise/$r/convergence.json" ] || die "no files of run $r"; done

# Claims that are wrong, or about numbers that are not there.
mkdir -p mine/kubo mine/wrong mine/broken
cp "$kubo" mine/kubo/
cat > mine/wrong/experiment.yaml <<'YAML'
title: A wrong claim
runs:
  - { name: short, command: run ../kubo/kubo.yaml --until 1 --step 0.1, quick: --paths 32, full: --paths 64 }
claims:
  - { claim: energy is kept, measure: "short:certificate.energy.max_drift", below: 1e-12 }
  - { claim: energy is seven, measure: "short:final.H.mean", error: "short:final.H.stderr", expect: 7, within: 0.1 }
  - { claim: no such number, measure: "short:final.nothing.mean", above: 0 }
YAML
printf 'title: Not an experiment\nruns: 3\n' > mine/broken/experiment.yaml
export LGV_EXAMPLES=$PWD/mine
gives 1 "$LGV" reproduce wrong
has out 'holds energy is kept' 'FAILS energy is seven' 'measured 0.5' 'FAILS no such number' 'not measured' \
    '1 of 3 claims hold'
has lgv-reproduce/report.html 'does not hold' 'energy is seven'
gives 1 "$LGV" reproduce wrong --json
has out '"holds": false' '"measured": null'
gives 2 "$LGV" reproduce broken
has err 'broken/experiment.yaml'

# Names of observables with dots and brackets; a longer name is not taken for a shorter one.
mkdir -p mine/names
printf '%s\n' 'coordinates: { "x[2] in R2": "[i, 10*i]" }' 'potential: 0*x[1].x' \
    'observe: { a: "each(k=1..2, x[k])", b: "x[2]", "ab": 7 }' 'run: { until: 1, paths: 2 }' > mine/names/names.yaml
cat > mine/names/experiment.yaml <<'YAML'
title: Names
runs:
  - { name: short, command: run names.yaml }
claims:
  - { claim: of a family, measure: "short:final.a[2].y.mean", expect: 20, within: 0 }
  - { claim: of a vector, measure: "short:final.b.x.mean", expect: 2, within: 0 }
  - { claim: of a number, measure: "short:final.ab.mean", expect: 7, within: 0 }
YAML
gives 0 "$LGV" reproduce names
has out '3 of 3 claims hold'
sed -i 's/a\[2\]/a[3]/' mine/names/experiment.yaml
gives 1 "$LGV" reproduce names
has out 'FAILS of a family' 'not measured' '2 of 3 claims hold'

# An experiment file names neither programs nor places to write to.
printf '#!/bin/sh\ntouch %s/started\nexec clang "$@"\n' "$work" > cc-x
chmod +x cc-x
for words in "--compiler $work/cc-x" "--compiler=$work/cc-x" "--set compiler=$work/cc-x" "--keep-source $work/started" \
             "--keep_source=$work/started" "--out $work/started" "-o $work/started"; do
    mkdir -p mine/hostile
    printf 'runs: [ { name: a, command: run ../kubo/kubo.yaml %s } ]\nclaims: []\n' "$words" \
        > mine/hostile/experiment.yaml
    gives 2 "$LGV" reproduce hostile
    has err 'hostile/experiment.yaml' 'must not'
    printf 'runs: [ { name: a, command: run ../kubo/kubo.yaml, quick: "%s" } ]\nclaims: []\n' "$words" \
        > mine/hostile/experiment.yaml
    gives 2 "$LGV" reproduce hostile
done
printf 'runs: [ { name: ../../../started, command: run ../kubo/kubo.yaml --paths 2 } ]\nclaims: []\n' \
    > mine/hostile/experiment.yaml
gives 2 "$LGV" reproduce hostile
[ ! -e started ] || die "an experiment wrote or started something of its own"

# A claim can fail: with 5 % more noise the energy on the torus is not what it should be.
mkdir -p mine/torus
cp "$SRC/examples/torus/torus.yaml" mine/torus/
awk '/^runs:|^claims:|^title:|"noise: mean energy 0.305/ { print }
     /name: growth,/ { sub("sigma=0.5", "sigma=0.525"); print }' \
    "$SRC/examples/torus/experiment.yaml" > mine/torus/experiment.yaml
gives 1 "$LGV" reproduce torus
has out 'FAILS noise: mean energy 0.305' '0 of 1 claims hold'

# Lists: the largest entry, a difference entry by entry, a slice, members of a family, the place of the largest.
mkdir -p mine/lists
printf '%s\n' 'coordinates: { x: 0, y: 0 }' 'momenta: { px: 1, py: -2 }' 'potential: 0' \
    'observe: { r: "each(k=1..5, k/2)", hill: "each(k=1..5, 10 - (k - 4)^2)" }' \
    'run: { method: BAB, step: 0.5, until: 2, outputs: 4, paths: 1 }' > mine/lists/lists.yaml
cat > mine/lists/experiment.yaml <<'YAML'
title: Lists
runs:
  - { name: a, command: "compare lists.yaml --methods BAB --observe x,y --reference none --ladder 0" }
  - { name: b, command: "compare lists.yaml --methods BAB --observe x,y --reference none --ladder 0 --step 0.25" }
  - { name: c, command: run lists.yaml }
claims:
  - { claim: largest x, measure: "a:methods[0].observables.x.means", expect: 2, within: 1e-12 }
  - { claim: largest of both, measure: "a:methods[method=BAB].observables.*.means", of: [x, y],
      expect: 4, within: 1e-12 }
  - { claim: length of both, measure: "a:methods[0].observables.*.means", of: [x, y], length: yes,
      expect: 4.472135955, within: 1e-8 }
  - { claim: no difference, measure: "a:methods[0].observables.*.means", against: "b:methods[0].observables.*.means",
      of: [x, y], below: 1e-12 }
  - { claim: entries one apart, measure: "a:methods[0].observables.y.means[1:]",
      against: "b:methods[0].observables.y.means[:4]", expect: 1, within: 1e-12 }
  - { claim: every second, measure: "a:methods[0].observables.x.means[1::2]", expect: 1.5, within: 1e-12 }
  - { claim: place of the hill, measure: "c:final.hill[].mean", at: "c:final.r[].mean", expect: 2, within: 1e-12 }
figures:
  - { name: way, title: The way, xlabel: t, ylabel: x, x: "a:time", lines: [
        { title: x, y: "a:methods[0].observables.x.means" },
        { title: hill, x: "c:final.r[].mean", y: "c:final.hill[].mean" } ] }
YAML
gives 0 "$LGV" reproduce lists
has out '7 of 7 claims hold'
[ -s lgv-reproduce/lists/way.png ] || die "no figure"
has lgv-reproduce/report.html 'The way'
sed -i -e 's/means\[:4\]/means/' -e 's/y: "a:methods/y: "a:nothing/' mine/lists/experiment.yaml
gives 1 "$LGV" reproduce lists
has out 'FAILS entries one apart' 'not measured' '6 of 7 claims hold'
has err "line 'x' of figure way"
[ ! -e lgv-reproduce/lists/way.png ] || die "an old figure is left"
sed -i 's/name: way/name: ..\/way/' mine/lists/experiment.yaml
gives 2 "$LGV" reproduce lists
has err 'lists/experiment.yaml' 'name of letters'
