# Every target works from a fresh clone with Python >= 3.11, git and make; no root, no system package.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: setup check test demo clean

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

demo: setup
	@"$(BIN)/workflow-engine" demo $(ARGS)

clean:
	rm -rf "$(VENV)" .demo build
