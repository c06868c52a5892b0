# Every target works from a fresh clone with Python >= 3.11, git and make; no root, no system package.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
CLIENTS := $(VENV)/.clients

.PHONY: setup check test test-clients demo bench clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python >= 3.11 is needed; set PYTHON=python3.11")'
	@$(PYTHON) -m venv "$(VENV)"
	@"$(BIN)/python" -m pip install -qq --disable-pip-version-check -c constraints.txt "pip>=25.1"
	@"$(BIN)/python" -m pip install -qq --disable-pip-version-check -c constraints.txt -e . --group dev
	@"$(BIN)/workflow-engine" demo --set-up
	@touch "$(STAMP)"

check: setup
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy" .
	"$(BIN)/lint-imports" --no-cache

test: setup
	"$(BIN)/python" -m pytest -n 2 tests/unit tests/lab

test-clients: $(CLIENTS)
	"$(BIN)/python" -m pytest -n 2 tests/clients

$(CLIENTS): $(STAMP)
	@"$(BIN)/python" -m pip install -qq --disable-pip-version-check -c constraints.txt --group clients
	@touch "$(CLIENTS)"

demo: setup
	@"$(BIN)/workflow-engine" demo $(ARGS)

bench: setup
	@"$(BIN)/python" -m pip install -qq --disable-pip-version-check -c constraints.txt --group bench
	@"$(BIN)/python" -m benchmarks $(ARGS)

clean:
	rm -rf "$(VENV)" .demo build
