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

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t16

.PHONY: build
build: ## build bin/kubectl-gc
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "$(LDFLAGS)" -o bin/kubectl-gc ./cmd/kubectl-gc

.PHONY: demo
demo: ## show the tool at work on a real control plane, then stop it
	$(GO) run ./test/demo

.PHONY: picture
picture: ## draw docs/picture, the terminal of the README, from a run on the demo
	$(GO) run ./test/picture

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
test: lint controlplane ## everything: lint, unit tests, and end to end on a real control plane
	KUBECTL_GC_E2E=1 $(GO) test $(RACE) -count=1 -timeout 15m ./...
	cd test/controlplane && $(GO) test -count=1 -timeout 10m ./...

.PHONY: differential
differential: controlplane ## compare collect with the real collector on 20 random graphs (SEEDS=n)
	KUBECTL_GC_E2E=1 SEEDS=$(or $(SEEDS),20) $(GO) test -count=1 -timeout 60m -v -run 'TestDifferential|TestCollectBesideTheRealCollector' ./test/e2e

.PHONY: soak
soak: controlplane ## act under random faults, 500 times, most of an hour (RUNS=n); writes docs/reliability.md
	KUBECTL_GC_E2E=1 RUNS=$(or $(RUNS),500) RELIABILITY=$(CURDIR)/docs/reliability.md \
		$(GO) test -count=1 -timeout 4h -v -run TestUnderFaults ./test/e2e

.PHONY: fuzz
fuzz: ## run every fuzz target for a while (FUZZTIME=30s each), and count the inputs
	$(GO) run ./test/fuzz -time $(or $(FUZZTIME),30s) ./pkg/...

.PHONY: lint
lint: ## go vet, staticcheck, gofumpt, tidy modules
	$(GO) vet ./...
	$(LINT) staticcheck ./...
	@unformatted=$$($(LINT) gofumpt -l cmd pkg test); \
	if [ -n "$$unformatted" ]; then echo "gofumpt would change:" >&2; echo "$$unformatted" >&2; exit 1; fi
	$(GO) mod tidy -diff
	cd test/controlplane && $(GO) vet ./... && $(GO) mod tidy -diff
	cd test/lint && $(GO) mod tidy -diff

# One run with few objects and with many, so that what an object costs can be compared.
OBJECTS ?= 50000,500000

.PHONY: bench
bench: ## measure audit and tree beside the transfer floor, half an hour (OBJECTS=50000,500000); writes docs/performance.md
	$(GO) run ./test/bench -objects $(OBJECTS) -write docs/performance.md

.PHONY: bench-act
bench-act: ## measure collect beside bare deletes and the real collector; writes docs/performance-acting.md
	$(GO) run ./test/bench act -write docs/performance-acting.md

.PHONY: clean
clean: ## remove what was built here; the control plane stays in the user's cache
	rm -rf bin dist
