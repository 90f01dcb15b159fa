# SPDX-License-Identifier: BSD-3-Clause
#
# lgv new, schema, completion: a way in.
source "$(dirname "$0")/shell.inc"

# Every template is a model that runs, and its certificate holds.
gives 0 "$LGV" new
cp out templates
for name in oscillator magnetic lattice polymer bodies langevin; do
    has templates "  $name "
    gives 0 "$LGV" new $name
    has out "$name.yaml is written" "lgv run $name.yaml"
    [ "$(head -c2 $name.yaml)" = '# ' ] || die "$name.yaml begins with what it is"
    gives 0 "$LGV" explain $name.yaml
    gives 0 "$LGV" run $name.yaml --paths 32 --until 2 --no-report --out r-$name
    hasnot out 'FAIL'
done
gives 2 "$LGV" new oscillator
has err 'is there already'
gives 0 "$LGV" new oscillator --out my.yaml --json
has out '"written": "my.yaml"'
cmp my.yaml oscillator.yaml
gives 2 "$LGV" new langevn
has err 'did you mean langevin?'
gives 3 "$LGV" new oscillator --out nowhere/x.yaml
gives 0 "$LGV" new --json
has out '"name": "magnetic"'

# The schema knows all keys and options, and takes what the program takes.
gives 0 "$LGV" schema
has out '"hamiltonian"' '"noise_ito"' '"langevin"' '"paths"' '"method"' 'draft/2020-12'
hasnot out '"compiler"'
gives 0 "$LGV" schema --out s.json
gives 0 "$LGV" schema --json && cmp out s.json
if python3 -c 'import jsonschema, yaml; jsonschema.Draft202012Validator' 2> err; then
    python3 - s.json *.yaml "$SRC"/examples/*/*.yaml << 'END' || die "the schema refuses a model"
import json, sys, jsonschema, yaml
schema = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
for path in sys.argv[2:]:
    model = yaml.safe_load(open(path))
    if path.endswith('experiment.yaml'): continue
    for error in schema.iter_errors(model): sys.exit(f'{path}: {error.message}')
if not list(schema.iter_errors({'coordinates': {'q': 0}, 'hamiltonan': 'p^2'})): sys.exit('a misspelt key passes')
if not list(schema.iter_errors({'coordinates': {'q': 0}, 'run': {'step': 'a'}})): sys.exit('a step of a passes')
if not list(schema.iter_errors({'coordinates': {'q': 0}, 'langevin': {'gamma': 1}})): sys.exit('a bath of gamma passes')
lists = {'extremes': ['q'], 'histograms2': [['q', 'p']], 'record': ['final', 'states']}
for error in schema.iter_errors({'coordinates': {'q': 0}, 'run': lists}): sys.exit(f'lists of options: {error.message}')
END
fi

# Completion.
gives 2 "$LGV" completion fish
has err 'bash or zsh'
gives 0 "$LGV" completion zsh
has out '#compdef lgv' "'run:" '--until-stderr[' 'P2N2Q2Lob'
if command -v zsh > /dev/null; then zsh -n out || die "zsh does not read the script"; fi
gives 0 "$LGV" completion bash
cp out lgv.bash
completes() { # WANTED WORDS...: the last word is completed
    local wanted=$1 reply
    shift
    local script='source lgv.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _lgv; echo "${COMPREPLY[@]}"'
    reply=$(bash -c "$script" x lgv "$@")
    [[ " $reply " == *" $wanted "* ]] || die "lgv $* completes to '$reply', not to $wanted"
}
completes explain ex
completes --until-stderr run --until
completes --check-states run my.yaml --check
completes BAOAB run my.yaml --method BAO
completes my.yaml run my
completes polymer new po
completes r-polymer report r-po
completes zsh completion z
