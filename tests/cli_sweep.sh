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

# All points as one run.  Common noise and random starts are those of the plain sweep, so that the numbers are the same
# up to round-off; rows of files are those of the path in its point; some paths fail.
cat > driven.yaml <<'Y'
parameters: { f: 0.2, "k[2]": [1, 2], w: "sqrt(f + 1)", s: "normal(0.3, 0.05)", m: 1, n: 1 }
coordinates: { q: "normal(0.5, 0.1)", x: "file(start.csv, x, paths)" }
momenta: { p: "uniform(-0.2, 0.2)", r: 0 }
hamiltonian: (p^2 + r^2)/(2*m) - k[1]*cos(q) - f*w*q*cos(2*t/3) + k[2]*x^2/2 - x^4/4
noise: [ "s*sin(q) + 0.2*x" ]
run: { method: verlet, step: 0.05, until: 5, outputs: 5, paths: 4 }
Y
printf '%s\n' x 0.1 0.2 0.3 > start.csv
numbers() { sed -n '/"failed"/,$p' out | grep -v '"holds"' | sed 's/,$//'; }
agree() { # FILE FILE: the same lines, numbers up to round-off
    paste -d'|' "$1" "$2" | awk -F'|' '{ x = $1; y = $2; if (x == y) next
        if (x !~ /^ *-?[0-9.e+-]+$/ || y !~ /^ *-?[0-9.e+-]+$/) { print; exit 1 }
        d = x - y; if (d < 0) d = -d; if (d > 1e-12) { print; exit 1 } }'
}
for over in "0 --over f=0.2:1.2:4 --over k[1]=0.5,1,2" "0 --over k=1:4:3" "0 --over s=0:1:3 --method midpoint" \
    "0 --over m=1,4 --paths 1" "1 --over k[2]=0.1:1:3 --paths 21 --until 25"; do
    gives ${over%% *} "$LGV" sweep driven.yaml ${over#* } --json --no-files
    numbers > plain
    gives ${over%% *} "$LGV" sweep driven.yaml ${over#* } --json --no-files --together
    has out '"together": true'
    numbers > together
    [ "$(wc -l < plain)" -gt 30 ] || die "$over: no numbers"
    agree plain together || die "$over: points together have other numbers than runs"
done
awk '/"failed"/ { on = 1; next } /\]/ { exit } on && $1 > 0 { bad = 1 } END { exit !bad }' plain ||
    die "no path has failed: the comparison says nothing about these"

# Noise of their own is none of these, and has other bits at every point; all bits are those of any threads and lanes.
gives 0 "$LGV" sweep driven.yaml --over n=1:40:40 --paths 1 --until 1 --json --no-files --together
[ "$(for k in 0 20 39; do mean_q $k; done | sort -u | wc -l)" = 1 ] || die "common noise is not the same at all points"
gives 0 "$LGV" sweep driven.yaml --over n=1:40:40 --paths 1 --until 1 --json --no-files --together --independent
[ "$(for k in 0 20 39; do mean_q $k; done | sort -u | wc -l)" = 3 ] || die "points have the same noise"
for how in "--threads 1 --lanes 2" "--threads 3 --lanes 16" "--threads 2 --lanes 8"; do
    gives 0 "$LGV" sweep driven.yaml --over f=0.2:1.2:13 --paths 3 --json --no-files --together $how
    numbers > "bits.${how//[^0-9]/}"
done
cmp bits.12 bits.316 && cmp bits.12 bits.28 || die "bits depend on threads or lanes"

# Files; what one run cannot have is refused, with the reason at its place.
gives 0 "$LGV" sweep driven.yaml --over f=0.2:1.2:5 --paths 2 --together --out one
for file in sweep.h5 sweep.json report.html final-q.svg dots-q.svg; do
    [ -s one/$file ] || die "one/$file is missing"
done
[ ! -e one/points ] || die "points of one run have files"
grep -q 'all in one run' one/report.html || die "the report does not say that points were one run"
gives 1 at stop:2 "$faulty" sweep driven.yaml --over f=0.2:1.2:5 --paths 20 --until 1000 --together --out stopped
has err 'interrupted; 0 of 5 points are done, which are one run'
[ ! -e stopped ] || die "a sweep without results has left a folder"
together() { gives 2 "$LGV" sweep driven.yaml --together --no-files "$@"; }
together --over step=0.1,0.2
has err 'step is an option of a run'
together --over f=0:1:1001 --paths 20
has err '1001 points with 20 paths each are more than 10000'
together --over f=0,1 --part 1/2
has err '--part'
together --over f=a,b
has err 'are not all numbers'
together --over g=1,2
has err 'there is no parameter g'
together --over f=0,1 --keep 0,4
has err 'path 4 is not among the 4'
together --over f=0,1 --until_stderr q=1
has err 'until_stderr'
cat > bath.yaml <<'Y'
parameters: { N: 2, g: 0.5, k: 1 }
coordinates: { "x[N]": 0.3 }
momenta: { "p[N]": 0 }
hamiltonian: sum(i=1..N, p[i]^2/2 + k*x[i]^4/4)
langevin: { friction: g, temperature: 1 }
run: { step: 0.1, until: 2, outputs: 2, paths: 2 }
Y
gives 2 "$LGV" sweep bath.yaml --over g=1,2 --together --no-files
has err 'bath.yaml:1:' 'the friction of a bath' 'without it every point is a run'
gives 2 "$LGV" sweep bath.yaml --over N=2,3 --together --no-files
has err 'N is random and cannot be used as an index'
gives 0 "$LGV" sweep bath.yaml --over k=1,2 --together --no-files --json

# The law of the mean of H is not held against paths with the same noise: there are fewer than it seems.
cat > kicked.yaml <<'Y'
parameters: { a: 1 }
coordinates: { q: 0.5 }
momenta: { p: 0 }
hamiltonian: p^2/2 + a*q^2/2
noise: [ "q" ]
run: { method: gonzalez, step: 0.1, until: 4, outputs: 4, paths: 1 }
Y
gives 0 "$LGV" sweep kicked.yaml --over a=1:1.01:400 --together --no-files --json

# Parameters with the same range are not taken for equal where structure is looked for: the certificate would hold paths
# against a symmetry that they have not.  What is not a number has no error.
cat > two.yaml <<'Y'
parameters: { a: 1, b: 2 }
coordinates: { x: 1, y: 0.3 }
momenta: { px: 0.2, py: 1 }
hamiltonian: px^2/2 + py^2/2 + a*x^2/2 + b*y^2/2
symmetries: { turn: { x: -y, y: x } }
observe: { l: log(a - 1.25) }
run: { method: verlet, step: 0.05, until: 5, paths: 2 }
Y
gives 0 "$LGV" sweep two.yaml --over a=1:2:3 --over b=1:2:3 --together --no-files --json
python3 - <<'P' || die "an error of what is not a number"
import json
l = json.load(open("out"))["final"]["l"]
for k, mean in enumerate(l["mean"]):
    assert all((l[name][k] is None) == (mean is None) for name in ("std", "stderr")), (k, mean)
P
printf 'a,b\n1,2\n2,1\n' > two.csv
cat > alike.yaml <<'Y'
parameters: { a: "file(two.csv, paths)", b: "file(two.csv, paths)" }
coordinates: { x: 1, y: 0.3 }
momenta: { px: 0.2, py: 1 }
hamiltonian: px^2/2 + py^2/2 + (a - b)*x^2*y + x^2/2
noise: [ "0.1*a*x*px", "0.1*b*x*px + 0.1*(a - b)*px^2" ]
run: { step: 0.05, until: 1, paths: 2 }
Y
gives 0 "$LGV" check alike.yaml --json
has out '"noise_commutes": false'

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
