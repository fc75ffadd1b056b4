package logs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// FuzzRead requires that a text neither stops the reader nor makes it find what it cannot find again, and that what it
// finds is complete, and can be written as JSON.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		log, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(log)
		for line := range bytes.Lines(log) {
			f.Add(line)
		}
	}
	for _, of := range [][]wording{ofCollector(), notWorking(), ofOthers()} {
		for _, w := range of {
			f.Add([]byte("I1127 21:00:01.500000 1 controllermanager.go:1] x\nI1127 21:00:01.500000 1 garbagecollector.go:1] " + w.message))
		}
	}
	f.Add([]byte(`{"message":"{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\"}"}`))
	f.Add([]byte(`{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Event","metadata":{"namespace":"a"},"reason":"Killing","message":"Stopping container a","involvedObject":{"kind":"Pod","namespace":"a","name":"b","uid":"c"},"firstTimestamp":"2026-11-27T21:00:01Z"}]}`))
	f.Add([]byte("Nov  7 x"))
	f.Add([]byte(`{"category":"kube-audit","a":"{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\"}"}{"category":"kube-controller-manager","a":"graph_builder.go:5] x"}`))
	f.Add([]byte(`[{"items":[{"log":"I1127 21:00:01.500000 1 graph_builder.go:5] x","time":"2026-11-27T21:00:01Z"}]},"x"]`))
	f.Fuzz(func(t *testing.T, log []byte) {
		var found finds
		source, err := Read(t.Context(), bytes.NewReader(log), "log", 0, &found)
		var of []Whole
		for i := range found.requests {
			q := &found.requests[i]
			if _, err := json.Marshal(q); err != nil {
				t.Error(err)
			}
			if q.Result != resultOf(q.Code) || q.Result != trace.Done && (!deletes(q) || len(q.Objects) > 0) {
				t.Errorf("%+v", q)
			}
			for _, o := range q.Objects {
				if o.Whole {
					of = append(of, Whole{q.Place.Offset, o.UID})
				}
			}
		}
		for _, l := range found.lines {
			alone := l.Says == trace.Started || l.Says == trace.Syncs || l.Says == trace.NotWorking
			if l.Says == "" || alone != (l.Object == object.Identity{}) || !alone && l.Object.UID == "" && l.Object.Name == "" && l.Object.Namespace == "" {
				t.Errorf("%+v", l)
			}
		}
		both := len(found.lines) > 0 && len(found.requests) > 0
		if both && source.Form != bothLogs || len(found.lines) > 0 && (source.Form == auditLog || source.Form == googleAuditLog) || source.Unreadable > source.Lines {
			t.Errorf("%+v", source)
		}
		if err != nil {
			return
		}
		if err := ReadObjects(t.Context(), bytes.NewReader(log), "log", of, func(_ Whole, o *unstructured.Unstructured) { _ = o.GetName() }); err != nil {
			t.Error(err)
		}
	})
}
