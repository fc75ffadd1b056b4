package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

// runForBackup runs a command that deletes, and returns the folder of its backup.
func (t tool) runForBackup(args ...string) (folder string) {
	t.Helper()
	dir := t.TempDir()
	t.gc(append(args, "--yes", "--backup-dir", dir)...).exits(t, 0).shows(t, "Undo: kubectl gc restore "+dir)
	return onlyFolder(t, dir)
}

// onlyFolder returns the only backup below a folder.
func onlyFolder(t testing.TB, dir string) string {
	t.Helper()
	folders, err := os.ReadDir(dir)
	if err != nil || len(folders) != 1 {
		t.Fatalf("there are %d backups: %v", len(folders), err)
	}
	return filepath.Join(dir, folders[0].Name())
}

// names returns the objects in the tree of a namespace, sorted.
func (s *scene) names(ns string) []string {
	s.Helper()
	return slices.Sorted(strings.Lines(s.gc("tree", "-n", ns, "-o", "name").exits(s, 0).Stdout))
}

// links returns the owner references in a namespace, by the names of both objects.
func (s *scene) links(ns string) []string {
	s.Helper()
	seen := s.scan(inNamespace(ns)).seen
	known := map[types.UID]string{}
	for i := range seen.Objects {
		known[seen.Objects[i].UID] = seen.Objects[i].String()
	}
	for _, l := range seen.Lookups {
		if l.Object != nil {
			known[l.Object.UID] = l.Object.String()
		}
	}
	var out []string
	for _, o := range seen.Objects {
		for _, r := range o.Owners {
			owner, found := known[r.UID]
			if !found {
				owner = "nobody"
			}
			out = append(out, fmt.Sprintf("%s of %s, said to be %s (controller %t, blocks %t)", o, owner, r, r.Controls(), r.Blocks()))
		}
	}
	slices.Sort(out)
	return out
}

// mustHaveNoFindings requires that audit finds nothing in a namespace.
func (s *scene) mustHaveNoFindings(ns string) {
	s.Helper()
	if r := s.tool().audit("-n", ns); len(r.Findings) > 0 {
		s.Errorf("audit finds %+v", r.Findings)
	}
}

// awaitValue waits until a field of an object has a value.
func (s *scene) awaitValue(o object, want any, path ...string) {
	s.Helper()
	s.await(fmt.Sprintf("%s of %s to be %v", strings.Join(path, "."), o.GetName(), want), func(ctx context.Context) (bool, error) {
		live, err := s.client(o).Get(ctx, o.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, nil // it does not exist yet
		}
		var at any = live.Object
		for _, field := range path {
			fields, _ := at.(map[string]any)
			at = fields[field]
		}
		return fmt.Sprint(at) == fmt.Sprint(want), nil
	})
}

// restoredResults returns the results of restorations in a backup.
func (s *scene) restoredResults(folder string) []backup.Restored {
	s.Helper()
	b, err := backup.Open(folder)
	s.must(err)
	defer b.Close()
	return b.Restored
}
