# The front door.  `make help` lists what it opens; CMake does the work.
.PHONY: help setup build reproduce quick test bench check fmt docs clean
.DEFAULT_GOAL := help
JOBS := $(shell nproc)
OLTR := build/release/oltr

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what a build and the tests need from Debian's packages
	@scripts/setup test

build: ## build the release: build/release/oltr and the libraries
	@scripts/setup build
	@cmake --preset release -DBUILD_TESTING=OFF -DOLTR_BENCH=OFF > build-release.log 2>&1 || { cat build-release.log; rm -f build-release.log; exit 1; }
	@rm -f build-release.log
	@cmake --build build/release -j $(JOBS)

reproduce: build ## every experiment of the paper and a report, report/index.html; DATA=DIR for your own data sets
	@$(OLTR) reproduce -o report $(if $(DATA),--data $(DATA))

quick: build ## the same as a tour of half a minute, report-quick/index.html
	@$(OLTR) reproduce --quick -o report-quick $(if $(DATA),--data $(DATA))

test: ## build for development and run all tests
	@scripts/setup test
	cmake --preset dev
	cmake --build build/dev -j $(JOBS)
	@scripts/test build/dev -j $(JOBS)

bench: ## measure speed against bare normals, numpy and GSL
	@scripts/setup bench
	@bench/run

check: ## formatting, then all tests under the sanitizers, and a few minutes of fuzzing
	@scripts/setup test
	@scripts/format --check
	@scripts/sanitize asan
	@scripts/sanitize tsan
	@scripts/fuzz 60

fmt: ## format all C files
	@scripts/setup test
	@scripts/format

docs: build ## write the parameter tables of docs/algorithms from the catalogue, and the README's results from docs/results.csv
	@scripts/parameters
	@scripts/readme

clean: ## remove all that was built
	rm -rf build report report-quick out
