package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestReportRefusesToWriteToATerminal(t *testing.T) {
	var out, said bytes.Buffer
	code := Main(context.Background(), []string{"report", "--from", "../../docs/demo/cluster.json"}, cli.Streams{
		In: strings.NewReader(""), Out: &out, Err: &said, OutTerm: true, Getenv: func(string) string { return "" }, Now: time.Now,
	})
	if want := "error: standard output is a terminal: name a file\nhint: for example: kubectl gc report -o report.html --from ../../docs/demo/cluster.json\n"; code != cli.ExitUsage || said.String() != want {
		t.Errorf("it ends with %d and says %s", code, said.String())
	}
	if out.Len() > 0 {
		t.Errorf("%d bytes are written", out.Len())
	}
}

// Every repair that the page suggests changes the object of its finding, and that alone.
func TestReportSuggestsRepairsThatWork(t *testing.T) {
	gone, web := st.Deployment("shop/gone"), st.Deployment("shop/web")
	egg := st.ConfigMap("shop/egg")
	chicken := st.ConfigMap("shop/chicken", st.OwnedBy(web, egg))
	egg.Owners = []object.Reference{st.To(chicken)}
	seen := st.New(st.Listing(
		web, egg, chicken,
		st.ConfigMap("shop/missing", st.OwnedBy(gone)),
		st.ConfigMap("shop/replaced", st.Owned(st.To(web, st.WithUID("old")))),
		st.ConfigMap("other/elsewhere", st.OwnedBy(web)),
		st.ConfigMap("shop/mismatched", st.Owned(st.To(web, st.As("v1", "Secret")))),
		st.ConfigMap("shop/unserved", st.Owned(st.To(web, st.As("apps/v1beta1", "Deployment")))),
		st.ConfigMap("shop/unknown", st.Owned(st.To(web, st.As("example.com/v1", "Vanished")))),
		st.ConfigMap("shop/self", st.Owned(st.To(st.ConfigMap("shop/self")))),
		st.ConfigMap("shop/twice", st.OwnedBy(web, web)),
		st.ConfigMap("shop/controlled", st.Owned(st.To(web, st.Controlling), st.To(st.Deployment("shop/other"), st.Controlling))), st.Deployment("shop/other"),
		st.Role("shop/outdated", st.Owned(st.To(st.Object("rbac.authorization.k8s.io/v1", "ClusterRole", "admin"), st.As("rbac.authorization.k8s.io/v1beta1", "ClusterRole")))),
		st.Object("rbac.authorization.k8s.io/v1", "ClusterRole", "admin"),
		st.Object("rbac.authorization.k8s.io/v1", "ClusterRole", "scope", st.OwnedBy(web)),
	))
	file := filepath.Join(t.TempDir(), "cluster.json")
	var saved bytes.Buffer
	if err := seen.Save(&saved); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, saved.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) []byte {
		var out, said bytes.Buffer
		code := Main(context.Background(), args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &said, Getenv: func(string) string { return "" }, Now: time.Now})
		if code != cli.ExitDone {
			t.Fatalf("%q ends with %d: %s", args, code, said.String())
		}
		return out.Bytes()
	}
	_, page, _ := bytes.Cut(run("report", "--from", file), []byte(`id="data">`))
	page, _, _ = bytes.Cut(page, []byte("</script>"))
	var data struct {
		Findings struct{ Object, Repair, Rule []int }
		Objects  struct{ UID []string }
		Rules    []struct{ ID string }
		Texts    []string
	}
	if err := json.Unmarshal(page, &data); err != nil {
		t.Fatal(err)
	}
	repaired := map[string]bool{}
	for i, repair := range data.Findings.Repair {
		rule, line := data.Rules[data.Findings.Rule[i]].ID, data.Texts[repair]
		if rule == "duplicate-owner" { // nothing tells the references apart
			if line != "" {
				t.Errorf("%s would remove both references", line)
			}
			continue
		}
		var plan struct {
			Steps []struct{ Object struct{ UID string } }
		}
		if err := json.Unmarshal(run(append(strings.Fields(line)[2:], "-o", "json")...), &plan); err != nil {
			t.Fatal(err)
		}
		if uid := data.Objects.UID[data.Findings.Object[i]]; len(plan.Steps) != 1 || plan.Steps[0].Object.UID != uid {
			t.Errorf("%s: %s does not repair %s alone: %+v", rule, line, uid, plan.Steps)
		}
		repaired[rule] = true
	}
	for _, rule := range append(audit.RepairableRules, "owner-cycle", "self-owner", "multiple-controllers") {
		if !repaired[rule] {
			t.Errorf("no finding of %s was repaired", rule)
		}
	}
}
