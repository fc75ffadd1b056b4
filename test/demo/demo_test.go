package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/fixtures"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const folder = "../../docs/demo"

// wantFindings are the findings of docs/demo: the rule, then the object as namespace and
// kind/name. The stuck deletions are seconds old, so they are found only with --stuck-after.
var wantFindings = []string{
	"cross-namespace-owner monitoring StatefulSet/redis-exporter",
	"missing-owner shop ConfigMap/shared",
	"replaced-owner shop Secret/restored",
	"cluster-to-namespaced-owner  ClusterRole/web-metrics-reader",
	"unserved-owner-version shop ConfigMap/flags",
	"owner-cycle shop ConfigMap/chicken",
	"blocked-deletion shop Job/import",
	"terminating-owner shop PersistentVolumeClaim/import-scratch",
	"stuck-finalizer shop PersistentVolumeClaim/import-scratch",
}

func TestSnapshotHasEveryFinding(t *testing.T) {
	found := auditOf(t, filepath.Join(folder, "cluster.json"))
	for _, want := range wantFindings {
		if !slices.Contains(found, want) {
			t.Errorf("nothing found: %s", want)
		}
	}
	for _, got := range found {
		if !slices.Contains(wantFindings, got) {
			t.Errorf("no example has the finding %s", got)
		}
	}
}

func TestSnapshotIsSmallAndMatchesManifests(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(folder, "cluster.json"))
	if err != nil {
		t.Fatal(err)
	}
	if most := 150_000; len(data) > most {
		t.Errorf("it has %d bytes, more than %d", len(data), most)
	}
	manifests, err := fixtures.Read(os.DirFS(folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range manifests {
		if line := `"kind":"` + m.Object.GetKind() + `"`; !bytes.Contains(data, []byte(line)) || !bytes.Contains(data, []byte(`"name":"`+m.Object.GetName()+`"`)) {
			t.Errorf("it lacks %s", m)
		}
	}
}

func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	root, err := repository(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if controlplane(t.Context(), root, io.Discard, io.Discard, "build", "--only-if-built") != nil && os.Getenv(testcluster.BuildVariable) == "" {
		t.Skip("SKIPPED, NOT TESTED: ", testcluster.ErrNotBuilt)
	}
	file := filepath.Join(t.TempDir(), "cluster.json")
	var out, errs bytes.Buffer
	if code := dispatch(t.Context(), []string{"-save", file}, &out, &errs); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, &out, &errs)
	}
	for _, want := range []string{"$ kubectl gc audit\n", "cross-namespace-owner", "Pod/redis-exporter-0", "ReplicaSet/web-"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not show %q:\n%s", want, &out)
		}
	}
	found := auditOf(t, file)
	for _, want := range wantFindings {
		if !slices.Contains(found, want) {
			t.Errorf("the saved snapshot lacks %s", want)
		}
	}
}

func TestTheSavedClusterIsShownWithoutAControlPlane(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs it")
	}
	root, err := repository(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := &stage{out: &out, err: &out, bin: t.TempDir()}
	if err := s.buildPlugin(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	if err := s.performSaved(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"$ kubectl gc audit --from docs/demo/cluster.json\n", "cross-namespace-owner", "Pod/redis-exporter-0", "ReplicaSet/web-"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("it does not show %q:\n%s", want, &out)
		}
	}
}

// auditOf runs the audit command on a snapshot.
func auditOf(t *testing.T, file string) []string {
	t.Helper()
	var out, errs bytes.Buffer
	s := cli.Process()
	s.In, s.Out, s.Err, s.OutTerm, s.ErrTerm = strings.NewReader(""), &out, &errs, false, false
	code := cmd.Main(context.Background(), []string{"audit", "--from", file, "--stuck-after=0s", "-o", "json"}, s)
	if code != 1 {
		t.Fatalf("audit of %s: exit code %d, want 1\n%s", file, code, &errs)
	}
	var report struct {
		Complete bool
		Gaps     []snapshot.Gap
		Findings []struct {
			Rule   string
			Object object.Identity
		}
	}
	if err := json.NewDecoder(&out).Decode(&report); err != nil {
		t.Fatal(err)
	}
	if !report.Complete {
		t.Errorf("the scan is incomplete: %v", report.Gaps)
	}
	var found []string
	for _, f := range report.Findings {
		found = append(found, strings.Join([]string{f.Rule, f.Object.Namespace, f.Object.String()}, " "))
	}
	return found
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"-bogus"}, {"extra"}, {"-stop", "-keep"}, {"-stop", "-save", "x"}} {
		if code := dispatch(t.Context(), args, io.Discard, io.Discard); code != exitUsage {
			t.Errorf("demo %s: exit code %d, want %d", strings.Join(args, " "), code, exitUsage)
		}
	}
}
