# Go and make are all that these targets need; `make help` lists them.

PROFILE  ?= default
OUT      ?= results
FUZZTIME ?= 10s
BENCH    ?= .

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  PROFILE=quick (a minute), default (15 minutes) or full (n up to 1e8); OUT=results; FUZZTIME=10s; KILLS=200; BENCH=."

.PHONY: experiments
experiments: ## run every experiment: CSV files, figures and a page (index.html) under results
	go run ./cmd/filterlab run --profile $(PROFILE) --out $(OUT) --resume
	go run ./cmd/filterlab skyline --out $(OUT)/skyline
	go run ./cmd/filterlab report --results $(OUT)

.PHONY: calibration
calibration: ## measure, on a quiet machine, the times that choose comes with, 2 minutes
	go run ./cmd/filterlab calibrate --out experiments/choose/calibration.json

.PHONY: report
report: ## make the page of the results anew: OUT/index.html
	go run ./cmd/filterlab report --results $(OUT)

.PHONY: notebooks
notebooks: ## execute the notebooks on results (needs jupyter-nbconvert, pandas and matplotlib)
	notebooks/execute.sh

# The libraries that ours are compared with are required by a module of their own.
PEERS = cd experiments/peers && go

.PHONY: peers
peers: ## measure filters of other libraries beside ours, 20 minutes, into OUT/peers
	$(PEERS) run . --profile $(PROFILE) --out $(abspath $(OUT)) --restart

.PHONY: peers-large
peers-large: ## the duels of more than 1e7 keys alone, 15 minutes and 3 GB, into OUT/peers
	$(PEERS) run . duels --min-n 10000001 --max-n 1e8 --suffix=-1e8 --out $(abspath $(OUT))

.PHONY: peers-kernels
peers-kernels: ## the same duels without vectors (GODEBUG), then without assembly (purego), to 1e8 keys, 10 minutes, into OUT/peers
	$(PEERS) build -o /dev/null . && GODEBUG=cpu.avx2=off go run . duels --only ', batched|blocked' --suffix=-prefetch --max-n 1e8 --out $(abspath $(OUT))
	cd experiments/peers && sh purego.sh $(abspath $(OUT)) --max-n 1e8

.PHONY: peers-test
peers-test: ## test the adapters, and what other libraries are known to do wrong
	$(PEERS) vet ./... && go test ./...

WORDS ?= /usr/share/dict/american-english-huge

.PHONY: words
words: ## measure on real words (Debian's wamerican-huge, or WORDS=FILE), into OUT/words
	go run ./cmd/filterlab run fpr-vs-load fpr-vs-bits hash-choice --profile quick --keys $(WORDS) --out $(OUT)/words --resume

.PHONY: test
test: ## vet and test everything, under 5 minutes
	go vet ./...
	go test ./...

.PHONY: race
race: ## test under the race detector (needs a C compiler)
	go test -race -short ./...

.PHONY: purego
purego: ## test the code that has no assembly, and briefly what uses it
	go test -tags purego ./filters/... ./hashing/...
	go test -tags purego -short ./cmd/... ./experiments/...

.PHONY: portability
portability: ## the same answers and files on 386, arm64, s390x (qemu-user), without assembly and on GOAMD64 v1 to v3
	.ci/portability

.PHONY: bench
bench: ## time the filters; BENCH picks benchmarks by pattern
	go test -run '^$$' -bench '$(BENCH)' ./filters/...

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME
	@set -e; for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

KILLS ?= 200

.PHONY: faults
faults: ## kill runs at KILLS random moments and resume them; disks full and read-only (as root)
	FILTERLAB_KILLS=$(KILLS) go test ./cmd/filterlab -count=1 -timeout 60m -v -run '^Test(KilledRunsResume|DiskFull|ReadOnlyFolder|PanickingMeasure|Signal)$$'

.PHONY: lint
lint: ## gofmt and vet, and staticcheck where it is installed
	@out=$$(gofmt -s -l .); if [ -n "$$out" ]; then echo "gofmt -s -w is needed for:"; echo "$$out"; exit 1; fi
	go vet ./...
	@if command -v staticcheck >/dev/null; then echo staticcheck ./...; staticcheck ./...; \
	else echo "staticcheck is not installed; .ci/run installs the version it wants"; fi

.PHONY: generate
generate: ## write generated files anew; a clean tree stays clean
	go generate ./...

.PHONY: ci
ci: ## everything that continuous integration runs
	.ci/run
