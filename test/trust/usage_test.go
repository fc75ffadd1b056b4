package trust

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// usageScene has three ready Pods of a Deployment that mount Secret db, and what nobody uses.
func usageScene(t *testing.T) (*Server, *user) {
	s := NewServer(t)
	classes := &Type{GroupVersionResource: schema.GroupVersionResource{Group: "scheduling.k8s.io", Version: "v1", Resource: "priorityclasses"}, Kind: "PriorityClass"}
	widgets := apiserver.Namespaced("example.com", "widgets", "Widget")
	budgets := apiserver.Namespaced("policy", "poddisruptionbudgets", "PodDisruptionBudget")
	s.Serve(classes, widgets, budgets)
	controlled := func(o, owner *Object) *Object {
		r := referenceTo(owner)
		r.Controller = new(true)
		return ownedBy(o, r)
	}
	web := s.Add(Deployments.Object("shop", "web"))
	set := s.Add(controlled(ReplicaSets.Object("shop", "web-1"), web))
	for i := range 3 {
		pod := controlled(Pods.Object("shop", fmt.Sprintf("web-1-%d", i)), set)
		pod.Labels = map[string]string{"app": "web"}
		pod.Fields = map[string]any{
			"spec": map[string]any{"nodeName": "node-1", "priorityClassName": "high", "volumes": []any{
				map[string]any{"name": "v", "secret": map[string]any{"secretName": "db"}}, map[string]any{"name": "w", "configMap": map[string]any{"name": "settings"}},
			}},
			"status": map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}},
		}
		s.Add(pod)
	}
	budget := budgets.Object("shop", "web")
	budget.Fields = map[string]any{
		"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}}, "status": map[string]any{"disruptionsAllowed": int64(1)},
	}
	s.Add(budget)
	s.Add(Secrets.Object("shop", "db"))
	s.Add(ConfigMaps.Object("shop", "settings"))
	s.Add(classes.Object("", "high"))
	s.Add(Secrets.Object("empty", "db"))
	s.Add(Deployments.Object("shop", "idle"))
	s.Add(widgets.Object("shop", "a"))
	return s, newUser(t, s)
}

// A deletion that concerns nobody else requests nothing for that, and any other each list once.
func TestADeletionReadsWholeObjectsOnlyOfWhatMayBeConcerned(t *testing.T) {
	t.Parallel()
	s, u := usageScene(t)
	const mounted = "is mounted by 3 Pods of Deployment/web"
	for args, c := range map[string]struct {
		whole []string // paths
		says  string
	}{
		"widget/a":                              {nil, ""},
		"deployment/idle":                       {nil, ""},
		"secret/db -n empty":                    {nil, ""},
		"secret/db":                             {[]string{"/api/v1/namespaces/shop/pods"}, "Secret/db " + mounted},
		"secret/db configmap/settings":          {[]string{"/api/v1/namespaces/shop/pods"}, "ConfigMap/settings " + mounted},
		"priorityclass/high":                    {[]string{"/api/v1/pods"}, "PriorityClass/high is the class of 3 Pods of Deployment/web in namespace shop"},
		"priorityclass/high configmap/settings": {[]string{"/api/v1/pods"}, "ConfigMap/settings " + mounted},
		"deployment/web": {
			[]string{"/api/v1/namespaces/shop/pods/web-1-0", "/api/v1/namespaces/shop/pods/web-1-1", "/api/v1/namespaces/shop/pods/web-1-2", "/apis/policy/v1/namespaces/shop/poddisruptionbudgets"},
			"Removes 3 of 3 ready Pods of Deployment/web; PodDisruptionBudget/web allows 1, but a deletion does not ask it.",
		},
	} {
		s.ForgetRequests()
		words := append([]string{"delete", "--dry-run"}, strings.Fields(args)...)
		if !slices.Contains(words, "-n") {
			words = append(words, "-n", "shop")
		}
		out := u.runs(words...).exits(0).stdout
		var whole []string
		for _, r := range s.Requests() {
			about := strings.Contains(r.Path, "/pods") || strings.Contains(r.Path, "/poddisruptionbudgets")
			if about && r.Method == http.MethodGet && !strings.Contains(r.Header.Get("Accept"), "as=") {
				whole = append(whole, r.Path)
			}
		}
		slices.Sort(whole)
		if !slices.Equal(whole, c.whole) {
			t.Errorf("delete %s requests whole objects of %q, want %q", args, whole, c.whole)
		}
		if !strings.Contains(out, c.says) || c.says == "" && strings.Contains(out, "Pods of") {
			t.Errorf("delete %s says\n%s", args, out)
		}
	}
}

// What cannot be read is said, and what changes by itself is no part of what was confirmed.
func TestUsersThatCannotBeReadAreUnknown(t *testing.T) {
	t.Parallel()
	s, u := usageScene(t)
	digest := func() string {
		return u.runs("delete", "secret/db", "-n", "shop", "--dry-run", "-o", "json").exits(0).read().Digest
	}
	before := digest()
	s.Lie(Listed(Pods).And(Whole), Forbid(Pods))
	out := u.runs("delete", "secret/db", "-n", "shop", "--dry-run").exits(0).stdout
	if want := "This deletion may affect more than this tool could read: pods in namespace shop (forbidden).\n"; !strings.Contains(out, want) || strings.Contains(out, "is mounted") {
		t.Errorf("%q is not in\n%s", want, out)
	}
	if after := digest(); after != before {
		t.Errorf("the digest is %s where the Pods cannot be read, and %s otherwise", after, before)
	}
	s.Lie(Path("/api/v1/namespaces/shop/pods/web-1-1").And(Whole), Forbid(Pods))
	out = u.runs("delete", "deployment/web", "-n", "shop", "--dry-run").exits(0).stdout
	if want := "This deletion may affect more than this tool could read: pods in namespace shop (forbidden).\n"; !strings.Contains(out, want) || strings.Contains(out, "Removes") {
		t.Errorf("%q is not in\n%s", want, out)
	}
}
