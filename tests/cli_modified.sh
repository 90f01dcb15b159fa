# SPDX-License-Identifier: BSD-3-Clause
#
# The modified Hamiltonian: without noise it changes by dt^4 where H changes by dt^2, for every kind of method that has
# one and for H that is not separable; with noise its mean grows as the law says; refusals.
source "$(dirname "$0")/shell.inc"

cat > apart.yaml << 'END'
parameters: { m: 1.3 }
coordinates: { x: 1, y: 0.3 }
momenta: { px: 0.2, py: -0.4 }
hamiltonian: sqrt(1 + px^2)*m + py^2/2 + px*py/5 + x^4/4 + x*y^2/3 + y^2/2 + y^4/4
methods:
  two:
    a: [[1/4, 0], [1/2, 1/4]]
    abar: [[1/4, 0], [1/2, 1/4]]
    b: [[1/4, 0], [1/2, 1/4]]
    bbar: [[1/4, 0], [1/2, 1/4]]
    alpha: [1/2, 1/2]
    beta: [1/2, 1/2]
run: { until: 6, step: 0.04, method: P2N2Q2Lob, modified_energy: yes, check_states: 0 }
END
mixed='(1 + cos(x)*0.3)*px^2/2 + py^2/2 + px*py/5 + x^4/4 + y^2/2 + x*y^2/3 + x^2*py/4'
sed "s|^hamiltonian:.*|hamiltonian: $mixed|" apart.yaml > mixed.yaml

number() { # of the certificate
    grep -A1 "\"name\": \"$1\"" out | sed -n 's/.*"value": \([^,]*\),/\1/p'
}
both() { # changes of H and of the modified H, step $3
    gives 0 "$LGV" run "$1" --json --method "$2" --step "$3"
    echo "$(number energy) $(number modified_energy)"
}
orders() { # 2 and 4, from steps 0.04 and 0.02
    { both "$1" "$2" 0.04; both "$1" "$2" 0.02; } | tr '\n' ' ' | awk -v what="$1 $2" '{
        h = log($1/$3)/log(2); m = log($2/$4)/log(2); print what, h, m
        exit !(h > 1.9 && h < 2.1 && m > 3.9 && m < 4.1) }' || die "the modified energy of $2 on $1"
}
for method in P2N2Q2Lob P1N1Q2Gau ABA ABABA P1N3Q4Lob P2N2Q2Otr two; do orders apart.yaml $method; done
for method in P2N2Q2Lob P1N1Q2Gau P2N2Q2Otr two; do orders mixed.yaml $method; done

# Weak noise h = sigma x: the mean grows by sigma^2/2 per time, 5.5e-8, in a standard error of about 1e-6. H comes and
# goes by dt^2.
cat > noise.yaml << 'END'
coordinates: { x: 1 }
momenta: { p: 0.2 }
hamiltonian: p^2/2 + x^4/4
noise: 0.0001*x
run: { until: 11, step: 0.1, paths: 4000, modified_energy: yes, outputs: 1, check_states: 0 }
END
mean() { # of observable $1 at the end, less $2
    sed -n "/\"$1\": {/,/}/s/.*\"mean\": \([^,]*\),/\1/p" out |
        awk -v start="$2" '{ d = $1 - start; print d < 0 ? -d : d }'
}
gives 0 "$LGV" run noise.yaml --json --method P2N2Q2Lob
start=$(awk 'BEGIN { printf "%.17g", 0.27 + 0.01*(3*0.04/12 - 1/24) }') # H + dt^2 (V'' p^2/12 - V'^2/24)
awk -v H="$(mean H 0.27)" -v m="$(mean H_modified "$start")" 'BEGIN { print H, m; exit !(H > 5e-5 && m < 1e-5) }' ||
    die "with noise"
gives 0 "$LGV" run noise.yaml --no-files --method P2N2Q2Lob
has out 'modified energy' 'its mean has grown by' 'H_modified'

gives 3 "$LGV" run noise.yaml --no-files --method P2N2Q4Gau
has err 'modified_energy: P2N2Q4Gau with this model: it is known for symplectic methods of order 2'
gives 3 "$LGV" run noise.yaml --no-files --method EEM
sed 's/^hamiltonian:.*/hamiltonian: p^2\/2 + abs(x)/' noise.yaml > kink.yaml
gives 3 "$LGV" run kink.yaml --no-files --method P2N2Q2Lob
has err 'bends or jumps'
sed 's/^hamiltonian:.*/hamiltonian: p^2\/2 + x^2*cos(t)/' noise.yaml > time.yaml
gives 3 "$LGV" run time.yaml --no-files --method P2N2Q2Lob
has err 'H must not depend on t'
