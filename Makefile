# Everything a person or CI runs. `make` alone lists the commands.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3)
UV_VERSION := 0.13.8
TOOLS := .tools
BIN := .venv/bin
STAMP := .venv/.complete
export UV_PYTHON_DOWNLOADS := never
export UV_PROJECT_ENVIRONMENT := $(CURDIR)/.venv
export UV_LINK_MODE ?= hardlink
# Hundreds of short processes import the same modules: without files of their bytecode each compiles all of them.
unexport PYTHONDONTWRITEBYTECODE

AIRFLOW_STAMP := .venv-airflow/.complete

.PHONY: help demo airflow test test-all check types lint $(UNIT) docs bench soak audit format lock clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(STAMP) ## Run both flows over a year of real rows, through hot, warm and cold tables
	@$(BIN)/streamhouse demo

airflow: $(STAMP) $(AIRFLOW_STAMP) ## Run Airflow here with the retail flow in it, until Ctrl-C
	@.venv-airflow/bin/python -m streamhouse.orchestrator.local --engine $(CURDIR)/$(BIN)/streamhouse --run retail

# Real servers: whole files go to one of three processes, which keep two cores busy; the longest files begin first.
SERVERS := tests/contract tests/integration tests/airflow
SPREAD := -n 3 --dist loadfile --no-loadscope-reorder
# Unit tests and doctests: in parts, two at a time beside the static checks. A part is one process, whose rooms share what
# they import, parse and read; its tests are collected once. `rest` has every room that no other part names. A part prints
# when it ends.
ROOMS := $(filter-out __pycache__,$(patsubst tests/unit/%/,%,$(wildcard tests/unit/*/)))
IN_commands := cli project jobs
IN_plans := compiler sql registry upstream trigger
IN_wishes := planner mcp_server autopilot ui
IN_source := docs errors gate benchmarks
IN_rest := $(filter-out $(IN_commands) $(IN_plans) $(IN_wishes) $(IN_source),$(ROOMS))
ALSO_IN_source := $(wildcard tests/unit/test_*.py) plugins --doctest-modules
UNIT := unit-plans unit-rest unit-wishes unit-commands unit-source  # the longest begins first
BESIDE := -j2 --keep-going --no-print-directory
# Unit tests have no second try; the plugin's talk between processes costs 40 ms a test.
LEVEL :=
PART = $(BIN)/pytest -q -p no:rerunfailures $(if $(LEVEL),-m "$(LEVEL)")
PUBLIC_WAYS = STREAMHOUSE_SPARK_SHORTCUTS=off $(BIN)/pytest tests/contract tests/integration -m public_ways -q -n 0

test: $(STAMP) $(AIRFLOW_STAMP) ## Each promise on real Fluss, Spark, Paimon, Iceberg and Airflow, after the checks; about 20 minutes on two cores
	@$(MAKE) $(BESIDE) types lint $(UNIT)
	$(BIN)/pytest $(SERVERS) --level test $(SPREAD)

test-all: $(STAMP) $(AIRFLOW_STAMP) ## As `test`, with each store, policy and kind of table that the deep tests try, and without shortcuts of Spark; about 50 minutes
	@$(MAKE) $(BESIDE) types lint $(UNIT)
	$(BIN)/pytest $(SERVERS) $(SPREAD)
	$(PUBLIC_WAYS)

check: $(STAMP) ## Format, types, layers, unit tests and doctests; two minutes, no Java
	@$(MAKE) $(BESIDE) types lint $(UNIT) LEVEL="not proof"

types: $(STAMP)
	$(BIN)/mypy

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo

$(UNIT): unit-%: $(STAMP)
	@log=$$(mktemp); code=0; $(PART) $(addprefix tests/unit/,$(IN_$*)) $(ALSO_IN_$*) >"$$log" 2>&1 || code=$$?; \
	  echo "== unit tests: $*"; cat "$$log"; rm "$$log"; exit $$code

docs: $(TOOLS)/bin/uv ## Build the manual into site/; a warning ends the build
	@$(TOOLS)/bin/uv run --frozen --isolated --python $(PYTHON) --only-group docs zensical build --clean --strict

bench: $(STAMP) ## Measure how fast it is, beside hand-written Structured Streaming; about 40 minutes
	@for file in benchmarks/[a-z]*.py; do $(BIN)/python "$$file"; done

soak: $(STAMP) $(AIRFLOW_STAMP) ## Every test in its long form: kills at every point, hundreds of random histories, 10,000 edits judged by Spark, all without shortcuts; hours
	STREAMHOUSE_SOAK=1 $(BIN)/pytest $(SERVERS) $(addprefix tests/unit/sql/test_,statements.py delta_holds.py)
	STREAMHOUSE_SPARK_SHORTCUTS=off $(BIN)/pytest tests/contract $(addprefix tests/integration/test_,epochs.py increments.py histories.py) $(addprefix tests/integration/spark/test_,results.py frames.py equality.py)

audit: $(TOOLS)/bin/uv ## Compare the locked packages with published advisories; says so when it cannot reach them
	@$(PYTHON) scripts/audit.py

format: $(STAMP) ## Rewrite the code in our format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(TOOLS)/bin/uv ## Resolve the dependencies again
	$(TOOLS)/bin/uv lock

clean: ## Remove the environment and what the demo wrote
	rm -rf .venv .venv-airflow .tools .streamhouse .mypy_cache .ruff_cache .pytest_cache

$(TOOLS)/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] not in {(3, 11), (3, 12)})' || { \
	  echo "Streamhouse needs Python 3.11 or 3.12; '$(PYTHON)' is another." >&2; \
	  echo "  hint: install python3.11 with its venv module, or: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Creating the environment in .venv (pyspark is built once, about two minutes) …"
	@$(PYTHON) -m venv $(TOOLS)
	@$(TOOLS)/bin/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(STAMP): pyproject.toml uv.lock | $(TOOLS)/bin/uv
	@$(TOOLS)/bin/uv sync --frozen --python $(PYTHON) --extra engine --extra demo --extra kafka --extra ui --extra mcp --extra models
	@touch $@

$(AIRFLOW_STAMP): export UV_PROJECT_ENVIRONMENT := $(CURDIR)/.venv-airflow
$(AIRFLOW_STAMP): pyproject.toml uv.lock | $(TOOLS)/bin/uv
	@echo "Creating Airflow's environment in .venv-airflow …"
	@$(TOOLS)/bin/uv sync --frozen --python $(PYTHON) --extra airflow --no-dev
	@touch $@
