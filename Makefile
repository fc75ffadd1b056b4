# Every step that CI takes is a target here.
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS  = -s -w -X github.com/kubectl-gc/kubectl-gc/pkg/cli.release=$(VERSION)

# Tests that run a built program are not rerun by go test when that changes, so
# nothing is taken from its cache: -count=1.

# The race detector needs a C compiler; without one the tests run all the same.
RACE ?= $(shell command -v "$$($(GO) env CC)" >/dev/null 2>&1 && echo -race)

LINT         = $(GO) tool -modfile=test/lint/go.mod
CONTROLPLANE = $(GO) run -C test/controlplane .
FUZZ         = $(GO) run ./test/fuzz -time $(or $(FUZZTIME),30s)

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t16

.PHONY: build
build: ## build bin/kubectl-gc
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "$(LDFLAGS)" -o bin/kubectl-gc ./cmd/kubectl-gc

.PHONY: demo
demo: ## show the tool at work on a real control plane, then stop it
	$(GO) run ./test/demo

.PHONY: demo-up
demo-up: ## the same, and leave the control plane running
	$(GO) run ./test/demo -keep

.PHONY: demo-down
demo-down: ## stop what demo-up left running
	$(GO) run ./test/demo -stop

.PHONY: cluster-up
cluster-up: ## start a bare control plane (COLLECTOR=on, off or absent); prints a KUBECONFIG to export
	@$(CONTROLPLANE) up $(if $(COLLECTOR),--collector=$(COLLECTOR))

.PHONY: cluster-down
cluster-down: ## stop it
	@$(CONTROLPLANE) down

.PHONY: controlplane
controlplane: ## build etcd, kube-apiserver, kube-controller-manager and kubectl, once
	$(CONTROLPLANE) build

.PHONY: test
test: lint controlplane chromium ## everything: lint, unit tests, and end to end on a real control plane
	KUBECTL_GC_E2E=1 $(GO) test $(RACE) -count=1 -timeout 15m ./...
	cd test/controlplane && $(GO) test -count=1 -timeout 10m ./...
	cd test/prometheus && $(GO) test -count=1 ./...
	cd test/explorer && $(GO) test -count=1 -timeout 5m ./...

# The page of kubectl gc report is tested in Chromium. Where there is none, and none may be
# installed, those tests say so and are skipped.
.PHONY: chromium
chromium: ## install Chromium from Debian's package, where it is missing and this is root
	@for c in "$$CHROMIUM" chromium chromium-browser google-chrome chrome; do \
		test -n "$$c" && command -v "$$c" >/dev/null && exit 0; \
	done; \
	if test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	then exit 0; fi; \
	echo "SKIPPED, NOT TESTED: no Chromium for the page of kubectl gc report: install one, or name it in CHROMIUM" >&2

.PHONY: screenshots
screenshots: chromium ## show the page of kubectl gc report, made from the demo, in docs/images
	cd test/explorer && $(GO) run ./screenshots -root ../.. -out ../../docs/images

.PHONY: differential
differential: controlplane ## compare collect with the real collector on 20 random graphs (SEEDS=n)
	KUBECTL_GC_E2E=1 SEEDS=$(or $(SEEDS),20) $(GO) test -count=1 -timeout 60m -v -run 'TestDifferential|TestCollectBesideTheRealCollector' ./test/e2e

# What soak has counted so far: RESUME=1 goes on with it.
COUNTED = $(CURDIR)/bin/soak.json

.PHONY: soak
soak: controlplane ## act under random faults, 500 times, and fuzz (RUNS=n FUZZTIME=t); writes docs/reliability.md
	@mkdir -p bin$(if $(RESUME),, && rm -f $(COUNTED))
	KUBECTL_GC_E2E=1 KUBECTL_GC_SEED=$(FROM) RUNS=$(or $(RUNS),500) ABREAST=$(or $(ABREAST),3) \
	TALLY=$(COUNTED) RELIABILITY=$(CURDIR)/docs/reliability.md \
		$(GO) test -count=1 -timeout 4h -v -run TestUnderFaults ./test/e2e; faults=$$?; \
	$(FUZZ) -write docs/reliability.md ./pkg/...; fuzz=$$?; \
	cat docs/reliability.md; exit $$((faults + fuzz))

.PHONY: fuzz
fuzz: ## run every fuzz target for a while (FUZZTIME=30s each), and count the inputs
	$(FUZZ) ./pkg/...

.PHONY: references
references: ## a million references on one object, with every command, most of an hour (REFERENCES=n)
	REFERENCES=$(or $(REFERENCES),1000000) $(GO) test -count=1 -timeout 4h -v -run TestAnyNumberOfReferences ./test/script

.PHONY: lint
lint: ## go vet, staticcheck, gofumpt, tidy modules
	$(GO) vet ./...
	$(LINT) staticcheck ./...
	@unformatted=$$($(LINT) gofumpt -l cmd pkg test); \
	if [ -n "$$unformatted" ]; then echo "gofumpt would change:" >&2; echo "$$unformatted" >&2; exit 1; fi
	$(GO) mod tidy -diff
	cd test/controlplane && $(GO) vet ./... && $(GO) mod tidy -diff
	cd test/prometheus && $(GO) vet ./... && $(GO) mod tidy -diff
	cd test/explorer && $(GO) vet ./... && $(GO) mod tidy -diff
	cd test/lint && $(GO) mod tidy -diff

# One run with few objects and with many, so that what an object costs can be compared.
OBJECTS ?= 50000,500000

.PHONY: bench
bench: ## measure audit and tree beside the transfer floor, half an hour (OBJECTS=50000,500000); writes docs/performance.md
	$(GO) run ./test/bench -objects $(OBJECTS) -write docs/performance.md

.PHONY: bench-act
bench-act: ## measure collect beside bare deletes and the real collector; writes docs/performance-acting.md
	$(GO) run ./test/bench act -write docs/performance-acting.md

.PHONY: docs
docs: ## write docs/commands anew, from what the commands say of themselves
	$(GO) run ./test/reference -markdown docs/commands

.PHONY: man
man: ## write man pages into dist/man
	$(GO) run ./test/reference -man dist/man

.PHONY: clean
clean: ## remove what was built here; the control plane stays in the user's cache
	rm -rf bin dist
