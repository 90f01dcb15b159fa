# SPDX-License-Identifier: BSD-3-Clause
#
# help, version, exit codes, suggestions.
source "$(dirname "$0")/shell.inc"

gives 0 "$LGV" --version
grep -qE '^lgv [0-9]+\.[0-9]+\.[0-9]+$' out || die "version"
gives 2 "$LGV"
empty out
has err 'Usage: lgv COMMAND'
for c in help --help -h; do gives 0 "$LGV" $c && has out 'Commands:' run check methods report; done
for c in run check methods report reference; do
    gives 0 "$LGV" $c --help && has out "Usage: lgv $c" '--help'
    cp out one
    gives 0 "$LGV" help $c && cmp out one
    gives 0 "$LGV" $c -h
done
gives 0 "$LGV" run --help
has out --method --step --until --paths --seed --set --threads --out --json --check-states 'default 1000'

refuses() { # MESSAGE ARGUMENTS...
    local message=$1
    shift
    gives 2 "$LGV" "$@"
    has err "$message"
    empty out
}
refuses 'did you mean run?' rnu
refuses 'did you mean check?' help chekc
refuses 'did you mean `lgv run my.yaml`' my.yaml
refuses 'the FILE is missing' run
refuses 'did you mean --step?' run "$kubo" --stpe 1
refuses 'did you mean --json?' methods --jsn
refuses 'unknown flag -x' run "$kubo" -x
refuses '--step needs a value' run "$kubo" --step
refuses '--step needs a value' run "$kubo" --step --json
refuses '--out needs a value: DIR' run "$kubo" --out
refuses '--json takes no value' run "$kubo" --json=yes
refuses 'b is a second' run a b
refuses 'nofile.yaml: No such file' run nofile.yaml
refuses 'Is a directory' run "$SRC"
[ "$(ls)" = "$(printf 'err\none\nout')" ] || die "files were written"
if [ -e /dev/full ]; then
    code=0
    "$LGV" methods > /dev/full 2> err || code=$?
    [ $code = 3 ] || die "exit code $code with a full disk"
    has err 'cannot write to standard output'
fi
gives 0 "$LGV" run --help
has out "--compiler PROGRAM"
