package oracle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// differs stands for an object that some orders of events leave in one state and some in another.
const differs = "differs"

// statesOf returns the state of each object of a scenario in the ends of a reply.
func statesOf(s scenario.Scenario, ends []End) map[types.UID]string {
	out := map[types.UID]string{}
	for i := range s.Objects {
		uid := s.Objects[i].UID
		states := map[string]bool{}
		for _, e := range ends {
			states[stateOf(e.Object(uid))] = true
		}
		out[uid] = differs
		if len(states) == 1 {
			out[uid] = slices.Collect(maps.Keys(states))[0]
		}
	}
	return out
}

// shapeOrders is how many orders of events show what upstream does, races included.
const shapeOrders = 500

// Upstream's collector and this program agree on the shapes in which they once differed. want is
// what upstream does, in many orders of events.
func TestShapesThatOnceDiffered(t *testing.T) {
	upstream, replies := Start(t, 1), map[string]scenario.Reply{}
	ask := func(ctx context.Context, r scenario.Request) (reply scenario.Reply, err error) {
		key := fmt.Sprint(r.Orders, Format(r.Scenario))
		reply, known := replies[key]
		if !known {
			reply, err = upstream(ctx, r)
			replies[key] = reply
		}
		return reply, err
	}
	const served = `
		type v1 ConfigMap configmaps namespaced
		type v1 Secret secrets namespaced
		type v1 Pod pods namespaced
		type v1 Namespace namespaces
		type v1 Event events namespaced
		type apiextensions.k8s.io/v1 CustomResourceDefinition customresourcedefinitions
		type apps/v1 Deployment deployments namespaced
		type batch/v1 Job jobs namespaced
		type example.com/v1 Widget widgets namespaced custom also=v1beta1
		type example.com/v1 Gadget gadgets custom
		type metrics.example.com/v1 Reading readings namespaced unwatchable
		type metrics.example.com/v1 Meter meters unwatchable
	`
	for name, c := range map[string]struct {
		scenario string
		want     map[string]string
	}{
		"D1 the Pods of a namespace go first": {
			`object v1 Namespace a ns spec=kubernetes
			object v1 Pod a/p p finalizers=example.com/hold pod=30
			object v1 ConfigMap a/c c
			delete ns Background`,
			map[string]string{"ns": "terminating, waits for kubernetes", "p": "terminating, waits for example.com/hold", "c": alive},
		},
		"D2 a namespace stays while a group cannot be discovered": {
			`unreachable metrics.k8s.io
			object v1 Namespace a ns spec=kubernetes
			object v1 ConfigMap a/c c
			delete ns Background`,
			map[string]string{"ns": "terminating, waits for kubernetes", "c": gone},
		},
		"D3 a Pod on a lost node keeps its namespace": {
			`object v1 Namespace a ns spec=kubernetes
			object v1 Pod a/p p deleted=1h0m0s grace=30 pod=30,scheduled,lost
			object v1 ConfigMap a/c c
			delete ns Background`,
			map[string]string{"ns": "terminating, waits for kubernetes", "c": alive},
		},
		"D4 the DELETE after unblocking a cycle is refused, and what depends on it is nondeterministic": {
			`object v1 ConfigMap a/a a finalizers=example.com/hold owner=v1,ConfigMap,b,b,block
			object v1 ConfigMap a/b b owner=v1,ConfigMap,a,a,block
			object v1 ConfigMap a/c c owner=v1,ConfigMap,b,b
			delete a Foreground`,
			map[string]string{"a": "terminating, waits for example.com/hold", "b": differs, "c": differs},
		},
		"D5 whether a held dependent waits decides about its own dependent": {
			`object v1 ConfigMap a/o o
			object v1 ConfigMap a/d d finalizers=example.com/hold owner=v1,ConfigMap,o,o
			object v1 Pod a/p p pod=30 owner=v1,ConfigMap,d,d,block
			delete o Foreground`,
			map[string]string{"o": gone, "p": differs},
		},
		"D5 also if a deletion that was under way leads to the held dependent": {
			`object batch/v1 Job a/j j finalizers=foregroundDeletion deleted=1m0s
			object v1 Pod a/p p pod=30 owner=batch/v1,Job,j,j,block
			object example.com/v1 Widget a/w w finalizers=example.com/hold owner=v1,Pod,p,p,block
			object apps/v1 Deployment a/d d owner=example.com/v1,Widget,w,w`,
			map[string]string{"j": "terminating, waits for foregroundDeletion", "w": "terminating, waits for example.com/hold", "d": differs},
		},
		"an object that owns itself may stop blocking itself": {
			`object v1 Secret a/s s finalizers=foregroundDeletion,orphan owner=example.com/v1,Widget,gone,gone owner=v1,Secret,s,s,block
			delete s`,
			nil,
		},
		"and then whom else it blocks, unnoticed": {
			`object v1 ConfigMap a/o o
			object apps/v1 Deployment a/d d owner=v1,ConfigMap,o,o
			object v1 Secret a/s s owner=apps/v1,Deployment,d,d,block owner=v1,ConfigMap,o,o owner=apps/v1,Deployment,d,d owner=apps/v1,Deployment,d,d,block owner=v1,Secret,s,s
			delete o Foreground`,
			nil,
		},
		"whether an object with two controllers goes depends on which of two deletions is first": {
			`object v1 ConfigMap a/o o
			object v1 Secret a/s s owner=example.com/v1,Widget,w,w,controller owner=v1,ConfigMap,o,o,controller
			object example.com/v1 Widget a/w w
			delete o Foreground
			delete s Foreground`,
			map[string]string{"o": gone, "s": differs},
		},
		"whether a Namespace in foreground deletion waits for its contents is not known": {
			`object v1 Namespace n n finalizers=foregroundDeletion deleted=1m0s
			object example.com/v1 Gadget g g owner=v1,Namespace,n,n,block owner=apps/v1,Deployment,gone,gone
			delete g Orphan`,
			nil,
		},
		"a held dependent that is deleted, too, may stop blocking its owner": {
			`object v1 ConfigMap a/o o
			object example.com/v1 Widget a/w w finalizers=example.com/hold owner=v1,ConfigMap,o,o owner=v1,ConfigMap,o,o,block
			object example.com/v1 Widget a/d d owner=example.com/v1,Widget,w,w
			delete o Foreground
			delete d Foreground
			delete w Foreground`,
			nil,
		},
		"a CustomResourceDefinition that may stay keeps its dependents": {
			`object apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com crd
			object example.com/v1 Widget a/w w finalizers=foregroundDeletion
			object v1 Secret a/solid s
			object v1 ConfigMap a/d d owner=example.com/v1,Widget,w,w owner=apiextensions.k8s.io/v1,CustomResourceDefinition,widgets.example.com,crd
			object v1 Secret a/e e owner=example.com/v1,Widget,w,w,block owner=v1,Secret,solid,s owner=example.com/v1,Widget,w,w
			delete crd Background`,
			map[string]string{"crd": differs, "d": differs},
		},
		"D6 an Event is deleted with its owner, and what it owns": {
			`object v1 Secret a/s s
			object v1 Event a/e e owner=v1,Secret,s,s
			object v1 ConfigMap a/c c owner=v1,Event,e,e
			delete s Background`,
			map[string]string{"s": gone, "e": gone, "c": gone},
		},
		"D8 two blocking references of a custom resource are unblocked together": {
			`object apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com crd
			object example.com/v1 Widget a/x x owner=example.com/v1,Widget,y,y,block owner=example.com/v1,Widget,y,y,block,controller
			object example.com/v1 Widget a/y y owner=example.com/v1,Widget,x,x,block
			delete y Foreground`,
			map[string]string{"x": gone, "y": gone},
		},
		"D8 the collector may miss that a dependent no longer blocks if its last reference never did": {
			`object v1 ConfigMap a/solid s
			object v1 ConfigMap a/o o
			object v1 Secret a/d d owner=v1,ConfigMap,solid,s owner=v1,ConfigMap,o,o,block owner=v1,ConfigMap,o,o
			delete o Foreground`,
			map[string]string{"o": differs, "d": alive},
		},
		"D9 an object that orphans keeps the foreground finalizer, unless a dependent blocks it": {
			`object v1 ConfigMap a/o o finalizers=orphan,foregroundDeletion
			object v1 ConfigMap a/d d owner=v1,ConfigMap,o,o
			delete o`,
			nil,
		},
		"D9 unless a missing owner makes the collector process the object": {
			`object example.com/v1 Widget a/o o finalizers=orphan,foregroundDeletion deleted=1m0s owner=v1,Secret,gone,gone owner=example.com/v1,Widget,o,o`,
			map[string]string{"o": gone},
		},
		"D7 a reference to an unmonitored owner in foreground deletion stays": {
			`object v1 ConfigMap a/solid s
			object metrics.example.com/v1 Reading a/r r finalizers=foregroundDeletion deleted=1h0m0s
			object v1 Pod a/p p pod=30 owner=metrics.example.com/v1,Reading,r,r owner=v1,ConfigMap,solid,s`,
			map[string]string{"p": alive},
		},
		"D6 an Event is not processed if only Events name it as their owner": {
			`object v1 Event a/e e owner=v1,ConfigMap,gone,gone
			object v1 Event a/f f owner=v1,Event,e,e
			object v1 ConfigMap a/c c owner=v1,Event,f,f`,
			map[string]string{"e": alive, "f": alive, "c": alive},
		},
		"D6 whether an Event is processed depends on who is seen first, if somebody names it wrongly": {
			`object v1 Event a/e e owner=v1,ConfigMap,gone,gone
			object v1 ConfigMap a/c c owner=v1,Event,e,e
			object v1 Pod a/p p pod=30 owner=apps/v1beta1,Event,e,e`,
			map[string]string{"e": differs, "c": differs},
		},
		"an unmonitored object that is terminating is deleted again, with another policy": {
			`object v1 ConfigMap a/o o
			object metrics.example.com/v1 Reading a/r r finalizers=example.com/hold deleted=1m0s owner=v1,ConfigMap,o,o
			object v1 Secret a/d d owner=metrics.example.com/v1,Reading,r,r
			delete o Foreground`,
			map[string]string{"r": differs},
		},
		"equal references are merged before they are validated": {
			`object v1 Pod a/o o pod=30
			object v1 ConfigMap a/solid s
			object v1 Secret a/d d owner=v1,ConfigMap,solid,s,controller owner=v1,Pod,o,o,block owner=v1,ConfigMap,solid,s,controller
			delete o Foreground`,
			map[string]string{"o": gone, "d": alive},
		},
		"an owner whose kind goes with it may become unknown, if it is named in another version": {
			`object apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com crd
			object example.com/v1 Widget a/w w
			object v1 ConfigMap a/d d owner=example.com/v1beta1,Widget,w,w
			delete crd Background`,
			map[string]string{"w": gone, "d": differs},
		},
		"a second DELETE of a namespace orphans if the contents are gone": {
			`object v1 Namespace n n finalizers=example.com/hold deleted=1m0s
			object v1 ConfigMap a/d d owner=v1,Namespace,n,n
			delete n Orphan`,
			map[string]string{"d": alive},
		},
		"an orphaning owner may be processed first, if a reference of its own is bad": {
			`object v1 Pod a/o o finalizers=orphan,foregroundDeletion,example.com/hold deleted=1m0s pod=30 owner=v1,Pod,gone,gone
			object v1 ConfigMap a/d d owner=v1,Pod,o,o,block`,
			map[string]string{"d": differs},
		},
		"a cycle in which a member also orphans its dependents is no deadlock": {
			`object v1 ConfigMap a/o o finalizers=foregroundDeletion deleted=1m0s owner=v1,Secret,d,d,block
			object v1 Secret a/d d finalizers=orphan,foregroundDeletion deleted=1m0s owner=v1,ConfigMap,o,o,block`,
			nil,
		},
		"a reference to a list kind stays if the API server rejects every patch": {
			`object v1 Event a/e e
			object v1 ConfigMap a/d d owner=v1,Event,e,e owner=v1,PodList,gone,gone`,
			map[string]string{"d": alive},
		},
		"a reference goes with another of its UID, also after an owner has orphaned the object": {
			`object v1 ConfigMap a/o o finalizers=orphan deleted=1m0s
			object v1 Secret a/s s
			object v1 ConfigMap a/d d owner=nowhere.example.com/v1,Gizmo,o,o owner=v1,Pod,s,s owner=v1,Secret,s,s`,
			map[string]string{"d": alive},
		},
		"a CustomResourceDefinition whose metadata is rejected is never completed": {
			`object apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com crd owner=v1,Pod,gone,gone,controller owner=v1,Secret,away,away,controller
			delete crd Background`,
			map[string]string{"crd": "terminating, waits for customresourcecleanup.apiextensions.k8s.io"},
		},
		"nor is a Namespace": {
			`object v1 Namespace n n spec=kubernetes owner=v1,Node,gone,gone,controller owner=v1,Node,away,away,controller
			delete n Background`,
			map[string]string{"n": "terminating, waits for kubernetes"},
		},
		"but equal references are no reason for that": {
			`object v1 Namespace n n spec=kubernetes owner=v1,Namespace,n,n,controller owner=v1,Namespace,n,n,controller
			delete n Background`,
			map[string]string{"n": gone},
		},
		"a foreground deletion that waits for itself is no event for a dependent that does not block it": {
			`object v1 Pod a/o o finalizers=foregroundDeletion deleted=1m0s pod=30 owner=v1,Pod,o,o,block
			object v1 ConfigMap a/solid s
			object v1 Secret a/d d owner=v1,Pod,o,o owner=v1,ConfigMap,solid,s`,
			map[string]string{"o": "terminating, waits for foregroundDeletion", "d": alive},
		},
		"a good reference goes with a bad one of its UID, also on an object that is only looked up": {
			`object metrics.example.com/v1 Meter m m
			object metrics.example.com/v1 Meter n n owner=v1,Secret,s,s owner=metrics.example.com/v1,Meter,m,m owner=example.com/v1,Gadget,m,m
			object v1 ConfigMap a/c c owner=metrics.example.com/v1,Meter,n,n`,
			map[string]string{"n": alive, "c": alive},
		},
		"a good owner that others name from elsewhere may make the collector process an object": {
			`object example.com/v1 Widget a/w w
			object example.com/v1 Gadget g g owner=example.com/v1,Widget,w,w
			object metrics.example.com/v1 Reading a/r r finalizers=foregroundDeletion deleted=1m0s
			object v1 Secret a/s s owner=metrics.example.com/v1,Reading,r,r owner=example.com/v1,Widget,w,w`,
			map[string]string{"s": alive},
		},
		"an unmonitored object that is deleted again makes its own dependents go": {
			`object v1 ConfigMap a/o o
			object metrics.example.com/v1 Meter m m finalizers=example.com/hold deleted=1m0s owner=v1,ConfigMap,o,o
			object v1 Pod a/p p pod=30 owner=metrics.example.com/v1,Meter,m,m owner=v1,ConfigMap,o,o
			delete o Foreground`,
			map[string]string{"o": gone, "p": differs},
		},
		"the collector looks at an object with both finalizers again when a dependent goes": {
			`object v1 ConfigMap a/o o finalizers=orphan,foregroundDeletion deleted=1m0s
			object v1 Event a/e e owner=v1,ConfigMap,gone,gone
			object v1 Secret a/d d owner=v1,Event,e,e owner=v1,ConfigMap,o,o`,
			map[string]string{"e": gone},
		},
		"an owner's kind may go with its garbage definition before anybody looks for the owner": {
			`object apiextensions.k8s.io/v1 CustomResourceDefinition gadgets.example.com crd owner=example.com/v1,Gadget,gone,gone
			object v1 Secret a/s s
			object v1 Secret a/t t
			object v1 ConfigMap a/d d owner=example.com/v1,Gadget,g,other`,
			map[string]string{"d": differs},
		},
		"a self-owned object may be unblocked if another deletion makes the collector process it": {
			`object v1 Namespace n n finalizers=example.com/hold deleted=1m0s
			object example.com/v1 Gadget g g owner=example.com/v1,Gadget,g,g,block owner=v1,Namespace,n,n
			delete g Foreground
			delete n Foreground`,
			map[string]string{"g": differs},
		},
		"or if the API server has rejected the removal of another owner": {
			`object v1 ConfigMap a/o o finalizers=orphan,foregroundDeletion owner=v1,ConfigMap,o,o,block owner=v1,ConfigMap,o,o owner=v1,Pod,gone,gone
			delete o Foreground`,
			map[string]string{"o": differs},
		},
		"a Namespace that waits for a held object keeps the others, unless it is in foreground deletion itself": {
			`object v1 Namespace a ns spec=kubernetes owner=example.com/v1,Gadget,g,g
			object v1 ConfigMap a/c c finalizers=example.com/hold owner=v1,Namespace,a,ns,block
			object v1 Secret a/s s owner=v1,Namespace,a,ns
			object v1 Pod a/p p finalizers=example.com/hold
			object example.com/v1 Gadget g g
			delete g Foreground`,
			map[string]string{"g": gone, "s": differs},
		},
		"an instance with both finalizers may miss that it is deleted with its definition": {
			`object apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com crd owner=example.com/v1,Gadget,gone,gone
			object example.com/v1 Widget a/w w finalizers=orphan,foregroundDeletion deleted=1h0m0s`,
			map[string]string{"w": differs},
		},
		"a definition keeps both finalizers when it is deleted, and goes only after a restart of the collector": {
			`object apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com crd finalizers=foregroundDeletion,orphan
			delete crd Orphan`,
			map[string]string{"crd": "terminating, waits for foregroundDeletion"},
		},
		"an object stops blocking its owner only while a dependent of its own waits": {
			`object example.com/v1 Widget a/o o finalizers=foregroundDeletion deleted=1h0m0s
			object example.com/v1 Widget a/d d finalizers=example.com/hold owner=example.com/v1,Widget,o,o,block
			object example.com/v1 Widget a/e e finalizers=foregroundDeletion deleted=1m0s owner=example.com/v1,Widget,d,d
			object example.com/v1 Widget a/f f owner=example.com/v1,Widget,e,e,block`,
			map[string]string{"o": differs},
		},
		"an orphaned object keeps its reference to an unmonitored owner in foreground deletion": {
			`object v1 ConfigMap a/o o
			object v1 ConfigMap a/solid s
			object metrics.example.com/v1 Meter m m finalizers=foregroundDeletion deleted=1m0s
			object v1 Secret a/d d owner=metrics.example.com/v1,Meter,m,m owner=v1,ConfigMap,o,o owner=v1,ConfigMap,solid,s
			delete o Orphan`,
			map[string]string{"o": gone, "d": alive},
		},
		"an owner waits for a dependent that has yet to lose a doubled reference": {
			`object example.com/v1 Widget a/o o finalizers=foregroundDeletion deleted=1m0s
			object apps/v1 Deployment a/e e owner=example.com/v1,Widget,o,o,block
			object batch/v1 Job a/d d finalizers=example.com/hold owner=apps/v1,Deployment,e,e owner=example.com/v1,Gadget,e,e,block`,
			map[string]string{"o": differs},
		},
		"an object that loses a waiting owner before its other one is deleted orphans its dependents": {
			`object v1 Secret a/waiting w finalizers=foregroundDeletion
			object v1 Secret a/other o
			object example.com/v1 Widget a/d d finalizers=orphan owner=v1,Secret,waiting,w,block owner=v1,Secret,other,o
			object example.com/v1 Widget a/e e owner=example.com/v1,Widget,d,d
			delete w
			delete o`,
			map[string]string{"w": gone, "o": gone, "d": gone, "e": differs},
		},
		"an object in a Namespace may stop blocking it before the namespace controller deletes the object": {
			`object v1 Namespace a ns spec=kubernetes owner=v1,Secret,s,s
			object v1 Secret a/s s finalizers=example.com/hold owner=v1,Namespace,a,ns,block
			delete ns Foreground`,
			map[string]string{"ns": differs, "s": "terminating, waits for example.com/hold"},
		},
		"an object may stop blocking its owner right after its deletion, if a dependent waits until the end": {
			`object v1 ConfigMap a/c c finalizers=example.com/hold owner=v1,Secret,o,o owner=apps/v1,Deployment,d,d
			object v1 Secret a/o o owner=v1,ConfigMap,e,e
			object v1 ConfigMap a/e e owner=v1,ConfigMap,c,c
			object apps/v1 Deployment a/d d finalizers=example.com/hold owner=v1,Secret,o,o,block
			delete o Foreground`,
			map[string]string{"o": differs},
		},
		"a Namespace that Pods keep, whose owner goes, may keep its dependents": {
			`object v1 Namespace a ns spec=kubernetes owner=example.com/v1,Gadget,o,o
			object v1 Secret a/b b finalizers=example.com/hold owner=v1,Namespace,a,ns,block
			object v1 ConfigMap a/d d owner=v1,Namespace,a,ns
			object v1 Pod a/p p finalizers=example.com/hold
			object example.com/v1 Gadget o o
			delete o Foreground`,
			map[string]string{"o": gone, "d": differs},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := mustParse(t, served+c.scenario)
			reply, err := ask(t.Context(), scenario.Request{Scenario: s, Seed: 1, Orders: shapeOrders})
			if err != nil {
				t.Fatal(err)
			}
			happened := statesOf(s, Ends(reply))
			for uid, want := range c.want {
				if got := happened[types.UID(uid)]; got != want {
					t.Errorf("%s: upstream ends %q, want %q", uid, got, want)
				}
			}
			result, err := Checker{Ask: ask, Orders: shapeOrders}.Check(t.Context(), s, 1)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range result.Findings {
				if f.Class != Needless {
					t.Error(f)
				}
			}
		})
	}
}
