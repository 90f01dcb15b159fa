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
