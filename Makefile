# The verbs of the course; `make help` lists them.
PYTHON = python3
PORT = 8000

SHELL = bash
BIN = .venv/bin
PY = $(BIN)/python
PY_CODE = transformer_block grader tests bench book/_ext book/runner

# Of the hundreds of lines that pip prints, one in twenty-five packages, and that it unpacks them.
SIGNS_OF_LIFE = '/^(Collecting|Requirement already)/ && ++n % 25 == 0 { print "  " n " packages"; fflush() } \
	/^Installing/ { print "  unpacking all of them"; fflush() }'

.DEFAULT_GOAL := help
.PHONY: help install book lite serve lab test lint test-site test-marking test-pretrained checks-report links notebooks lock check-derived bench bench-build shots clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

install: .venv/installed node_modules/installed ## make .venv and node_modules from the two locks

.venv/package.json:
	@$(PYTHON) -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "$(PYTHON) must be Python 3.11 or later with venv. Run: sudo apt install python3-venv, or name another one: make $(or $(MAKECMDGOALS),serve) PYTHON=python3.12" >&2; exit 2; }
	$(PYTHON) -m venv .venv
	@echo '{"type": "commonjs"}' > .venv/package.json  # JupyterLab's own scripts are no modules, as this folder's are

.venv/installed: requirements.txt pyproject.toml | .venv/package.json
	@echo "Fetching $$(grep -c == requirements.txt) packages for Python into .venv, then some for Node; the first time this takes several minutes."
	@set -o pipefail; $(PY) -m pip install --disable-pip-version-check -r requirements.txt | awk $(SIGNS_OF_LIFE)
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e . && touch $@

node_modules/installed: package-lock.json | .venv/installed
	PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --loglevel=error && touch $@

book: install ## build the book into _build/html; a warning is an error
	$(BIN)/jupyter-book build --warningiserror --nitpick --keep-going .
	@$(MAKE) --silent lite

lite: install ## put JupyterLite with all sheets beside the pages, if what it is made of has changed
	PYTHONPATH=book/_ext $(PY) -m bookext.lite

serve: book ## build the book and serve it on http://127.0.0.1:8000 (PORT=8001 for another port)
	@$(PY) -c 'import socket; socket.create_server(("127.0.0.1", $(PORT)))' 2>/dev/null || { echo "Port $(PORT) is taken. Try: make serve PORT=8001" >&2; exit 2; }
	@echo "The book is at http://127.0.0.1:$(PORT)/ — stop with Ctrl-C"
	@$(PY) -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html >/dev/null 2>&1

lab: install ## open copies of the sheets in JupyterLab, in work/; yours are never overwritten
	@mkdir -p work && for sheet in notebooks/*.ipynb; do [ -e "work/$${sheet##*/}" ] || cp "$$sheet" work/; done
	$(BIN)/jupyter lab work

test: lint ## style, then every quick test of Python and JavaScript
	$(PY) -m pytest -m "not site and not marking and not pretrained"
	PATH="$(CURDIR)/$(BIN):$$PATH" node --test "tests/widgets/*.test.mjs"

lint: install ## check the style of all Python code, and the spelling of all text
	$(BIN)/ruff check $(PY_CODE)
	$(BIN)/ruff format --check $(PY_CODE)
	PATH="$(CURDIR)/$(BIN):$$PATH" node_modules/.bin/cspell --quiet --no-progress

test-site: book ## every page in Chromium: links, formulas, accessibility, phone and dark mode
	$(PY) -m pytest -m site

test-marking: install ## whole submissions in the sandbox and through nbgrader
	$(PY) -m pytest -m marking

test-pretrained: install ## the real model, fetched once: its logits and its words
	$(PY) -m pytest -m pretrained

checks-report: install ## how good the checks are, in figures, which are stored (REPORT=--check compares them)
	OPENBLAS_NUM_THREADS=1 $(PY) tests/checks_report.py $(REPORT)

links: install ## ask every link to another site whether it is there
	@# Jupyter Book gives every builder the folder of the site: its lists do not belong there.
	$(BIN)/jupyter-book build --builder linkcheck --keep-going .; found=$$?; rm -f _build/html/output.txt _build/html/output.json; exit $$found

notebooks: install ## make notebooks/ from solutions/ and transformer_block/
	$(PY) -m grader build

lock: .venv/installed ## make both locks; pins stay while the ranges allow (UPGRADE=--upgrade for newer)
	$(BIN)/uv pip compile pyproject.toml -o requirements.txt --quiet $(UPGRADE)
	PATH="$(CURDIR)/$(BIN):$$PATH" npm install --package-lock-only --loglevel=error

check-derived: install ## make every derived file again and compare the bytes
	.ci/check-derived

bench: book ## measure speed, both sides in one run, and print ratios
	for measured in block generate redraw grading kills memory; do $(PY) bench/$$measured.py || exit; done

bench-build: install ## measure how long the book takes to build, from nothing and again
	$(PY) bench/build.py

shots: book ## take pictures of every page and every widget into _build/shots
	$(PY) tests/shots.py

clean: ## remove what was built; keep .venv and node_modules
	rm -rf _build
