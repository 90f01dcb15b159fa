# SPDX-License-Identifier: BSD-3-Clause
#
# lgv replay: a path again with the bits it had, the end of paths that failed, and what it refuses.
source "$(dirname "$0")/shell.inc"

# The mean over a unit of the last values of its paths is that of the run: every number is compared to 1e-14.
gives 0 "$LGV" run "$kubo" --paths 16 --step 0.1 --until 5 --set beta=0.3 --seed 5 --out run --no-report --json
mv out run.json
for k in $(seq 0 15); do
    gives 0 "$LGV" replay run --path $k
    [ "$(wc -l < out)" = 52 ] || die "not every step is there"
    head -1 out > names
    tail -1 out >> last
done
has names '# step	time	H	radius'
"$LGV" replay run/results.h5 --path 7 --every 10 > few
[ "$(wc -l < few)" = 7 ] || die "--every 10 of 50 steps"
gives 0 "$LGV" replay run --path 7 --last 1
[ "$(tail -1 few)" = "$(tail -1 out)" ] || die "the same path twice has other bits"
final_q() { awk '/"q": \{/ { here = 1 } here && /"mean"/ { gsub(/[^0-9.e-]/, "", $2); print $2; exit }' "$1"; }
wanted=$(final_q run.json)
awk -v wanted="$wanted" '{ s += $6 } END { d = s / NR - wanted; exit !(NR == 16 && d < 1e-14 && d > -1e-14) }' last ||
    die "the mean of q by replay is not $wanted"
gives 0 "$LGV" run "$kubo" --paths 1 --step 0.1 --until 5 --set beta=0.3 --seed 5 --json --no-files
awk -v wanted="$(final_q out)" 'NR == 1 { d = $6 - wanted; exit !(d < 1e-15 && d > -1e-15) }' last ||
    die "path 0 of 16 is not the only path of a run of one"

# A path of a run by given increments, and figures.
gives 0 "$LGV" run "$kubo" --paths 16 --step 0.1 --until 5 --set keep_increments=yes --keep 16 --out source --no-report
gives 0 "$LGV" run "$kubo" --increments source/results.h5 --paths 16 --step 0.1 --until 5 --out given --no-report
gives 0 "$LGV" replay source --path 3
mv out first
gives 0 "$LGV" replay given --path 3
cmp first out || die "increments are not used again"
gives 0 "$LGV" replay source --path 3 --out pictures -q
[ -s pictures/path-q.svg ] || die "no figure"

# Paths that fail.
cat > runaway.yaml <<'Y'
coordinates: { x: 0.9 }
momenta: { p: 0.1 }
hamiltonian: p^2/2 - x^4/4
noise: 0.3*x
run: { method: verlet, step: 0.05, until: 30, paths: 40 }
Y
gives 1 "$LGV" run runaway.yaml --out runaway --no-report
gives 0 "$LGV" replay runaway
has out 'path 0 failed in step' 'the state became infinite' 'before it: H = ' 'and 30 more; --all lists them'
gives 0 "$LGV" replay runaway --all
[ "$(grep -c 'failed in step' out)" = 40 ] && [ "$(grep -c 'before it: H' out)" = 40 ] || die "--all does not list all"
step=$(sed -n 's/^path 3 failed in step \([0-9]*\),.*/\1/p' out)
gives 0 "$LGV" replay runaway --path 3 --last 2
[ "$(tail -1 out | cut -f 1)" = "$step" ] || die "the last line is not the state before the step that failed"
has err "path 3 failed in step $step"

gives 2 "$LGV" replay runaway --path 40
has err 'there is no path 40; the run has paths 0 to 39'
gives 2 "$LGV" replay runaway --path x
gives 2 "$LGV" replay runaway --path 1 --every 0
has err '--every wants a whole number of at least 1'
gives 2 "$LGV" replay none
gives 2 "$LGV" replay "$kubo"
echo "Everything holds."
