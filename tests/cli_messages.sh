# SPDX-License-Identifier: BSD-3-Clause
#
# Model files with mistakes: place, line and caret, exit 2, nothing on stdout.
source "$(dirname "$0")/shell.inc"

refuses() { # PLACE TEXT; the model on stdin
    cat > bad.yaml
    for command in run check; do
        gives 2 "$LGV" $command bad.yaml --json
        has err "bad.yaml:$1: " "$2"
        head -n1 err | grep -q "^bad.yaml:" || die "an editor could not jump there"
        [ "$(wc -l < err)" -le 4 ] || die "too many lines"
        empty out
    done
}
refuses 3:19 'qq' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2+ qq^2
YAML
refuses 3:1 'hamiltonian' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonain: p^2/2
YAML
refuses 3:14 '' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
run: { step: tiny }
hamiltonian: p^2/2
YAML
refuses 4:16 'did you mean P1N1Q2Gau' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2
run: { method: P1N1Q2Gua }
YAML
refuses 4:8 'did you mean "paths"' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2
run: { pahts: 3 }
YAML
[ ! -e lgv-bad ] || die "a refused model left a directory"
printf 'a\0b' > zero.yaml
gives 2 "$LGV" run zero.yaml
has err 'not a text file'
: > empty.yaml
gives 2 "$LGV" run empty.yaml

# A model file comes from anybody: it starts no program.
printf '#!/bin/sh\ntouch %s/started\nexec clang "$@"\n' "$work" > cc-x
chmod +x cc-x
refuses 4:8 'must not name programs' <<'YAML'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2
run: { compiler: ./cc-x }
YAML
for command in 'compare bad.yaml' 'converge bad.yaml'; do
    gives 2 "$LGV" $command
    has err 'bad.yaml:4:8: ' 'must not name programs' '--compiler'
done
[ ! -e started ] || die "the program was started"
