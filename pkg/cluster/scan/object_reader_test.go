package scan

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// An object with another UID under the owner's name replaces the owner, whose dependents may then
// be deleted.
func TestReplacedOwnerNeedsTwoAnswers(t *testing.T) {
	const owner = "/apis/example.com/v1/namespaces/ns/widgets/w"
	widget := func(uid string) clustertest.Fields {
		out := clustertest.Item("w")
		out["metadata"].(clustertest.Fields)["uid"] = uid
		return out
	}
	pod := func(name, owner, uid string) clustertest.Fields {
		out := clustertest.Item(name)
		out["metadata"].(clustertest.Fields)["ownerReferences"] = []clustertest.Fields{{"apiVersion": "example.com/v1", "kind": "Widget", "name": owner, "uid": uid}}
		return out
	}
	absent := clustertest.Status(http.StatusNotFound, "NotFound", "", clustertest.Fields{"name": "w", "group": "example.com", "kind": "widgets"})
	for name, test := range map[string]struct {
		pods, widgets []clustertest.Fields
		answers       []clustertest.Fields // the last one repeats
		want          snapshot.LookupResult
		uid           types.UID
		asked         int
	}{
		"two show the same other object":            {answers: []clustertest.Fields{widget("other")}, want: snapshot.Found, uid: "other", asked: 2},
		"two show different objects":                {answers: []clustertest.Fields{widget("broken"), widget("uid-w")}, want: snapshot.Failed, asked: 2},
		"it is not there the second time":           {answers: []clustertest.Fields{widget("other"), absent}, want: snapshot.Absent, asked: 2},
		"it is the owner, which no list showed":     {answers: []clustertest.Fields{widget("uid-w")}, want: snapshot.Found, uid: "uid-w", asked: 1},
		"a list shows the other object, too":        {widgets: []clustertest.Fields{widget("other")}, answers: []clustertest.Fields{widget("other")}, want: snapshot.Found, uid: "other", asked: 1},
		"another reference leads to the other, too": {pods: []clustertest.Fields{pod("b", "w", "other")}, answers: []clustertest.Fields{widget("other")}, want: snapshot.Found, uid: "other", asked: 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			c, _ := clustertest.Serve(t, map[string]func(*http.Request) any{
				"/api/v1/pods":                 clustertest.Reply(clustertest.List(append(test.pods, pod("a", "w", "uid-w"))...)),
				"/apis/example.com/v1/widgets": clustertest.Reply(clustertest.List(test.widgets...)),
				owner: func(*http.Request) any {
					n++
					return test.answers[min(n, len(test.answers))-1]
				},
			})
			s := take(t, c)
			if len(s.Lookups) != 1 {
				t.Fatalf("looked up %v", s.Lookups)
			}
			got := s.Lookups[0]
			var uid types.UID
			if got.Object != nil {
				uid = got.Object.UID
			}
			if got.Outcome != test.want || uid != test.uid || n != test.asked {
				t.Errorf("%s %q (%s) of %d answers, want %s %q of %d", got.Outcome, uid, got.Message, n, test.want, test.uid, test.asked)
			}
		})
	}
}
