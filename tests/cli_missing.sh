# SPDX-License-Identifier: BSD-3-Clause
#
# What is missing or full: no compiler, no gnuplot, a full disk, places that cannot be written.
source "$(dirname "$0")/shell.inc"

gives 0 "$LGV" run "$kubo" "${small[@]}" --quiet --no-files --keep-source kernel.c
has kernel.c lgv_kernel_entry
hasnot kernel.c '#include'
gives 3 "$LGV" run "$kubo" "${small[@]}" --no-files --keep-source none/kernel.c
has err none/kernel.c

# No compiler: the message says which was looked for.
gives 3 env LGV_CC=/nonexistent/cc "$LGV" run "$kubo" "${small[@]}" --out nocc
has err /nonexistent/cc
empty out
[ ! -e nocc ] || die "a run that could not start left its directory"
mkdir nothing
gives 3 env PATH="$work/nothing" "$LGV" run "$kubo" "${small[@]}" --no-files
has err clang

# No gnuplot: a warning; results and report are there.
mkdir tools
for t in clang gcc cc as ld; do p=$(command -v $t) && ln -s "$p" tools/$t; done || true
gives 0 env PATH="$work/tools" "$LGV" run "$kubo" "${small[@]}" --out noplot
has err 'warning' gnuplot 'lgv report noplot/results.h5'
[ -s noplot/results.h5 ] && [ -s noplot/report.html ] || die "results are missing without gnuplot"
gives 0 "$LGV" report noplot
[ -s noplot/energy.svg ] || die "no figures afterwards"

# Places that cannot be written.
: > file
gives 3 "$LGV" run "$kubo" "${small[@]}" --out file
has err 'not a directory'
gives 3 "$LGV" run "$kubo" "${small[@]}" --out file/sub
has err 'file/sub'
if [ "$(id -u)" != 0 ]; then
    mkdir locked && chmod 500 locked
    gives 3 "$LGV" run "$kubo" "${small[@]}" --out locked
    has err 'Permission denied'
fi

# A full disk: the numbers are still shown.
mkdir disk
if mount -t tmpfs -o size=64k tmpfs disk 2> /dev/null; then
    trap 'umount "$work/disk"; rm -rf "$work"' EXIT
    gives 3 "$LGV" run "$kubo" "${small[@]}" --out disk
    has err 'No space left'
    has out 'symplectic defect'
    gives 3 "$LGV" run "$kubo" "${small[@]}" --out disk --json
    has out '"certificate":'
    [ ! -e disk/results.h5 ] || die "half a file is left"
fi
