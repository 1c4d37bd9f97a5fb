# Commands for a checkout. `make` alone lists them.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
PINS   := .ci/requirements
INSTALL := install --require-hashes --requirement $(PINS)

# The tests start hundreds of processes; with this variable, each would compile the program.
unexport PYTHONDONTWRITEBYTECODE

# If the system's Python was replaced, the links of the environment are broken: create it again.
ifneq ($(wildcard $(VENV)/.installed),)
ifneq ($(shell $(BIN)/python -I -c 'import aiohttp' > /dev/null 2>&1 || echo broken),)
$(shell rm -f $(VENV)/.pip $(VENV)/.installed $(VENV)/.installed-dev)
endif
endif

.DEFAULT_GOAL := help
.PHONY: docs screenshots outdated help serve install test lint format texts bench pins wheel install-wheel check-image clean chromium strace iproute2 servers

help:  ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/' | expand -t 14 | \
		awk '{ print } /^install / { print "\nFor developers:" }'

serve: $(VENV)/.installed  ## install, and serve on http://127.0.0.1:8080/
	@exec $(BIN)/archiver serve $(ARGS)

install: $(VENV)/.installed  ## install into .venv; the command is `.venv/bin/archiver`

test: $(VENV)/.installed-dev chromium strace iproute2 servers  ## install what the tests need, and run them
	@.ci/with-postgres $(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.installed-dev  ## formatter, linter, type checker, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.installed-dev  ## format, and fix what can be fixed automatically
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

texts: $(VENV)/.installed-dev  ## bring the catalogues of archiver/locales/ up to date with the source
	@.ci/texts $(BIN) archiver/locales

docs: $(VENV)/.installed-dev  ## regenerate docs/settings.md, docs/cli.md and the routes in docs/api.md
	$(BIN)/python -m docs.generate

screenshots: $(VENV)/.installed-dev chromium  ## retake the screenshots of README.md
	@$(BIN)/python .ci/screenshots.py

bench: $(VENV)/.installed-dev  ## compare the crawl with two simple clients; ARGS="--urls 100000"
	$(BIN)/python -m benchmarks.crawl $(ARGS)

wheel: $(VENV)/.pip  ## build the package in dist/
	@rm -rf dist
	@$(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist .

install-wheel: $(VENV)/.pip  ## install the package into PREFIX; EXTRAS=cluster adds drivers for servers
	@test -n "$(PREFIX)" || { echo "Set the directory: make install-wheel PREFIX=…"; exit 1; }
	@$(PYTHON) -m venv --without-pip $(PREFIX)
	@$(PIP) --python $(PREFIX)/bin/python $(INSTALL)/program.txt $(EXTRAS:%=--requirement $(PINS)/%.txt)
	@$(PIP) --python $(PREFIX)/bin/python install --no-deps dist/*.whl

check-image: wheel chromium  ## run the steps of the Dockerfile in a temporary folder
	@where=$$(mktemp -d) && trap 'rm -rf "$$where"' EXIT \
	&& $(MAKE) --no-print-directory install-wheel PREFIX="$$where/venv" EXTRAS=cluster \
	&& "$$where/venv/bin/python" -c 'import asyncpg, obstore' \
	&& cd "$$where" && venv/bin/archiver --help > help && venv/bin/archiver --version \
	&& echo https://example.invalid/ | venv/bin/archiver import - --no-crawl --data data > counts \
	&& venv/bin/archiver list --data data \
	&& venv/bin/python $(CURDIR)/.ci/visit.py venv/bin/archiver data \
	&& chmod 755 . && venv/bin/python $(CURDIR)/.ci/render.py venv/bin/archiver \
	&& echo "The image's steps work."

outdated: $(VENV)/.installed-dev  ## list pinned versions that have a newer release
	@$(PIP) list --outdated

pins: $(VENV)/.pip  ## update the pinned versions and their hashes to the newest releases
	@$(BIN)/python .ci/pin.py --upgrade

clean:  ## remove build files, not the archive
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

chromium:
	@for each in chromium chromium-browser google-chrome; do \
	  command -v $$each > /dev/null && found=1; \
	done; [ -n "$$found" ] || .ci/packages chromium chromium-headless-shell fonts-dejavu-core
	@ldconfig -p | grep -q libatomic.so.1 || .ci/packages libatomic1  # Playwright's Node.js needs it

strace:
	@command -v strace > /dev/null || .ci/packages strace

$(VENV)/.pip: $(PINS)/build.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	|| { echo "archiver needs Python 3.11 or newer: make PYTHON=python3.13 …"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || .ci/packages python3-venv
	@echo "Creating a virtual environment in $(VENV) …"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) $(INSTALL)/build.txt
	@touch $@

$(VENV)/.installed: pyproject.toml $(PINS)/build.txt $(PINS)/program.txt | $(VENV)/.pip
	@echo "Installing archiver and its libraries; this takes about a minute …"
	@$(PIP) $(INSTALL)/program.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed $(PINS)/cluster.txt $(PINS)/dev.txt
	@$(PIP) $(INSTALL)/cluster.txt --requirement $(PINS)/dev.txt
	@touch $@

servers:
	@ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || .ci/packages postgresql
	@.ci/moto > /dev/null

iproute2:
	@command -v ip > /dev/null || .ci/packages iproute2
