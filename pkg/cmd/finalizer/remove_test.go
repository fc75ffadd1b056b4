package finalizer

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// stuckObjects are two Secrets whose deletion waits for example.com, with an owner and a dependent
// of the first, a terminating namespace that only a Pod keeps, and objects from which the
// command removes nothing.
const stuckObjects = `{"apiVersion": "v1", "kind": "List", "items": [
{"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "shop", "name": "stuck", "uid": "1", "resourceVersion": "1", "deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0,
 "finalizers": ["example.com/cleanup"], "ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "owner", "uid": "2", "blockOwnerDeletion": true}]}},
{"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "shop", "name": "owner", "uid": "2", "resourceVersion": "1", "deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0, "finalizers": ["foregroundDeletion"]}},
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "shop", "name": "dependent", "uid": "3", "resourceVersion": "1", "ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "stuck", "uid": "1"}]}},
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "shop", "name": "alive", "uid": "4", "resourceVersion": "1", "finalizers": ["example.com/cleanup"]}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "old", "name": "stuck", "uid": "5", "resourceVersion": "1", "deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0, "finalizers": ["example.com/cleanup"]}},
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "old", "name": "later", "uid": "6", "resourceVersion": "1"}},
{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "old", "uid": "7", "resourceVersion": "1", "deletionTimestamp": "2020-01-01T00:00:00Z"}, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Terminating"}},
{"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "shop", "name": "twice", "uid": "8", "resourceVersion": "1", "deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0, "finalizers": ["example.com/cleanup", "kubernetes.io/vac-protection"]}},
{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com", "uid": "9", "resourceVersion": "1", "deletionTimestamp": "2020-01-01T00:00:00Z", "finalizers": ["customresourcecleanup.apiextensions.k8s.io"]}}
]}`

func TestRemoveFinalizer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "stuck.json")
	if err := os.WriteFile(file, []byte(stuckObjects), 0o600); err != nil {
		t.Fatal(err)
	}
	remove := func(finalizer string, more ...string) []string {
		if len(more) == 0 {
			return []string{"remove", finalizer}
		}
		return append([]string{"remove", more[0], finalizer}, more[1:]...)
	}
	const cleanup = "example.com/cleanup"
	for name, c := range map[string]struct {
		args          []string
		code          int
		stdout, error string
	}{
		"shows what the object's controller does not do any more": {remove(cleanup, "secret/stuck", "-n", "shop"), cli.ExitDone, "remove-finalizer  shop       Secret/stuck            requested: removes its finalizer example.com/cleanup and skips the cleanup of the controller behind example.com; this deletes the object at once\n", ""},
		"shows the dependents that are deleted":                   {remove(cleanup, "secret/stuck", "-n", "shop"), cli.ExitDone, "delete                       └─ ConfigMap/dependent  its owner is gone\n", ""},
		"shows the owner that waited":                             {remove(cleanup, "secret/stuck", "-n", "shop"), cli.ExitDone, "delete            shop       Secret/owner            nothing blocks its foreground deletion anymore\n", ""},
		"counts what is deleted":                                  {remove(cleanup, "secret/stuck", "-n", "shop"), cli.ExitDone, "\nremove-finalizer 1, delete 3 in namespace shop (file " + file + "). Incomplete scan. Nothing was changed: dry run, digest ", ""},
		"names what is deleted for a program":                     {remove(cleanup, "secret/stuck", "-n", "shop", "-o", "name"), cli.ExitDone, "secret/owner\nsecret/stuck\n", ""},
		"shows what the namespace deletes after its last Pod":     {remove(cleanup, "pod/stuck", "-n", "old"), cli.ExitDone, "delete                       ├─ ConfigMap/later  its namespace is being deleted, and no Pod is left in it\n", ""},
		"shows the namespace that waited":                         {remove(cleanup, "pod/stuck", "-n", "old"), cli.ExitDone, "delete            -          └─ Namespace/old    its deletion can complete, since nothing is left in it\n", ""},
		"says that another finalizer still holds the object":      {remove(cleanup, "secret/twice", "-n", "shop"), cli.ExitDone, "then it is blocked until the volume protection (kube-controller-manager) removes kubernetes.io/vac-protection\n", ""},
		"counts the deletion that the other one still holds":      {remove(cleanup, "secret/twice", "-n", "shop"), cli.ExitDone, "\nremove-finalizer 1, delete 1 (1 blocked) in namespace shop (file " + file + "). Incomplete scan.", ""},
		"names a known controller and its condition":              {remove("kubernetes.io/vac-protection", "secret/twice", "-n", "shop"), cli.ExitDone, "skips the cleanup of the volume protection (kube-controller-manager), which removes it only when no volume and no claim uses the class; then it is blocked until a controller removes example.com/cleanup\n", ""},

		"refuses an object that is not being deleted":     {remove(cleanup, "configmap/alive", "-n", "shop"), cli.ExitUsage, "", "error: \"ConfigMap/alive\" is not being deleted: its finalizer \"example.com/cleanup\" holds nothing\nhint: what would be deleted with it: kubectl gc delete "},
		"refuses an object without the finalizer":         {remove("example.com/other", "secret/stuck", "-n", "shop"), cli.ExitUsage, "", "error: \"Secret/stuck\" has no finalizer \"example.com/other\"\nhint: its finalizers: example.com/cleanup\n"},
		"refuses the collector's own finalizer":           {remove("foregroundDeletion", "secret/owner", "-n", "shop"), cli.ExitUsage, "", "error: foregroundDeletion is the garbage collector's own finalizer: it stays until the dependents are deleted or orphaned\nhint: to preview that, and what removes it then: kubectl gc collect "},
		"refuses the finalizer in a namespace's spec":     {remove("kubernetes", "namespace/old"), cli.ExitUsage, "", "error: \"kubernetes\" is not in the metadata of \"Namespace/old\": the namespace controller removes it from the spec when the namespace is empty\nhint: what it waits for: kubectl gc why namespace/old "},
		"refuses the finalizer of a definition's objects": {remove("customresourcecleanup.apiextensions.k8s.io", "crd/widgets.example.com"), cli.ExitUsage, "", "until all its objects are deleted: without it they would stay in storage, where nobody can read them\n"},
		"refuses an object that does not exist":           {remove(cleanup, "secret/none", "-n", "shop"), cli.ExitUsage, "", "error: \"secrets/none\" in namespace \"shop\""},
		"refuses an empty name":                           {remove("", "secret/stuck"), cli.ExitUsage, "", "error: an argument is empty\n"},
		"refuses no target":                               {remove(cleanup), cli.ExitUsage, "", "error: the file has no resource type \"example.com\"\n"},
		"refuses a type":                                  {remove(cleanup, "secrets"), cli.ExitUsage, "", "error: \"secrets\" is not TYPE/NAME\n"},
		"refuses several targets":                         {remove(cleanup, "secret/stuck", "secret/twice"), cli.ExitUsage, "", "error: name one object as TYPE/NAME, and one finalizer\n"},
		"refuses all namespaces":                          {remove(cleanup, "secret/stuck", "-A"), cli.ExitUsage, "", "error: -A cannot be combined with TYPE/NAME: only one object is changed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := clitest.Run(t, New, append(c.args, "--from", file, "--dry-run")...)
			if c.error == "" {
				c.error = r.Stderr // only the warnings of a file
			}
			r.Expect(t, c.code, c.stdout, c.error)
		})
	}
}

// TestRemoveFinalizerSuggestsNoFlagThatItLacks has a namespace that is not deleted because some of its contents were not read.
func TestRemoveFinalizerSuggestsNoFlagThatItLacks(t *testing.T) {
	node := st.Node("stuck", st.Terminating("example.com/cleanup"))
	seen := st.New(st.Serving(st.TypesWithContents()...), st.Listing(node, st.Namespace("garbage", st.OwnedBy(node))))
	seen.Gaps = []snapshot.Gap{{Group: "metrics.k8s.io", Resource: snapshot.All, Reason: snapshot.Unavailable}}
	var saved bytes.Buffer
	if err := seen.Save(&saved); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "seen.json")
	if err := os.WriteFile(file, saved.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	r := clitest.Run(t, New, "remove", "node/stuck", "example.com/cleanup", "--from", file, "--dry-run")
	if strings.Contains(r.Stderr, "--accept-gap") {
		t.Errorf("it suggests a flag that it lacks:\n%s", r.Stderr)
	}
}
