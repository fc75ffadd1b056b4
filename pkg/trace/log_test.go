package trace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// level is how much an audit log has of each request.
type level int

const (
	metadata level = iota
	request
	whole
)

// log makes evidence. Times are seconds after the scan.
type log struct {
	Requests []trace.Request
	Lines    []trace.Line
	Before   *snapshot.Snapshot
	level    level
	n        int
}

// facts returns the facts that it shows.
func (l *log) facts() *trace.Facts {
	f := trace.NewFacts(l.Before)
	for i := range l.Requests {
		f.Request(&l.Requests[i])
	}
	for i := range l.Lines {
		f.Line(&l.Lines[i])
	}
	return f
}

func at(seconds float64) time.Time {
	return st.Taken.Add(time.Duration(seconds * float64(time.Second)).Truncate(time.Microsecond))
}

// Users.
const (
	alice      = "alice"
	bob        = "bob"
	manager    = "system:kube-controller-manager"
	gc         = "system:serviceaccount:kube-system:generic-garbage-collector"
	nsDeleter  = "system:serviceaccount:kube-system:namespace-controller"
	podGC      = "system:serviceaccount:kube-system:pod-garbage-collector"
	ttl        = "system:serviceaccount:kube-system:ttl-after-finished-controller"
	statefulGC = "system:serviceaccount:kube-system:statefulset-controller"
	kubelet    = "system:node:worker-3"
	deployer   = "system:serviceaccount:ci:deployer"
)

var plurals = map[string]string{"NetworkPolicy": "networkpolicies", "RedisCluster": "redisclusters"}

func targetOf(o object.Object) trace.RequestTarget {
	gvk := o.GroupVersionKind()
	plural := plurals[gvk.Kind]
	if plural == "" {
		plural = strings.ToLower(gvk.Kind) + "s"
	}
	return trace.RequestTarget{Group: gvk.Group, Version: gvk.Version, Resource: plural, Namespace: o.Namespace, Name: o.Name}
}

type edit func(*trace.Request)

func (l *log) add(seconds float64, user, verb string, t trace.RequestTarget, edits ...edit) {
	l.n++
	r := trace.Request{Received: at(seconds), Answered: at(seconds).Add(5 * time.Millisecond), Place: trace.Place{Offset: int64(l.n)}, User: trace.RequestUser{Name: user}, Verb: verb, Target: t, Code: 200}
	for _, e := range edits {
		e(&r)
	}
	if verb == "delete" && r.Options == nil {
		r.MayBeDryRun = true
	}
	l.Requests = append(l.Requests, r)
}

func agent(s string) edit { return func(r *trace.Request) { r.User.Agent = s } }

func policy(p reason.Cascade) edit {
	return func(r *trace.Request) {
		if r.Options != nil {
			r.Options.Policy = string(p)
		}
	}
}

// lingers makes the answer the whole object, which was marked at a time.
func lingers(o object.Object, since float64, finalizers ...string) edit {
	return func(r *trace.Request) {
		t := at(since).Truncate(time.Second)
		if o.Deleted, o.Finalizers = &t, finalizers; r.Options != nil {
			r.Objects = []trace.Seen{{Object: o}}
		}
	}
}

// create adds the creation of an object.
func (l *log) create(seconds float64, user string, o object.Object) {
	l.add(seconds, user, "create", targetOf(o), func(r *trace.Request) {
		r.Code = 201
		o.Created = at(seconds).Truncate(time.Second)
		switch l.level {
		case whole:
			r.Target.UID = o.UID
			r.Objects = []trace.Seen{{Object: o, Whole: true}}
		case metadata, request:
		}
	})
}

// delete adds a deletion that removes the object at once.
func (l *log) delete(seconds float64, user string, o object.Object, edits ...edit) {
	l.add(seconds, user, "delete", targetOf(o), append([]edit{func(r *trace.Request) {
		if l.level >= request {
			r.Options = &trace.DeleteOptions{Policy: "Background"}
			if user == gc || user == kubelet {
				r.Options.UID, r.Target.UID = o.UID, o.UID
			}
		}
		if l.level == whole {
			r.Target.UID = o.UID
		}
	}}, edits...)...)
}

// collection adds a deletecollection.
func (l *log) collection(seconds float64, user string, of object.Object, items ...object.Object) {
	t := targetOf(of)
	t.Name = ""
	l.add(seconds, user, "deletecollection", t, func(r *trace.Request) {
		if l.level >= request {
			r.Options = &trace.DeleteOptions{Policy: "Background"}
		}
		if l.level == whole {
			for _, o := range items {
				r.Objects = append(r.Objects, trace.Seen{Object: o})
			}
		}
	})
}

func (l *log) finalize(seconds float64, namespace object.Object) {
	t := targetOf(namespace)
	t.Subresource = "finalize"
	l.add(seconds, nsDeleter, "update", t)
}

func (l *log) line(seconds float64, says trace.LineKind, o object.Object, owner ...object.Object) {
	line := trace.Line{Time: at(seconds), Says: says, Object: o.Identity}
	for _, of := range owner {
		if line.Owner = of.Identity; says != trace.OwnerElsewhere {
			line.Owner.Namespace = ""
		}
	}
	l.Lines = append(l.Lines, line)
}

func (l *log) started(seconds float64) {
	l.Lines = append(l.Lines, trace.Line{Time: at(seconds), Says: trace.Started})
}

// before sets the earlier scan.
func (l *log) before(objects ...object.Object) {
	var types []snapshot.Type
	seen := map[schema.GroupKind]bool{}
	for _, o := range objects {
		gvk := o.GroupVersionKind()
		if t := targetOf(o); !seen[gvk.GroupKind()] {
			seen[gvk.GroupKind()] = true
			types = append(types, snapshot.Type{
				Group: t.Group, Version: t.Version, Resource: t.Resource, Kind: gvk.Kind, Singular: strings.ToLower(gvk.Kind), Namespaced: o.Namespace != "",
				Verbs: []string{"delete", "list", "watch", "get"}, Preferred: true,
			})
		}
	}
	l.Before = st.New(st.Listing(objects...))
	l.Before.Types, l.Before.Listed = types, nil
	for _, t := range types {
		l.Before.Listed = append(l.Before.Listed, snapshot.Listing{Group: t.Group, Resource: t.Resource})
	}
	l.Before.Normalize()
}

// tell writes the cascades as text.
func tell(r *trace.DeletionReport) string {
	var out strings.Builder
	for i := range r.Cascades {
		c := &r.Cascades[i]
		switch {
		case c.Perhaps && c.Collection == nil:
			fmt.Fprintf(&out, "perhaps %s, %d objects\n", who(c.By), c.Objects)
		case c.Unexplained:
			fmt.Fprintf(&out, "unknown root, %d objects\n", c.Objects)
		case c.Collection != nil:
			fmt.Fprintf(&out, "%s deletes collection %s in %q, %d objects\n", c.By, c.Collection.Resource, c.Collection.Namespace, c.Objects)
		default:
			fmt.Fprintf(&out, "%s, %d objects\n", who(c.By), c.Objects)
		}
		for _, d := range c.Deletions {
			fmt.Fprintf(&out, "%s%s", strings.Repeat("  ", d.Depth+1), d.Object)
			if d.Object.Kind == "" {
				fmt.Fprintf(&out, "[%s]", d.Resource)
			}
			switch {
			case d.Inferred:
				out.WriteString("?")
			case d.Perhaps:
				out.WriteString("~")
			}
			fmt.Fprintf(&out, ": %s", d.Why.Brief())
			for _, also := range d.Circumstances {
				fmt.Fprintf(&out, " (%s)", also.Code)
			}
			out.WriteString("\n")
		}
	}
	return out.String()
}

func who(a trace.Deleter) string {
	if s := a.String(); s != "" {
		return s
	}
	return "nobody"
}

// expect compares what the evidence tells with what is wanted.
func expect(t *testing.T, l *log, want string) {
	t.Helper()
	want = strings.TrimLeft(strings.ReplaceAll(want, "\t", ""), "\n")
	if got := tell(l.facts().Explain()); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
