# The everyday commands. The build itself is CMake's: `cmake --workflow --preset dev` and its like work too.

FUZZ_SECONDS ?= 600
RACE_SECONDS ?= 60
MODEL_SECONDS ?= 60
BENCH_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev setup-interop build test test-plain demo interop soak tsan fuzz races models headers tidy bench format check clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Install what building and testing need (Debian 12 packages, pyarrow, CRoaring); quick when done already
	@tools/setup.sh

setup-dev: ## The same and clang 19 for fuzzing and clang-tidy, Google Benchmark
	@tools/setup.sh dev

build: setup ## Build everything (preset dev)
	cmake --preset dev -DDELENDA_INTEROP=OFF -DDELENDA_BUILD_UNIT_TESTS=ON -DDELENDA_BUILD_FUZZ=ON
	cmake --build --preset dev

test: setup ## Build and run every test; those of single folders under the address and undefined behaviour sanitizers
	cmake --preset dev -DDELENDA_BUILD_UNIT_TESTS=OFF -DDELENDA_BUILD_FUZZ=OFF
	cmake --build --preset dev
	ctest --preset dev -LE engines
	cmake --preset asan-ubsan
	cmake --build --preset asan-ubsan --target delenda_unit_tests
	ctest --preset asan-ubsan -R '^(unit/|corrupt|model|fuzz_replay)'

test-plain: build ## Build and run every test, none under sanitizers
	ctest --preset dev -LE engines

demo: setup ## Build the program, make and change a table, read others; checked against the rows that Spark reads
	@examples/demo.sh

check: setup ## Check layers, sizes, texts and format
	tools/check_layers.py
	tools/check_sizes.py
	tools/check_text.py
	tools/check_format

tsan: setup ## Run the tests under the thread sanitizer
	cmake --workflow --preset tsan

fuzz: setup-dev ## Fuzz every decoder for FUZZ_SECONDS each (600), two at a time
	cmake --preset fuzz
	cmake --build --preset fuzz
	tools/fuzz_all.sh build/fuzz $(FUZZ_SECONDS)

headers: setup ## Compile every file and every header on its own
	cmake --preset headers
	cmake --build --preset headers

races: build ## Eight processes change one table for RACE_SECONDS (60), on each kind of catalog, also while they are killed; the same with conversions
	@for options in "" "--kill"; do for catalog in folder sqlite; do \
	  DELENDA_CLI=$$PWD/build/dev/bin/delenda .venv/bin/python -B tests/race/race.py --catalog $$catalog --seconds $(RACE_SECONDS) $$options || exit 1; \
	done; done
	@for options in "--catalog folder" "--catalog folder --partitioned" "--catalog sqlite"; do \
	  DELENDA_CLI=$$PWD/build/dev/bin/delenda .venv/bin/python -B tests/race/convert_race.py --seconds $(RACE_SECONDS) $$options || exit 1; \
	done

models: build ## Random operations beside a map of rows, for MODEL_SECONDS (60) on each kind of table
	DELENDA_MODEL_SECONDS=$(MODEL_SECONDS) build/dev/tests/test_model

soak: test-plain tsan headers fuzz races models ## The long checks: every test without sanitizers, thread sanitizer, every header on its own, long fuzzing, races, models

tidy: setup-dev ## Run clang-tidy over every file
	cmake --preset tidy
	cmake --build --preset tidy

setup-interop: ## The same and a JDK and Maven; Spark, PyIceberg and DuckDB into build/interop-venv
	@tools/setup.sh interop
	@tests/interop/engines/environment.py

interop: setup-interop ## Let Spark, Iceberg Java, PyIceberg and DuckDB read what is written here, and write in turns
	cmake --preset dev -DDELENDA_INTEROP=ON
	cmake --build --preset dev --target delenda_engine_programs
	ctest --preset dev -L engines

bench: setup-dev ## Build optimised and run every benchmark (BENCH_ARGS go to each)
	cmake --preset release
	cmake --build --preset release
	@for program in build/release/bench/bench_*; do \
	  [ -x "$$program" ] || continue; echo "== $$program"; "$$program" $(BENCH_ARGS) || exit 1; \
	done

format: setup ## Rewrite every C++ file in the project's format
	tools/check_format --fix

clean: ## Remove the build folders
	rm -rf build
