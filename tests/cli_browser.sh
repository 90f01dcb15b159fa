# SPDX-License-Identifier: BSD-3-Clause
#
# The report of a run in a real browser: its script runs to the end, players and figures are there, nothing is asked
# from a network.  Left out where there is no Chromium (Debian package chromium).

source "$(dirname "$0")/shell.inc"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$browser" ]; then
    echo "no Chromium: left out"
    exit 0
fi

dom() { # FILE: the document as the browser has it in the end
    timeout 1000 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync \
        --disable-background-networking --disable-component-update --user-data-dir="$work/browser" \
        --virtual-time-budget=4000 --dump-dom "file://$1" 2> /dev/null
}

# Some that have the name only say how to install one, and some start nowhere but on a desktop.
echo '<p id="here"></p>' > page.html
dom "$work/page.html" > out || true
if ! grep -q 'id="here"' out; then
    echo "$browser does not start here: left out"
    exit 0
fi

# The page tells when its script has come to its end, and how many players it has found.
gives 0 "$LGV" run "$kubo" "${small[@]}" --out run
dom "$work/run/report.html" > out
has out 'data-ready="1 players"' '<svg class="plot"' '<math' 'class="readout"'
hasnot run/report.html 'src="http'
hasnot run/report.html 'href="http'
gives 0 "$LGV" run "$SRC/examples/heavy-top/heavy-top.yaml" --paths 16 --until 5 --out top
dom "$work/top/report.html" > out
has out 'data-ready="1 players"' 'Axes of a body'
gives 0 "$LGV" converge "$kubo" --methods midpoint --paths 50 --levels 3 --largest 0.1 --until 1 --out study
dom "$work/study/report.html" > out
has out 'data-ready="0 players"' '<svg class="plot"'
