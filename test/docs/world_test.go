package docs

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-gc/kubectl-gc/test/fixtures"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// root is the root of the checkout.
const root = "../.."

// world is the cluster that the pages describe.
type world struct {
	plane      *testcluster.ControlPlane
	loader     *fixtures.Loader
	bin        string         // a folder with kubectl and the plugin
	empty      fixtures.State // before any objects were loaded
	loadedFile string         // the file whose objects are loaded
	loaded     fixtures.State // after they were loaded
	revision   string         // at which the cluster was in that state
	uids       map[string]string
}

// newWorld starts the cluster without a running collector, so that the defects in the demo stay.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{plane: testcluster.New(t, testcluster.Options{Collector: testcluster.Off}), bin: t.TempDir()}
	out, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", filepath.Join(w.bin, "kubectl-gc"), "github.com/kubectl-gc/kubectl-gc/test/docs/program").CombinedOutput()
	if err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	must(t, os.Symlink(w.plane.KubectlPath, filepath.Join(w.bin, "kubectl")))
	w.loader, err = fixtures.NewLoader(w.plane.Kubeconfig)
	must(t, err)
	w.empty, err = w.loader.State(t.Context())
	must(t, err)
	return w
}

// load loads the objects of a file or, if it is empty, of the demo. It deletes all other objects.
func (w *world) load(t *testing.T, file string) {
	t.Helper()
	if w.loaded != nil && w.loadedFile == file && w.isUnchanged(t) {
		return
	}
	folder := os.DirFS(filepath.Join(root, "docs", "demo"))
	if file != "" {
		data, err := os.ReadFile(file)
		must(t, err)
		folder = fstest.MapFS{"stories.yaml": {Data: data}}
	}
	manifests, err := fixtures.Read(folder)
	must(t, err)
	must(t, w.loader.Clear(t.Context(), w.empty))
	w.uids, err = w.loader.Load(t.Context(), manifests)
	must(t, err)
	must(t, w.loader.Settle(t.Context(), manifests))
	w.loadedFile = file
	w.revision, err = w.loader.Revision(t.Context())
	must(t, err)
	w.loaded, err = w.loader.State(t.Context())
	must(t, err)
}

// isUnchanged reports whether the cluster is as it was after its objects were loaded. Most commands change
// nothing, and the control plane itself writes only every few seconds, so it seldom has to read all objects.
func (w *world) isUnchanged(t *testing.T) bool {
	t.Helper()
	revision, err := w.loader.Revision(t.Context())
	must(t, err)
	if revision == w.revision {
		return true
	}
	now, err := w.loader.State(t.Context())
	must(t, err)
	if !now.Equal(w.loaded) {
		return false
	}
	w.revision = revision
	return true
}

// newUser creates the environment of a new user: a folder that looks like a checkout, a home
// folder with a kubeconfig, and environment variables.
func (w *world) newUser(t *testing.T) (dir, home string, env []string) {
	t.Helper()
	dir, home = t.TempDir(), t.TempDir()
	for _, name := range []string{"docs", "plugins"} {
		target, err := filepath.Abs(filepath.Join(root, name))
		must(t, err)
		must(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	must(t, os.Symlink(w.bin, filepath.Join(dir, "bin")))
	must(t, os.Mkdir(filepath.Join(home, ".kube"), 0o700))
	must(t, os.WriteFile(filepath.Join(home, ".kube", "config"), w.kubeconfig(t), 0o600))
	for _, entry := range w.plane.Env() {
		if name, _, _ := strings.Cut(entry, "="); name != "KUBECONFIG" && name != "HOME" && name != "PATH" {
			env = append(env, entry)
		}
	}
	return dir, home, append(env, "HOME="+home, "TZ=UTC", "PATH="+w.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// contextName is the name of the context on the pages.
const contextName = "prod"

// kubeconfig returns the kubeconfig of the control plane, with the admin's context as the only
// one.
func (w *world) kubeconfig(t *testing.T) []byte {
	t.Helper()
	must(t, testcluster.RequireTestCluster(w.plane.Kubeconfig))
	data, err := os.ReadFile(w.plane.Kubeconfig)
	must(t, err)
	var config map[string]any
	must(t, json.Unmarshal(data, &config))
	for _, entry := range config["contexts"].([]any) {
		if c := entry.(map[string]any); c["name"] == w.plane.Context("admin") {
			c["name"] = contextName
			config["contexts"], config["current-context"] = []any{c}, contextName
		}
	}
	data, err = json.Marshal(config)
	must(t, err)
	return data
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
