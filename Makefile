# Two commands on a fresh machine: `make demo`, `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := build/demo/shapes
JOBS ?= 4

# Tests start thousands of processes of ours: each would compile our modules again if it might not keep what it compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-long test-docker check bench lock docs clean

$(VENV)/.installed: requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: $(VENV)/.installed
	mkdir -p $(DEMO)
	cp -R examples/shapes/. $(DEMO)/
	cd $(DEMO) && $(CURDIR)/$(BIN)/tamesu run

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not long and not docker"

test-long: $(VENV)/.installed
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m long

check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile rules examples/*/Snakefile
	$(BIN)/python -m docs.generate --check
	$(BIN)/python -m tests.lint_workflow

bench: $(VENV)/.installed
	$(BIN)/python -m tests.bench

docs: $(VENV)/.installed
	$(BIN)/python -m docs.generate

# Pins every dependency with hashes for all supported Pythons; the one place where versions move.
lock:
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header --extra dev -o requirements.txt pyproject.toml

clean:
	rm -rf build .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Needs a Docker engine and TAMESU_TOOLCHAIN_IMAGE, a pinned image with a C compiler.
test-docker: $(VENV)/.installed
	$(BIN)/python -m pytest -n $(JOBS) --dist loadscope -m docker
