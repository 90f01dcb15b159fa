# SPDX-License-Identifier: BSD-3-Clause
#
# What a compiler does not see: no line is longer than 120 columns, and no method computes a time from the number of its
# step (it works on a span of time: time_at, c->dt).

source "$SRC/tests/complaints.inc"

# complaints FOLDER: one line per fault
complaints() {
    (
        cd "$1" || exit 1
        find src methods include tests bench scripts -type f ! -path 'tests/corpus/*' | sort |
            LC_ALL=C xargs awk 'length($0) > 120 { print FILENAME ":" FNR ": " length($0) " columns" }'
        grep -nHE '\bc->step\b' methods/*.c |
            sed 's/:\([0-9]*\):.*/:\1: the number of a step/'
    )
}

# The check itself is checked.
planted=$(mktemp -d) || exit 1
trap 'rm -rf "$planted"' EXIT
mkdir -p "$planted"/{src/run,methods,include,tests/corpus,bench,scripts}
long=$(printf '%0121d' 0)
printf '/* %s */\nint x;\n' "${long:0:114}" > "$planted/src/run/block.c"
printf 'double t = time_at(c, 0);\ndouble u = (double)c->step * c->dt;\n' > "$planted/methods/verlet.c"
printf '%s\n' "$long" > "$planted/tests/corpus/long.yaml"
printf 'true\n%s\n' "$long" > "$planted/scripts/setup"
wanted='methods/verlet.c:2: the number of a step
scripts/setup:2: 121 columns'
judge "$planted" "$wanted"
