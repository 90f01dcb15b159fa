# SPDX-License-Identifier: BSD-3-Clause
#
# Memory that runs out and disks that are full, at one call after the other: a message and exit code 3, or a result as
# good as ever where the call did not matter (the cache, for one); never a crash, never half a file.
source "$(dirname "$0")/shell.inc"
faulty=$(dirname "$LGV")/tests/lgv_fault
pendulum=$SRC/examples/spherical-pendulum-noise/spherical-pendulum-noise.yaml

# try FAULT COMMAND...: false when the fault did not come any more.
try() {
    local code=0 fault=$1
    shift
    rm -rf seen part
    LGV_FAULT=$fault LGV_FAULT_SEEN=$work/seen "$@" > out 2> err || code=$?
    [ -e seen ] || return 1
    case $code in
    0) ;;
    3) [ -s err ] || die "$fault: no message" ;;
    1) [ "${2-}" = check ] || die "$fault: exit code 1: $*" ;; # what could not be measured is told, the rest is good
    *) die "$fault: exit code $code: $*" ;;
    esac
    [ -z "$(find . -name '*.tmp')" ] || die "$fault: a temporary file is left"
    if [ $code = 0 ] && [[ "${2-} $*" == "run "*" --out part"* ]] && [ ! -s part/results.h5 ]; then
        die "$fault: no results"
    fi
    if [ $code != 0 ]; then
        case $fault in
        memory*) grep -q 'memory' err || die "$fault: the message does not say what is wrong" ;;
        write*) grep -q 'No space left' err || die "$fault: the message does not say what is wrong" ;;
        esac
    fi
    return 0
}
# all KIND FACTOR COMMAND...: the 1st, 2nd, ... call, in growing strides.
all() {
    local kind=$1 percent=$2 n=1 tried=0
    shift 2
    while try "$kind:$n" "$@"; do n=$((n + 1 + n * percent / 100)) tried=$((tried + 1)); done
    [ $tried -gt 2 ] || die "$kind: only $tried faults"
}
# dense FROM TO COMMAND...: memory, every call between two parts, in percent, of all calls.
dense() {
    local low=1 high=65536 k
    while [ $((high - low)) -gt 1 ]; do
        k=$(((low + high) / 2))
        if try memory:$k "${@:3}"; then low=$k; else high=$k; fi
    done
    for k in $(seq $((low * $1 / 100)) $((low * $2 / 100))); do try memory:$k "${@:3}" || return 0; done
}
run=(--paths 16 --step 0.1 --until 1 --threads 1 --no-report --out part)
"$LGV" run "$kubo" "${run[@]}" --quiet
"$LGV" run "$pendulum" "${run[@]}" --quiet
all memory 12 "$faulty" run "$kubo" "${run[@]}"
# Where the result is described by many small texts.
dense 60 68 "$faulty" run "$kubo" --paths 16 --step 0.1 --until 1 --threads 1 --json
# Sums over indices, as they are read.
cat > sums.yaml <<'Y'
parameters: { "k[3]": [1, 2, 3] }
coordinates: { "x[3]": 0.3 }
momenta: { "p[3]": 0 }
hamiltonian: sum(i=1..3, p[i]^2/2 + k[i]*x[i]^2/2)
Y
for n in $(seq 40 120); do try memory:$n "$faulty" explain sums.yaml || die "memory:$n: no fault"; done
all memory-on 30 "$faulty" run "$pendulum" "${run[@]}"
all memory 40 "$faulty" check "$kubo" --json
all write 0 "$faulty" run "$kubo" "${run[@]}"
"$LGV" run "$kubo" "${run[@]}" --quiet --out whole
# A limit of the size of files is no signal that ends the program.
rm -rf part
gives 3 bash -c 'ulimit -f 8; exec "$@"' x "$LGV" run "$kubo" --paths 64 --step 0.01 --until 10 --no-report --out part
has err 'File too large'
[ -z "$(find . -name '*.tmp')" ] || die "a temporary file is left"
# A state that cannot be saved: the one before it stays, and where there is none nobody is sent there.
long=(run "$kubo" --paths 9600 --step 0.0001 --until 100 --no-report --quiet --max-time 0.01 --threads 1 --out stopped)
"$LGV" "${long[@]}" 2> err || true
has err 'lgv resume stopped'
for n in 1 2 3 4 5 6; do
    rm -rf stopped seen
    LGV_FAULT=write:$n LGV_FAULT_SEEN=$work/seen "$faulty" "${long[@]}" > out 2> err || true
    [ -e seen ] || continue
    if grep -q 'could not be saved' err && [ ! -e stopped/checkpoint.lgv ]; then lost=1; fi
    ! grep -q 'lgv resume stopped' err || [ -s stopped/checkpoint.lgv ] || die "write:$n: no state to go on from"
done
[ "${lost-0}" = 1 ] || die "every state could be saved"
all memory 25 "$faulty" report whole --json --out pages
# A longer run takes over the units of the shorter one.
"$LGV" run "$kubo" --paths 1600 --step 0.1 --until 1 --outputs 10 --threads 1 --no-report --extendable yes --out short \
    --quiet
longer() {
    rm -rf longer
    cp -r short longer
    "$faulty" resume longer --until 2 --no-report --quiet --threads 1
}
all memory 40 longer
# The options that a state was made with are read first, by many small texts.
for n in $(seq 1 40); do try memory:$n longer || die "memory:$n: no fault"; done
