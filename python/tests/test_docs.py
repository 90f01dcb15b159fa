# SPDX-License-Identifier: BSD-3-Clause
"""docs/side-by-side.md: the pieces are whole programs, and C and Python print the same."""
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lagrangevin as lgv

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "side-by-side.md"
COMPILER = shlex.split(os.environ.get("CC", "cc"))

LIBRARY = Path(lgv._library.lib._name).resolve()


@pytest.mark.skipif(not PAGE.exists() or not LIBRARY.exists(), reason="no page, or a library by its name alone")
@pytest.mark.skipif(not shutil.which(COMPILER[0]), reason="no C compiler")
def test_side_by_side(tmp_path):
    pieces = re.findall(r'^```(c|python) title="[^"]*"\n(.*?)^```', PAGE.read_text(), flags=re.S | re.M)
    assert [language for language, _ in pieces] == ["c", "python"] * 7
    code = {name: "".join(text for language, text in pieces if language == name) for name in ("c", "python")}
    (tmp_path / "side.c").write_text(code["c"])
    (tmp_path / "side.py").write_text(code["python"])

    command = [*COMPILER, "-std=gnu17", "-Wall", "-Wextra", "-Werror", "side.c", f"-I{ROOT / 'include'}", "-o", "side"]
    subprocess.run([*command, str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}"], cwd=tmp_path, check=True)
    paths = [str(Path(lgv.__file__).resolve().parent.parent), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "LGV_LIBRARY": str(LIBRARY), "PYTHONPATH": os.pathsep.join(paths)}
    printed = {}
    for name, program in (("c", ["./side"]), ("python", [sys.executable, "side.py"])):
        done = subprocess.run(program, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        printed[name] = done.stdout
        for file in ("orders.json", "results.h5"):
            (tmp_path / file).unlink()
    assert printed["c"].count("\n") >= 6
    assert printed["c"] == printed["python"]
