# Every step that CI takes is a target here.
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:

GO      ?= go

# The name by which kubectl finds the plugin: kubectl gc. NAME=owner-gc makes everything
# here, help and manifest too, for kubectl owner-gc.
NAME    ?= gc
FILE     = kubectl-$(subst -,_,$(NAME))

# The tag of this commit, what comes since one, or the commit where there is no tag yet.
# It is asked for once: a target that writes a file must not change it for the next.
ifndef VERSION
VERSION := $(shell git describe --tags --match 'v[0-9]*' --abbrev=12 --dirty 2>/dev/null || \
	git describe --always --abbrev=12 --dirty --exclude '*' 2>/dev/null | sed 's/^/v0.0.0-g/')
endif
MODULE   = github.com/kubectl-gc/kubectl-gc
LDFLAGS  = -s -w -buildid= -X $(MODULE)/pkg/cli.release=$(VERSION) -X $(MODULE)/pkg/plugin.name=$(NAME)

# Everything in an archive has the time of the commit.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null)

# Without the path of the checkout in them, compiled packages are found in the build cache from
# another checkout, too.
export GOFLAGS := $(strip $(filter-out -trimpath,$(shell $(GO) env GOFLAGS)) -trimpath)

# The program has no C in it, and neither have its tests: linked by Go alone, they take half the time.
export CGO_ENABLED := 0

# The race detector needs a C compiler; without one the tests run all the same.
RACEFLAGS = -race '-ldflags=-w -linkmode=internal'
RACE ?= $(shell command -v "$$($(GO) env CC)" >/dev/null 2>&1 && echo "$(RACEFLAGS)")

LINT         = $(GO) tool -modfile=test/lint/go.mod
CONTROLPLANE = $(GO) run -C test/controlplane .
FUZZ         = $(GO) run ./test/fuzz -time $(or $(FUZZTIME),30s)
GORELEASER   = $(GO) tool -modfile=test/goreleaser/go.mod goreleaser
# krew is a plugin, too: the kubectl that was built for the tests runs it.
KREW         = PATH="$$($(CONTROLPLANE) build):$$PATH"

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t16

.PHONY: build
build: ## build bin/kubectl-gc
	$(GO) build -trimpath -ldflags "$(LDFLAGS)" -o bin/$(FILE) ./cmd/kubectl-gc

.PHONY: demo
demo: ## show the tool at work on a real control plane, then stop it
	$(GO) run ./test/demo

.PHONY: picture
picture: ## draw docs/picture, the terminal of the README, from a run on the demo
	$(GO) run ./test/screenshot

.PHONY: demo-up
demo-up: ## the same, and leave the control plane running
	$(GO) run ./test/demo -keep

.PHONY: demo-down
demo-down: ## stop what demo-up left running
	$(GO) run ./test/demo -stop

.PHONY: cluster-up
cluster-up: ## start a bare control plane (COLLECTOR=on, off or absent; KUBERNETES=1.33); prints a KUBECONFIG to export
	@$(CONTROLPLANE) up $(if $(COLLECTOR),--collector=$(COLLECTOR)) $(if $(KUBERNETES),--version=$(KUBERNETES))

.PHONY: cluster-down
cluster-down: ## stop it
	@$(CONTROLPLANE) down

.PHONY: controlplane
controlplane: ## build etcd, kube-apiserver, kube-controller-manager and kubectl, once (KUBERNETES=1.33: of that version)
	$(CONTROLPLANE) build $(if $(KUBERNETES),--version=$(KUBERNETES))

# The end-to-end tests wait some of the time, so the rest runs beside them. A program with the race
# detector need not linger for a second after its end. With many programs side by side one thread is
# enough for each: with two, an API server needs 40 % more CPU to start, as Go looks for work for the
# second. Compilers and servers that collect their garbage less often need a tenth less of CPU here.
.PHONY: test
test: controlplane chromium ## everything: lint, unit tests, and end to end on a real control plane
	GOMAXPROCS=1 GOGC=400 GORACE=atexit_sleep_ms=0 $(MAKE) --no-print-directory -j2 test-e2e test-rest

# As long as the end-to-end tests are likely to run, the rest gets half of the processors: the more
# programs share a processor, the more CPU each needs.
.PHONY: test-rest
test-rest: HALF = $(shell expr \( $(PROCESSORS) + 1 \) / 2)
test-rest:
	$(MAKE) test-program PACKAGES=$(HALF)
	$(MAKE) test-modules PACKAGES=$(HALF)
	$(MAKE) test-programs

# lint vets everything. Nobody debugs these programs, and they are linked faster without DWARF.
UNITFLAGS = -vet=off -ldflags=-w -p $(PACKAGES) -parallel $(PROCESSORS)
PACKAGES = $(PROCESSORS)

# go test does not know of the programs that these tests run, so nothing is taken from its cache.
TESTFLAGS = -count=1 $(UNITFLAGS)
PROCESSORS = $(shell getconf _NPROCESSORS_ONLN)

.PHONY: test-short
test-short: ## the unit tests that need neither a control plane nor the built program
	$(GO) test -short -vet=off -ldflags=-w ./...

.PHONY: test-e2e
test-e2e: # end to end, on a real control plane
	KUBECTL_GC_E2E=1 $(GO) test $(TESTFLAGS) -timeout 60m ./test/e2e

.PHONY: test-programs
test-programs: # what else runs the built program, or none of it; the longest first
	KUBECTL_GC_E2E=1 $(GO) test $(TESTFLAGS) -timeout 60m ./test/docs $$($(GO) list ./test/... | grep -v /test/e2e$$)

# Packages that start goroutines. The race detector makes the others slower and finds nothing there.
CONCURRENT = $(shell grep -rlE --include=*.go '[.]Go\b|^[[:space:]]*go [a-z]|InParallel' cmd pkg | xargs -n1 dirname | sort -u | sed 's|^|./|')

.PHONY: test-program
test-program: lint # the program's own packages; again only if something has changed that they depend on
	$(if $(RACE),CGO_ENABLED=1) $(GO) test $(UNITFLAGS) $(RACE) -timeout 20m $(CONCURRENT)
	$(GO) test $(UNITFLAGS) -timeout 20m $$($(GO) list ./cmd/... ./pkg/... | grep -vxF "$$($(GO) list $(CONCURRENT))")

.PHONY: race
race: ## every package of the program with the race detector
	CGO_ENABLED=1 $(GO) test $(TESTFLAGS) $(RACEFLAGS) -timeout 1h ./cmd/... ./pkg/...

.PHONY: test-modules
test-modules: # those in test with dependencies of their own
	cd test/controlplane && KUBECTL_GC_E2E=1 $(GO) test $(TESTFLAGS) -timeout 10m ./...
	cd test/prometheus && $(GO) test $(TESTFLAGS) ./...
	assets=$$($(CONTROLPLANE) build) && KUBEBUILDER_ASSETS="$$assets" $(GO) test -C test/envtest $(TESTFLAGS) -timeout 10m ./...
	cd test/explorer && $(GO) test $(TESTFLAGS) -timeout 15m ./...
	$(KREW) $(GO) test -C test/krew $(TESTFLAGS) -timeout 10m ./...

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

.PHONY: churn
churn: controlplane ## compare collect --watch with the real collector under a random workload and faults (SEEDS=10 OPERATIONS=10000)
	KUBECTL_GC_E2E=1 SEEDS=$(or $(SEEDS),10) OPERATIONS=$(or $(OPERATIONS),10000) FAULTS=1 \
		$(GO) test -count=1 -timeout 10h -v -run TestWatchCollectsLikeTheRealCollector ./test/e2e

.PHONY: matrix
matrix: ## compare with the real collector on Kubernetes 1.36, 1.33 and 1.30 (SEEDS=10 FROM=1 VERSIONS=1.33,1.30); writes docs/matrix.md
	$(GO) run ./test/matrix -seeds $(or $(SEEDS),10) -from $(or $(FROM),1) -versions '$(VERSIONS)' -write docs/matrix.md

# What soak has counted so far: RESUME=1 goes on with it.
COUNTED       = $(CURDIR)/bin/soak.json
COUNTED_LIES  = $(CURDIR)/bin/soak-lies.json

# A campaign of 500 runs takes about half an hour on two cores.
CAMPAIGN = KUBECTL_GC_E2E=1 KUBECTL_GC_SEED=$(FROM) RUNS=$(or $(RUNS),500) ABREAST=$(or $(ABREAST),3) RELIABILITY=$(CURDIR)/docs/reliability.md

# Not a $(MAKE) of its own: make -n would run that.
WITHOUT_CHECK = MUTATION=1 KUBECTL_GC_E2E=1 ABREAST=$(or $(ABREAST),3) RELIABILITY=$(CURDIR)/docs/reliability.md \
	$(GO) test -count=1 -timeout 2h -v -run TestLiesFailAProgramWithoutResponseChecks ./test/e2e

.PHONY: soak
soak: controlplane ## run under random faults, 500 times, under lies, 500 times, and fuzz (RUNS=n FUZZTIME=t); writes docs/reliability.md
	@mkdir -p bin$(if $(RESUME),, && rm -f $(COUNTED) $(COUNTED_LIES))
	$(CAMPAIGN) TALLY=$(COUNTED) $(GO) test -count=1 -timeout 4h -v -run TestUnderFaults ./test/e2e; faults=$$?; \
	$(CAMPAIGN) TALLY=$(COUNTED_LIES) $(GO) test -count=1 -timeout 4h -v -run 'TestUnderLies$$' ./test/e2e; lies=$$?; \
	$(WITHOUT_CHECK); mutation=$$?; \
	$(FUZZ) -write docs/reliability.md ./pkg/...; fuzz=$$?; \
	cat docs/reliability.md; exit $$((faults + lies + mutation + fuzz))

.PHONY: mutation
mutation: controlplane ## check that the campaign of lies fails with a program that does not check answers; writes docs/reliability.md
	$(WITHOUT_CHECK)

.PHONY: oracle
oracle: ## compare the predictions with upstream's collector on 100,000 random scenarios (SCENARIOS=n ORDERS=n SEED=n); writes docs/upstream.md
	KUBECTL_GC_E2E=1 SCENARIOS=$(or $(SCENARIOS),100000) ORDERS=$(or $(ORDERS),10) SEED=$(or $(SEED),1) UPSTREAM_PAGE=$(CURDIR)/docs/upstream.md \
		$(GO) test -count=1 -timeout 6h -v -run TestPredictionMatchesUpstreamCollector ./test/oracle

.PHONY: oracle-mutation
oracle-mutation: ## check that this comparison fails with each broken rule of the collector, and passes for upstream itself
	MUTATION=1 KUBECTL_GC_E2E=1 $(GO) test -count=1 -timeout 1h -v -run 'TestTheComparison' ./test/oracle

.PHONY: fuzz
fuzz: ## run every fuzz target for a while (FUZZTIME=30s each), and count the inputs
	$(FUZZ) ./pkg/...

.PHONY: properties
properties: ## check every property of the packages on many random inputs (CHECKS=20000)
	$(GO) test -count=1 -timeout 3h $$(grep -rl --include=*_test.go pgregory.net/rapid pkg | xargs -n1 dirname | sort -u | sed 's|^|./|') -rapid.checks=$(or $(CHECKS),20000)

.PHONY: references
references: ## a million references on one object, with every command, most of an hour (REFERENCES=n)
	REFERENCES=$(or $(REFERENCES),1000000) $(GO) test -count=1 -timeout 4h -parallel 1 -v -run TestManyReferences ./test/script

# A default covers the cases that are not named. The numbers of fields are an open set.
EXHAUSTIVE = -exhaustive.d -exhaustive.typeignore='protowire[.]Number$$'

# On a fresh machine the dependencies are compiled for three systems here, one package after the other if
# this were left to GOMAXPROCS, long after everything else has ended.
VET = $(GO) vet -p $(PROCESSORS)

.PHONY: lint
lint: ## go vet, also for Windows and macOS, staticcheck, errorlint, exhaustive, misspell, gofumpt, tidy modules
	$(VET) ./...
	GOOS=windows $(VET) ./cmd/... ./pkg/...
	GOOS=darwin $(VET) ./cmd/... ./pkg/...
	$(LINT) staticcheck ./...
	$(GO) build -C test/lint -o $(CURDIR)/bin/lint . && $(VET) -vettool=$(CURDIR)/bin/lint $(EXHAUSTIVE) ./...
	$(LINT) misspell -error cmd docs pkg plugins test *.md
	@unformatted=$$($(LINT) gofumpt -l cmd pkg test | grep -v /oracle/_build/); \
	if [ -n "$$unformatted" ]; then echo "gofumpt would change:" >&2; echo "$$unformatted" >&2; exit 1; fi
	$(GO) mod tidy -diff
	cd test/controlplane && $(VET) ./... && $(GO) mod tidy -diff && \
		for m in versions/*.mod; do $(GO) mod tidy -diff -modfile=$$m || exit 1; done
	cd test/prometheus && $(VET) ./... && $(GO) mod tidy -diff
	cd test/envtest && $(VET) ./... && $(GO) mod tidy -diff
	cd test/explorer && $(VET) ./... && $(GO) mod tidy -diff
	cd test/krew && $(VET) ./... && $(GO) mod tidy -diff
	cd test/lint && $(VET) ./... && $(GO) mod tidy -diff

# One run with few objects and with many, so that what an object costs can be compared.
OBJECTS ?= 50000,500000

.PHONY: bench
bench: ## measure audit and tree beside the transfer floor, over an hour (OBJECTS=50000,500000 RUNS=3); writes docs/performance.md
	$(GO) run ./test/bench -objects $(OBJECTS) -runs $(or $(RUNS),3) -write docs/performance.md

.PHONY: bench-act
bench-act: ## measure collect beside bare deletes and the real collector; writes docs/performance-acting.md
	$(GO) run ./test/bench act -write docs/performance-acting.md

# What .goreleaser.yaml takes from its environment. goreleaser could ask git for the time, but
# not where there is no remote; GNU and BSD spell the conversion differently.
SPELLED = +%Y-%m-%dT%H:%M:%SZ
TIME    = $(shell date -u -d @$(SOURCE_DATE_EPOCH) $(SPELLED) 2>/dev/null || date -u -r $(SOURCE_DATE_EPOCH) $(SPELLED))
EPOCH   = $(or $(SOURCE_DATE_EPOCH),$(error without git, set SOURCE_DATE_EPOCH to the time of the commit, in seconds since 1970))
RELEASE = SOURCE_DATE_EPOCH=$(EPOCH) TIME=$(TIME) FILE=$(FILE) VERSION="$(VERSION)" LDFLAGS="$(LDFLAGS)"
SNAPSHOT = release --snapshot --clean --skip=sign

.PHONY: dist
dist: ## build a release in dist, and publish nothing: archives, SBOMs and checksums (NAME=owner-gc)
	$(RELEASE) $(GORELEASER) $(SNAPSHOT)

.PHONY: krew-manifest
krew-manifest: dist ## render plugins/gc.yaml from what dist built, and have the real krew validate and install it
	$(GO) run ./test/dist manifest -name $(NAME) -file $(FILE) -version "$(VERSION)" -from dist -o plugins/$(NAME).yaml
	$(KREW) DIST=$(CURDIR)/dist MANIFEST=$(CURDIR)/plugins/$(NAME).yaml \
		$(GO) test -C test/krew -count=1 -timeout 30m -v -run TestEveryPlatform .

.PHONY: release-check
release-check: dist ## check .goreleaser.yaml, build the last commit again, elsewhere and with an empty cache, and compare: long
	$(RELEASE) $(GORELEASER) check
	again=$$(mktemp -d) && trap 'rm -rf "$$again"' EXIT && goreleaser=$$($(GO) tool -modfile=test/goreleaser/go.mod -n goreleaser) && \
	mkdir "$$again/src" && git archive HEAD | tar -x -C "$$again/src" && cd "$$again/src" && \
	GOCACHE="$$again/cache" $(RELEASE) "$$goreleaser" $(SNAPSHOT) && cmp $(CURDIR)/dist/checksums.txt dist/checksums.txt

.PHONY: release
release: ## publish the tag of this commit; .github/workflows/release.yml does
	$(RELEASE) $(GORELEASER) release --clean

.PHONY: bench-watch
bench-watch: ## measure collect --watch beside the real collector, at rest and in bursts; writes docs/performance-watch.md
	$(GO) run ./test/bench watch -write docs/performance-watch.md

.PHONY: docs
docs: ## write docs/commands anew, from what the commands say of themselves
	$(GO) run ./test/reference -markdown docs/commands

.PHONY: man
man: ## write man pages into bin/man
	$(GO) run ./test/reference -man bin/man

.PHONY: clean
clean: ## remove what was built here; the control plane stays in the user's cache
	rm -rf bin dist
