package docs

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// page has the conditions under which the commands of a chapter are run.
type page struct {
	collector    string            // testcluster.On: the cluster's own collector runs
	before       string            // a command that is run first
	alternatives bool              // whether its blocks are alternatives: the objects are loaded again before each one
	words        map[string]string // text to replace in commands, with its replacement
	uids         map[string]string // UIDs on the page, with their objects, as in fixtures.Manifest.String
}

// lookedUp are the pages whose sections are chapters.
var lookedUp = []string{"docs/commands.md", "docs/incidents.md", "docs/rules.md"}

// fixturesFor returns the file with the objects for a chapter, which has the same name; empty: the demo.
func fixturesFor(chapter string) string {
	own := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(chapter, "docs/"), ".md"), ".md#", "/")
	own = filepath.Join("testdata", filepath.FromSlash(own)+".yaml")
	if _, err := os.Stat(own); err != nil {
		return ""
	}
	return own
}

// reloads reports whether the objects are loaded again before each block, because the blocks are
// alternatives, as those about a rule.
func (p page) reloads(chapter string) bool {
	return p.alternatives || isAboutCommand(chapter) || strings.HasPrefix(chapter, "docs/rules.md")
}

// isAboutCommand reports whether the chapter describes a command. Its commands are examples, and the
// objects are loaded again before each one.
func isAboutCommand(chapter string) bool { return strings.HasPrefix(chapter, "docs/commands.md") }

const (
	web = "7b0c5a3e-58b1-4f0e-9d3a-6a8c1e4f2b90" // UID of Deployment/web on the page of the rules

	// inShop selects the namespace that the examples use.
	inShop = "kubectl config set-context --current --namespace shop > /dev/null"

	// name renames the latest backup to the name that the pages use.
	name = `
cd ~/.kube/gc-backup/prod && rm -rf 2026-11-20T08-31-07Z && mv "$(ls | tail -1)" 2026-11-20T08-31-07Z`

	// deleteCRD deletes a CRD with an object that a finalizer holds. It deletes the object first: the
	// API server would do that a moment after the CRD, perhaps in the next second, and the page shows
	// the oldest deletion first.
	deleteCRD = `
kubectl delete bucket invoices -n shop --wait=false > /dev/null &&
kubectl delete crd buckets.storage.example.com --wait=false > /dev/null`

	// helmUninstall does what Helm does for the release of the page: it deletes the release's objects
	// in the background, without those of hooks.
	helmUninstall = "kubectl delete deployment web"

	// veleroArchive writes what "velero backup download" would have saved: an object with the UID that
	// its owner had in the backup.
	veleroArchive = `
mkdir -p resources/secrets/namespaces/shop &&
echo '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "web-cookies", "namespace": "shop", "uid": "5d1c9a52-0c86-4a0e-8a1d-5f0f3f6a2b77", "resourceVersion": "4711",
  "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "0f5a7c1e-8d0a-4e0b-9b7e-2f6f5d8f1a11"}]}}' > resources/secrets/namespaces/shop/web-cookies.json`

	// boundClaim creates a claim with a volume, and the Pod that uses it.
	boundClaim = `
echo '{"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pvc-7f2c"}, "spec": {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"],
    "persistentVolumeReclaimPolicy": "Delete", "hostPath": {"path": "/srv/db"}, "claimRef": {"namespace": "shop", "name": "data-db-0"}}},
  {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data-db-0", "namespace": "shop"}, "spec": {"storageClassName": "", "volumeName": "pvc-7f2c",
    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}}},
  {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}},
  {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "db-0", "namespace": "shop"}, "spec": {"nodeName": "node-1", "containers": [{"name": "db", "image": "registry.example.com/db:16"}],
    "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]}}]}' | kubectl apply -f - > /dev/null &&
kubectl wait pvc/data-db-0 -n shop --for=jsonpath='{.status.phase}'=Bound --timeout=60s > /dev/null`

	// stuck deletes namespace checkout while an API is down and a finalizer holds an object in it.
	// Before, it waits until the one of an earlier block is gone: a change makes the namespace
	// controller try again.
	stuck = `
if kubectl annotate namespace checkout again=yes > /dev/null 2>&1; then kubectl wait --for=delete namespace/checkout --timeout=90s > /dev/null; fi &&
kubectl create namespace checkout > /dev/null &&
kubectl create configmap ledger -n checkout > /dev/null &&
kubectl patch configmap ledger -n checkout --type=merge -p '{"metadata": {"finalizers": ["example.com/audit"]}}' > /dev/null &&
echo '{"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": "v1beta1.metrics.k8s.io"}, "spec": {
  "group": "metrics.k8s.io", "version": "v1beta1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": true,
  "service": {"namespace": "monitoring", "name": "metrics-server"}}}' | kubectl create -f - > /dev/null &&
kubectl wait apiservice/v1beta1.metrics.k8s.io --for=condition=Available=false --timeout=30s > /dev/null &&
until kubectl gc audit 2>&1 | grep 'metrics.k8s.io (unavailable)' > /dev/null; do :; done &&
kubectl delete namespace checkout --wait=false > /dev/null &&
kubectl wait namespace/checkout --for=condition=NamespaceFinalizersRemaining --timeout=30s > /dev/null`
)

// pages are the conditions of chapters, by their names.
var pages = map[string]page{
	"docs/agents.md":                               {collector: testcluster.On},
	"docs/commands.md":                             {before: inShop},
	"docs/commands.md#completion":                  {before: "mkdir -p ~/.local/bin"},
	"docs/commands.md#delete":                      {collector: testcluster.On, before: inShop},
	"docs/commands.md#repair":                      {before: inShop, uids: map[string]string{"6ba7b810-9dad-11d1-80b4-00c04fd430c8": "ConfigMap shop/chicken"}},
	"docs/commands.md#restore":                     {before: inShop + "; kubectl gc delete deployment/web -n shop --client-side --yes" + name},
	"docs/commands.md#tree":                        {before: inShop, uids: map[string]string{"6ba7b810-9dad-11d1-80b4-00c04fd430c8": "Deployment shop/web"}},
	"docs/commands.md#why":                         {before: inShop, uids: map[string]string{"6ba7b810-9dad-11d1-80b4-00c04fd430c8": "Deployment shop/web"}},
	"docs/delete.md":                               {collector: testcluster.On, alternatives: true},
	"README.md":                                    {before: inShop + " &&" + boundClaim},
	"docs/incidents.md#helm":                       {collector: testcluster.On, words: map[string]string{"helm uninstall web": helmUninstall}},
	"docs/incidents.md#an-operator-is-uninstalled": {before: deleteCRD},
	"docs/commands.md#trace": {
		before: "mkdir -p cp-1 cp-2 && for to in . cp-1 cp-2; do cp docs/demo/audit.log $to; done && cp docs/demo/kube-controller-manager.log kcm.log && gzip -c docs/demo/cluster.json > yesterday.json.gz",
	},
	"docs/who-deleted-it.md":   {before: "cp docs/demo/*.log . && cp docs/demo/cluster.json yesterday.json"},
	"docs/incidents.md#velero": {before: veleroArchive},
	"docs/repair.md":           {uids: map[string]string{"6ba7b810-9dad-11d1-80b4-00c04fd430c8": "ConfigMap shop/chicken"}},
	"docs/restore.md":          {before: "kubectl gc delete deployment/web -n shop --client-side --yes" + name},
	"docs/why.md":              {uids: map[string]string{"6ba7b810-9dad-11d1-80b4-00c04fd430c8": "ConfigMap shop/chicken"}},
	"docs/rules.md#to-change-one-reference-by-hand": {words: map[string]string{
		"TYPE": "configmap", "NAME": "flags", "NAMESPACE": "shop", "INDEX": "0", "UID-YOU-MEAN": "11111111-1111-1111-1111-111111111111",
	}},
	"docs/rules.md#blocked-deletion": {
		before: "until kubectl gc why job/import -n shop 2>&1 | grep 'drain for' > /dev/null; do :; done", // times have whole seconds
		uids:   map[string]string{web: "ConfigMap shop/ring-b"},
	},
	"docs/rules.md#cross-namespace-owner": {uids: map[string]string{"2c1f0b7a-93d2-4c57-8a43-1f1c9c2d6e55": "RedisCluster kube-system/redis-0826"}},
	"docs/rules.md#duplicate-owner":       {uids: map[string]string{web: "Deployment shop/web"}},
	"docs/rules.md#mismatched-owner":      {uids: map[string]string{web: "Deployment shop/web"}},
	"docs/rules.md#self-owner":            {uids: map[string]string{"a0fdf989-2180-4211-8fff-58f92e4a4507": "ConfigMap shop/me"}},
	"docs/rules.md#stuck-finalizer": {
		before: "until kubectl gc audit --rule stuck-finalizer --stuck-after=0s | grep Pod/drain > /dev/null; do :; done", // the same
	},
	"docs/rules.md#stuck-namespace":        {collector: testcluster.On, before: stuck}, // the last page, as the namespace stays
	"docs/rules.md#terminating-owner":      {uids: map[string]string{web: "Deployment shop/web"}},
	"docs/rules.md#unmonitored-owner":      {uids: map[string]string{"d393317f-25df-45f1-a718-fe64a1235194": "Event shop/ev1"}},
	"docs/rules.md#unserved-owner-version": {uids: map[string]string{web: "Deployment shop/web"}},
}

// untried has the prefixes of the commands that are not run, by chapter.
var untried = []struct{ page, begins, why string }{
	{"README.md", "make demo", "test/demo runs it"},
	{"README.md", "make test", "is what runs this"},
	{"README.md", "git clone", "the program of this test is in bin already"},
	{"README.md", "kubectl gc doctor", "it waits for half a minute; test/e2e does it"},
	{"README.md", "kubectl gc delete deployment/web -n shop", "docs/delete.md and docs/restore.md do it"},
	{"docs/broken-collector.md", "kubectl logs", "the control plane of the test has no Pods"},
	{"CONTRIBUTING.md", "make", "these are the targets that run this, and take minutes"},
	{"CONTRIBUTING.md", "go test", "the same"},
	{"CONTRIBUTING.md", "KUBECTL_GC_SEED", "the same"},
	{"CONTRIBUTING.md", "SEED", "the same"},
	{"docs/adding-a-rule.md", "go test", "there is no such rule"},
	{"docs/demo/README.md", "make build", "the program of this test is in bin already"},
	{"docs/demo/README.md", "go run", "it starts a control plane of its own; test/demo does it"},
	{"docs/envtest.md", "go get", "it is for the module of an operator"},
	{"docs/envtest.md", "make", "the binaries are built already"},
	{"docs/envtest.md", "KUBEBUILDER_ASSETS", "make test-all runs it"},
	{"docs/incidents.md#argo-cd", "argocd", "there is no Argo CD here"},
	{"docs/incidents.md#cluster-api", "clusterctl", "there is no second cluster, and no clusterctl"},
	{"docs/incidents.md#cluster-api", "kubectl gc audit -n fleet --kubeconfig", "there is no second cluster"},
	{"docs/incidents.md#velero", "velero", "there is no Velero here"},
	{"docs/incidents.md#velero", "tar", "veleroArchive writes what would be in the archive"},
	{"docs/repair.md", "kubectl patch --local -f backup.yaml", "there is no such file; docs/incidents.md has one"},
	{"docs/rules.md#stuck-namespace", "kubectl get lease", "the kube-controller-manager of the test has none"},
	{"docs/commands.md#audit", "kubectl gc audit --from must-gather", "there is no such folder; test/script has one"},
	{"docs/commands.md#audit", "kubectl gc audit --contexts", "there is one cluster; test/script and test/e2e have several"},
	{"docs/commands.md#stuck", "kubectl gc stuck --contexts", "the same"},
	{"docs/commands.md#audit", "kubectl gc audit --settle", "it waits for half a minute; test/e2e does it"},
	{"docs/commands.md#audit", "kubectl gc audit --watch", "it ends only if it is interrupted; test/e2e does that"},
	{"docs/commands.md#stuck", "kubectl gc stuck -n shop --watch", "the same"},
	{"docs/why.md", "kubectl gc audit -n shop --watch", "the same"},
	{"docs/why.md", "kubectl gc stuck --watch", "the same"},
	{"docs/commands.md", "kubectl gc delete deployment/web -n shop", "it waits for a collector; docs/delete.md does it"},
	{"docs/commands.md", "kubectl gc doctor", "it waits for half a minute; test/e2e does it"},
	{"docs/commands.md#doctor", "kubectl gc doctor", "the same"},
	{"docs/doctor.md", "kubectl gc doctor", "the same"},
	{"docs/exit-codes.md", "kubectl gc audit --strict --settle", "the same"},
	{"docs/exit-codes.md", "kubectl gc audit --settle", "the same"},
	{"docs/commands.md#audit", "kubectl gc audit -o prometheus=", "there is no such folder; test/script writes such a file"},
	{"docs/controller.md", "kubectl gc controller", "it does not end; test/e2e runs it"},
	{"docs/controller.md", "kubectl gc restore", "there are no such backups; test/e2e has some"},
	{"docs/commands.md#controller", "kubectl gc controller", "it does not end; test/e2e runs it"},
	{"docs/in-cluster/README.md", "GOOS=linux make", "it builds the program, as every test of it does"},
	{"docs/in-cluster/README.md", "podman", "it pushes an image to a registry"},
	{"docs/in-cluster/README.md", "skopeo", "it asks a registry"},
	{"docs/in-cluster/README.md", "kubectl apply", "test/e2e applies them; this control plane has no controllers"},
	{"docs/in-cluster/README.md", "kubectl create job", "the same"},
	{"docs/in-cluster/README.md", "kubectl logs", "the same"},
	{"docs/in-cluster/README.md", "kubectl exec", "the control plane of the test has no Pods"},
	{"docs/in-cluster/README.md", "kubectl create clusterrolebinding gc-restore-now", "there is no such account and role"},
	{"docs/in-cluster/README.md", "kubectl delete clusterrolebinding", "the same"},
	{"docs/in-cluster/README.md", "kubectl label node", "the control plane of the test has no nodes"},
	{"docs/in-cluster/README.md", "install", "it is for a node"},
	{"docs/in-cluster/README.md", "kubectl gc audit --contexts prod", "the same as of docs/commands.md#audit"},
	{"docs/releasing.md", "make", "it builds goreleaser; test/krew does the same for one platform"},
	{"docs/releasing.md", "git", "it publishes"},
	{"docs/releasing.md", "cosign", "nothing was signed yet"},
	{"docs/releasing.md", "sha256sum", "nothing was published yet"},
	{"docs/releasing.md", "kubectl krew", "needs krew; test/krew runs it"},
}

// exitCodes has the prefixes of the commands whose exit code is not 0.
var exitCodes = []struct {
	page, begins string
	code         int
	why          string
}{
	{"docs/broken-collector.md", "kubectl gc repair -n shop", 1, "an API is down, so the scan afterwards is incomplete"},
	{"docs/commands.md#collect", "kubectl gc collect --confirm", 4, "it is the digest of another plan"},
	{"docs/commands.md#delete", "kubectl gc delete deployment/web -n shop --confirm", 4, "it is the digest of another plan"},
	{"docs/commands.md#finalizer-remove", "kubectl gc finalizer remove pvc/import-scratch example.com/hold -n shop --confirm", 4, "it is the digest of another plan"},
	{"docs/commands.md#repair", "kubectl gc repair --confirm", 4, "it is the digest of another plan"},
	{"docs/commands.md#trace", "kubectl gc trace deploy/web", 1, "nobody has deleted it"},
	{"docs/rules.md#unknown-owner-kind", "kubectl get crd | grep", 1, "there is no such kind: that is the point"},
}

// typed returns all commands of all chapters.
func typed(t *testing.T) map[string][]command {
	t.Helper()
	out := map[string][]command{}
	for _, of := range chapters(read(t)) {
		for _, b := range blocks(of.text) {
			b.line += of.above
			commands, err := b.commands()
			if err != nil {
				t.Fatalf("%s: %v", of.file, err)
			}
			out[of.name] = append(out[of.name], commands...)
		}
	}
	return out
}

func TestEveryExceptionIsInUse(t *testing.T) {
	all := typed(t)
	used := func(chapter, begins, why string) {
		for _, c := range all[chapter] {
			if strings.HasPrefix(c.text, begins) {
				return
			}
		}
		t.Errorf("%s has no command that begins with %q: %s", chapter, begins, why)
	}
	for _, u := range untried {
		used(u.page, u.begins, u.why)
	}
	for _, e := range exitCodes {
		used(e.page, e.begins, e.why)
	}
	texts := map[string]string{}
	for _, c := range chapters(read(t)) {
		texts[c.name] = c.text
	}
	for name, p := range pages {
		text, there := texts[name]
		if !there {
			t.Errorf("there is no %s", name)
		}
		for word := range p.words {
			if !strings.Contains(text, word) {
				t.Errorf("%s has no %q", name, word)
			}
		}
		for uid := range p.uids {
			if !strings.Contains(text, uid) {
				t.Errorf("%s has no UID %s", name, uid)
			}
		}
	}
}

// TestMakeTargetsOnPagesExist checks the commands that take too long to be run.
func TestMakeTargetsOnPagesExist(t *testing.T) {
	target := regexp.MustCompile(`^make( [A-Za-z0-9=_-]+)+`)
	words := map[string]bool{}
	for _, commands := range typed(t) {
		for _, c := range commands {
			if found := strings.Fields(target.FindString(c.text)); len(found) > 0 {
				for _, w := range found[1:] {
					words[w] = true
				}
			}
		}
	}
	arguments := append([]string{"-C", root, "-n", "--"}, slices.Sorted(maps.Keys(words))...)
	if out, err := exec.CommandContext(t.Context(), "make", arguments...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCommandBlocksHaveALanguage requires a language for blocks with commands, since this package
// runs only blocks of some languages.
func TestCommandBlocksHaveALanguage(t *testing.T) {
	looks := regexp.MustCompile(`^(\$ |kubectl |kubectl-gc |bin/kubectl-gc |make |go (run|test|build) |KUBECTL_GC_)`)
	for file, text := range read(t) {
		for _, b := range blocks(text) {
			if b.language != "" && b.language != "text" && b.language != "bash" && b.language != "shell" {
				continue
			}
			for i, line := range b.lines {
				if looks.MatchString(line) && !strings.HasSuffix(line, " [flags]") { // a synopsis is no command
					t.Errorf("%s:%d: a block with a command is sh, or console if it shows the answer", file, b.line+i)
				}
			}
		}
	}
}
