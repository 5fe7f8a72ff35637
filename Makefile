# Every command of the project. `make` lists them.
PYTHON ?= python3
VENV   ?= .venv
SHELL  := /bin/bash
BIN    := $(VENV)/bin
AREA   ?=
PORT   ?= 0
FUZZ_SECONDS ?= 60
MINUTES ?= 20
SHORT  ?=
SEED   ?=
LONG   ?=
WRITE  ?=
DIFFERENTIAL_SECONDS ?= 15
REF    ?= HEAD

# Processes are started by the hundred: without compiled modules each would take twice as long to start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test quick properties check format conformance bench bench-check contract kubernetes programs interop faults fuzz hostile soak damage differential clients browser vendor coverage image release test-release site lock clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Installs what a lock names, one line per package: nobody waits for minutes without a word. $(1) is the lock.
define install
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@set -o pipefail; $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --require-hashes -r $(1) \
	  | sed -un 's/^Collecting \([^ ]*\).*/  fetching \1/p; s/^Installing collected.*/  installing …/p'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
endef

$(VENV)/.run: requirements.lock pyproject.toml
	@echo "setting up $(VENV): $$(grep -c '==' requirements.lock) packages to run with, once …"
	$(call install,requirements.lock)
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml
	@echo "setting up $(VENV): $$(grep -c '==' requirements-dev.lock) packages to develop with, once …"
	$(call install,requirements-dev.lock)
	@touch $@ $(VENV)/.run

$(VENV)/.browser: $(VENV)/.dev requirements-browser.lock
	@command -v $${MUSTER_CHROMIUM:-chromium} >/dev/null || { echo "installing chromium …"; apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core fonts-liberation >/dev/null; }
	$(call install,requirements-browser.lock)
	@touch $@

run: $(VENV)/.run ## start the hub with a demo fleet and print what to try (PORT=8080 to fix the port)
	@exec $(BIN)/muster hub run --demo --data .muster --port $(PORT)

test: $(VENV)/.dev ## run the whole test suite
	@$(BIN)/pytest -n 3 -q

properties: $(VENV)/.dev ## the property tests with ten times as many cases (a quarter of an hour)
	@MUSTER_EXAMPLES=500 MUSTER_CASES_OF_QUESTIONS=10000 $(BIN)/pytest tests/properties tests/values tests/selectors -n 2 -q --timeout 1800

quick: $(VENV)/.dev ## run the tests without the slow ones
	@$(BIN)/pytest -n 2 -q -m "not slow and not e2e"

check: $(VENV)/.dev ## format, lint, types and import layers
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

format: $(VENV)/.dev ## rewrite the code in our format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

conformance: $(VENV)/.dev ## replay the recorded upstream cases (AREA=cel|jq|ocm|kube|olm)
	@$(BIN)/python -m tests.conformance $(AREA)

faults: $(VENV)/.dev ## kill -9 of the hub's processes, 100 times each, with guards too, and 1,000 races (half an hour)
	@MUSTER_KILLS=100 $(BIN)/pytest tests/controllers/test_killed.py tests/controllers/hosts/test_killed.py -q --timeout 1200
	@MUSTER_KILLS=100 $(BIN)/pytest tests/controllers/test_guards_killed.py -q --timeout 1200
	@MUSTER_SEQUENCES=20 $(BIN)/pytest tests/controllers/test_guards_disturbed.py -q -n 2
	@MUSTER_RACES=1000 $(BIN)/pytest tests/hub/rest/test_racing_writers.py -q --timeout 1200

kubernetes: $(VENV)/.dev ## a real kube-apiserver (built once from its Go modules): admission, stories, contract (SEED=N repeats random writes)
	@$(if $(SEED),MUSTER_SEED=$(SEED)) $(BIN)/python -m tests.kubernetes

programs: $(VENV)/.dev ## build the Go programs that stand beside ours in make kubernetes and make differential (minutes, once)
	@$(BIN)/python -m tests.kubernetes --only-build
	@$(BIN)/python -m tests.differential --seconds 0.1 --seed 1

interop: $(VENV)/.dev ## the oldest Kubernetes that we promise, 50 kills, Helm, OCM's placement controller and agent, Argo CD's generators
	@$(BIN)/python -m tests.kubernetes --server server-1.33
	@MUSTER_KILLS=50 MUSTER_CALM=$(if $(LONG),3600,300) $(BIN)/python -m tests.kubernetes --guests -s $(addprefix tests/kubernetes/,test_killed.py test_packaging.py test_helm.py test_beside_ocm.py test_your_fleet.py)
	@$(BIN)/python -m tests.clients.ocm_agent
	@MUSTER_INTEROP=1 $(BIN)/pytest tests/argocd -q -n 0

contract: $(VENV)/.dev ## the contract of client and controllers; MUSTER_CONTRACT_KUBECONFIG=FILE adds a server
	@$(BIN)/pytest tests/contract -q

fuzz: $(VENV)/.dev ## schemathesis over our OpenAPI, with a time limit
	@FUZZ_SECONDS=$(FUZZ_SECONDS) $(BIN)/python -m tests.e2e.fuzz

hostile: $(VENV)/.dev ## whatever a tenant could write, against a running hub and both languages (SHORT=1 as in CI; SEED=N repeats)
	@$(BIN)/python -m tests.hostile $(if $(SHORT),--short) $(if $(SEED),--seed $(SEED))

soak: $(VENV)/.dev ## a fleet under load, kills, pauses and a full disk (MINUTES=20)
	@$(BIN)/python -m tests.soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

damage: $(VENV)/.dev ## damaged files after kill -9 (200 places), 1,000 kills under load, 1,000 random runs of the controllers
	@$(BIN)/python -m tests.hub.storage.damage --places 200
	@$(BIN)/python -m tests.hub.storage.kills --kills 1000
	@$(BIN)/python -m tests.controllers.convergence --runs 1000

differential: $(VENV)/.dev ## cel-go, gojq, OLM and OCM beside ours over generated programs (LONG=1 for 100,000 each; SEED=N repeats)
	@$(BIN)/python -m tests.differential $(AREA) $(if $(LONG),--long,--seconds $(DIFFERENTIAL_SECONDS)) $(if $(SEED),--seed $(SEED))

clients: $(VENV)/.dev ## clients times verbs against a running hub (kubectl oldest to newest, k9s, Python, client-go)
	@$(BIN)/python -m tests.clients $(AREA)

browser: $(VENV)/.browser ## the console in Chromium: stories, keyboard, axe, hostile fleets, 100,000 clusters (AREA=stories; LONG=1 watches for ten minutes; SERVER=kubernetes)
ifdef SERVER
	@$(BIN)/python -m tests.browser.on_$(SERVER) $(if $(AREA),tests/browser/test_$(AREA).py)
else ifneq ($(AREA),)
	@MUSTER_BROWSER=1 $(if $(LONG),LONG=1) $(BIN)/pytest tests/browser/test_$(AREA).py -q -s --timeout 300
else
	@MUSTER_BROWSER=1 $(if $(LONG),LONG=1) $(BIN)/pytest tests/browser -q -n 2 --dist loadfile --ignore tests/browser/test_scale.py --timeout 600
	@MUSTER_BROWSER=1 $(BIN)/pytest tests/browser/test_scale.py -q -s --timeout 600
endif

vendor: ## make the console's third_party/ anew from the lock (needs npm)
	@cd tools/console && npm ci --ignore-scripts --no-audit --no-fund --silent && node build.mjs

bench: $(VENV)/.dev ## run the benchmarks and print their tables (AREA=cel|jq|storage|…)
	@$(BIN)/python -m benchmarks $(AREA)

bench-check: $(VENV)/.dev ## a minute of ratios, and a warning where one is a quarter below the committed one (WRITE=1 commits this run's)
	@$(BIN)/python -m benchmarks.check $(if $(WRITE),--write)

coverage: $(VENV)/.dev ## run the tests and report branch coverage
	@$(BIN)/pytest -n 2 -q --cov --cov-report=term

image: $(VENV)/.dev ## the container image as an OCI layout in dist/oci, without Docker (REF=tag, or worktree)
	@$(BIN)/python -m release --only image --ref $(REF)

release: $(VENV)/.dev ## everything of a release in dist/, made twice and compared (REF=v0.1.0, HEAD, or worktree)
	@$(BIN)/python -m release --ref $(REF) --twice

test-release: $(VENV)/.dev ## try what is in dist/: wheel in an empty environment, image validated by crane and started
	@MUSTER_RELEASE=dist $(BIN)/pytest tests/release -q

site: $(VENV)/.dev ## the documentation as a site in site/
	@$(BIN)/python -m release.website site

lock: ## resolve the dependencies anew (needs pip-tools)
	@pip-compile -q --no-strip-extras --no-emit-find-links --no-emit-index-url --no-emit-trusted-host --generate-hashes --upgrade -o requirements.lock pyproject.toml
	@pip-compile -q --no-strip-extras --no-emit-find-links --no-emit-index-url --no-emit-trusted-host --generate-hashes --upgrade --extra dev -o requirements-dev.lock pyproject.toml

clean: ## remove the environment and caches
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
