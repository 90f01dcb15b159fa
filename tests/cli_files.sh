# SPDX-License-Identifier: BSD-3-Clause
#
# The program and its output directory: one writer at a time, no leftovers, nothing old beside new results.
source "$(dirname "$0")/shell.inc"
quick=(--paths 16 --step 0.1 --until 1 --quiet)

# A directory has one writer.
LGV_FAULT=hold:1 LGV_FAULT_SEEN=held "$faulty" run "$kubo" --paths 2000 --no-report --quiet --out busy &
pid=$!
await $pid test -e held
for command in run converge compare; do
    gives 3 "$LGV" $command "$kubo" --out busy
    has err 'another lgv is writing to the directory busy' '--out'
done
[ -z "$(ls busy)" ] || die "the second one wrote files"
kill -KILL $pid
ends $pid 137
gives 0 "$LGV" run "$kubo" "${quick[@]}" --out busy

# Temporary files of killed writers go; those of living ones, and what is not ours, stay.
touch busy/results.h5.lgv-4199999.0123abcd.tmp busy/results.h5.lgv-$$.0123abcd.tmp busy/mine.4199999.tmp \
    busy/notes.tmp busy/a.lgv-41x9.0123abcd.tmp
gives 0 "$LGV" run "$kubo" "${quick[@]}" --out busy --no-report
[ ! -e busy/results.h5.lgv-4199999.0123abcd.tmp ] || die "a leftover stays"
for f in results.h5.lgv-$$.0123abcd.tmp mine.4199999.tmp notes.tmp a.lgv-41x9.0123abcd.tmp; do
    [ -e busy/$f ] || die "$f is gone"
done

# That run wrote no report, so there is none.
[ ! -e busy/report.html ] || die "an old report is beside new results"

# Names that differ behind the cut.
long=a-model-with-a-name-that-is-much-longer-than-usual
for end in one two; do
    sed "s/^name:.*/name: $long-$end/" "$kubo" > m.yaml
    grep -q "$long" m.yaml || { echo "name: $long-$end" && cat "$kubo"; } > m.yaml
    gives 0 "$LGV" run m.yaml "${quick[@]}" --no-report
done
[ "$(ls -d lgv-a-model* | wc -l)" = 2 ] || die "two models share a directory"
for name in a.b "a b" a_b; do
    { echo "name: $name" && grep -v '^name:' "$kubo"; } > m.yaml
    gives 0 "$LGV" run m.yaml "${quick[@]}" --no-report
done
[ -d lgv-a_b ] && [ "$(ls -d lgv-a_b* | wc -l)" = 3 ] || die "names that differ in one character share a directory"

# Messages name flags as they are written.
gives 2 "$LGV" run "$kubo" --check_states 99
has err '--check-states: 99 is out of range'
gives 2 "$LGV" run "$kubo" --check-states many
has err '--check-states: a whole number'

# Results that another program has changed.
truncate -s -24 busy/results.h5
gives 0 "$LGV" report busy --json --out pages
has err 'busy/results.h5 has no seal'

# Figures that are not finished, and room on the disk.
mkdir bin
printf '#!/bin/sh\nexit 0\n' > bin/gnuplot
chmod +x bin/gnuplot
PATH=$PWD/bin:$PATH gives 0 "$LGV" run "$kubo" "${quick[@]}" --out busy
has err 'gnuplot did not finish'
hasnot err 'disk'
