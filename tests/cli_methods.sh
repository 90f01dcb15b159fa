# SPDX-License-Identifier: BSD-3-Clause
#
# lgv methods: table, one method, JSON.
source "$(dirname "$0")/shell.inc"

gives 0 "$LGV" methods
has out P1N1Q1Rec P2N2Q2Lob P1N1Q2Gau EEM IEM RK4 'symplectic' 'stoermer-verlet'
gives 0 "$LGV" methods Verlet
has out P2N2Q2Lob 'Holm & Tyranowski' 'also called'
hasnot out RK4
for alias in leapfrog velocity-verlet; do
    gives 0 "$LGV" methods $alias
    has out P2N2Q2Lob
done
gives 0 "$LGV" methods --json
[ "$(head -c1 out)" = '[' ] || die "not a list"
for f in name family paper needs strong_order weak_order symplectic explicit doc aliases order claims; do
    has out "\"$f\":"
done
gives 2 "$LGV" methods midpiont
has err 'did you mean midpoint'
empty out
gives 2 "$LGV" methods xyzzy
has err 'unknown method xyzzy'

# Orders of methods for a bath are those in a bath.
gives 0 "$LGV" methods UBU
has out 'strong 2, weak 2 with constant friction'
gives 0 "$LGV" methods
grep -qE '^UBU +Langevin splitting +2 +2 +2 ' out || die "UBU has strong order 2 in a bath"
grep -qE '^BAOAB +Langevin splitting +2 +1 +2 ' out || die "BAOAB has weak order 2 in a bath"
has out 'NAME-GLA' 'NAME-Metropolis'
gives 0 "$LGV" methods BAOAB --json
has out '"bath_strong_order": 1' '"bath_weak_order": 2'
