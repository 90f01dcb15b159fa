# SPDX-License-Identifier: BSD-3-Clause
#
# The models of docs/equations.md, tutorial.md and rigid-bodies.md work as they stand there, and links between pages
# lead somewhere.
source "$(dirname "$0")/shell.inc"

for page in equations tutorial rigid-bodies; do
    awk -v name=$page '/^```yaml/ { n++; inside = 1; next } /^```/ { inside = 0 }
        inside { print > (name "-" n ".yaml") }' "$SRC/docs/$page.md"
done
models=0
for file in *-*.yaml; do
    grep -qE '^coordinates|in so3\*' "$file" || continue
    gives 0 "$LGV" run "$file" --paths 16 --until 0.5 --step 0.02 --outputs 25 --no-files
    models=$((models + 1))
done
[ "$models" -ge 15 ] || die "only $models models were found"

# The Ornstein-Uhlenbeck process of the page has the variance sigma^2 = 0.25 and the correlation time 2. Without the
# spring p is its integral, of variance 2 sigma^2 tau (t - tau (1 - e^(-t/tau))).
file=$(grep -l 'tau: 2' equations-*.yaml)
sed -i 's/^potential:.*/potential: -q*w/' "$file"
gives 0 "$LGV" run "$file" --paths 20000 --until 2 --step 0.1 --no-files --json
if command -v python3 > /dev/null; then python3 - out << 'END' || die "w is not the process that the page says"
import json, math, sys
final = json.load(open(sys.argv[1]))['final']
for name, variance in ('w', 0.25), ('p', 2*math.exp(-1)):
    measured = final[name]['std']**2
    assert abs(measured - variance) < 4*variance*math.sqrt(2/20000), (name, measured, variance)
END
fi

broken=0
cd "$SRC"
for page in README.md docs/*.md; do
    while read -r link; do
        case $link in http*|'#'*|'') continue ;; esac
        if [ ! -e "$(dirname "$page")/${link%%#*}" ]; then echo "$page: $link leads nowhere" >&2 && broken=1; fi
    done < <(grep -oE '\]\([^)[:space:]]+\)' "$page" | sed 's/^](//; s/)$//')
done
[ $broken = 0 ] || die "links lead nowhere"
