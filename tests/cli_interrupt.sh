# SPDX-License-Identifier: BSD-3-Clause
#
# Ctrl-C, SIGTERM and SIGHUP: valid partial results, exit 1.
source "$(dirname "$0")/shell.inc"

set -m # background jobs of a script ignore SIGINT otherwise
long=(--paths 20000 --step 0.001 --until 1000 --no-report)
"$LGV" run "$kubo" "${small[@]}" --quiet --no-files # compiles the kernel
for signal in INT TERM HUP; do
    rm -rf part
    "$LGV" run "$kubo" "${long[@]}" --out part > out 2> err &
    pid=$!
    for _ in {1..100}; do [ ! -d part ] || break; sleep 0.1; done
    sleep 0.7
    kill -$signal $pid
    code=0
    wait $pid || code=$?
    [ $code = 1 ] || die "exit code $code after SIG$signal"
    has err interrupted
    has out 'interrupted'
    [ -s part/results.h5 ] || die "no partial results after SIG$signal"
    gives 0 "$LGV" report part --json
    has out '"interrupted": true'
done

# ends PID CODE: within a generous time; a signal that is not heard would take a minute.
ends() {
    local code=0
    for _ in {1..200}; do kill -0 $1 2> /dev/null || break; sleep 0.1; done
    if kill -0 $1 2> /dev/null; then kill -KILL $1; die "the signal was not heard"; fi
    wait $1 || code=$?
    [ $code = $2 ] || die "exit code $code, not $2"
}

# A run that no one will see the end of says so once its pace is known, also where stderr is no terminal.
"$LGV" run "$kubo" --paths 1e14 --step 0.001 --until 1000 --no-files > out 2> err &
pid=$!
for _ in {1..300}; do ! grep -q 'years' err || break; sleep 0.1; done
kill -INT $pid
ends $pid 1
has err 'warning: at this pace the run ends in' 'years'

# The compiler is ended, and nothing of it is left.
printf '#!/bin/sh\n[ "$1" != -v ] || exec clang -v\necho $$ > started\nexec sleep 60\n' > slow-cc
chmod +x slow-cc
mkdir cache
for signal in INT TERM HUP; do
    rm -f started
    XDG_CACHE_HOME=$work/cache "$LGV" run "$kubo" --compiler ./slow-cc --out new > out 2> err &
    pid=$!
    for _ in {1..100}; do [ ! -s started ] || break; sleep 0.1; done
    kill -$signal $pid
    ends $pid 1
    has err interrupted
    [ ! -e new ] || die "the directory is left"
    [ -z "$(find cache -name kernel.c)" ] || die "files of the compiler are left"
    kill -0 "$(cat started)" 2> /dev/null && die "the compiler goes on"
done

# A file that does not come, and one that does not end.
mkfifo never
"$LGV" run never > out 2> err &
pid=$!
sleep 0.3
kill -TERM $pid
ends $pid 1
sleep 60 > never &
writer=$!
"$LGV" run - < never > out 2> err &
pid=$!
sleep 0.3
kill -TERM $pid
ends $pid 1
has err interrupted
kill -KILL $writer && wait $writer 2> /dev/null || true

# An experiment ends with its run.
mkdir -p mine/one mine/kubo
cat > mine/one/experiment.yaml <<'YAML'
runs: [ { name: a, command: run ../kubo/kubo.yaml --paths 20000 --step 0.001 --until 1000 --no-report } ]
claims: []
YAML
cp "$kubo" mine/kubo/
LGV_EXAMPLES=$PWD/mine "$LGV" reproduce one --out all > out 2> err &
pid=$!
for _ in {1..100}; do pgrep -P $pid -x lgv > found && break; sleep 0.1; done
kill -TERM $pid
ends $pid 1
for _ in {1..100}; do kill -0 "$(cat found)" 2> /dev/null || break; sleep 0.1; done
if kill -0 "$(cat found)" 2> /dev/null; then die "the run goes on"; fi
