# SPDX-License-Identifier: BSD-3-Clause
#
# lgv run --part and lgv merge: the bits of one run, from parts in any order; what is missing, foreign or damaged.
source "$(dirname "$0")/shell.inc"

model=(run "$kubo" --paths 100 --step 0.1 --until 5 --set beta=0.3)
numbers() { # the JSON document without what is measured by a clock
    grep -vE '"(seconds|paths_seconds|compile_seconds|path_steps_per_second|command|threads|date)"' "$1"
}
gives 0 "$LGV" "${model[@]}" --json
mv out whole.json
for k in 2 3 1; do gives 0 "$LGV" "${model[@]}" --part $k/3 --out parts --threads $k; done
has out 'part 1 of 3, paths 0 to 47: written to parts/part-1-of-3.lgv'
gives 0 "$LGV" merge parts --json
mv out merged.json
diff <(numbers whole.json) <(numbers merged.json) || die "parts have other bits than the whole"
gives 0 "$LGV" merge parts/part-3-of-3.lgv parts/part-1-of-3.lgv parts/part-2-of-3.lgv --json
diff <(numbers whole.json) <(numbers out) || die "the order of parts changes bits"
gives 0 "$LGV" merge parts --out all
has out 'written to all/: results.h5, figures, report.html'
[ -s all/results.h5 ] || die "no results.h5"

# Bodies in a bath.
bodies=(run "$SRC/examples/rigid-bodies/rigid-bodies.yaml" --paths 70 --until 4 --outputs 10 --burn-in 0)
gives 0 "$LGV" "${bodies[@]}" --no-files --json
mv out whole.json
for k in 2 1; do gives 0 "$LGV" "${bodies[@]}" --part $k/2 --out turning --threads $k; done
gives 0 "$LGV" merge turning --json
diff <(numbers whole.json) <(numbers out) || die "parts of bodies have other bits than the whole"

# What is done is not done again; another run replaces it.
gives 0 "$LGV" "${model[@]}" --part 2/3 --out parts
has out 'done before'
gives 0 "$LGV" "${model[@]}" --part 2/3 --out parts --json
has out '"done_before": true' '"first_path": 48' '"paths": 32'
gives 0 "$LGV" "${model[@]}" --part 2/3 --out parts --seed 7
has err 'is replaced' 'seed'
gives 2 "$LGV" merge parts --no-files
has err 'part-2-of-3.lgv is a part of another run: option seed is 7 there and 1 here'

# Missing, doubled, damaged, other files.
rm parts/part-2-of-3.lgv
gives 1 "$LGV" merge parts --no-files
has err '68 of 100 paths' 'paths 48 to 79 are the first that are missing'
gives 2 "$LGV" merge parts parts/part-1-of-3.lgv --no-files
has err 'have been collected already'
head -c 2000 parts/part-1-of-3.lgv > cut.lgv
gives 2 "$LGV" merge cut.lgv
has err 'is damaged'
gives 2 "$LGV" merge "$kubo"
has err 'is not a saved part of a run'
mkdir none
gives 2 "$LGV" merge none
has err 'none has no parts'
gives 2 "$LGV" merge
has err 'PART ... is missing'
for bad in 0/3 4/3 x 1 1/ /3 -1/3 1/3x; do
    gives 2 "$LGV" "${model[@]}" --part=$bad
    has err 'wants K/N'
done
gives 2 "$LGV" "${model[@]}" --part 1/8
has err '100 paths are 7 units of 16, which is not enough for 8 parts'
gives 2 "$LGV" "${model[@]}" --part 1/3 --no-files
gives 2 "$LGV" "${model[@]}" --part 1/3 --mlmc --tolerance 0.1
echo "Everything holds."
