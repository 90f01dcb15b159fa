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

gives 2 "$LGV" report nothing.h5
has err 'nothing.h5' 'No such file'
gives 2 "$LGV" report "$kubo"
has err 'not an HDF5 file'
head -c 3000 run/results.h5 > cut.h5
gives 2 "$LGV" report cut.h5
has err cut.h5
