# SPDX-License-Identifier: BSD-3-Clause
#
# lgv report: the pages of a run from its file alone.
source "$(dirname "$0")/shell.inc"

gives 0 "$LGV" run "$kubo" "${small[@]}" --out run --no-report
gives 0 "$LGV" report run/results.h5
has out 'symplectic defect' 'written to run/'
[ -s run/report.html ] && [ -s run/energy.svg ] || die "pages are missing"
gives 0 "$LGV" report run --out pages
cmp run/report.html pages/report.html || die "the same results give another report"
has pages/report.html '--out run --no-report'

# Numbers as people write them, and the command that repeats the run repeats it to the last digit.
pendulum=$SRC/examples/spherical-pendulum/spherical-pendulum.yaml
gives 0 "$LGV" run "$pendulum" --method RATTLE --step 0.1 --until 62.8 --paths 1 --out one
has out 'until 62.8 (628 steps), 1 path,' 'largest change'
hasnot out stderr
has one/report.html '--until 62.8 ' 'Values at t = 62.8'
hasnot one/report.html nsemble
[ -s one/trajectory.svg ] && [ -s one/path-x_z.png ] || die "figures of the path are missing"
[ ! -e one/histogram-H.svg ] || die "a histogram of one value"
repeat=$(grep -m1 -o 'lgv run .*--until .*' one/report.html | sed 's/<.*//')
gives 0 "$LGV" run "$pendulum" --method RATTLE --step 0.1 --until 62.8 --paths 1 --json
sed -n '/"final"/,/"certificate"/p' out > wanted
# shellcheck disable=SC2086 -- the words of a command
gives 0 "$LGV" ${repeat#lgv } --json
sed -n '/"final"/,/"certificate"/p' out | cmp - wanted || die "the command of the report gives other numbers"
[ "$(wc -l < wanted)" -gt 20 ] || die "there were no numbers to compare"

gives 2 "$LGV" report nothing.h5
has err 'nothing.h5' 'No such file'
gives 2 "$LGV" report "$kubo"
has err 'not an HDF5 file'
head -c 3000 run/results.h5 > cut.h5
gives 2 "$LGV" report cut.h5
has err cut.h5

# Where no path is left at the end there are no final values to draw, and no temperature; the survival curve is there.
cat > gone.yaml <<'YAML'
coordinates: { x: 0 }
potential: -x^2
langevin: { friction: 1, temperature: 1 }
events: { left: abs(x) > 1 }
stop: left
run: { step: 0.05, until: 60, paths: 32, outputs: 20 }
YAML
gives 0 "$LGV" run gone.yaml --out gone
grep -q '^  -    temperature  *-  *no path is left' out || die "temperature of no path"
[ -s gone/report.html ] && hasnot gone/report.html 'Final values of'
! command -v gnuplot > /dev/null || [ -s gone/survival-left.svg ] || die "no survival curve"
