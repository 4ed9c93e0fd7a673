# Two commands do everything on a machine that has Python >= 3.11 and make: `make demo` and `make test` (with kubectl,
# or it skips what uses it).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test lint types unit e2e testbed testbed-up test-real bench nightly clean lock

setup: $(VENV)/.ready  ## Make the environment from the lock file

$(VENV)/.ready: requirements.lock pyproject.toml tools/setup.sh
	sh tools/setup.sh "$(PYTHON)" "$(VENV)"
	touch $@

demo: setup  ## Rehearse the loss of a slice on this machine
	$(BIN)/xlaunch demo

test: lint types unit e2e  ## Everything that CI runs and that needs no Go

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

unit: setup
	$(BIN)/python -m pytest -m "not e2e and not slow and not real and not nightly" -n auto

e2e: setup
	$(BIN)/python -m pytest -m "(e2e or slow) and not real and not nightly and not alone" -n 3 --dist=loadgroup --no-loadscope-reorder
	$(BIN)/python -m pytest -m "alone and not real and not nightly"

# The longest first; two at a time, since the end of a build keeps one processor only
BUILDS := kubernetes-1.37.2 kubernetes-1.35.4 kueue-0.17.0 jobset-0.12.0 jobset-0.11.1 jobset-0.10.1 etcd-3.6.16

testbed: setup  ## Build the real control plane into the user's cache; needs Go, takes minutes once
	$(MAKE) --no-print-directory -j2 $(addprefix build-,$(BUILDS) kwok-0.8.0)

build-%: setup
	$(BIN)/python -m testbed build $*

testbed-up: setup  ## Start a real control plane, print its KUBECONFIG and stay until Ctrl-C
	$(BIN)/python -m testbed up

test-real: setup  ## The tests that need the real control plane; without Go they are skipped, in CI they fail
	-$(MAKE) --no-print-directory -j2 $(addprefix build-,$(BUILDS))
	GOGC=400 $(BIN)/python -m pytest -m "real and not nightly" -n 4 --dist=loadgroup --no-loadscope-reorder

nightly: testbed  ## What takes too long for every change: real back-off up to 160 s, many seeds, 6,145 pods
	$(BIN)/python -m pytest -m "nightly and not alone" -n 4 --dist=loadgroup --no-loadscope-reorder -rP
	$(BIN)/python -m pytest -m "nightly and alone" -rP

bench: setup  ## Ratios in one run; needs a quiet machine
	$(BIN)/python bench/run.py

lock: setup  ## Write requirements.lock anew (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --group dev pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) .venv-* dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
