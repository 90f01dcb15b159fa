# SPDX-License-Identifier: BSD-3-Clause
#
# Thin front over CMake.
#   make            install what is missing, build build/lgv
#   make run        ... and run a first example
#   make test       ... and every test, most again with sanitizers, a clang build with warnings as errors, lint
#   make bench      speed against the hand-written floor
#   make lint       clang-tidy and cppcheck; a part of make test
#   make fuzz       libFuzzer on all readers, RUNS=n inputs each; a short form is a part of make test
#   make soak       a long run that is killed a hundred times, against one that is left alone
#   make install    PREFIX=/usr/local DESTDIR=
#   make python     the Python package in an environment of its own, build/python, and a first run in it
#   make docs       writes docs/reference
#   make site       the documentation as a site, build/site/site/index.html (MkDocs, from PyPI)
#   make clean
# CC=clang chooses the compiler, JOBS=n the number of parallel jobs, SETUP=true leaves out the package check.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SETUP ?= scripts/setup
# The inner make counts its own jobs; what the outer one passes on would only confuse it.
CMAKE := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake
CTEST := env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL ctest
ifneq ($(origin CC),default)
COMPILER := -DCMAKE_C_COMPILER=$(CC)
endif

.PHONY: all setup build run test test-plain test-sanitize test-clang test-threads test-fuzz bench lint fuzz soak python install docs site clean
.NOTPARALLEL:

all: build

setup:
	@$(SETUP)

build: setup
	@$(CMAKE) -S . -B build $(COMPILER) $(CMAKE_FLAGS) > /dev/null
	@$(CMAKE) --build build --parallel $(JOBS)

run: setup
	@$(CMAKE) -S . -B build $(COMPILER) $(CMAKE_FLAGS) > /dev/null
	@$(CMAKE) --build build --target lgv --parallel $(JOBS)
	build/lgv run examples/kubo/kubo.yaml --out build/kubo
	@echo
	@echo "Report: $(CURDIR)/build/kubo/report.html"

test: test-plain test-sanitize test-clang test-threads test-fuzz lint

test-plain: build
	$(CTEST) --test-dir build --output-on-failure --parallel $(JOBS) --output-log $(CURDIR)/build/ctest.txt

# Statistics-heavy tests run the same code as the others and are left to the plain build.  Kernels have no sanitizers:
# those that the plain build has compiled serve here too.
test-sanitize: setup
	@$(CMAKE) -S . -B build-sanitize -DLGV_SANITIZE=ON -DLGV_TEST_CACHE=$(CURDIR)/build/test-cache $(COMPILER) > /dev/null
	@$(CMAKE) --build build-sanitize --parallel $(JOBS)
	$(CTEST) --test-dir build-sanitize --output-on-failure --parallel $(JOBS) \
	    --tests-regex '^(unit|bad|cli|fuzz)_' --output-log $(CURDIR)/build-sanitize/ctest.txt

# For its warnings, which do not depend on how well it optimises.
test-clang: setup
	@$(CMAKE) -S . -B build-clang -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug -DLGV_WERROR=ON > /dev/null
	@$(CMAKE) --build build-clang --parallel $(JOBS)

# The runner with the thread sanitizer, which Archer tells of OpenMP.
test-threads: setup
	@$(CMAKE) -S . -B build-threads -DCMAKE_C_COMPILER=clang -DLGV_THREAD_SANITIZE=ON > /dev/null
	@scripts/threads build-threads $(JOBS)

# libFuzzer from the seeds in tests/corpus on, with sanitizers: so many inputs, not so many seconds.
test-fuzz: setup
	@scripts/fuzz build-fuzz $(JOBS)

fuzz: setup
	@scripts/fuzz build-fuzz $(JOBS) $(or $(RUNS),20000)

bench: build
	@$(CMAKE) --build build --target bench --parallel $(JOBS)
	build/bench

lint: build
	@scripts/lint

soak: build
	@LGV=build/lgv scripts/soak

# Packages of the system serve where nothing can be downloaded.
PYTHON ?= python3
python: setup
	@$(CMAKE) -S . -B build $(COMPILER) $(CMAKE_FLAGS) > /dev/null
	@$(CMAKE) --build build --target lgv_shared --parallel $(JOBS)
	@PYTHON=$(PYTHON) scripts/python build/python

install: build
	@$(CMAKE) -S . -B build -DCMAKE_INSTALL_PREFIX=$(PREFIX) > /dev/null
	@DESTDIR=$(DESTDIR) $(CMAKE) --install build

docs: build
	build/lgv reference docs/reference

site:
	@scripts/site build/site

clean:
	rm -rf build build-sanitize build-clang build-threads build-fuzz
