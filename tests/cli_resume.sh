# SPDX-License-Identifier: BSD-3-Clause
#
# lgv resume: runs that were interrupted or killed at any moment end with the bits of one that was not; damaged states,
# more paths, and what cannot be resumed.
source "$(dirname "$0")/shell.inc"

numbers() { # of the results in a directory, without what is measured by a clock
    PATH=/nowhere "$LGV" report "$1" --json --out "$work/pages" 2> /dev/null | # no gnuplot: nobody looks at figures
        grep -vE '"(seconds|paths_seconds|compile_seconds|path_steps_per_second|command|threads|date)"'
}
model=("$kubo" --paths 960 --step 0.002 --until 100 --no-report --quiet)
gives 0 "$LGV" run "${model[@]}" --out whole
[ ! -e whole/checkpoint.lgv ] || die "the state of a finished run is left"
numbers whole > whole.txt

# Killed again and again.
killed killed run "${model[@]}" --out killed
diff whole.txt <(numbers killed) || die "other bits after kills"

# Killed at each of the calls by which a state is saved.
tiny=(run "$kubo" --paths 64 --step 0.005 --until 100 --no-report --quiet --threads 1)
gives 0 "$LGV" "${tiny[@]}" --out undisturbed
numbers undisturbed > undisturbed.txt
for n in {1..16}; do
    rm -rf saving
    gives 137 at kill-write:$n "$faulty" "${tiny[@]}" --checkpoint-steps 40000 --out saving
    if [ -e saving/checkpoint.lgv ] || [ -e saving/checkpoint-before.lgv ]; then
        gives 0 "$LGV" resume saving --no-report --quiet
        diff undisturbed.txt <(numbers saving) || die "other bits after a kill at call $n"
        saved=$n
    fi
done
[ -n "${saved-}" ] || die "nothing was saved"
# There are no results yet; how to come to them is told.
rm -rf saving
gives 137 at kill-write:12 "$faulty" "${tiny[@]}" --checkpoint-steps 40000 --out saving
[ -e saving/checkpoint.lgv ] || [ -e saving/checkpoint-before.lgv ] || die "no state"
gives 2 "$LGV" ends saving
has err 'only the state of a run' 'lgv resume saving' 'with --max-time 0'
"$LGV" resume saving --max-time 0 --no-report --quiet 2> err || [ $? = 1 ] || die "no results of a state"
gives 0 "$LGV" ends saving

# Another run in the directory of one that was not finished: that one's state is kept, also where the other is killed
# before it has saved its own, or keeps none; the state of a run that has ended is replaced, as its results are.
rm -rf saving
for run in kill stop; do
    gives 137 at kill-write:12 "$faulty" "${tiny[@]}" --checkpoint-steps 40000 --out saving
    if [ $run = kill ]; then
        gives 137 at kill:5 "$faulty" "${tiny[@]}" --seed 5 --out saving
    else
        gives 1 at stop:5 "$faulty" "${tiny[@]}" --seed 5 --set keep_increments=yes --out saving
    fi
    has err 'was not finished; its state is kept: `lgv resume saving/unfinished'
done
for place in saving/unfinished saving/unfinished-2; do
    gives 0 "$LGV" resume $place --no-report --quiet
    diff undisturbed.txt <(numbers $place) || die "other bits in $place"
done
gives 0 "$LGV" run "$kubo" "${small[@]}" --keep-checkpoint --out kept --no-report --quiet
gives 0 "$LGV" run "$kubo" "${small[@]}" --keep-checkpoint --seed 5 --out kept --no-report --quiet
empty err
[ ! -e kept/unfinished ] || die "a run that has ended is taken for one that has not"
gives 137 at kill-write:12 "$faulty" "${tiny[@]}" --checkpoint-steps 40000 --out kept
gives 0 "$LGV" run "$kubo" "${small[@]}" --out kept --no-report --quiet
has err 'kept/unfinished'
gives 0 "$LGV" resume kept/unfinished --no-report --quiet
diff undisturbed.txt <(numbers kept/unfinished) || die "other bits of a run behind one that has ended"
# A run that is refused moves nothing, and one whose state has moved says where it is.
rm -rf saving
gives 137 at kill-write:12 "$faulty" "${tiny[@]}" --checkpoint-steps 40000 --out saving
for bad in "--until 0" "--lanes 3" "--extremes nosuch" "--until-stderr zz=1" "--record nosuch"; do
    gives 2 "$LGV" run "$kubo" "${small[@]}" --out saving --no-report --quiet $bad
    [ ! -e saving/unfinished ] || die "a run that is refused ($bad) has moved the state of another"
done
gives 0 "$LGV" run "$kubo" "${small[@]}" --out saving --no-report --quiet
rm saving/results.h5
gives 2 "$LGV" resume saving
has err 'a run that was not finished before is in saving/unfinished'

# A state that cannot be saved is told when that begins and at the end, not each time; results that cannot be written
# leave the state, and say so.
rm -rf saving
gives 137 at kill-write:12 "$faulty" "${tiny[@]}" --checkpoint-steps 40000 --out saving
[ -e saving/checkpoint.lgv ] || mv saving/checkpoint-before.lgv saving/checkpoint.lgv
rm -f saving/checkpoint-before.lgv
mkdir -p saving/checkpoint-before.lgv/full
gives 1 at stop:30 "$faulty" resume saving --checkpoint-steps 40000 --threads 1 --no-report --quiet
has err 'could not be saved' 'the run goes on, and tries again'
[ "$(grep -c 'could not be saved' err)" = 2 ] || die "told more than twice"
rm -r saving/checkpoint-before.lgv
gives 3 at write:1 "$faulty" resume saving --checkpoint 0 --no-report --quiet
has err "cannot write 'saving/results.h5'" 'the last state of the run stays; `lgv resume saving` goes on from there'
gives 0 "$LGV" resume saving --no-report --quiet
diff undisturbed.txt <(numbers saving) || die "other bits after results that could not be written"

# A signal: partial results, and the way on.
gives 1 at stop:80 "$faulty" run "${model[@]}" --out stopped
has err 'lgv resume stopped'
gives 0 "$LGV" report stopped --json
has out '"interrupted": true'
cp -r stopped damaged
cp -r stopped both
cp stopped/checkpoint.lgv stopped-before.lgv
gives 0 "$LGV" resume stopped --no-report --threads 1
has out 'certificate'
diff whole.txt <(numbers stopped) || die "other bits after a signal"

# A damaged state is refused, and the one before it is used.
head -c 3000 damaged/checkpoint.lgv > cut && mv cut damaged/checkpoint.lgv
gives 2 "$LGV" resume damaged
has err 'is damaged' 'no state of a run that could be used'
mv both/checkpoint.lgv both/checkpoint-before.lgv
head -c 3000 both/checkpoint-before.lgv > both/checkpoint.lgv
gives 0 "$LGV" resume both --no-report
has err 'is damaged' 'the state before it is used'
diff whole.txt <(numbers both) || die "other bits from the state before"
# The damaged one does not take its place: killed while it saves, the run goes on from there once more.
for n in {1..4}; do
    rm -rf again && mkdir again
    cp stopped-before.lgv again/checkpoint-before.lgv
    head -c 3000 stopped-before.lgv > again/checkpoint.lgv
    gives 137 at kill-write:$n "$faulty" resume again --no-report --quiet --threads 1 --checkpoint-steps 40000
    gives 0 "$LGV" resume again --no-report --quiet
    diff whole.txt <(numbers again) || die "other bits after a damaged state and a kill at call $n"
done

# More paths.
few=("$kubo" --step 0.05 --until 5 --no-report --quiet)
gives 0 "$LGV" run "${few[@]}" --paths 200 --keep 2 --out all
gives 0 "$LGV" run "${few[@]}" --paths 96 --keep 2 --out more --keep-checkpoint
gives 0 "$LGV" resume more --paths 200 --no-report --quiet --keep-checkpoint
numbers all > all.txt
diff all.txt <(numbers more) || die "other bits with more paths"
gives 2 "$LGV" resume more --paths 300
has err 'in the middle of a unit'

# A later end: with everything that is collected, paths that stop on the way, twice, and from the middle of a run.
cat > well.yaml <<'Y'
coordinates: { x: -1 }
momenta: { p: 0 }
hamiltonian: p^2/2 + (x^2 - 1)^2
langevin: { friction: 0.5, temperature: 0.4 }
events: { over: x > 0 }
stop: x > 1.9
sections: { middle: x }
run: { step: 0.02, until: 20, outputs: 50, paths: 75, averages: yes, correlations: yes, extremes: x, quantiles: sketch,
       histograms2: "x:p", keep: "3,40", keep_every: 5, extendable: yes, burn_in: 2 }
Y
quiet=(--no-report --quiet)
gives 0 "$LGV" run well.yaml --until 90 --outputs 225 "${quiet[@]}" --out at-once
gives 0 "$LGV" run well.yaml "${quiet[@]}" --out later
gives 0 "$LGV" resume later --until 34 "${quiet[@]}" --threads 1
gives 2 "$LGV" resume later --until 34
has err 'until = 34 is not later than the end that the run has'
gives 2 "$LGV" resume later --until 90.1
has err 'is not a whole number of intervals between outputs (0.4)' 'until = 90 is'
gives 0 "$LGV" resume later --until 90 "${quiet[@]}"
numbers at-once > at-once.txt
diff at-once.txt <(numbers later) || die "other bits with a later end"
fine=(--step 0.0002 --set keep_every=500 "${quiet[@]}")
gives 1 at late:40 "$faulty" run well.yaml "${fine[@]}" --max-time 100000 --threads 1 --out middle
has err 'the time is over'
gives 0 "$LGV" resume middle --until 24 "${quiet[@]}"
gives 0 "$LGV" run well.yaml --until 24 --outputs 60 "${fine[@]}" --out at-once
numbers at-once > at-once.txt
diff at-once.txt <(numbers middle) || die "other bits with a later end from the middle"
gives 2 "$LGV" resume more --until 10
has err 'only one with extendable = yes'
gives 3 "$LGV" run well.yaml --paths 1000000000
has err 'extendable: the run needs' 'for what all 1000000000 paths observe'
# A limit of its own counts, too; sanitizers take all addresses.
if ! grep -q __asan_init "$LGV"; then
    gives 3 bash -c 'ulimit -v 8000000; exec "$@"' x "$LGV" run well.yaml --paths 10000000
    has err 'extendable: the run needs' 'and there are '
    sed -n 's/.*and there are \([0-9.]*\) GB.*/\1/p' err | awk '{ n++; bad += $1 > 8.2 } END { exit bad || n != 1 }' ||
        die "the limit of the process does not count"
fi

# Saved after so many steps.
gives 1 at stop:60 "$faulty" run "${model[@]}" --checkpoint 0 --checkpoint-steps 40000 --threads 1 --out steps
[ -s steps/checkpoint-before.lgv ] || die "not saved by steps"
gives 1 at stop:60 "$faulty" run "${model[@]}" --checkpoint 0 --threads 1 --out steps-none
[ ! -e steps-none/checkpoint-before.lgv ] || die "saved on the way, and nobody asked for it"

# A clock that jumps: it is time to save, once.
gives 0 at late:20 "$faulty" run "${model[@]}" --checkpoint 100000 --threads 1 --out jumped
diff whole.txt <(numbers jumped) || die "a clock that jumps"

# Paths until an error is reached: the bits of a run with that number of paths.
gives 0 "$LGV" run "${few[@]}" --paths 100 --until-stderr q=0.004 --out goal
paths=$("$LGV" report goal --json --out pages | sed -n 's/^  "paths": \([0-9]*\),/\1/p')
[ "$paths" -gt 112 ] || die "$paths paths"
gives 0 "$LGV" run "${few[@]}" --paths "$paths" --out fixed
numbers goal > goal.txt
diff <(grep -v until_stderr goal.txt) <(numbers fixed | grep -v until_stderr) || die "other bits when paths are added"
error=$(grep -A3 '"q": {' goal.txt | sed -n 's/.*"stderr": \(.*\),/\1/p')
awk -v e="$error" 'BEGIN { exit !(e > 0.002 && e <= 0.004) }' || die "a standard error of $error"
for bad in q q= q=0 q=-1 q=x =1; do gives 2 "$LGV" run "${few[@]}" --until-stderr $bad; done
gives 2 "$LGV" run "${few[@]}" --until-stderr nothing=1
has err 'no observable nothing; there are' ' H, ' ', q, p'
# What was wanted stands in the state: stopped on the way, the run still comes to the same number of paths.
gives 0 "$LGV" run "${few[@]}" --paths 1600 --step 0.005 --until-stderr q=0.001 --out aimed
gives 1 at stop:20 "$faulty" run "${few[@]}" --paths 1600 --step 0.005 --until-stderr q=0.001 --threads 1 --out aim
gives 0 "$LGV" resume aim --no-report --quiet
numbers aimed > aimed.txt
diff aimed.txt <(numbers aim) || die "the error that was wanted is forgotten"
gives 0 "$LGV" report aim --json --out pages
[ "$(sed -n 's/^  "paths": \([0-9]*\),/\1/p' out)" -gt 1600 ] || die "1600 paths were enough"
# An error that never will be known adds no paths for ever: all paths fail, or their values are infinite.
cat > lost.yaml <<'Y'
coordinates: { x: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2 - x^4/4
noise: 0.01*x
observe: { far: exp(800 + x) }
run: { method: verlet, step: 0.01, until: 4, paths: 64, rescue: "no" }
Y
gives 1 "$LGV" run lost.yaml --until-stderr x=0.1 --out lost --no-report --quiet
gives 0 "$LGV" report lost --json --out pages
has out '"paths": 1024,'
gives 0 "$LGV" run lost.yaml --until-stderr far=0.1 --until 1 --out lost --no-report --quiet
gives 0 "$LGV" report lost --json --out pages
has out '"paths": 64,'
# Where nearly all paths of the first have stopped, more of them help.
cat > stopping.yaml <<'Y'
coordinates: { x: "normal(0, 1)" }
hamiltonian: p_x^2/2 + x^2/2
noise: 0.01*x
stop: abs(x) > 0.1
run: { step: 0.05, until: 2, paths: 8, until_stderr: x=0.02, seed: 1 }
Y
gives 0 "$LGV" run stopping.yaml --out stopping --no-report --quiet
gives 0 "$LGV" report stopping --json --out pages
hasnot out '"paths": 16,'
# More paths than there is memory for: those there are stay.
if ! grep -q __asan_init "$LGV"; then
    gives 3 bash -c 'ulimit -v 900000; exec "$@"' x "$LGV" run well.yaml --outputs 1000 --set keep_every=1 --paths 160 \
        --until-stderr x=0.000001 --out room --threads 1 --no-report --quiet
    has err 'until_stderr: not so many as ' 'and there are ' 'lgv resume room'
    gives 0 "$LGV" resume room --until-stderr x=10 --no-report --quiet
    gives 0 "$LGV" report room --json --out pages
    [ "$(sed -n 's/^  "paths": \([0-9]*\),/\1/p' out)" -gt 160 ] || die "no paths were kept"
fi
# What a part and a multilevel run have not.
for other in "--part 1/2" "--mlmc --tolerance 0.1"; do
    for flag in "--until-stderr q=1" "--max-time 1" "--checkpoint 1" --keep-checkpoint; do
        gives 2 "$LGV" run "${few[@]}" --paths 320 $other $flag --out none
    done
done
has err 'not with --part or --mlmc'

# Time that is over.
gives 1 at late:20 "$faulty" run "${model[@]}" --max-time 100000 --out late
has err 'the time is over' 'lgv resume late'
[ -s late/results.h5 ] && [ -s late/checkpoint.lgv ] || die "no results, or no state"

# What there is not.
gives 2 "$LGV" resume nowhere
has err 'there is no directory nowhere'
mkdir empty-one
gives 2 "$LGV" resume empty-one
has err 'there is nothing to go on with'
gives 2 "$LGV" run "${few[@]}" --checkpoint soon
has err '--checkpoint wants a number of seconds, not soon'
echo "Everything holds."
