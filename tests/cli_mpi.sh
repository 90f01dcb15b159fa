# SPDX-License-Identifier: BSD-3-Clause
#
# lgv-mpi: the bits of one process with 1, 2 and 3 of them, also when they are stopped and others go on; a process that
# is killed; errors are told once.
source "$(dirname "$0")/shell.inc"
if [ ! -x "$LGV-mpi" ] || ! command -v mpirun > /dev/null; then
    echo "no MPI: nothing to test"
    exit 0
fi
mpi_faulty=$(dirname "$LGV")/tests/lgv_mpi_fault
export ASAN_OPTIONS=detect_leaks=0 # of MPI itself
if ! mpirun --oversubscribe -n 2 true > out 2> err; then
    echo "mpirun does not start here: nothing to test"
    cat err
    exit 0
fi
ranks() { # ranks CODE N ARGUMENTS...
    local code=$1 n=$2
    shift 2
    gives "$code" mpirun --oversubscribe -n "$n" "$LGV-mpi" "$@" --threads 1
}
# in_ranks MOMENT CODE N ARGUMENTS...: the same, where that comes for every process
in_ranks() {
    gives "$2" env LGV_FAULT="$1" mpirun --oversubscribe -n "$3" "$mpi_faulty" "${@:4}" --threads 1
}
numbers() { # the JSON document without what is measured by a clock
    grep -vE '"([a-z_]*seconds[a-z_]*|path_steps_per_second|command|threads|date|cost)"' "$1"
}
same() { diff <(numbers "$1") <(numbers "$2") > differ || die "$3: $(head -4 differ)"; }

# Everything that is collected, with paths that stop on the way and a number that is no multiple of 16.
cat > well.yaml <<'Y'
coordinates: { x: -1 }
momenta: { p: 0 }
hamiltonian: p^2/2 + (x^2 - 1)^2
langevin: { friction: 0.5, temperature: 0.4 }
observe: { r: abs(x) }
events: { over: x > 0 }
stop: x > 1.9
sections: { middle: x }
run: { step: 0.02, until: 40, paths: 1003, averages: yes, correlations: yes, extremes: x, quantiles: sketch,
       histograms2: "x:p", density: yes }
Y
gives 0 "$LGV" run well.yaml --json
mv out one.json
for n in 1 2 3; do
    ranks 0 $n run well.yaml --json
    same one.json out "$n processes have other bits"
done
ranks 0 2 run well.yaml --out files
has out 'written to files/: results.h5, figures, report.html'
[ "$(grep -c 'written to' out)" = 1 ] || die "more than one process has written"

# Stopped on the way, gone on with by one process, stopped again, and by two.
long=(run well.yaml --paths 2000 --until 400)
gives 0 "$LGV" "${long[@]}" --json
mv out one.json
in_ranks late:40 1 3 "${long[@]}" --out stopped --no-report --checkpoint-steps 100000 --max-time 100000
has err 'goes on'
gives 1 at late:40 "$faulty" resume stopped --no-report --max-time 100000
ranks 0 2 resume stopped --json --no-report
same one.json out "a run that was stopped has other bits"

# A later end.
gives 0 "$LGV" run well.yaml --until 80 --outputs 400 --set extendable=yes --set keep_every=1 --json
mv out later.json
ranks 0 2 run well.yaml --set extendable=yes --out later --no-report --quiet
ranks 0 3 resume later --until 80 --json --no-report
same later.json out "a later end"

# More units on their way than processes to go on with them, stopped again before all have had their turn.
few=(run well.yaml --paths 96 --until 4000)
gives 0 "$LGV" "${few[@]}" --json
mv out few.json
gives 1 at late:40 "$faulty" "${few[@]}" --out many --no-report --threads 6 --max-time 100000
in_ranks late:10 1 2 resume many --no-report --max-time 100000
ranks 0 2 resume many --json --no-report
same few.json out "units that had no turn are lost"

# A process that dies takes the others with it, and the last state is good.
arguments=("${long[@]}" --out killed --no-report --checkpoint-steps 1000000 --threads 1)
code=0
mpirun --oversubscribe -n 1 env LGV_FAULT=kill-write:10 "$mpi_faulty" "${arguments[@]}" : \
    -n 1 env LGV_FAULT=stop:100000000 "$mpi_faulty" "${arguments[@]}" > out 2> err || code=$?
[ "$code" != 0 ] || die "a process was killed, and nobody noticed"
[ -s killed/checkpoint.lgv ] || [ -s killed/checkpoint-before.lgv ] || die "no state is left"
ranks 0 2 resume killed --json --no-report
same one.json out "a run that was killed has other bits"

# Paths added until an error is reached.
gives 0 "$LGV" run "$kubo" --step 0.1 --paths 500 --until-stderr q=0.01 --json
mv out one.json
ranks 0 3 run "$kubo" --step 0.1 --paths 500 --until-stderr q=0.01 --json
same one.json out "--until-stderr"

# Studies.
study() { # study NAME ARGUMENTS...
    local name=$1
    shift
    gives 0 "$LGV" "$@" --json
    mv out one.json
    ranks 0 3 "$@" --json
    same one.json out "$name"
}
study converge converge "$kubo" --methods midpoint,verlet --until 1 --levels 3 --paths 200
study compare compare "$kubo" --methods midpoint,verlet --until 5 --step 0.1 --paths 300
study together sweep "$kubo" --over beta=0:1:41 --together --until 5 --step 0.1 --paths 3
study mlmc run "$kubo" --mlmc --tolerance 0.05 --observe q --until 2 --largest 0.5

# Errors, once and soon.
ranks 2 3 run none.yaml
[ "$(grep -c 'none.yaml' err)" = 1 ] || die "an error is told more than once"
ranks 2 2 run "$kubo" --part 1/2
has err '--part is for ensembles in parts'
echo "Everything holds."
