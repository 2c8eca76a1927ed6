# Needs Python >= 3.11 and a Rust toolchain; everything else is installed into .venv.
PYTHON ?= python3
BIN := .venv/bin
ROOT := $(CURDIR)

.PHONY: all demo test bench build lint clean help

help:            ## list the targets
	@sed -n 's/^\([a-z]*\): .*## /  make \1\t/p' $(MAKEFILE_LIST)

all: test        ## what CI runs

demo: .venv/installed          ## build, install, and run muco on its example table
	$(BIN)/muco demo --force

test: .venv/dev                ## everything: cargo test, clippy, rustfmt, ruff, mypy, pytest
	cd core && cargo fmt --check
	cd core && cargo clippy --locked --all-targets -- -D warnings
	cd core && cargo clippy --locked --all-targets --features python -- -D warnings
	cd core && cargo test --locked --quiet
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -n 2

bench: .venv/dev               ## speed, as ratios within one run
	$(BIN)/python bench/run.py

clean:           ## remove what was built
	rm -rf .venv core/target muco-demo

.venv/python: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "muco needs Python 3.11 or newer: try  make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@command -v cargo > /dev/null || { echo "muco needs a Rust toolchain: see https://rustup.rs"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	touch $@

# The core is rebuilt when it changes; Python files are used where they stand.
.venv/installed: .venv/python $(shell find core/src -name '*.rs') core/Cargo.toml core/Cargo.lock
	$(BIN)/python -m pip install --quiet --editable '.[report]'
	touch $@

.venv/dev: .venv/installed
	$(BIN)/python -m pip install --quiet --group dev
	touch $@
