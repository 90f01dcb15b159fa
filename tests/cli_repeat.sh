# SPDX-License-Identifier: BSD-3-Clause
#
# The same numbers for any number of threads and lanes: every digit of the JSON document's final values.
source "$(dirname "$0")/shell.inc"

final() { sed -n '/"final"/,/"certificate"/p' out; }
for model in kubo rotation; do
    file=$SRC/examples/$model/$model.yaml
    first=
    for how in '--threads 1' '--threads 2' '--threads 3 --lanes 4' '--lanes 8' '--lanes 16'; do
        # shellcheck disable=SC2086 -- two words on purpose
        gives 0 "$LGV" run "$file" --paths 1000 --step 0.05 --until 5 $how --json
        [ -n "$first" ] || { first=1 && final > wanted; }
        final | cmp - wanted || die "$model with $how differs"
    done
    [ "$(wc -l < wanted)" -gt 20 ] || die "there were no numbers to compare"
done
