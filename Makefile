PYTHON ?= python3
ROWS ?= 30000000
BIN := .venv/bin
READY := .venv/.sparkivm-ready
# Tests that share a project or a server stay together, and the long ones come first.
PYTEST := $(BIN)/pytest -n 2 --dist loadgroup --no-loadscope-reorder --cov --cov-report=term

.DEFAULT_GOAL := help
.PHONY: help setup lint test test-full demo bench-star clean

help:
	@echo "make setup | demo | lint | test | test-full | bench-star [ROWS=...] | clean"

setup: $(READY)

# Python and Java are checked before anything is installed, the Delta jar is fetched at the end.
$(READY): pyproject.toml dbt/adapters/sparkivm/doctor.py
	@command -v $(PYTHON) > /dev/null || \
	  { echo "sparkivm: no $(PYTHON) found: install Python 3.10 or newer" >&2; exit 1; }
	@$(PYTHON) dbt/adapters/sparkivm/doctor.py --machine
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || \
	  { echo "sparkivm: cannot create .venv: install the venv module of $(PYTHON)" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet -e '.[dev,session]' || \
	  { echo "sparkivm: pip could not install the packages: is a package index reachable?" >&2; exit 1; }
	@$(BIN)/python dbt/adapters/sparkivm/doctor.py --resolve
	@touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint
	$(PYTEST) -m "not full"

test-full: lint
	$(PYTEST) -m "full or not full"

demo: setup
	$(BIN)/python integration_tests/demo.py

bench-star: setup
	$(BIN)/python benchmarks/star.py --rows $(ROWS)

clean:
	rm -rf build dist .coverage htmlcov .mypy_cache .pytest_cache .ruff_cache logs
