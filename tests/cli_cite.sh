# SPDX-License-Identifier: BSD-3-Clause
#
# lgv cite: the software and the papers of a run; every paper that a method names by its DOI has an entry with a title.
source "$(dirname "$0")/shell.inc"

gives 0 "$LGV" run "$kubo" "${small[@]}" --method verlet-8 --out run --no-report
gives 0 "$LGV" cite run
has out '@software{lagrangevin' 'version = {' '10.1080/10556780500140664' 'Stochastic discrete Hamiltonian'
hasnot out bourabee
cp out first
gives 0 "$LGV" cite run/results.h5
cmp first out || die "the file and its folder are cited differently"
gives 2 "$LGV" cite nowhere
has err nowhere

# All DOIs in the descriptions of methods are in the table.
"$LGV" methods --json | grep '"paper"' | grep -o 'doi 10\.[^ ,;"]*' | sed 's/doi //' | sort -u > wanted
[ "$(wc -l < wanted)" -gt 20 ] || die "there are too few papers to check"
while read -r doi; do
    grep -qF "\"$doi\"}," "$SRC/src/out/cite.c" || die "src/out/cite.c has no entry for $doi"
done < wanted
