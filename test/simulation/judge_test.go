package simulation

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
	"github.com/kubectl-gc/kubectl-gc/test/oracle"
)

var gizmos = func() *apiserver.Type {
	t := apiserver.Namespaced("example.com", "gizmos", "Gizmo")
	t.Namespaced, t.Custom, t.OtherVersions = false, true, []string{"v1beta1"}
	return t
}()

// court is a server whose requests a judge sees. Each takes a second.
type court struct {
	*testing.T
	server *apiserver.Server
	judge  *judge
	now    time.Time
}

func newCourt(t *testing.T) *court {
	s := apiserver.New([]*apiserver.Type{apiserver.Namespaces, apiserver.ConfigMaps, apiserver.Secrets, apiserver.Pods, leaseOf, gizmos})
	s.Add(apiserver.Namespaces.Object("", "shop"))
	s.Add(apiserver.Namespaces.Object("", metav1.NamespaceSystem))
	c := &court{T: t, server: s, judge: newJudge(s), now: time.Now()}
	c.takeLease("a.1")
	return c
}

// add stores an object with owner references. It replaces one of its name.
func (c *court) add(t *apiserver.Type, namespace, name string, change func(*apiserver.Object), owners ...metav1.OwnerReference) *apiserver.Object {
	o := t.Object(namespace, name)
	if old, err := c.server.Get(t.GroupVersionResource, namespace, name); err == nil {
		o = old
	}
	o.OwnerReferences = owners
	if change != nil {
		change(o)
	}
	o = c.server.Add(o)
	c.judge.observeOthers()
	return o
}

// remove makes an object go, as a user may.
func (c *court) remove(o *apiserver.Object) {
	c.Helper()
	if _, err := c.server.Delete(o.Type.GroupVersionResource, o.Namespace, o.Name, metav1.DeleteOptions{}); err != nil {
		c.Fatal(err)
	}
	c.judge.observeOthers()
}

// sends lets the server handle a request of a life, which left it some time before.
func (c *court) sends(life string, before time.Duration, method, target, body string) {
	c.Helper()
	c.now = c.now.Add(time.Second)
	to, err := url.Parse(target)
	if err != nil {
		c.Fatal(err)
	}
	h := handled{
		life: life, candidate: "host_" + life, sent: c.now.Add(-before), at: c.now, method: method, path: to.Path, query: to.Query(),
		body: []byte(body), before: c.server.Revision(),
	}
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if r.Header.Set("Content-Type", string(types.MergePatchType)); strings.HasPrefix(body, "[") {
		r.Header.Set("Content-Type", string(types.JSONPatchType))
	}
	w := httptest.NewRecorder()
	c.server.ServeHTTP(w, r)
	h.after, h.status = c.server.Revision(), w.Code
	c.judge.observe(h)
}

func (c *court) gets(target string) { c.Helper(); c.sends("a.1", 0, "GET", target, "") }

// scans lists some types.
func (c *court) scans() {
	c.Helper()
	c.gets("/api")
	c.gets("/api/v1/secrets")
	c.gets("/api/v1/configmaps")
}

// deletes sends a DELETE as the collector does.
func (c *court) deletes(o *apiserver.Object) {
	c.Helper()
	c.deletesWith(o, metav1.DeletePropagationBackground, fmt.Sprintf(`{"uid":%q,"resourceVersion":%q}`, o.UID, o.ResourceVersion))
}

func (c *court) deletesWith(o *apiserver.Object, policy metav1.DeletionPropagation, preconditions string) {
	c.Helper()
	c.sends("a.1", 0, "DELETE", o.Path(), fmt.Sprintf(`{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":%q,"preconditions":%s}`, policy, preconditions))
}

// patches sends a patch that makes an object equal to its changed state.
func (c *court) patches(o *apiserver.Object, change func(*apiserver.Object)) {
	c.Helper()
	changed := *o
	change(&changed)
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": o.ResourceVersion, "ownerReferences": changed.OwnerReferences, "finalizers": changed.Finalizers, "labels": changed.Labels,
	}})
	if err != nil {
		c.Fatal(err)
	}
	c.sends("a.1", 0, "PATCH", o.Path(), string(body))
}

// takeLease makes a life the holder of the Lease.
func (c *court) takeLease(life string) {
	c.Helper()
	body := fmt.Sprintf(`{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":%q},"spec":{"holderIdentity":"host_%s"}}`, leasePlace.name, life)
	list := "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
	c.sends(life, 0, "POST", list, body)
	c.sends(life, 0, "PATCH", list+"/"+leasePlace.name, body)
}

// want requires that the judge has failed one request for this reason.
func (c *court) want(reason string) {
	c.Helper()
	got := c.judge.failures()
	if len(got) != 1 || !strings.Contains(got[0], reason) {
		c.Errorf("the judge says %q, and not %q", got, reason)
	}
	for _, failure := range got {
		for _, part := range []string{" sent ", " after ", "the server handled it after ", " at revisions "} {
			if !strings.Contains(failure, part) {
				c.Errorf("%q has no %q", failure, part)
			}
		}
	}
}

func reference(o *apiserver.Object) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: o.Type.GroupVersion().String(), Kind: o.Type.Kind, Name: o.Name, UID: o.UID}
}

func blocking(o *apiserver.Object) metav1.OwnerReference {
	r := reference(o)
	r.BlockOwnerDeletion = new(true)
	return r
}

// terminating makes an object terminating, with these finalizers.
func terminating(finalizers ...string) func(*apiserver.Object) {
	return func(o *apiserver.Object) {
		o.DeletionTimestamp, o.DeletionGracePeriodSeconds, o.Finalizers = &metav1.Time{Time: time.Unix(1e9, 0)}, new(int64(0)), finalizers
	}
}

const (
	foreground = metav1.FinalizerDeleteDependents
	orphan     = metav1.FinalizerOrphanDependents
	foreign    = "example.com/hold"
)

// judges tests what the judge has to find. A judge that finds fault with what the collector may do fails the simulated days.
func judges(t *testing.T, cases map[string]struct {
	do   func(*court)
	want string
},
) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCourt(t)
			test.do(c)
			c.want(test.want)
		})
	}
}

func TestJudgeOfDeletions(t *testing.T) {
	owned := func(c *court, change func(*apiserver.Object)) (owner, dependent *apiserver.Object) {
		owner = c.add(apiserver.ConfigMaps, "shop", "owner", change)
		return owner, c.add(apiserver.Secrets, "shop", "dependent", nil, reference(owner))
	}
	judges(t, map[string]struct {
		do   func(*court)
		want string
	}{
		"an object must stay if its owner exists": {func(c *court) {
			_, dependent := owned(c, nil)
			c.deletes(dependent)
		}, "although its owner ConfigMap shop/owner"},
		"an object must stay if one of two owners exists": {func(c *court) {
			owner := c.add(apiserver.ConfigMaps, "shop", "owner", nil)
			gone := c.add(apiserver.ConfigMaps, "shop", "gone", nil)
			dependent := c.add(apiserver.Secrets, "shop", "dependent", nil, reference(gone), reference(owner))
			c.remove(gone)
			c.deletes(dependent)
		}, "although its owner ConfigMap shop/owner"},
		"an object must stay if one of two references with a UID leads to its owner": {func(c *court) {
			owner := c.add(apiserver.ConfigMaps, "shop", "owner", nil)
			wrong := reference(owner)
			wrong.Name = "wrong"
			c.deletes(c.add(apiserver.Secrets, "shop", "dependent", nil, wrong, reference(owner)))
		}, "although its owner ConfigMap shop/owner"},
		"an object must stay if its owner exists in another version": {func(c *court) {
			r := reference(c.add(gizmos, "", "owner", nil))
			r.APIVersion = "example.com/v1beta1"
			c.deletes(c.add(apiserver.Secrets, "shop", "dependent", nil, r))
		}, "although its owner Gizmo owner"},
		"an object must stay if the type of its owner is hidden": {func(c *court) {
			dependent := c.add(apiserver.Secrets, "shop", "dependent", nil, reference(c.add(gizmos, "", "owner", nil)))
			c.server.Unserve(gizmos.GroupResource())
			c.judge.observeOthers()
			c.deletes(dependent)
		}, "although its owner Gizmo owner"},
		"an object must stay if nobody knows the kind of its owner": {func(c *court) {
			c.deletes(c.add(apiserver.Secrets, "shop", "dependent", nil, metav1.OwnerReference{APIVersion: "example.com/v2", Kind: "Gizmo", Name: "owner", UID: "gone"}))
		}, "was never served"},
		"an object must stay if its owner cannot be found": {func(c *court) {
			owner := c.add(apiserver.ConfigMaps, "shop", "owner", nil)
			c.deletes(c.add(gizmos, "", "dependent", nil, reference(owner)))
		}, "cannot be found"},
		"an object must stay if its owner waited only before it was read": {func(c *court) {
			owner, dependent := owned(c, terminating(foreground, foreign))
			c.gets(owner.Path())
			c.add(apiserver.ConfigMaps, "shop", "owner", terminating(foreign))
			c.now = c.now.Add(time.Minute)
			c.gets(owner.Path())
			c.deletes(dependent)
		}, "although its owner ConfigMap shop/owner"},
		"an object must stay if its owner is only terminating": {func(c *court) {
			owner, dependent := owned(c, terminating(foreign))
			c.gets(owner.Path())
			c.deletes(dependent)
		}, "although its owner ConfigMap shop/owner"},
		"an object must stay if it never had owners": {func(c *court) {
			c.deletes(c.add(apiserver.Secrets, "shop", "free", nil))
		}, "has no owner references"},
		"an object must not be deleted twice": {func(c *court) {
			owner := c.add(apiserver.ConfigMaps, "shop", "owner", terminating(foreground))
			o := c.add(apiserver.Secrets, "shop", "dependent", terminating(foreign), reference(owner))
			c.deletesWith(o, metav1.DeletePropagationForeground, fmt.Sprintf(`{"uid":%q,"resourceVersion":%q}`, o.UID, o.ResourceVersion))
		}, "whose deletion was under way"},
		"a deletion needs the uid": {func(c *court) {
			owner, dependent := owned(c, nil)
			c.remove(owner)
			c.deletesWith(dependent, metav1.DeletePropagationBackground, fmt.Sprintf(`{"resourceVersion":%q}`, dependent.ResourceVersion))
		}, "without its uid"},
		"a deletion needs the resourceVersion": {func(c *court) {
			owner, dependent := owned(c, nil)
			c.remove(owner)
			c.deletesWith(dependent, metav1.DeletePropagationBackground, fmt.Sprintf(`{"uid":%q}`, dependent.UID))
		}, "of resourceVersion"},
		"a deletion needs the policy of the object": {func(c *court) {
			owner, dependent := owned(c, nil)
			c.remove(owner)
			c.deletesWith(dependent, metav1.DeletePropagationOrphan, fmt.Sprintf(`{"uid":%q,"resourceVersion":%q}`, dependent.UID, dependent.ResourceVersion))
		}, "with policy Orphan instead of Background"},
		"whole lists must not be deleted": {func(c *court) {
			owned(c, nil)
			c.sends("a.1", 0, "DELETE", "/api/v1/namespaces/shop/secrets", "{}")
		}, "a collector only deletes and patches single objects"},
		"nothing must be created": {func(c *court) {
			c.sends("a.1", 0, "POST", "/api/v1/namespaces/shop/secrets", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"new"}}`)
		}, "a collector only deletes and patches single objects"},
	})
}

func TestJudgeOfTheLease(t *testing.T) {
	garbage := func(c *court) (send func(life string, before time.Duration)) {
		o := c.add(apiserver.Secrets, "shop", "garbage", nil, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "gone"})
		return func(life string, before time.Duration) {
			c.sends(life, before, "DELETE", o.Path(), fmt.Sprintf(`{"propagationPolicy":"Background","preconditions":{"uid":%q,"resourceVersion":%q}}`, o.UID, o.ResourceVersion))
		}
	}
	judges(t, map[string]struct {
		do   func(*court)
		want string
	}{
		"a life that never held the Lease must not write":                      {func(c *court) { garbage(c)("b.1", 0) }, "b.1 sent DELETE"},
		"the next life of the holder must not write before it holds the Lease": {func(c *court) { garbage(c)("a.2", 0) }, "it has never held the Lease"},
		"nobody may write once another holds the Lease": {func(c *court) {
			send := garbage(c)
			c.takeLease("b.1")
			send("a.1", 0)
		}, "b.1 has held the Lease since"},
		"a write that fails counts as well": {func(c *court) {
			c.takeLease("b.1")
			c.sends("a.1", 0, "DELETE", "/api/v1/namespaces/shop/secrets/none", "{}")
		}, "b.1 has held the Lease since"},
		"a holder must notice that somebody interfered with its Lease": {func(c *court) {
			c.judge.interfered(c.now)
			c.takeLease("b.1")
			c.now = c.now.Add(interferenceTime)
			garbage(c)("a.1", 0)
		}, "b.1 has held the Lease since"},
	})
}

func TestJudgeOfPatches(t *testing.T) {
	drop := func(names ...string) func(*apiserver.Object) {
		return func(o *apiserver.Object) {
			o.OwnerReferences = slices.DeleteFunc(slices.Clone(o.OwnerReferences), func(r metav1.OwnerReference) bool { return slices.Contains(names, r.Name) })
		}
	}
	unblock := func(o *apiserver.Object) {
		o.OwnerReferences = slices.Clone(o.OwnerReferences)
		o.OwnerReferences[0].BlockOwnerDeletion = new(false)
	}
	without := func(finalizer string) func(*apiserver.Object) {
		return func(o *apiserver.Object) {
			o.Finalizers = slices.DeleteFunc(slices.Clone(o.Finalizers), func(f string) bool { return f == finalizer })
		}
	}
	// two returns a dependent of two owners.
	two := func(c *court, change func(*apiserver.Object)) (owner, dependent *apiserver.Object) {
		owner = c.add(apiserver.ConfigMaps, "shop", "owner", change)
		good := c.add(apiserver.ConfigMaps, "shop", "good", nil)
		return owner, c.add(apiserver.Secrets, "shop", "dependent", nil, reference(owner), reference(good))
	}
	// deleted returns a terminating owner, after everything was listed.
	deleted := func(c *court, finalizer string, make func(*apiserver.Object) metav1.OwnerReference) *apiserver.Object {
		owner := c.add(apiserver.ConfigMaps, "shop", "owner", terminating(finalizer))
		c.add(apiserver.Secrets, "shop", "dependent", nil, make(owner))
		c.scans()
		return owner
	}
	judges(t, map[string]struct {
		do   func(*court)
		want string
	}{
		"the reference to an owner that exists must stay": {func(c *court) {
			_, dependent := two(c, nil)
			c.patches(dependent, drop("owner"))
		}, "it removed a reference"},
		"the last reference must stay": {func(c *court) {
			owner := c.add(apiserver.ConfigMaps, "shop", "owner", nil)
			dependent := c.add(apiserver.Secrets, "shop", "dependent", nil, reference(owner))
			c.remove(owner)
			c.patches(dependent, drop("owner"))
		}, "nothing will ever delete that"},
		"the good reference must stay if a bad one has its UID": {func(c *court) {
			owner := c.add(apiserver.ConfigMaps, "shop", "owner", nil)
			good := c.add(apiserver.ConfigMaps, "shop", "good", nil)
			wrong := reference(owner)
			wrong.Name = "wrong"
			c.patches(c.add(apiserver.Secrets, "shop", "dependent", nil, wrong, reference(owner), reference(good)), drop("wrong", "owner"))
		}, "it removed a reference"},
		"a reference must go on blocking if the object stays": {func(c *court) {
			owner, good := c.add(apiserver.ConfigMaps, "shop", "owner", terminating(foreground)), c.add(apiserver.ConfigMaps, "shop", "good", nil)
			c.patches(c.add(apiserver.Secrets, "shop", "dependent", nil, blocking(owner), reference(good)), unblock)
		}, "stop blocking, although its owner ConfigMap shop/good"},
		"a reference must not be added": {func(c *court) {
			owner := c.add(apiserver.ConfigMaps, "shop", "owner", nil)
			c.patches(c.add(apiserver.Secrets, "shop", "free", nil), func(o *apiserver.Object) { o.OwnerReferences = []metav1.OwnerReference{reference(owner)} })
		}, "it added or changed a reference"},
		"a reference must not begin to block": {func(c *court) {
			owner := c.add(apiserver.ConfigMaps, "shop", "owner", nil)
			c.patches(c.add(apiserver.Secrets, "shop", "dependent", nil, reference(owner)), func(o *apiserver.Object) {
				o.OwnerReferences = []metav1.OwnerReference{blocking(owner)}
			})
		}, "it added or changed a reference"},
		"nothing else must change": {func(c *court) {
			c.patches(c.add(apiserver.Secrets, "shop", "free", nil), func(o *apiserver.Object) { o.Labels = map[string]string{"a": "b"} })
		}, "it changed more"},
		"the foreground finalizer must stay if a dependent blocks": {func(c *court) {
			c.patches(deleted(c, foreground, blocking), without(foreground))
		}, "although Secret shop/dependent"},
		"the foreground finalizer must stay until everything was listed": {func(c *court) {
			c.scans()
			c.patches(c.add(apiserver.ConfigMaps, "shop", "owner", terminating(foreground)), without(foreground))
		}, "has not listed everything"},
		"the latest scan counts": {func(c *court) {
			owner := deleted(c, foreground, reference)
			c.add(apiserver.Secrets, "shop", "other", nil, blocking(owner))
			c.scans()
			c.patches(owner, without(foreground))
		}, "although Secret shop/other"},
		"the orphan finalizer must stay if a reference is left": {func(c *court) {
			c.patches(deleted(c, orphan, reference), without(orphan))
		}, "although Secret shop/dependent"},
		"the finalizer of an object that nobody has deleted must stay": {func(c *court) {
			c.patches(c.add(apiserver.ConfigMaps, "shop", "owner", func(o *apiserver.Object) { o.Finalizers = []string{orphan} }), without(orphan))
		}, "which nobody has deleted"},
		"the finalizers of others must stay": {func(c *court) {
			c.patches(c.add(apiserver.ConfigMaps, "shop", "owner", terminating(foreign)), without(foreign))
		}, "it removed the finalizer example.com/hold"},
		"the finalizers of others must stay if the object is held by more": {func(c *court) {
			c.patches(c.add(apiserver.ConfigMaps, "shop", "owner", terminating(foreground, foreign)), without(foreign))
		}, "it removed the finalizer example.com/hold"},
	})
}

func TestUpstreamHasNothingToDoInAClusterAtRest(t *testing.T) {
	ask := oracle.Start(t, 1)
	for name, test := range map[string]struct {
		do   func(*court)
		want string
	}{
		"with garbage": {func(c *court) {
			owner := c.add(gizmos, "", "owner", nil)
			c.add(apiserver.Secrets, "shop", "dependent", nil, reference(owner))
			c.remove(owner)
		}, "Secret shop/dependent"},
		"with garbage that a finalizer holds": {func(c *court) {
			owner := c.add(gizmos, "", "owner", nil)
			c.add(apiserver.Secrets, "shop", "dependent", func(o *apiserver.Object) { o.Finalizers = []string{foreign} }, reference(owner))
			c.remove(owner)
		}, "terminating, waits for example.com/hold"},
		"with a bad reference": {func(c *court) {
			owner, gone := c.add(gizmos, "", "owner", nil), c.add(gizmos, "", "gone", nil)
			c.add(apiserver.Secrets, "shop", "dependent", nil, reference(owner), reference(gone))
			c.remove(gone)
		}, "Secret shop/dependent"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCourt(t)
			test.do(c)
			got, err := fixpoint(t.Context(), ask, snapshotOf(c.server))
			if err != nil || len(got) != 1 || !strings.Contains(got[0], test.want) {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
		})
	}
}
