# Each target installs what it misses, at the versions that .ci/tools names; `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

export PATH := $(CURDIR)/.tools/bin:$(HOME)/.cargo/bin:$(PATH)
# trunk 0.21 takes NO_COLOR=1 for a wrong argument.
unexport NO_COLOR

PORT ?= 8080
# Bytes of WebAssembly, compressed: of the page, and of the measuring desk, which loads after the first paint.
WEIGHT_LIMIT := 300000
DISPLAY_HERE := $(or $(DISPLAY),$(WAYLAND_DISPLAY),$(filter Darwin,$(shell uname)))

.PHONY: help serve dist single test lint test-browser test-native screenshot bench clean tools tools-test

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

serve: tools ## build the page, serve it on PORT (8080), open it, rebuild on every change
	@echo "The page will be at http://127.0.0.1:$(PORT)/ once it is built."
	trunk serve --release --port $(PORT) $(if $(DISPLAY_HERE),--open)

dist: tools ## build the page into dist/: static files that work in any folder of any server
	trunk build --release
	@for part in web desk; do bytes=$$(gzip -9 -c dist/rooflens-$$part*_bg.wasm | wc -c); \
	  echo "weight: $$part: $$bytes bytes of WebAssembly after gzip, at most $(WEIGHT_LIMIT)"; \
	  [ "$$bytes" -le $(WEIGHT_LIMIT) ]; done

single: dist ## one HTML file of the page that opens from disk: dist-single/rooflens.html
	node .ci/single.mjs

test: lint dist single test-browser test-native ## everything: format, lints, the page's build and weight, browser tests, native tests

lint: tools ## format and lints, native and WebAssembly
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	cargo clippy --locked --test browser -- -D warnings
	cargo clippy --locked --target wasm32-unknown-unknown --lib --bins -- -D warnings
	cargo clippy --locked --target wasm32-unknown-unknown --no-default-features --bin rooflens-desk -- -D warnings

# One at a time: some of them measure.
test-browser: tools-test dist single ## the built page in Chromium
	cargo test --locked --test browser -- --test-threads=1

# Prints what tests print, so that the number of golden cases shows.
test-native: ## the core and the command line
	cargo test --locked --doc
	cargo test --locked --tests --no-fail-fast -- --nocapture

screenshot: tools-test dist ## the README's picture, from the running page
	cargo test --locked --test browser screenshot -- --ignored

bench: ## how fast the core is
	cargo bench --locked

clean: ## remove what was built; .tools/ stays
	cargo clean
	rm -rf dist dist-single

tools:
	@.ci/tools

tools-test:
	@.ci/tools test
