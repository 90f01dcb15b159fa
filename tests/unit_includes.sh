# SPDX-License-Identifier: BSD-3-Clause
#
# Stages include downwards only, and from another stage only its public header: STAGE/STAGE.h, any header of base,
# kernel/text/abi.h.  Files of methods/ are part of the text of a kernel: they see kernel/text and the headers before
# it.

source "$SRC/tests/complaints.inc"

# complaints FOLDER: one line per forbidden include below FOLDER/src and FOLDER/methods
complaints() {
    find "$1/src" "$1/methods" -name '*.[ch]' | sort | while IFS= read -r file; do
        awk -v file="${file#"$1"/}" '
            BEGIN {
                n = split("base model method kernel run stats study out engine api cli mpi", name, " ")
                for (i = 1; i <= n; i++) rank[name[i]] = i
                split(file, part, "/")
                text = part[1] == "methods"
                own = text ? "kernel" : part[2]
            }
            $1 == "#include" && $2 ~ /^"/ {
                header = substr($2, 2, length($2) - 2)
                split(header, h, "/")
                if (!(own in rank)) why = "belongs to no known stage"
                else if (!(h[1] in rank)) why = "includes " header ", which is not STAGE/HEADER"
                else if (rank[h[1]] > rank[own]) why = "includes " header " of a later stage"
                else if (text && h[1] == "kernel" && h[2] != "text") why = "includes " header ", which no kernel has"
                else if (h[1] == own || h[1] == "base" || header == h[1] "/" h[1] ".h") next
                else if (header == "kernel/text/abi.h") next
                else why = "includes " header ", private to its stage"
                print file ":" FNR ": " why
            }' "$file"
    done
}

# The check itself is checked: a tree with one of each fault, and with everything that is allowed.
planted=$(mktemp -d) || exit 1
trap 'rm -rf "$planted"' EXIT
mkdir -p "$planted"/src/model "$planted"/src/kernel/text "$planted"/src/run "$planted"/methods
cat > "$planted/src/model/load.c" <<'END'
#include "base/option.h"
#include "model/load.h"
#include <lgv/lgv.h>
#include "method/method.h"
END
cat > "$planted/src/run/block.c" <<'END'
#include "kernel/kernel.h"
#include "kernel/text/abi.h"
#include "model/model.h"
#include "model/calculus.h"
#include "kernel/text/lanes.h"
#include "block.h"
END
cat > "$planted/methods/verlet.c" <<'END'
#include "kernel/text/method_file.h"
#include "method/method.h"
#include "kernel/emit.h"
#include "run/run.h"
END
wanted='methods/verlet.c:3: includes kernel/emit.h, which no kernel has
methods/verlet.c:4: includes run/run.h of a later stage
src/model/load.c:4: includes method/method.h of a later stage
src/run/block.c:4: includes model/calculus.h, private to its stage
src/run/block.c:5: includes kernel/text/lanes.h, private to its stage
src/run/block.c:6: includes block.h, which is not STAGE/HEADER'
judge "$planted" "$wanted"
