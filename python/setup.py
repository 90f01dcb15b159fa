# SPDX-License-Identifier: BSD-3-Clause
"""Puts the C library into the package: nothing else is compiled.

The library is the one that the environment variable LGV_LIBRARY names, or that CMake builds from the repository around
this folder (in its folder build/ where that has been configured).
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def version() -> str:
    header = ROOT / "include" / "lgv" / "lgv.h"
    if header.exists():
        return re.search(r'#define LGV_VERSION "([^"]+)"', header.read_text()).group(1)
    return "0.1.0"


def built_library(folder: Path) -> Path:
    """liblgv.so of the repository, built if it is not there or not current."""
    if not (ROOT / "CMakeLists.txt").exists():
        raise SystemExit("lagrangevin: the C library is not here; set LGV_LIBRARY to liblgv.so")
    build = ROOT / "build"
    if not (build / "CMakeCache.txt").exists():
        build = folder
        subprocess.check_call(["cmake", "-S", str(ROOT), "-B", str(build), "-DBUILD_TESTING=OFF"])
    subprocess.check_call(["cmake", "--build", str(build), "--target", "lgv_shared", "--parallel", str(os.cpu_count())])
    return build / "liblgv.so"


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        target = Path(self.build_lib) / "lagrangevin" / "liblgv.so"
        with tempfile.TemporaryDirectory() as folder:
            given = os.environ.get("LGV_LIBRARY")
            library = Path(given) if given else built_library(Path(folder))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(library.resolve(), target)


class PlatformWheel(bdist_wheel):
    """The wheel has a library of this machine in it, but serves every Python 3."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        _, _, platform = super().get_tag()
        return "py3", "none", platform


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), distclass=WithLibrary, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
