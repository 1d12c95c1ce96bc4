# make demo    set everything up and crawl the example site
# make test    set everything up and pass the tests that a change needs, in minutes
# make test-slow  the tests that take long: kills, floods, whole documents
# make compatibility  crawls with the plugins that docs/compatibility.md names; part of make test-slow
# make scrapy-suite  Scrapy's own tests with the add-on in the default settings
# make test-all  all three
# make check   lint, format, types, which module may import which, and that none is too large
# make docs    build the documentation into docs/_build
# make check-release  build the distributions from the last commit, and follow the quickstart with them
#                in an empty environment
# make release  the same, and keep them in dist/
# make image   build the container image from dist/
# make quality DATA=FOLDER  hold the figures on real pages against their floors
# make speed   how fast it is, beside others; writes docs/performance.md
# make test-min  the tests with the lowest versions that pyproject.toml allows, and with the lowest
#                Python where there is one; LOWEST_PYTHON=FILE names it

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROCESSES ?= $(shell $(PYTHON) -c "import os; print(len(os.sched_getaffinity(0)) * 3 // 2)" 2>/dev/null || echo auto)
# Slow tests wait longer than they compute.
SLOW_PROCESSES ?= $(shell $(PYTHON) -c "import os; print(len(os.sched_getaffinity(0)) * 2)" 2>/dev/null || echo auto)
LOWEST_PYTHON ?= $(or $(shell python3.10 -c "import sys; print(sys.executable)" 2>/dev/null),$(PYTHON))

# Each crawl of the tests is a process of its own, which would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-min compatibility scrapy-suite test-all check docs check-release release image \
	quality speed clean

demo: $(VENV)/.ready
	$(BIN)/python example_project/demo.py

# Many tests wait for servers and crawls, so three at a time keep two cores busy.
test: $(VENV)/.ready
	$(BIN)/python -m pytest --numprocesses=$(PROCESSES) -m "not slow" $(PYTEST_ARGS)

test-slow: $(VENV)/.ready
	$(BIN)/python -m pytest --numprocesses=$(SLOW_PROCESSES) -m slow $(PYTEST_ARGS)

compatibility: $(VENV)/.ready
	$(BIN)/python -m pytest --numprocesses=$(PROCESSES) -m compatibility $(PYTEST_ARGS)

test-min: .venv-min/.ready
	.venv-min/bin/python --version
	.venv-min/bin/python -m pytest $(PYTEST_ARGS)

scrapy-suite: .venv-suite/.ready
	.venv-suite/bin/python tools/scrapy_suite.py $(SUITE_ARGS)

test-all: test test-slow scrapy-suite

quality: $(VENV)/.ready
	$(BIN)/python -m benchmarks.quality --data $(DATA)/dev --early-close $(DATA)/early-close --no-peers --gate

speed: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group benchmarks
	$(BIN)/python -m benchmarks.speed --docs docs $(SPEED_ARGS)

check: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/python tools/draw_layers.py --check
	$(BIN)/python tools/check_sizes.py

docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	$(BIN)/python -m sphinx -W --keep-going -n -q -E docs docs/_build

check-release: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group release
	$(BIN)/python tools/check_release.py $(RELEASE_ARGS)

release:
	$(MAKE) check-release RELEASE_ARGS="--keep dist $(RELEASE_ARGS)"

image:
	docker build --tag scrapy-neardup .

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 10) and 'scrapy_neardup needs Python 3.10 or later')"
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group check
	touch $@

.venv-min/.ready: $(VENV)/.ready tools/lowest_versions.py
	$(LOWEST_PYTHON) -m venv --clear .venv-min
	$(BIN)/python tools/lowest_versions.py >.venv-min/lowest.txt
	.venv-min/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	.venv-min/bin/python -m pip install --quiet --disable-pip-version-check --editable . --group test --constraint .venv-min/lowest.txt
	touch $@

.venv-suite/.ready: pyproject.toml
	$(PYTHON) -m venv --clear .venv-suite
	.venv-suite/bin/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	.venv-suite/bin/python -m pip install --quiet --disable-pip-version-check --editable . --group scrapy-suite
	touch $@

clean:
	rm -rf .venv .venv-min .venv-suite .scrapy-suite dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
