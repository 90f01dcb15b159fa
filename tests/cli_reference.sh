# SPDX-License-Identifier: BSD-3-Clause
#
# docs/reference is what the program writes now: `make docs` after a change of the tables.
source "$(dirname "$0")/shell.inc"

gives 0 "$LGV" reference new
gives 0 "$LGV" reference again
diff -r new again || die "two runs of lgv reference differ"
diff -r "$SRC/docs/reference" new || die "docs/reference is not current: run make docs"

# Every method has its formula, advice, claims and a citation; where a paper has a DOI it is a link.
for page in new/method-*.md; do
    for part in 'Step' 'When to take it' 'What it claims' 'Citation'; do
        text=$(awk -v part="## $part" '/^## /{on = $0 == part; next} on' "$page" | tr -d '\n')
        [ ${#text} -gt 20 ] || die "$page says nothing under $part: src/method/notes.c and src/out/cite.c have it"
    done
    grep -q '^@' "$page" || die "$page has no entry for BibTeX"
    ! grep -q 'doi 10[^]]*$' "$page" || die "$page has a DOI that is not a link"
done
# A key of BibTeX stands for one paper: a method that is made of others cites several.
keys=$(grep -hA2 '^@' new/method-*.md | tr -d '\n' | sed 's/@/\n@/g' | sed 's/--$//; s/^@[a-z]*{//' | sort -u |
    sed 's/,.*//' | uniq -d)
[ -z "$keys" ] || die "two papers have one key: $keys"
gives 0 "$LGV" methods BAOAB
has out 'B(1/2)  A(1/2)  O(1)' advice
