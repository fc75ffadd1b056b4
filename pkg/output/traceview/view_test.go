package traceview_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/traceview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// go test ./pkg/output/traceview -update rewrites the screens in testdata.
var update = flag.Bool("update", false, "rewrite the expected screens")

var begin = time.Date(2026, 11, 20, 10, 52, 31, 0, time.UTC)

func at(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }

var (
	collector = trace.Deleter{Role: trace.RoleCollector, Controller: "generic-garbage-collector", User: "system:serviceaccount:kube-system:generic-garbage-collector"}
	kim       = trace.Deleter{
		Role: trace.RoleUser, User: "kim@example.com", Groups: []string{"platform", "system:authenticated"},
		Agent: "kubectl/v1.37.2 (linux/amd64) kubernetes/f0a4b5c", Addresses: []string{"10.1.2.3"},
	}
)

func id(apiVersion, kind, namespace, name string) object.Identity {
	return object.Identity{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name}
}

func nested(r *reason.Reason) *reason.Reason { return r }

// deletion returns a deletion whose owner is the one at parent.
func deletion(o object.Identity, seconds, parent, depth int, by trace.Deleter, why *reason.Reason) trace.Deletion {
	return trace.Deletion{Object: o, At: at(seconds), Parent: parent, Depth: depth, By: by, Verb: "delete", Policy: "Background", Why: nested(why), Circumstances: []*reason.Reason{}}
}

func cascade(by trace.Deleter, root *reason.Reason, of ...trace.Deletion) trace.Cascade {
	return trace.Cascade{
		Root: nested(root), By: by, Verb: of[0].Verb, Policy: of[0].Policy, At: of[0].At, From: of[0].At, To: of[len(of)-1].At, Objects: len(of),
		Deletions: of,
	}
}

func redis() trace.Cascade {
	exporter := id("apps/v1", "StatefulSet", "monitoring", "redis-exporter")
	holder := id("app.example.com/v1", "RedisCluster", "kube-system", "redis-0826")
	elsewhere := reason.OwnersAbsent([]reason.Owner{{
		APIVersion: holder.APIVersion, Kind: holder.Kind, Name: holder.Name, UID: "7f2c", Found: reason.Found{State: reason.StateInOtherNamespace, UIDHolder: &holder},
	}})
	gone := reason.OwnerDeleted(reason.Deleted{Object: exporter, By: "the garbage collector", At: begin}, false)
	root := deletion(exporter, 0, -1, 0, collector, elsewhere)
	root.Circumstances = append(root.Circumstances, nested(reason.CollectorRestarted(at(-19))))
	return cascade(collector, elsewhere, root,
		deletion(id("apps/v1", "ControllerRevision", "monitoring", "redis-exporter-5dd5b9d9b4"), 0, 0, 1, collector, gone),
		deletion(id("v1", "Pod", "monitoring", "redis-exporter-0"), 31, 0, 1, collector, gone))
}

func deployment(pods int) trace.Cascade {
	web := id("apps/v1", "Deployment", "shop", "web")
	set := id("apps/v1", "ReplicaSet", "shop", "web-77bbc49f4c")
	deletions := []trace.Deletion{
		deletion(web, 0, -1, 0, kim, reason.AskedFor(kim.User)),
		deletion(set, 1, 0, 1, collector, reason.OwnerDeleted(reason.Deleted{Object: web, By: kim.User, At: begin}, false)),
	}
	gone := reason.OwnerDeleted(reason.Deleted{Object: set, By: "the garbage collector", At: at(1)}, false)
	for i := range pods {
		deletions = append(deletions, deletion(id("v1", "Pod", "shop", fmt.Sprintf("web-77bbc49f4c-%05d", i)), 2+i, 1, 2, collector, gone))
	}
	c := cascade(kim, reason.AskedFor(kim.User), deletions...)
	c.Whole = 1
	return c
}

func report(target int, cascades ...trace.Cascade) *trace.DeletionReport {
	r := &trace.DeletionReport{
		Sources: []trace.Source{
			{
				File: "audit.log", Form: "audit log", Span: trace.Span{First: at(-3600), Last: at(3600)}, Events: 99999,
				Levels: map[string]int{"Metadata": 2, "RequestResponse": 41}, Resources: map[string]int{"pods": 345, "configmaps": 12000},
			},
			{File: "kcm.log", Form: "log of kube-controller-manager", Span: trace.Span{First: at(-60), Last: at(60)}, Verbosity: 2},
		},
		Requests: 12345, Lines: 678, Cascades: cascades,
	}
	if target >= 0 {
		r.Target = &trace.FoundDeletion{Deletion: target, Others: []trace.Generation{}}
	}
	return r
}

func TestScreens(t *testing.T) {
	namespace := id("v1", "Namespace", "", "legacy")
	hidden := deletion(id("v1", "PersistentVolumeClaim", "legacy", "data-0"), 0, 0, 1, trace.Deleter{}, reason.NamespaceDeleted(reason.Deleted{Object: namespace, By: kim.User, At: begin}))
	hidden.At, hidden.Inferred, hidden.Perhaps = time.Time{}, true, true
	hidden.Circumstances = append(hidden.Circumstances, nested(reason.WentAtTheLatest))
	legacy := cascade(kim, reason.AskedFor(kim.User), deletion(namespace, 0, -1, 0, kim, reason.AskedFor(kim.User)), hidden)
	legacy.To = begin
	legacy.Objects, legacy.Uncertain, legacy.Claims, legacy.Volumes = 2, 1, 1, 1

	tool := kim
	tool.Role, tool.Agent = trace.RoleThisTool, "kubectl-gc/v0.9.0"
	pods := cascade(tool, reason.InCollection(kim.User), deletion(id("v1", "Pod", "shop", "a"), 0, -1, 0, tool, reason.InCollection(kim.User)))
	pods.Verb, pods.Collection = "deletecollection", &trace.Collection{Resource: "pods", Namespace: "shop", LabelSelector: "app=web"}

	orphan := deletion(object.Identity{Namespace: "shop", Name: "flags"}, 0, -1, 0, collector, reason.OwnersNotInEvidence)
	orphan.Resource = "configmaps"
	unexplained := cascade(collector, reason.OwnersNotInEvidence, orphan)
	unexplained.Unexplained = true

	hostile := trace.Deleter{Role: trace.RoleUser, User: "\x1b[2J\u202eroot\nall is well", Agent: strings.Repeat("x", 5000), Groups: []string{"a\x07b"}}
	evil := cascade(hostile, reason.AskedFor(hostile.User), deletion(id("v1\n", "Pod\x1b[31m", "n\u2066s", "na\r\nme"), 0, -1, 0, hostile, reason.AskedFor(hostile.User)))

	long := deployment(3)
	long.To = at(200_000)
	long.Deletions[4].At = at(200_000)

	// As trace.DeletionReport.Select leaves it: without the siblings of the target.
	pod := deployment(30)
	pod.Deletions = append(pod.Deletions[:2], pod.Deletions[13])

	again := report(0, deployment(1))
	again.Target.Others = append(again.Target.Others, trace.Generation{Object: again.Cascades[0].Deletions[0].Object, At: at(-300), By: collector})
	before := report(0, redis())
	before.Sources = append(before.Sources, trace.Source{File: "before.json", Form: trace.FormScan, Span: trace.Span{First: at(-86400), Last: at(-86400)}})

	perhaps := deployment(1)
	perhaps.Perhaps, perhaps.Deletions[0].Perhaps, perhaps.Deletions[0].Doubt = true, true, reason.MayBeDryRun
	perhaps.Deletions[0].Basis = &trace.Basis{Place: trace.Place{File: "audit.log", Offset: 4711}, ID: "6f1f-11", Code: 200}
	perhaps.Deletions[0].Circumstances = append(perhaps.Deletions[0].Circumstances, nested(reason.PerhapsDone(reason.Asked{By: kim.User, At: begin, Doubt: reason.MayBeDryRun})))
	trouble := report(-1)
	trouble.Sources[1].Verbosity, trouble.Sources[1].Yearless, trouble.Sources[1].Span = -1, true, trace.Span{First: time.Date(0, 1, 8, 9, 20, 2, 0, time.UTC), Last: time.Date(0, 1, 9, 0, 0, 0, 0, time.UTC)}
	trouble.Outages = []trace.Outage{{From: at(0), To: at(600), Reason: "v3 of projectcalico.org could not be discovered"}}
	trouble.Loops = []trace.Looked{{Object: id("v1", "ConfigMap", "shop", "settings"), Times: 300000, From: at(0), To: at(600)}}

	screens := map[string]*trace.DeletionReport{
		"perhaps": report(0, perhaps), "trouble": trouble,
		"all": report(-1, deployment(30), redis(), legacy, pods, unexplained), "nothing": report(-1), "redis": before,
		"pod": report(2, pod), "siblings": report(1, deployment(30)), "namespace": report(1, legacy), "collection": report(0, pods),
		"unexplained": report(0, unexplained), "hostile": report(0, evil), "days": report(0, long), "again": again,
	}
	var got bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(screens)) {
		for _, columns := range []int{80, 120} {
			fmt.Fprintf(&got, "== %s at %d columns ==\n%s\n", name, columns, screen(t, columns, false, screens[name]))
		}
	}
	fmt.Fprintf(&got, "== wide ==\n%s", screen(t, 0, true, report(1, deployment(30))))
	golden := filepath.Join("testdata", "screens.txt")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("screens differ (-want +got)\n%s", diff)
	}
}

// screen returns what a terminal shows, which has to fit.
func screen(t *testing.T, columns int, wide bool, r *trace.DeletionReport) string {
	t.Helper()
	view := traceview.ReportView{
		Palette: color.New(color.Never, false, false), Wide: wide, Files: []string{"--audit-log", "audit.log"},
		Suggest: func(words ...string) string { return "kubectl gc " + strings.Join(words, " ") },
	}
	var out bytes.Buffer
	if err := view.Write(wrap.NewWriter(&out, func() int { return columns }), r); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if width := wrap.Width(strings.TrimSuffix(line, "\n")); columns > 0 && width > columns && !strings.Contains(line, "kubectl gc") && !strings.Contains(line, "xxxx") {
			t.Errorf("at %d columns a line has %d: %s", columns, width, line)
		}
		if strings.ContainsAny(line, "\x1b\x07\r\u202e\u2066") {
			t.Errorf("it is not escaped: %q", line)
		}
	}
	return out.String()
}

// broken fails from its n-th write on.
type broken struct{ n int }

func (b *broken) Write(text []byte) (int, error) {
	if b.n--; b.n < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(text), nil
}

func TestErrorsOfTheWriterAreReturned(t *testing.T) {
	view := traceview.ReportView{Palette: color.New(color.Never, false, false), Suggest: func(...string) string { return "" }}
	for _, r := range []*trace.DeletionReport{report(0, deployment(1)), report(-1, deployment(1)), report(-1)} {
		for n := range 3 { // no screen has fewer lines
			if err := view.Write(&broken{n}, r); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("after %d writes: %v", n, err)
			}
		}
	}
}
