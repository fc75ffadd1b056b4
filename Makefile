# Everything that CI runs is a target here. "make help" lists them.
GO   ?= go
NAME ?= gc
FILE  = kubectl-$(subst -,_,$(NAME))# NAME=owner-gc builds kubectl-owner_gc, for kubectl owner-gc
VERSION := $(or $(VERSION),$(shell git describe --tags --match 'v[0-9]*' --abbrev=12 --dirty 2>/dev/null),v0.0.0-g$(shell git describe --always --abbrev=12 --dirty --exclude '*'))
MODULE   = github.com/kubectl-gc/kubectl-gc
LDFLAGS  = -s -w -buildid= -X $(MODULE)/pkg/cli.release=$(VERSION) -X $(MODULE)/pkg/cli.commit=$(shell git rev-parse HEAD 2>/dev/null) -X $(MODULE)/pkg/plugin.name=$(NAME)

# Without C, tests link in half the time. With -trimpath, all checkouts share the build cache.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath)

CONTROLPLANE = $(GO) run -C $(CURDIR)/test/controlplane .
GORELEASER   = SOURCE_DATE_EPOCH=$(shell git log -1 --format=%ct) TIME=$(shell git log -1 --format=%cI) FILE=$(FILE) VERSION="$(VERSION)" \
	LDFLAGS="$(LDFLAGS)" $(GO) tool -modfile=test/goreleaser/go.mod goreleaser
LINT         = $(GO) tool -modfile=test/lint/go.mod
MODULES      = controlplane envtest krew prometheus# in test, with dependencies of their own
OLDER        = $(basename $(notdir $(wildcard test/controlplane/versions/*.mod)))# releases of Kubernetes
TEST         = $(GO) test -vet=off -ldflags=-w -timeout 30m
E2E          = KUBECTL_GC_E2E=1 $(TEST) -count=1# never cached: go test does not know the programs that these tests run
LONG         = $(E2E) -timeout 5h -v
.PHONY: $(shell sed -n 's/^\([a-z0-9 -]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

build: ## build bin/kubectl-gc
	$(GO) build -ldflags "$(LDFLAGS)" -o bin/$(FILE) ./cmd/kubectl-gc
help: ## list the targets
	@sed -n 's/^\([a-z][a-z-]*\).*:.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t16

test: controlplane lint unit scripts commands ## what everybody runs before each commit
test-all: controlplane lint lint-all unit race e2e $(MODULES:%=test-%) ## what CI runs: all of this, and the rest

lint: ## check the format; go vet
	$(LINT) gofumpt -d cmd pkg test
	$(GO) vet ./...
lint-all: $(MODULES:%=lint-%) lint-lint ## vet for other systems, staticcheck, errorlint, exhaustive, misspell, tidy modules
	for os in windows darwin; do GOOS=$$os $(GO) vet ./cmd/... ./pkg/... || exit; done
	$(LINT) staticcheck ./...
	$(GO) build -C test/lint -o $(CURDIR)/bin/lint .
	$(GO) vet -vettool=bin/lint -exhaustive.d -exhaustive.typeignore='protowire[.]Number$$' ./...
	$(LINT) misspell -error cmd docs pkg plugins test *.md
	$(GO) mod tidy -diff
	for v in $(OLDER); do $(GO) -C test/controlplane mod tidy -diff -modfile=versions/$$v.mod || exit; done
lint-%: ; cd test/$* && $(GO) vet ./... && $(GO) mod tidy -diff
unit:
	$(TEST) ./cmd/... ./pkg/... ./test/archtest
scripts: # command lines, an API server that lies, days of the collector in service, scenarios for upstream's collector
	$(E2E) ./test/oracle ./test/script ./test/simulation ./test/trust
commands: controlplane # every command on one control plane
	$(E2E) -run 'TestEveryCommand$$' ./test/e2e
race: # needs a C compiler; nothing else does
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(TEST) -race '-ldflags=-w -linkmode=internal' ./cmd/... ./pkg/...
e2e: controlplane # all of test but the modules
	$(E2E) ./test/...
test-%: controlplane
	assets="$$($(CONTROLPLANE) build)" && cd test/$* && PATH="$$assets:$$PATH" KUBEBUILDER_ASSETS="$$assets" $(E2E) ./...

controlplane: ## build etcd, kube-apiserver, kube-controller-manager and kubectl, once (KUBERNETES=1.33: of that version)
	$(CONTROLPLANE) build $(KUBERNETES:%=--version=%)
cluster-up: ## start a bare control plane (COLLECTOR=on|off|absent KUBERNETES=1.33); prints a KUBECONFIG to export
	@$(CONTROLPLANE) up $(COLLECTOR:%=--collector=%) $(KUBERNETES:%=--version=%)
cluster-down: ## stop it
	@$(CONTROLPLANE) down
demo demo-up demo-down: ## show the tool at work on a real control plane (demo-up leaves it running, demo-down stops it)
	$(GO) run ./test/demo $(subst -down,-stop,$(subst -up,-keep,$(@:demo%=%)))
differential: controlplane ## compare with the real collector, for hours (SEEDS=10 KUBERNETES=1.33)
	SEEDS=$(or $(SEEDS),10) $(LONG) -run 'Differential|Delet|Namespace|Repair|EndsAsPredicted|TestD[0-9]|RealCollector|CollectPasses|CollectCompletes|Survive|Predicts' ./test/e2e
matrix: ## compare with the real collector of each version that this repository builds, on the same graphs (SEED=1 SEEDS=10)
	for v in '' $(OLDER); do KUBERNETES=$$v KUBECTL_GC_SEED=$(or $(SEED),1) SEEDS=$(or $(SEEDS),10) $(LONG) -run Differential ./test/e2e || exit; done
oracle: ## compare predictions with upstream's own collector, for an hour (SCENARIOS=100000), and break each rule
	SCENARIOS=$(or $(SCENARIOS),100000) MUTATION=1 $(LONG) ./test/oracle
simulation: ## run the collector in service through days of faults, for an hour (SEEDS=20000 SEED=1)
	SEEDS=$(or $(SEEDS),20000) $(LONG) -run CollectorInService ./test/simulation
properties: ## check every property on many random inputs, and every command with a million references
	RAPID_CHECKS=$(or $(RAPID_CHECKS),20000) $(LONG) ./pkg/...
	REFERENCES=$(or $(REFERENCES),1000000) $(LONG) -parallel 1 -run TestManyReferences ./test/script
fuzz: ## run every fuzz target for a while (FUZZTIME=30s)
	test/fuzz.sh
bench: ## compare audit with a plain transfer, and collect with bare DELETEs and the real collector
	$(GO) run ./test/bench

docs: ## write docs/commands.md, docs/reasons.md and docs/schemas, and man pages in bin, from the code
	$(GO) run ./test/reference -docs docs -man bin/man
pictures: ## draw the pictures in docs from what the program prints now
	$(GO) run ./test/screenshot
dist: ## build a release in dist, and publish nothing
	$(GORELEASER) release --snapshot --clean --skip=sign
krew-manifest: dist ## render plugins/gc.yaml from dist; the real krew validates and installs it
	$(GO) run ./test/dist -version "$(VERSION)" -from dist -o plugins/$(NAME).yaml
	DIST=$(CURDIR)/dist MANIFEST=$(CURDIR)/plugins/$(NAME).yaml $(MAKE) test-krew
release-check: dist ## build the last commit again, elsewhere and with an empty cache, and compare
	$(GORELEASER) check
	rm -rf bin/again && git clone --quiet . bin/again
	cd bin/again && GOCACHE=$(CURDIR)/bin/again/cache make dist VERSION=$(VERSION)
	cmp dist/checksums.txt bin/again/dist/checksums.txt
release: ## publish the tag of this commit, as .github/workflows/release.yml does
	$(GORELEASER) release --clean
clean: ## remove what was built here; control planes stay in the user's cache
	rm -rf bin dist
