package usage_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/usage"
)

// controlledBy returns an object whose controller is another one.
func controlledBy(owner object.Object, apiVersion, kind, path string, options ...st.Option) object.Object {
	return st.Object(apiVersion, kind, path, append(options, st.Owned(st.To(owner, st.Controlling)))...)
}

func TestWorkload(t *testing.T) {
	redis := st.Object("example.com/v1", "Redis", "shop/cache", st.UID("1"))
	web := st.Deployment("shop/web", st.UID("2"))
	ofRedis := controlledBy(redis, "apps/v1", "StatefulSet", "shop/cache", st.UID("3"))
	set := controlledBy(web, "apps/v1", "ReplicaSet", "shop/web-1", st.UID("4"))
	rollout := st.Object("argoproj.io/v1alpha1", "Rollout", "shop/api", st.UID("5"))
	ofRollout := controlledBy(rollout, "apps/v1", "ReplicaSet", "shop/api-1", st.UID("6"))
	elsewhere := st.Deployment("other/web", st.UID("7"))
	gone := st.Deployment("shop/gone", st.UID("8"))
	ring := st.Object("example.com/v1", "Ring", "shop/a", st.UID("9"))
	ring.Owners = []object.Reference{st.To(ring, st.Controlling)}
	pod := func(owner object.Object, n int) object.Object {
		return controlledBy(owner, "v1", "Pod", fmt.Sprintf("shop/p%d", n), st.UID(types.UID(fmt.Sprint("p", n))))
	}
	bare, owned := st.Pod("shop/p6", st.UID("p6")), st.Pod("shop/p7", st.UID("p7"), st.OwnedBy(web))
	g := graph.New(st.New(st.Listing(redis, web, ofRedis, set, rollout, ofRollout, elsewhere, ring, pod(set, 0), pod(ofRedis, 1), pod(ofRollout, 2), pod(elsewhere, 3), pod(gone, 4), pod(ring, 5), bare, owned)))
	for n, c := range []struct{ want, why string }{
		{"Deployment/web", "the Deployment above a ReplicaSet"},
		{"StatefulSet/cache", "a StatefulSet, whatever controls it"},
		{"Rollout/api", "the highest controller of another kind"},
		{"Pod/p3", "an owner in another namespace controls nothing"},
		{"Pod/p4", "nor does one that does not exist"},
		{"Ring/a", "a cycle ends"},
		{"Pod/p6", "a Pod without a controller"},
		{"Pod/p7", "an owner that is no controller"},
	} {
		at := g.Find(pod(web, n).UID)
		if got := g.Object(usage.Workload(g, at)).String(); got != c.want {
			t.Errorf("the workload of Pod/p%d is %s, want %s: %s", n, got, c.want, c.why)
		}
	}
}

// usages returns the Usage of objects from their JSON.
func usages(t *testing.T, of map[*object.Object]string) usage.Usages {
	out := usage.Usages{}
	for o, raw := range of {
		u, ok := object.UsageOf(o.Identity, json.RawMessage(raw))
		if !ok {
			t.Fatalf("%s has no usage", o)
		}
		out[o.UID] = u
	}
	return out
}

func TestUsers(t *testing.T) {
	const mounts = `{"spec": {"volumes": [{"secret": {"secretName": "db"}}]}}`
	secret := st.Secret("shop/db", st.UID("s"))
	web := st.Deployment("shop/web", st.UID("d"))
	set := controlledBy(web, "apps/v1", "ReplicaSet", "shop/web-1", st.UID("r"))
	pod := controlledBy(set, "v1", "Pod", "shop/web-1-a", st.UID("p"))
	bare := st.Pod("shop/debug", st.UID("b"))
	stopping := controlledBy(set, "v1", "Pod", "shop/web-1-b", st.UID("q"), st.Terminating())
	elsewhere := st.Pod("other/debug", st.UID("o"))
	job := st.Object("batch/v1", "Job", "shop/import", st.UID("j"))
	done := controlledBy(job, "v1", "Pod", "shop/import-x", st.UID("x"))
	g := graph.New(st.New(st.Listing(secret, web, set, pod, bare, stopping, elsewhere, job, done)))
	read := usages(t, map[*object.Object]string{
		&pod: mounts, &bare: mounts, &stopping: mounts, &elsewhere: mounts,
		&done: `{"spec": {"volumes": [{"secret": {"secretName": "db"}}]}, "status": {"phase": "Succeeded"}}`,
	})
	for name, c := range map[string]struct {
		gone []object.Object
		want []string
	}{
		"a Pod counts for its workload, also one that stops":      {nil, []string{"Pod/debug: 1", "Deployment/web: 2"}},
		"a Pod that its workload recreates counts":                {[]object.Object{pod, bare}, []string{"Deployment/web: 2"}},
		"a workload that goes with its Pods does not":             {[]object.Object{web, set, pod, stopping}, []string{"Pod/debug: 1"}},
		"a Pod that stays without its workload counts for itself": {[]object.Object{web, set, stopping, bare}, []string{"Pod/web-1-a: 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			goes := func(n graph.Node) bool {
				for _, o := range c.gone {
					if g.UID(n) == o.UID {
						return true
					}
				}
				return g.Object(n).Terminating()
			}
			var got []string
			for _, r := range usage.Users(g, read, []graph.Node{g.Find(secret.UID)}, goes) {
				who := r.Workload
				if who.Kind == "" {
					who = r.Users[0]
				}
				got = append(got, fmt.Sprintf("%s: %d", who, len(r.Users)))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A claim or a binding has no workload, even if a controller made it.
func TestUsersThatAreNoPodsCountForThemselves(t *testing.T) {
	role := st.Role("shop/reader", st.UID("o"))
	operator := st.Object("example.com/v1", "Redis", "shop/cache", st.UID("c"))
	binding := controlledBy(operator, "rbac.authorization.k8s.io/v1", "RoleBinding", "shop/readers", st.UID("b"))
	g := graph.New(st.New(st.Listing(role, operator, binding)))
	read := usages(t, map[*object.Object]string{&binding: `{"roleRef": {"kind": "Role", "name": "reader"}}`})
	got := usage.Users(g, read, []graph.Node{g.Find(role.UID)}, func(graph.Node) bool { return false })
	if len(got) != 1 || got[0].Message() != "Role/reader is bound by RoleBinding/readers: a binding without its role grants nothing" {
		t.Errorf("got %v", got)
	}
}

// Where one Pod could not be read, the number of ready ones is unknown.
func TestReadyPodsNeedEveryPodOfAWorkload(t *testing.T) {
	const ready = `{"metadata": {"labels": {"app": "web"}}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}`
	set := st.Object("apps/v1", "ReplicaSet", "shop/web", st.UID("r"))
	a := controlledBy(set, "v1", "Pod", "shop/a", st.UID("a"))
	b := controlledBy(set, "v1", "Pod", "shop/b", st.UID("b"))
	budget := st.Object("policy/v1", "PodDisruptionBudget", "shop/web", st.UID("x"))
	other := st.Object("policy/v1", "PodDisruptionBudget", "other/web", st.UID("y"))
	g := graph.New(st.New(st.Listing(set, a, b, budget, other)))
	going := graph.NewSet(g)
	going.Add(g.Find(a.UID))
	protects := `{"spec": {"selector": {"matchLabels": {"app": "web"}}}, "status": {"disruptionsAllowed": 0}}`
	read := usages(t, map[*object.Object]string{&a: ready, &budget: protects, &other: protects})
	if got := usage.ReadyPods(g, read, going); got != nil {
		t.Errorf("got %v", got)
	}
	read[b.UID] = read[a.UID]
	got := usage.ReadyPods(g, read, going)
	if len(got) != 1 || got[0].Message() != "removes 1 of 2 ready Pods of ReplicaSet/web; PodDisruptionBudget/web allows 0, but a deletion does not ask it" {
		t.Errorf("got %v", got)
	}
}
