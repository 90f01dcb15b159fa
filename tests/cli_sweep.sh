# SPDX-License-Identifier: BSD-3-Clause
#
# lgv sweep: every point is the run of its values, to the bit; what was done is not done again; parts; what it refuses.
source "$(dirname "$0")/shell.inc"

small=(--paths 64 --step 0.1 --until 5 --outputs 25)
final_q() { awk '/"q": \{/ { here = 1 } here && /"mean"/ { gsub(/[^0-9.e-]/, "", $2); print $2; exit }' "$1"; }
mean_q() { # number k of the means of q in the document of a sweep
    awk -v k="$1" '/"q": \{/ { here = 1 } here && /"mean"/ { on = 1; next }
        on && n++ == k { gsub(/[^0-9.e-]/, "", $1); print $1; exit }' out
}
gives 0 "$LGV" sweep "$kubo" "${small[@]}" --over beta=0.1:0.3:3 --over step=0.1,0.05 --json
has out '"points": 6' '"done": 6' '"common_noise": true'
cp out sweep.json
k=0
for beta in 0.1 0.2 0.3; do
    for step in 0.1 0.05; do
        cp sweep.json out
        got=$(mean_q $k)
        gives 0 "$LGV" run "$kubo" "${small[@]}" --set beta=$beta --step $step --json --no-files
        [ "$got" = "$(final_q out)" ] || die "beta = $beta, step = $step: $got is not $(final_q out)"
        k=$((k + 1))
    done
done

# Files; the same command again has nothing to do, and after a loss does what is missing.
cmd=(sweep "$kubo" "${small[@]}" --over beta=0.1:0.3:3 --over step=0.1,0.05 --out grid)
gives 0 "$LGV" "${cmd[@]}"
has out 'written to grid/: sweep.json, figures, report.html'
for file in sweep.h5 sweep.json report.html final-q.svg along-q.svg dots-q.svg points/point-6.h5; do
    [ -s grid/$file ] || die "grid/$file is missing"
done
# A mean that is the same everywhere is drawn where the figure is, and is no finding.
marks() { grep -o 'xlink:href' "$1" | wc -l; }
[ "$(marks grid/final-H.svg)" = "$(marks grid/final-q.svg)" ] || die "figures of H and of q have different points"
has grid/final-H.svg 'H - 0.5'
has grid/report.html 'The mean of <b>error</b> at the end is least at' 'The mean of <b>q</b> at the end is least at'
hasnot grid/report.html 'The mean of <b>H</b>'
rm grid/points/point-2.h5
echo damaged > grid/points/point-3.h5
gives 0 "$LGV" "${cmd[@]}" --no-report
has out '4 points were done before'
gives 0 "$LGV" "${cmd[@]}" --no-report --seed 5
hasnot out 'done before'
[ -s grid/sweep.h5 ] || die "no sweep.h5"
gives 0 "$LGV" replay grid/points/point-2.h5 --path 3

# Parts, put together afterwards.
for part in 2/2 1/2; do gives 0 "$LGV" "${cmd[@]:0:14}" --out shared --part $part; done
has out '3 points of this part are done'
gives 0 "$LGV" "${cmd[@]:0:14}" --out shared --no-report
has out '6 points were done before'
gives 0 "$LGV" "${cmd[@]:0:14}" --out shared --no-report --json
diff <(grep -v '"command"\|"date"' sweep.json) <(grep -v '"command"\|"date"' out) || die "parts have other bits"

# Points of few paths are run side by side: the bits are those of single runs for any number of threads, and of points
# that are refused the first one is named.
few=(--paths 5 --step 0.1 --until 5 --outputs 25)
for threads in 1 2 3; do
    gives 0 "$LGV" sweep "$kubo" "${few[@]}" --over beta=0.1:0.3:21 --independent --json --threads $threads --no-files
    grep -v '"command"\|"date"' out > few.$threads
done
diff few.1 few.2 > diffs && diff few.1 few.3 > diffs || die "points side by side have other bits: $(head -4 diffs)"
gives 0 "$LGV" sweep "$kubo" "${few[@]}" --over beta=0.1:0.3:21 --json --threads 3 --no-files
got=$(mean_q 17)
gives 0 "$LGV" run "$kubo" "${few[@]}" --set beta=0.27 --json --no-files
[ "$got" = "$(final_q out)" ] || die "beta = 0.27 side by side: $got is not $(final_q out)"
gives 2 "$LGV" sweep "$kubo" "${few[@]}" --over step=0.1,0.2,0.3,-1,-2,0.5,-3 --threads 3 --no-files
has err 'at step = -1:'

# Values in lanes, as docs/cluster.md has it: a coordinate that does not move, with a value for each path.
cat > driven.yaml <<'Y'
parameters: { f: 0.2 }
coordinates: { q: 0.5 }
momenta: { p: 0 }
hamiltonian: p^2/2 - cos(q) - f*q*cos(2*t/3)
run: { method: verlet, step: 0.1, until: 5, outputs: 5, paths: 1 }
Y
sed -e '/^parameters/d' -e 's/q: 0.5/q: 0.5, f: "file(f.csv, f, paths)"/' -e 's/{ p: 0/{ p: 0, unused: 0/' \
    -e 's/paths: 1 /paths: 5, keep: 5 /' driven.yaml > lanes.yaml
printf '%s\n' f 0.2 0.45 0.7 0.95 1.2 > f.csv
gives 0 "$LGV" sweep driven.yaml --over f=0.2:1.2:5 --json --no-files
for k in 0 1 2 3 4; do mean_q $k; done > points
gives 0 "$LGV" run lanes.yaml --out lanes --no-report --quiet
"$LGV" ends lanes | cut -d, -f2 | sed 1d | paste - points |
    awk '{ d = $1 - $2; bad += d > 1e-13 || d < -1e-13 } END { exit bad || NR != 5 }' ||
    die "values in lanes are not those of a sweep"

# A map, words, noise of their own.
gives 0 "$LGV" sweep "$kubo" "${small[@]}" --over beta=0:1:4 --over seed=1:4:4 --out map
[ -s map/map-q.svg ] || die "no map"
gives 0 "$LGV" sweep "$kubo" "${small[@]}" --over method=midpoint,verlet --independent --json
has out '"midpoint"' '"common_noise": false'

for bad in beta beta= =1 beta=1:2 beta=1:2:0 beta=1,,2; do
    gives 2 "$LGV" sweep "$kubo" --over $bad
    has err '--over'
done
gives 2 "$LGV" sweep "$kubo"
has err 'at least one'
gives 2 "$LGV" sweep "$kubo" --over bet=1,2 --no-files
has err 'at bet = 1' 'did you mean beta?'
gives 2 "$LGV" sweep "$kubo" --over beta=1,2 --over beta=3,4
has err 'given twice'
gives 2 "$LGV" sweep "$kubo" --over beta=1,2 --part 3/2
echo "Everything holds."
