# SPDX-License-Identifier: BSD-3-Clause
#
# Ctrl-C, SIGTERM and SIGHUP: valid partial results, exit 1.
source "$(dirname "$0")/shell.inc"

set -m # background jobs of a script ignore SIGINT otherwise
"$LGV" run "$kubo" "${small[@]}" --quiet --no-files # compiles the kernel
for signal in INT TERM HUP; do
    rm -rf part
    # without end, on any machine; on its way once its state has been saved
    "$LGV" run "$kubo" --paths 1000000 --step 0.001 --until 1e6 --no-report --checkpoint 0.1 --out part > out 2> err &
    pid=$!
    await $pid test -s part/checkpoint.lgv
    kill -$signal $pid
    ends $pid 1
    has err interrupted
    has out 'interrupted'
    [ -s part/results.h5 ] || die "no partial results after SIG$signal"
    gives 0 "$LGV" report part --json
    has out '"interrupted": true'
done

# A run that no one will see the end of says so once its pace is known, also where stderr is no terminal.
"$LGV" run "$kubo" --paths 1e14 --step 0.001 --until 1000 --no-files > out 2> err &
pid=$!
await $pid grep -q 'years' err
kill -INT $pid
ends $pid 1
has err 'warning: at this pace the run ends in' 'years'

# The compiler is ended, and nothing of it is left.
printf '#!/bin/sh\n[ "$1" != -v ] || exec clang -v\necho $$ > s\nmv s started\nexec sleep 100000\n' > slow-cc
chmod +x slow-cc
mkdir cache
for signal in INT TERM HUP; do
    rm -f started
    XDG_CACHE_HOME=$work/cache "$LGV" run "$kubo" --compiler ./slow-cc --out new > out 2> err &
    pid=$!
    await $pid test -s started
    kill -$signal $pid
    ends $pid 1
    has err interrupted
    [ ! -e new ] || die "the directory is left"
    [ -z "$(find cache -name kernel.c)" ] || die "files of the compiler are left"
    while kill -0 "$(cat started)" 2> /dev/null; do sleep 0.1; done # would go on for a day
done

# A file that does not come, and one that does not end.
mkfifo never
LGV_FAULT=ready:1 LGV_FAULT_SEEN=listens "$faulty" run never > out 2> err &
pid=$!
await $pid test -e listens
kill -TERM $pid
ends $pid 1
rm listens
sleep 100000 > never &
writer=$!
LGV_FAULT=ready:1 LGV_FAULT_SEEN=listens "$faulty" run - < never > out 2> err &
pid=$!
await $pid test -e listens
kill -TERM $pid
ends $pid 1
has err interrupted
kill -KILL $writer && wait $writer 2> /dev/null || true

# An experiment ends with its run: once that has ended its directory can be written to.
mkdir -p mine/one mine/kubo
endless='--paths 1000000 --step 0.001 --until 1e6 --no-report --checkpoint 0.1'
cat > mine/one/experiment.yaml <<YAML
runs: [ { name: a, command: run ../kubo/kubo.yaml $endless } ]
claims: []
YAML
cp "$kubo" mine/kubo/
LGV_EXAMPLES=$PWD/mine "$LGV" reproduce one --out all > out 2> err &
pid=$!
await $pid test -s all/one/a/checkpoint.lgv
kill -TERM $pid
ends $pid 1
until "$LGV" run "$kubo" "${small[@]}" --quiet --no-report --out all/one/a 2> busy; do
    grep -q 'another lgv is writing' busy || die "$(cat busy)"
    sleep 0.1
done
