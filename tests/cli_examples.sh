# SPDX-License-Identifier: BSD-3-Clause
#
# Every model of the examples is read.  Every example with numbers in examples/NAME/expected.txt gives them.  The
# format is described in examples/README.md.  Then the model of README.md and the C program of docs/c-api.md work as
# they stand there.
source "$(dirname "$0")/shell.inc"

# The JSON document in ./out as lines "final.H.mean 0.5".
flatten() {
    awk '{
        gsub(/^ +|,$/, "")
        if ($0 ~ /^[]}]/) { depth--; next }
        if (!match($0, /^"[^"]*": /)) next
        key = substr($0, 2, RLENGTH - 4); value = substr($0, RLENGTH + 1)
        if (value == "{" || value == "[") { name[++depth] = key; next }
        path = ""
        for (i = 1; i <= depth; i++) path = path name[i] "."
        print path key, value
    }' out > flat
}
value() {
    awk -v key="$1" '$1 == key { print $2; found = 1 } END { exit !found }' flat || die "no $1 in the document"
}
# holds QUANTITY < X | QUANTITY > X | QUANTITY = X +- K stderr + BIAS | QUANTITY = X +- TOLERANCE
holds() {
    local x error=0 scale=1
    x=$(value "$1")
    if [ "${6:-}" = stderr ]; then error=$(value "${1%.mean}.stderr"); else scale=0; fi
    awk -v x="$x" -v op="$2" -v y="$3" -v k="${5:-0}" -v error="$error" -v scale="$scale" -v bias="${8:-0}" 'BEGIN {
        if (x !~ /^[-+0-9.e]+$/) exit 1
        x += 0; y += 0
        if (op == "<") exit !(x < y)
        if (op == ">") exit !(x > y)
        d = x > y ? x - y : y - x
        if (op == "=") exit !(d <= (scale ? k * error + bias : k + 0))
        exit 1 }' || die "$example: $* does not hold, the value is $x (stderr $error)"
}

for file in "$SRC"/examples/*/*.yaml; do
    [ "$(basename "$file")" = experiment.yaml ] || gives 0 "$LGV" explain "$file"
done

checked=0
for file in "$SRC"/examples/*/expected.txt; do
    folder=$(dirname "$file")
    example=$(basename "$folder")
    while read -r -a line <&3; do
        case ${line[0]:-#} in
        \#*) ;;
        run)
            gives 0 "$LGV" run "$folder/$example.yaml" "${line[@]:1}" --json --no-files
            flatten
            [ "$(value failed)" = 0 ] || die "$example: failed paths"
            ;;
        *)
            holds "${line[@]}"
            checked=$((checked + 1))
            ;;
        esac
    done 3< "$file"
done
[ "$checked" -ge 30 ] || die "only $checked numbers were checked"

# block LANGUAGE FILE: the first code block of that language.
block() {
    awk -v start="\`\`\`$1" '$0 == start { inside = 1; next } /^```/ { if (inside) exit } inside' "$SRC/$2"
}
block yaml README.md > pendulum.yaml
gives 0 "$LGV" check pendulum.yaml
gives 0 "$LGV" run pendulum.yaml --paths 64 --until 2 --no-files
block c docs/c-api.md > first.c
flags=(-std=gnu17 -Wall -Wextra -Werror)
if grep -q __asan_init "$LGV"; then flags+=(-fsanitize=address,undefined); fi
build=$(dirname "$LGV")
gives 0 "${CC:-cc}" "${flags[@]}" first.c -I"$SRC/include" -L"$build" -llgv -Wl,-rpath,"$build" -o first
gives 0 ./first
has out 'E[H] = '
