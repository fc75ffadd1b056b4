package write

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const allPods = "/api/v1/namespaces/ns/pods"

var podThen = object.Identity{APIVersion: "v1", Kind: "Pod", Namespace: "ns", Name: "x", UID: "then"}

func us(object.Identity) string { return "us" }

// madeBy returns a Pod created by a field manager.
func madeBy(manager string) clustertest.Fields {
	return clustertest.Fields{"apiVersion": "v1", "kind": "Pod", "metadata": clustertest.Fields{
		"namespace": "ns", "name": "x", "uid": "now", "resourceVersion": "7", "managedFields": []clustertest.Fields{{"manager": manager, "operation": "Update"}},
	}}
}

func withUID(uid string, o clustertest.Fields) clustertest.Fields {
	o["metadata"].(clustertest.Fields)["uid"] = uid
	return o
}

func taken() http.HandlerFunc {
	return clustertest.ReplyWith(409, clustertest.Status(409, "AlreadyExists", `pods "x" already exists`, clustertest.Fields{"name": "x", "kind": "pods"}))
}

func TestCreateRecognizesOwnObjects(t *testing.T) {
	tests := map[string]struct {
		post, get []http.HandlerFunc
		reason    snapshot.ErrorClass // empty: created
		requests  int
	}{
		"it is made":                      {[]http.HandlerFunc{clustertest.ReplyWith(201, madeBy("us"))}, []http.HandlerFunc{clustertest.ReplyWith(200, madeBy("us"))}, "", 2},
		"the answer has another UID":      {[]http.HandlerFunc{clustertest.ReplyWith(201, withUID("other", madeBy("us")))}, []http.HandlerFunc{clustertest.ReplyWith(200, madeBy("us"))}, "", 4},
		"it cannot be read":               {[]http.HandlerFunc{clustertest.ReplyWith(201, madeBy("us"))}, []http.HandlerFunc{clustertest.ReplyWith(403, clustertest.Status(403, "Forbidden", "no", nil))}, snapshot.Forbidden, 2},
		"it is not there":                 {[]http.HandlerFunc{clustertest.ReplyWith(201, madeBy("us"))}, []http.HandlerFunc{clustertest.NotFound()}, snapshot.Unverified, 3},
		"the answer is lost":              {[]http.HandlerFunc{clustertest.Breaks, taken()}, []http.HandlerFunc{clustertest.ReplyWith(200, madeBy("us"))}, "", 3},
		"the answer is no object":         {[]http.HandlerFunc{clustertest.ReplyWith(201, clustertest.Fields{"kind": "Pod"})}, []http.HandlerFunc{clustertest.ReplyWith(200, madeBy("us"))}, "", 2},
		"we have made it before":          {[]http.HandlerFunc{taken()}, []http.HandlerFunc{clustertest.ReplyWith(200, madeBy("us"))}, "", 2},
		"somebody else has":               {[]http.HandlerFunc{taken()}, []http.HandlerFunc{clustertest.ReplyWith(200, madeBy("them"))}, snapshot.Exists, 2},
		"it has gone again":               {[]http.HandlerFunc{taken()}, []http.HandlerFunc{clustertest.NotFound()}, snapshot.Exists, 2},
		"who has cannot be found out":     {[]http.HandlerFunc{clustertest.Breaks, taken()}, []http.HandlerFunc{clustertest.ReplyWith(403, clustertest.Status(403, "Forbidden", "you may not", nil))}, snapshot.Forbidden, 3},
		"the server refuses it":           {[]http.HandlerFunc{clustertest.ReplyWith(422, clustertest.Status(422, "Invalid", "spec is wrong", nil))}, nil, snapshot.Invalid, 1},
		"a user may not":                  {[]http.HandlerFunc{clustertest.ReplyWith(403, clustertest.Status(403, "Forbidden", "you may not", nil))}, nil, snapshot.Forbidden, 1},
		"its namespace is not there":      {[]http.HandlerFunc{clustertest.ReplyWith(404, clustertest.Status(404, "NotFound", `namespaces "ns" not found`, clustertest.Fields{"name": "ns", "kind": "namespaces"}))}, nil, snapshot.Unverified, 1},
		"the server is busy for a moment": {[]http.HandlerFunc{clustertest.ReplyWith(500, clustertest.Status(500, "InternalError", "not now", nil)), clustertest.ReplyWith(201, madeBy("us"))}, []http.HandlerFunc{clustertest.ReplyWith(200, madeBy("us"))}, "", 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			script := map[string][]http.HandlerFunc{"POST " + allPods: test.post}
			if test.get != nil {
				script["GET "+onePod] = test.get
			}
			w, s := stage(t, false, script)
			o, err := w.Creator(us).Create(t.Context(), podThen, json.RawMessage(`{"kind":"Pod"}`))
			switch {
			case test.reason == "" && (err != nil || o == nil || o.UID != "now" || o.ResourceVersion != "7"):
				t.Errorf("%+v, %v", o, err)
			case test.reason != "" && (o != nil || reasonIn(err) != test.reason):
				t.Errorf("%+v, %v: want %s", o, err, test.reason)
			}
			if len(s.Requests()) != test.requests {
				t.Errorf("it asked %q", s.Requests())
			}
		})
	}
}

func reasonIn(err error) snapshot.ErrorClass {
	failed, ok := errors.AsType[*client.RequestError](err)
	if !ok {
		return snapshot.ErrorClass("no failure")
	}
	return failed.Reason
}

func TestCreateDryRun(t *testing.T) {
	for _, dry := range []bool{true, false} {
		query := ""
		w, _ := stage(t, dry, map[string][]http.HandlerFunc{"POST " + allPods: {func(w http.ResponseWriter, r *http.Request) {
			query = r.URL.RawQuery
			made := madeBy("us")
			if dry {
				delete(made["metadata"].(clustertest.Fields), "resourceVersion") // nothing was stored
			}
			clustertest.ReplyWith(201, made)(w, r)
		}}, "GET " + onePod: {clustertest.ReplyWith(200, madeBy("us"))}})
		if _, err := w.Creator(us).Create(t.Context(), podThen, json.RawMessage(`{}`)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(query, "dryRun=All"); got != dry || !strings.Contains(query, "fieldManager=us") {
			t.Errorf("dry run %t: %s", dry, query)
		}
	}
}

func TestCreateErrorHints(t *testing.T) {
	for name, test := range map[string]struct{ body, want any }{
		"a quota":                 {clustertest.Status(403, "Forbidden", "exceeded quota: q", nil), "raise that quota or make room, and run it again"},
		"a namespace that goes":   {clustertest.Status(403, "Forbidden", "it is being terminated", clustertest.Fields{"causes": []clustertest.Fields{{"reason": "NamespaceTerminating"}}}), "recreate its namespace once that is gone, and run it again"},
		"an admission of no hint": {clustertest.Status(403, "Forbidden", "admission webhook denied the request", nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := stage(t, false, map[string][]http.HandlerFunc{"POST " + allPods: {clustertest.ReplyWith(403, test.body)}})
			_, err := w.Creator(us).Create(t.Context(), podThen, json.RawMessage(`{}`))
			failed, ok := errors.AsType[*client.RequestError](err)
			if !ok || failed.Hint() != test.want {
				t.Errorf("%v: %q, want %q", err, failed.Hint(), test.want)
			}
		})
	}
}
