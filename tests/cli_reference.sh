# SPDX-License-Identifier: BSD-3-Clause
#
# docs/reference is what the program writes now: `make docs` after a change of the tables.
source "$(dirname "$0")/shell.inc"

gives 0 "$LGV" reference new
gives 0 "$LGV" reference again
diff -r new again || die "two runs of lgv reference differ"
diff -r "$SRC/docs/reference" new || die "docs/reference is not current: run make docs"
