# Two commands on a fresh machine: `make demo`, `make test`; `make demo-all` runs every example that it can.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 4
EXAMPLES := $(patsubst examples/%/Snakefile,%,$(wildcard examples/*/Snakefile))
COMPOSED := $(wildcard examples/*/cases/*/experiments/*/inspect/compose.yaml)
SANDBOXED := $(sort $(foreach file,$(COMPOSED),$(word 2,$(subst /, ,$(file)))))
DEMOS := $(if $(TAMESU_TOOLCHAIN_IMAGE),$(EXAMPLES),$(filter-out $(SANDBOXED),$(EXAMPLES)))
DEMO_TARGETS := $(EXAMPLES:%=demo-%)
HOW_TO_PIN := set TAMESU_TOOLCHAIN_IMAGE to a pinned image with a C compiler

# Tests start thousands of processes of ours: each would compile our modules again if it might not keep what it compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo demo-all $(DEMO_TARGETS) test test-long test-docker check bench lock docs clean

$(VENV)/.installed: requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

demo: demo-shapes

demo-all: $(DEMOS:%=demo-%)
	@$(if $(TAMESU_TOOLCHAIN_IMAGE),true,echo "not run, as they need Docker: $(SANDBOXED); $(HOW_TO_PIN)")

# A sandbox gets the pinned image in its copy: which content the tag of an example has is for people to decide.
$(DEMO_TARGETS): demo-%: $(VENV)/.installed
	mkdir -p build/demo/$*
	cp -R examples/$*/. build/demo/$*/
	$(if $(filter $*,$(SANDBOXED)),$(if $(TAMESU_TOOLCHAIN_IMAGE),$(PIN_IMAGE),$(error $* needs Docker: $(HOW_TO_PIN))))
	cd build/demo/$* && $(CURDIR)/$(BIN)/tamesu run

define PIN_IMAGE
for file in build/demo/$*/cases/*/experiments/*/inspect/compose.yaml; do \
		sed 's|^\( *image:\).*|\1 $(TAMESU_TOOLCHAIN_IMAGE)|' "$$file" > "$$file.pinned" && mv "$$file.pinned" "$$file"; \
	done
endef

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
