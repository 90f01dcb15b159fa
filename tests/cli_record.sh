# SPDX-License-Identifier: BSD-3-Clause
#
# record: single paths in paths.h5, with the same bytes whatever the threads, parts, kills and processes; memory that
# does not grow with the number of paths; a disk that is full.
source "$(dirname "$0")/shell.inc"

model=("$kubo" --paths 960 --step 0.002 --until 100 --outputs 100 --no-report --quiet --set record=final,states)
gives 0 "$LGV" run "${model[@]}" --out whole
[ -s whole/paths.h5 ] && [ ! -e whole/recorded ] || die "no paths.h5, or files are left"
gives 0 "$LGV" run "${model[@]}" --threads 1 --out one
cmp whole/paths.h5 one/paths.h5 || die "other bytes with one thread"

# Parts, one of them twice; the results lie beside them.
for part in 3/3 1/3 2/3 1/3; do gives 0 "$LGV" run "${model[@]}" --out parts --part $part; done
gives 0 "$LGV" merge parts --no-report
has out 'single paths: parts/paths.h5, 960 of them' 'written to parts/'
cmp whole/paths.h5 parts/paths.h5 || die "other bytes from parts"
rm parts/recorded/unit-000000000020.h5
gives 3 "$LGV" merge parts --no-report --out less
has err 'has 640 of the 960 paths'

# Killed again and again.
killed killed run "${model[@]}" --out killed
cmp whole/paths.h5 killed/paths.h5 || die "other bytes after kills"
[ ! -e killed/recorded ] || die "files of a finished run are left"

# Stopped: what there is, and the rest.  Of a finished run resume says so.
gives 1 at late:40 "$faulty" run "${model[@]}" --out stopped --max-time 100000
[ -s stopped/results.h5 ] || die "no results of a run that was stopped"
gives 0 "$LGV" resume stopped --no-report --quiet
cmp whole/paths.h5 stopped/paths.h5 || die "other bytes after a stop"
gives 0 "$LGV" resume stopped
has err 'the run in stopped is finished'
gives 2 "$LGV" resume stopped --paths 2000
has err 'keep-checkpoint'

# More paths; another run in the same directory.
gives 0 "$LGV" run "${model[@]}" --paths 480 --keep-checkpoint --out more
gives 0 "$LGV" resume more --paths 960 --no-report --quiet
cmp whole/paths.h5 more/paths.h5 || die "other bytes with more paths"
gives 0 "$LGV" run "$kubo" "${small[@]}" --no-report --quiet --out more
[ ! -e more/paths.h5 ] || die "paths of another run are left"

# Processes.
if [ -x "$LGV-mpi" ] && command -v mpirun > /dev/null; then
    if mpirun --oversubscribe -n 2 true > out 2> err; then
        ASAN_OPTIONS=detect_leaks=0 gives 0 mpirun --oversubscribe -n 2 "$LGV-mpi" run "${model[@]}" --threads 1 \
            --out peers
        cmp whole/paths.h5 peers/paths.h5 || die "other bytes with two processes"
    fi
fi

# Memory: 81 MB of numbers take less than that.
peak() { # kB
    LGV_PEAK=$work/peak ASAN_OPTIONS=quarantine_size_mb=1 "$faulty" run "$kubo" --step 0.05 --until 5 --paths "$1" \
        --bins 0 --no-report --quiet --threads 1 --out memory --outputs 100 --set record=final,states ||
        die "the run ends with $?"
    cat peak
}
few=$(peak 4000) many=$(peak 50000)
[ "$many" -lt $((few + 70000)) ] || die "memory of 50000 paths: $many kB, of 4000: $few kB"

# What is refused.
gives 2 "$LGV" run "${model[@]}" --no-files
has err 'give a directory with --out'
gives 2 "$LGV" run "$kubo" --set record=everything --no-files
has err 'none of final, states, increments'

# A disk that is full: the message, the state of the run stays, and with room it goes on.
mkdir disk
if mount -t tmpfs -o size=1m tmpfs disk 2> /dev/null; then
    trap 'umount "$work/disk"; rm -rf "$work"' EXIT
    gives 3 "$LGV" run "$kubo" --paths 20000 --step 0.01 --until 40 --outputs 100 --no-report --quiet --out disk/run \
        --set record=final,states --checkpoint 0.2
    has err 'No space left on device'
    mount -o remount,size=200m disk
    if [ -e disk/run/checkpoint.lgv ] || [ -e disk/run/checkpoint-before.lgv ]; then
        gives 0 "$LGV" resume disk/run --no-report --quiet
        [ -s disk/run/paths.h5 ] || die "no paths.h5"
    fi
fi
