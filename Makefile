# `make` alone lists what there is. Everything happens in this folder; system packages come from apt.
.DEFAULT_GOAL := help
.PHONY: help setup report test test-long test-lowest azure dist gallery docs notebook format lock clean

AZ_VERSION = 2.91.0
# What is compiled of az: all but its commands and their libraries, and of these what azbench asks for. The whole of az
# takes half a minute of CPU, of which the commands of azbench load a tenth; others are compiled when they are used.
AZ_UNUSED = /aaz/2|site-packages/azure/(?!core/|cli/(core|command_modules/(monitor|resource|vm))/|mgmt/(core|monitor|resource)/)
UV = $(or $(shell command -v uv),.tools/uv/bin/uv)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' Makefile

setup: ## install what is missing; a second run changes nothing
	@sh scripts/bootstrap $(BOOTSTRAP)

report: setup ## measure emulated Azure disks and write an HTML and a PDF report
	@.venv/bin/azbench run -o datasets/emulated-disks -p fresh=True
	@.venv/bin/azbench report datasets/emulated-disks azure-local-disks-2020 ultra-disk-2019

# Bytecode is kept, whatever the environment says: each worker, and each azbench that a test starts, would compile
# all modules itself.
test: BOOTSTRAP = --browser
test: export PYTHONDONTWRITEBYTECODE =
test: setup ## run the tests, with ruff, mypy, ShellCheck and the import contracts among them
	@sh scripts/run-tests

test-long: BOOTSTRAP = --browser
test-long: setup azure ## run the tests that take minutes: whole campaigns and hard faults with the real az
	@.venv/bin/python -m pytest -m long

test-lowest: BOOTSTRAP = --browser
test-lowest: setup ## run the core and each extra with the lowest versions that pyproject.toml allows, and the newest
	@.venv/bin/python -m pytest -m long tests/test_package.py

azure: setup ## install the Azure CLI as a tool of its own, .tools/bin/az
	@UV_TOOL_DIR=.tools/azure UV_TOOL_BIN_DIR=.tools/bin $(UV) tool install --quiet \
		--python .venv/bin/python azure-cli==$(AZ_VERSION)
	@.tools/azure/azure-cli/bin/python -m compileall -qq -j 0 -x '$(AZ_UNUSED)' .tools/azure/azure-cli/lib || :
	@.tools/bin/az version --query '"azure-cli"' --output tsv

dist: setup ## build the wheel and the source package into dist/
	@rm -rf dist
	@.venv/bin/python -m hatchling build -d dist

gallery: setup ## run notebooks on shipped datasets, as pages, and write the example report and its picture
	@.venv/bin/python scripts/make_gallery.py

docs: setup ## write the documentation as a site, reports/site/index.html
	@NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --quiet
	@echo reports/site/index.html

notebook: setup ## open JupyterLab on the notebooks
	@JUPYTER_CONFIG_PATH=azbenchlib/lessons/jupyter .venv/bin/jupyter lab notebooks

format: setup ## put the code into the project's form
	@.venv/bin/ruff check --fix
	@.venv/bin/ruff format

# Pins that still fit are kept; `make lock UPGRADE=--upgrade` takes the newest of everything.
lock: setup ## write requirements.lock anew from pyproject.toml
	@$(UV) pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-annotate --no-header \
		--python-version 3.11 --all-extras $(UPGRADE) pyproject.toml -o requirements.lock

clean: ## remove what setup and tests made; datasets and reports stay
	@rm -rf .venv .tools .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
