# SPDX-License-Identifier: BSD-3-Clause
#
# Ctrl-C and SIGTERM: valid partial results, exit 1.
source "$(dirname "$0")/shell.inc"

set -m # background jobs of a script ignore SIGINT otherwise
long=(--paths 20000 --step 0.001 --until 1000 --no-report)
"$LGV" run "$kubo" "${small[@]}" --quiet --no-files # compiles the kernel
for signal in INT TERM; do
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
