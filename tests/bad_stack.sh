# SPDX-License-Identifier: BSD-3-Clause
#
# Formulas nested as deeply as they may be do not need much of the stack: a program may read model files in a thread.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
open=$(printf '(%.0s' $(seq 195))
close=$(printf '+1)%.0s' $(seq 195))
printf 'coordinates: {q: 0}\nmomenta: {p: 0}\nhamiltonian: "p^2/2 + %sq%s"\n' "$open" "$close" > "$dir/deep.yaml"
if ! (ulimit -s 1024 && "$LGV" check "$dir/deep.yaml" > "$dir/out"); then
    echo "195 brackets need more than a megabyte of stack"
    exit 1
fi
grep -q 'degrees of freedom' "$dir/out"
