# SPDX-License-Identifier: BSD-3-Clause
#
# Increments kept and given: files, messages, and a program in another language that knows the noise by its description.
source "$(dirname "$0")/shell.inc"
synchrotron=$SRC/examples/synchrotron/synchrotron.yaml
quick=(--outputs 4 --check-states 1)

# Kept and given again: the same paths, whatever their numbers were.
gives 0 "$LGV" run "$kubo" "${small[@]}" "${quick[@]}" --keep 2,40,7 --keep-increments yes --out kept --no-report
gives 0 "$LGV" run "$kubo" --increments kept/results.h5 --paths 3 --step 0.1 --until 5 "${quick[@]}" --json
has out '"increments_file": "kept/results.h5"' '"steps": 50'
gives 0 "$LGV" run "$kubo" --increments kept/results.h5 --paths 3 --step 0.1 --until 5 "${quick[@]}" --out given
has out 'the increments of kept/results.h5'
has given/report.html 'increments from' '--increments kept/results.h5'

# refused TEXT...: lgv run with the arguments in `call` ends with a message that holds the texts.
refused() {
    gives 2 "$LGV" run "${call[@]}" --no-files
    has err "$@"
    empty out
}
call=("$kubo" --increments kept/results.h5 --step 0.1 --until 5)
refused 'kept/results.h5' 'increments of 3 paths' 'paths = 10000' 'set paths to 3'
call+=(--paths 3)
call+=(--until 4)
refused 'increments of 50 steps' 'takes 40' 'set until to 5'
call+=(--until 10 --step 0.2)
refused 'over steps of 0.1' '0.2'
call=("$synchrotron" --increments kept/results.h5 --paths 3 --step 0.1 --until 5 --method VZ)
refused 'kept/results.h5: VZ uses dZ'
call=("$SRC/examples/lattice/lattice.yaml" --increments kept/results.h5)
refused 'no noise'
call=("$SRC/examples/commuting-noise/commuting.yaml" --increments kept/results.h5)
refused 'increments of 1 noise, but the model has 2'
gives 0 "$LGV" run "$kubo" "${small[@]}" --out plain --no-report
call=("$kubo" --increments plain/results.h5)
refused 'plain/results.h5' 'keep_increments=yes'
call=("$kubo" --increments nowhere.txt)
refused 'nowhere.txt'
call=("$kubo" --increments kept/results.h5 --mlmc --tolerance 0.1)
refused 'exclude each other'
call=("$kubo" --increments text --paths 1 --step 0.1 --until 0.3)
while IFS='|' read -r text message; do
    printf "$text" > text
    refused "$message"
done <<'TEXTS'
0.1\n0.2x\n0.3\n|text:2: "0.2x" is not a number
0.1\n0.2 # 7\n\n0.3\n|text:4: path 1 ends after 1 steps, the one before has 2
0.1\n0.2 0.1\n0.3\n|text:2: 2 numbers, but line 1 has 1
# a\n1 2 3\n|text:2: 3 numbers; wanted are 1, dW of every noise, or 2
0.1\nnan\n0.3\n|text:2: "nan": increments must be finite
0.1\n0.1\n-inf\n|text:3: "-inf": increments must be finite
0.1\n0.1\n1e999\n|text:3: "1e999": increments must be finite
# nothing\n|text: there are no increments in it
0.1\n0.2\n|text: increments of 2 steps, but the run takes 3
1\n2\n3\n\n1\n2\n3\n|text: increments of 2 paths (of 3 steps), but the run has paths = 1
TEXTS
printf '# dW\n0.1\n0.2\n0.3\n' > text
call=("$synchrotron" --increments text --paths 1 --step 0.1 --until 0.3 --method VZ)
refused 'text:2: VZ uses dZ' '2 numbers a step are wanted'

# Never from a model file, and not for studies.
sed 's/^run: {/run: { increments: text,/' "$kubo" > named.yaml
gives 2 "$LGV" run named.yaml --no-files
has err 'unknown option "increments"'
gives 2 "$LGV" converge "$kubo" --increments text
has err 'unknown flag'

# More than can be kept: the number is told before the run.
gives 2 "$LGV" run "$kubo" --step 1e-7 --keep-increments yes --no-files
has err 'keep_increments: 8 kept paths of 1000000000 steps with 1 noise are 8e+09 values; at most 1e+08'

# docs/noise.py makes the same paths from the description of the noise.
if ! command -v python3 > /dev/null; then
    echo "no python3: the rest is left out"
    exit 0
fi
seed=12345678901234567
for method in P2N2Q2Lob VZ; do
    gives 0 "$LGV" run "$synchrotron" --method $method --seed $seed --paths 2 --until 2 --json "${quick[@]}"
    mv out all.json
    python3 "$SRC/docs/noise.py" $seed 0 --text > text
    gives 0 "$LGV" run "$synchrotron" --method $method --paths 1 --until 2 --increments text --json "${quick[@]}"
    mv out one.json
    for path in 0 1; do python3 "$SRC/docs/noise.py" $seed $path | grep "^$method "; done > states
    python3 - <<'PY' || die "docs/noise.py and lgv run differ ($method)"
import json
all, one = (json.load(open(f))["final"] for f in ("all.json", "one.json"))
states = [[float(x) for x in line.split()[1:]] for line in open("states")]
for i, name in enumerate("qp"):
    pairs = list(zip(sorted(s[i] for s in states), (all[name]["min"], all[name]["max"])))
    pairs.append((states[0][i], one[name]["mean"]))
    assert states[0][i] != states[1][i]
    for mine, theirs in pairs:
        assert abs(mine - theirs) < 1e-12, (name, mine, theirs)
PY
done
