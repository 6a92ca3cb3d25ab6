# The usual commands; `make help` lists them.  CMake does the work.
.PHONY: help setup build reproduce quick redis test wheel deb reference bench check fmt docs clean
.DEFAULT_GOAL := help
JOBS := $(shell nproc)
OLTR := build/release/oltr

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install the Debian packages for building and testing
	@scripts/setup test

build: ## build the release: build/release/oltr and the libraries
	@scripts/setup build
	@log=$$(mktemp); cmake --preset release -DBUILD_TESTING=OFF -DOLTR_BENCH=OFF > $$log 2>&1 || \
		{ cat $$log; rm -f $$log; exit 1; }; rm -f $$log
	@cmake --build build/release -j $(JOBS)

reproduce: build ## run every experiment and write report/index.html; DATA=DIR: with your data sets
	@$(OLTR) reproduce -o report $(if $(DATA),--data $(DATA))

quick: build ## the same with small experiments, about a minute: report-quick/index.html
	@$(OLTR) reproduce --quick -o report-quick $(if $(DATA),--data $(DATA))

redis: ## try the Redis module: a throw-away server with it, until Ctrl-C
	@scripts/redis

test: ## build for development and run all tests
	@scripts/setup test
	cmake --preset dev
	cmake --build build/dev -j $(JOBS)
	@scripts/test build/dev -j $$(($(JOBS) + 1)) # one more than processors: some tests wait

wheel: ## build the Python wheel, install it into bare environments, and run its tests there
	@scripts/wheel

deb: ## build the Debian packages, build/deb/*.deb, check them with lintian, and try them in a new Debian
	@scripts/deb

reference: ## write the reference of the C interface from the comments of its headers
	@scripts/reference

bench: ## measure speed, compared with bare normals, plain C, numpy, LAPACK and GSL
	@scripts/setup bench
	@bench/run

check: ## check formatting, run the tests under the sanitizers, fuzz for a few minutes
	@scripts/setup test
	@scripts/format --check
	@scripts/sanitize asan
	@scripts/sanitize tsan
	@scripts/fuzz 60

fmt: ## format all C files
	@scripts/setup test
	@scripts/format

docs: build ## write the parameter tables of docs/algorithms and the results in README.md
	@scripts/parameters
	@scripts/readme
	@scripts/verdicts

clean: ## remove builds, reports and results
	rm -rf build report report-quick out
