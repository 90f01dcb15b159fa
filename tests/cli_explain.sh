# SPDX-License-Identifier: BSD-3-Clause
#
# lgv explain: equations in three ways of writing them, and how the noise enters.
source "$(dirname "$0")/shell.inc"

gives 0 "$LGV" explain "$kubo"
has out 'Stratonovich' 'Ito' 'dq = p dt + beta*p o dW' 'dp = -q dt - beta*q o dW' 'depends on coordinates and momenta' \
    'multiplicative' 'P1N1Q2Gau'
grep -qF 'dq = (p - beta^2*q/2) dt + beta*p dW' out || die "the Ito drift of the Kubo oscillator is p - beta^2 q/2"
cat > force.yaml << 'END'
coordinates: { q: 0 }
momenta: { p: 1 }
hamiltonian: p^2/2 + q^2/2
noise: 0.3*q
END
gives 0 "$LGV" explain force.yaml
has out 'in the sense of Stratonovich or Ito' 'random force' 'additive' 'agree here'
cat > spin.yaml << 'END'
momenta: { m in so3*: [0, 1, 1] }
hamiltonian: m.z^2/2
noise: 0.3*m.x
END
gives 0 "$LGV" explain spin.yaml
has out 'dm = m x dxi + 1/2 {{m, h}, h} dt' 'it is a random velocity, with which momenta'
gives 0 "$LGV" explain "$kubo" --format latex
has out '\begin{aligned}' '\circ \mathrm{d}W' '% ito'
gives 0 "$LGV" explain "$kubo" --format mathml
has out '<math' '</math>' '<!-- definition -->'
gives 0 "$LGV" explain "$kubo" --json
has out '"ito_equals_stratonovich": false' '"latex":' '"stratonovich":' '"method": "P1N1Q2Gau"'
gives 2 "$LGV" explain "$kubo" --format pdf
has err 'text, latex or mathml'
for model in heavy-top/heavy-top polymer/polymer chain/chain torus/torus double-pendulum/double-pendulum; do
    gives 0 "$LGV" explain "$SRC/examples/$model.yaml"
    has out 'How the noise enters'
done

# Tables, random parameters and processes, in all three ways of writing and in JSON, where `lgv check` says the same.
for x in -9 -6 -3 0 3 6 9 12; do echo "$x,$((x * x))"; done > square.csv
cat > inputs.yaml << 'END'
parameters: { k: "normal(1, 0.1)", m: 2, unused: "uniform(0, 1)" }
processes: { eta: { sigma: 0.5, tau: 2 } }
where: { "U(s)": "table(square.csv)", "V(s)": "table(square.csv, 1:2, cubic, linear)" }
coordinates: { q: 1 }
momenta: { p: 1 }
hamiltonian: p^2/(2*m) + k*U(q) + V(q) - q*eta
run: { step: 0.1, until: 1 }
END
gives 0 "$LGV" explain inputs.yaml
has out 'U(s) = table(square.csv)' 'V(s) = table(square.csv, 1:2, cubic, linear)' 'k = normal(1, 0.1)' \
    "dp = (eta - V'(q) - k*U'(q)) dt" 'random parameters, drawn once for every path' 'Ornstein-Uhlenbeck' \
    'U on [-9, 12], 8 points equally far apart, degree 5, not defined outside' 'degree 3, straight on outside'
for command in explain check; do
    gives 0 "$LGV" "$command" inputs.yaml --json
    has out '"random_parameters": [' '"k": "normal(1, 0.1)"' '"tau": 2.0' '"outside": "undefined"' '"degree": 3' \
        '"starts_by_path": false'
done
gives 0 "$LGV" explain inputs.yaml --set k=1 --json
grep -qF '"k": "normal' out && die "a parameter with a value is not random"
gives 0 "$LGV" explain inputs.yaml --format latex
has out '\texttt{table(square.csv)}'
gives 0 "$LGV" check inputs.yaml
has out 'k = normal(1, 0.1)' 'every path has its own'
sed -e 's/until: 1 /until: 40 /' -e 's/momenta: { p: 1 }/momenta: { p: -99 }/' inputs.yaml > lost.yaml
gives 1 "$LGV" run lost.yaml --paths 16 --no-files
has out 'it may have left a table'
