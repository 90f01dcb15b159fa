# SPDX-License-Identifier: BSD-3-Clause
#
# Start values by path: a run that goes on from the ends of another one comes to where a run of the whole time comes;
# paths behind the last row begin with the first one again; a run in parts elsewhere needs the file no more.
source "$(dirname "$0")/shell.inc"

model() { # START_Q START_P
    cat <<END
coordinates: { "x[2] in R2": $1 }
momenta: { p: $2 }
hamiltonian: sum(i=1..2, dot(p[i], p[i])/2) + dot(x[1], x[1])/2 + dot(x[1] - x[2], x[1] - x[2])^2/4
run: { method: verlet, step: 0.01, paths: 5, seed: 3, keep: 5, outputs: 1 }
END
}
model '"normal()"' '"[normal(), 0.1]"' > whole.yaml
model '"file(ends.csv, paths)"' '"file(ends.csv, paths)"' > second.yaml

gives 0 "$LGV" run whole.yaml --until 1 --out first --no-report
gives 0 "$LGV" ends first
has out 'x[1].x,x[1].y,x[2].x,x[2].y,p[1].x'
cp out ends.csv
[ "$(wc -l < ends.csv)" = 6 ] || die "five ends, and a line of names"
gives 0 "$LGV" run second.yaml --until 1 --out second --no-report
gives 0 "$LGV" run whole.yaml --until 2 --out whole --no-report
"$LGV" ends second > a
"$LGV" ends whole > b
paste -d, a b | awk -F, 'NR > 1 { n = NF/2; for (i = 1; i <= n; i++) { d = $i - $(i+n); if (d < 0) d = -d
    if (d > 1e-11) { print "path " NR - 2 ": " $i " and " $(i+n); exit 1 } } }' || die "two halves are not the whole"
awk -F, 'NR == 2 { one = $2 } NR == 3 { exit one == $2 }' a || die "all paths start at the same place"

# Seven paths from five rows: path 5 has the start of path 0, and so has path 5 alone.
gives 0 "$LGV" run second.yaml --until 1 --paths 7 --keep 0,5 --out seven --no-report
"$LGV" ends seven > c
[ "$(sed 's/.*,//' c | tr '\n' ' ')" = 'path 0 5 ' ] || die "kept paths have the numbers 0 and 5"
cmp <(sed -n "2s/,[0-9]*\$//p" a) <(sed -n "3s/,[0-9]*\$//p" c) || die "path 5 does not start as path 0"

# Columns by name; the file is a part of the model.
sed 's/"file(ends.csv, paths)"/"file(ends.csv, x[1].x, x[1].y, x[2].x, 4, paths)"/' second.yaml > named.yaml
sed -i '2s/: .*/: { p: "file(ends.csv, paths)" }/' named.yaml
sed -i '1s/4, paths/x[2].y, paths/' named.yaml
gives 0 "$LGV" run named.yaml --until 1 --paths 20 --part 1/2 --out parts
gives 0 "$LGV" run named.yaml --until 1 --paths 20 --part 2/2 --out parts
rm ends.csv
gives 0 "$LGV" merge parts/part-*.lgv --out merged --no-report
"$LGV" ends merged > d
cmp a d || die "named columns, in parts"

gives 2 "$LGV" run second.yaml --until 1
has err 'ends.csv' 'second.yaml:1:'
printf 'x,y\n1,2\n' > ends.csv
gives 2 "$LGV" run second.yaml --until 1
has err 'ends.csv has no column x[1].x; it has 2: x, y'
gives 2 "$LGV" ends nowhere
has err nowhere
gives 0 "$LGV" run whole.yaml --until 1 --keep 0 --out none --no-report
gives 2 "$LGV" ends none
has err 'run it with --keep'

# All recorded paths, one of them from parts; those that were stopped by an event are where it stopped them.
gives 0 "$LGV" run whole.yaml --until 1 --out recorded --no-report --set record=final
"$LGV" ends recorded > e
"$LGV" ends first | cut -d, -f2-9 > f
cut -d, -f1-8 e | cmp - f || die "final states are not those of kept paths"
cat > stop.yaml <<'Y'
coordinates: { x: "0.2*normal()" }
momenta: { p: 0 }
hamiltonian: p^2/2 + x^2/2
noise: sin(x + 1)
stop: x > 1
run: { method: midpoint, step: 0.05, until: 4, paths: 40, keep: 40, outputs: 80, keep_every: 1 }
Y
gives 0 "$LGV" run stop.yaml --out stopped --no-report --set record=final --threads 1 --lanes 2
"$LGV" ends stopped > g
# Without the record they are left out, and that is said.
gives 0 "$LGV" run stop.yaml --out left --no-report
gives 0 "$LGV" ends left
has err 'of 40 kept paths have failed or were stopped and are left out'
[ "$(wc -l < out)" = "$(awk -F, 'NR == 1 || !($1 > 1) { n++ } END { print n }' g)" ] || die "stopped paths are left out"
hasnot out nan
sed '/^stop/d' stop.yaml > on.yaml
gives 0 "$LGV" run on.yaml --out on --no-report
[ "$(wc -l < g)" = 41 ] || die "a stopped path has no end"
awk -F, 'NR > 1 && $1 > 1 { n++ } NR > 1 && !($1 < 2.5) { exit 1 } END { exit !(n > 2 && n < 40) }' g ||
    die "stopped paths do not end behind the event"
# It is the first state behind the event of the same path without one, bit by bit.
k=$(awk -F, 'NR > 1 && $1 > 1 { print NR - 2; exit }' g)
there=$("$LGV" replay on --path "$k" | awk -F'\t' 'NR > 1 && $4 > 1 { print $4 "," $5; exit }')
[ "$there,$k" = "$(sed -n $((k + 2))p g)" ] || die "path $k does not end at the event, $there"

# Paths that have failed are left out, and the others keep their numbers: those that are not among the failures.
cat > fails.yaml <<'Y'
coordinates: { x: "normal()" }
momenta: { p: 0 }
hamiltonian: p^2/2 - x^4
run: { method: verlet, step: 0.05, until: 2.5, paths: 40 }
Y
gives 1 "$LGV" run fails.yaml --out fails --no-report --set record=final
"$LGV" ends fails > i 2> err
has err 'paths have failed and are left out'
cut -d, -f3 i | sed 1d > ended
[ "$(wc -l < ended)" -gt 5 ] && [ "$(wc -l < ended)" -lt 35 ] || die "some paths fail, and some do not"
for k in $(cat ended); do
    "$LGV" replay fails --path "$k" | awk -F'\t' 'END { print $4 "," $5 }' > there
    [ "$(cat there),$k" = "$(grep ",$k\$" i)" ] || die "path $k does not end there: $(cat there)"
done

# Of chosen paths, recorded or kept, the table has the numbers and the ends that these have among all.
gives 0 "$LGV" run whole.yaml --until 1 --out chosen --no-report --set record=final --set record_paths=1,4
"$LGV" ends chosen > j
cmp j <(sed -n '1p; 3p; 6p' e) || die "recorded paths 1 and 4 are others"
gives 0 "$LGV" run whole.yaml --until 1 --keep 1,4 --out kept --no-report
cmp <("$LGV" ends kept) <(sed -n '1p; 3p; 6p' <("$LGV" ends first)) || die "kept paths 1 and 4 are others"
echo "Everything holds."
