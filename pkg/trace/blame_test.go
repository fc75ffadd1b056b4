package trace_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// ines has done nothing wrong, or not the thing in question.
const (
	ines    = "ines"
	mallory = "mallory"
)

func mayBeDryRun(r *trace.Request) { r.Options, r.MayBeDryRun = nil, true }

func unknownResult(code int) edit {
	return func(r *trace.Request) { r.Result, r.Code, r.Objects = trace.Unknown, code, nil }
}

func inFile(name string) edit { return func(r *trace.Request) { r.Place.File = name } }

func as(impersonator string) edit {
	return func(r *trace.Request) { r.User.Impersonator = impersonator }
}

// wrote adds an update or a patch, which left the object so.
func (l *log) wrote(seconds float64, user string, o object.Object, edits ...edit) {
	l.add(seconds, user, "patch", targetOf(o), append([]edit{func(r *trace.Request) { r.Target.UID, r.Objects = o.UID, []trace.Seen{{Object: o}} }}, edits...)...)
}

// owned returns an object with other owners.
func owned(o object.Object, by ...object.Object) object.Object {
	o.Owners = nil
	for _, owner := range by {
		o.Owners = append(o.Owners, st.To(owner))
	}
	return o
}

// Each is a way to have somebody blamed for what somebody else did.
func TestNobodyIsBlamedWithoutProof(t *testing.T) {
	old := st.ConfigMap("shop/old")
	victim := st.ConfigMap("shop/victim")
	victim.Created = at(-3600)
	linked := owned(victim, old)
	for name, c := range map[string]struct {
		log  func(*log)
		want string
	}{
		"a DELETE at level Metadata may be a dry run, and a later one the deletion": {func(l *log) {
			l.delete(10, mallory, victim, mayBeDryRun)
			l.delete(20, ines, victim, mayBeDryRun)
		}, `
			unknown root, 1 objects
			  ConfigMap/victim: unknown: one of mallory, ines
			`},
		"a single DELETE at level Metadata may be a dry run": {func(l *log) { l.delete(20, ines, victim, mayBeDryRun) }, `
			perhaps ines, 1 objects
			  ConfigMap/victim~: asked for (PerhapsDone)
			`},
		"a DELETE that was answered with 504 may have been done": {func(l *log) {
			l.delete(10, mallory, victim, unknownResult(504))
			l.delete(20, ines, victim)
		}, `
			unknown root, 1 objects
			  ConfigMap/victim: unknown: one of ines, mallory
			`},
		"a DELETE that timed out may have been done, and was not if the object is seen later": {func(l *log) {
			l.delete(10, mallory, victim, unknownResult(499))
			l.wrote(15, alice, victim)
			l.delete(20, ines, victim)
		}, `
			ines, 1 objects
			  ConfigMap/victim: asked for
			`},
		"a reference that is written after the deletion of the owner": {func(l *log) {
			l.create(1, alice, old)
			l.create(2, alice, victim)
			l.delete(10, ines, old)
			l.wrote(20, mallory, linked)
			l.delete(21, gc, victim)
		}, `
			ines, 1 objects
			  ConfigMap/old: asked for
			the garbage collector, 1 objects
			  ConfigMap/victim: it got a reference to an owner that was already gone
			`},
		"an object that is created with a reference to what is gone": {func(l *log) {
			l.create(1, alice, old)
			l.delete(10, ines, old)
			l.create(20, mallory, linked)
			l.delete(21, gc, linked)
		}, `
			ines, 1 objects
			  ConfigMap/old: asked for
			the garbage collector, 1 objects
			  ConfigMap/victim: it got a reference to an owner that was already gone
			`},
		"an object whose creation with such a reference the log lacks": {func(l *log) {
			late := linked
			late.Created = at(20)
			l.delete(10, ines, old)
			l.delete(21, gc, late, lingers(late, 21, "x/y"))
		}, `
			ines, 1 objects
			  ConfigMap/old: asked for
			the garbage collector, 1 objects
			  ConfigMap/victim: it got a reference to an owner that was already gone
			`},
		"a reference that nothing shows to be older": {func(l *log) {
			l.delete(10, ines, old)
			l.delete(21, gc, victim, lingers(linked, 21, "x/y"))
		}, `
			ines, 2 objects
			  ConfigMap/old: asked for
			    ConfigMap/victim~: its owner is gone (PerhapsLinkedLater)
			`},
		"a reference that the collector removed, and that somebody wrote again": {func(l *log) {
			l.create(1, alice, old)
			l.create(2, alice, linked)
			l.delete(10, ines, old, policy(reason.Orphan), lingers(old, 10, object.OrphanFinalizer))
			l.wrote(11, gc, victim)
			l.wrote(20, mallory, linked)
			l.delete(21, gc, linked)
		}, `
			ines, 1 objects
			  ConfigMap/old: asked for
			unknown root, 1 objects
			  ConfigMap/victim: unknown: no file shows an owner whose deletion took it along
			`},
		"an owner that somebody else removed from the references, after another one was deleted": {func(l *log) {
			other := st.ConfigMap("shop/other")
			l.create(1, alice, old)
			l.create(2, alice, owned(victim, old, other))
			l.delete(10, ines, old)
			l.wrote(20, mallory, linked)
			l.delete(21, gc, linked)
		}, `
			ines, 2 objects
			  ConfigMap/old: asked for
			    ConfigMap/victim~: its owner is gone (LostOwner)
			`},
		"somebody who acts as the collector": {func(l *log) {
			l.create(1, alice, victim)
			l.delete(20, gc, victim, as(mallory))
		}, `
			mallory as system:serviceaccount:kube-system:generic-garbage-collector, 1 objects
			  ConfigMap/victim: asked for
			`},
		"somebody who acts as ines": {func(l *log) { l.delete(20, ines, victim, as(mallory)) }, `
			mallory as ines, 1 objects
			  ConfigMap/victim: asked for
			`},
		"the token of the collector in other hands": {func(l *log) { l.delete(20, gc, victim, agent("kubectl/v1.37.2 (linux/amd64) kubernetes/1a2b3c4")) }, `
			service account kube-system/generic-garbage-collector, 1 objects
			  ConfigMap/victim: asked for
			`},
		"another API server's clock, which is behind: the answer tells whose request began it": {func(l *log) {
			l.delete(20, mallory, victim, lingers(victim, 20, "x/y"), inFile("cp-1.log"))
			l.delete(11, ines, victim, lingers(victim, 20, "x/y"), inFile("cp-2.log"))
		}, `
			mallory, 1 objects
			  ConfigMap/victim: asked for (AskedAgain)
			`},
		"clocks that the answers do not tell apart": {func(l *log) {
			l.delete(20, mallory, victim, inFile("cp-1.log"))
			l.delete(11, ines, victim, inFile("cp-2.log"))
		}, `
			unknown root, 1 objects
			  ConfigMap/victim: unknown: one of ines, mallory (AskedAgain)
			`},
		"a client that sends the audit ID of somebody else": {func(l *log) {
			id := func(r *trace.Request) { r.ID = "the-same" }
			l.delete(10, mallory, victim, lingers(victim, 10, "x/y"), id)
			l.delete(20, ines, victim, lingers(victim, 10, "x/y"), id)
		}, `
			mallory, 1 objects
			  ConfigMap/victim: asked for (AskedAgain)
			`},
		"a log that is read twice": {func(l *log) {
			for range 2 {
				l.delete(20, ines, victim, lingers(victim, 20, "x/y"), func(r *trace.Request) { r.ID = "one" })
			}
		}, `
			ines, 1 objects
			  ConfigMap/victim: asked for
			`},
		"a request that was refused": {func(l *log) {
			l.delete(10, ines, victim, func(r *trace.Request) { r.Result, r.Code = trace.Refused, 403 })
			l.delete(20, mallory, victim)
		}, `
			mallory, 1 objects
			  ConfigMap/victim: asked for
			`},
		"who deletes an object with a wrong reference, so that another owner is taken for absent": {func(l *log) {
			l.before(cluster, export, redis)
			l.line(31, trace.OwnerNotFound, export, cluster)
			l.delete(32, ines, export)
			l.line(33, trace.OwnerKnownAbsent, redis, cluster)
			l.line(33, trace.Deletes, redis)
		}, `
			ines, 1 objects
			  StatefulSet/redis-exporter: asked for
			the garbage collector, 1 objects
			  StatefulSet/redis: RedisCluster/redis-0826 was remembered as absent because of StatefulSet/redis-exporter in namespace monitoring
			`},
		"a Namespace whose contents are not known to be those that she deleted": {func(l *log) {
			l.delete(10, ines, shop, lingers(shop, 10))
			l.collection(4000, nsDeleter, config, withoutCreation(config))
		}, `
			ines, 2 objects
			  Namespace/shop: asked for
			    ConfigMap/settings~: its namespace was deleted (PerhapsAnotherNamespace)
			`},
		"an owner with a finalizer that orphans, without a policy": {func(l *log) {
			held := old
			held.Finalizers = []string{object.OrphanFinalizer}
			l.wrote(5, mallory, held)
			l.create(6, alice, linked)
			l.delete(10, ines, old, policy(""))
			l.delete(15, gc, linked)
		}, `
			ines, 1 objects
			  ConfigMap/old: asked for
			unknown root, 1 objects
			  ConfigMap/victim: unknown: no file shows an owner whose deletion took it along
			`},
		"an object that is said to be there after its deletion": {func(l *log) {
			l.delete(10, ines, victim, inFile("audit.log"))
			l.wrote(500, alice, victim, inFile("restored.log"))
		}, `
			unknown root, 1 objects
			  ConfigMap/victim: unknown whether it was deleted: audit.log has the deletion by ines at 2026-11-20T08:00:10Z, and by restored.log it was there at 2026-11-20T08:08:20Z, not being deleted
			`},
	} {
		t.Run(name, func(t *testing.T) {
			l := &log{level: whole}
			c.log(l)
			expect(t, l, c.want)
		})
	}
}

func withoutCreation(o object.Object) object.Object {
	o.Created = time.Time{}
	return o
}

// Of an object that is changed all the time, the first and the last time with the same owners is kept, whichever file is read first.
func TestTheFirstSightingOfAnOwnerCountsInAnyOrder(t *testing.T) {
	for name, order := range map[string][]float64{"in time": {1, 2, 3, 4}, "the older file last": {3, 4, 1, 2}, "backwards": {4, 3, 2, 1}} {
		t.Run(name, func(t *testing.T) {
			l := &log{level: whole}
			for _, at := range order {
				l.wrote(at, alice, rs)
			}
			l.delete(3.5, bob, web)
			l.delete(5, gc, rs)
			expect(t, l, `
				bob, 2 objects
				  Deployment/web: asked for
				    ReplicaSet/web-1: its owner is gone
				`)
		})
	}
}

// notes returns what is said of an object beside its deletion.
func notes(l *log, o object.Object) string {
	r := l.facts().Explain().Select(trace.Question{Type: strings.ToLower(o.Kind), Namespace: o.Namespace, Name: o.Name})
	var out []string
	for _, n := range r.Notes {
		out = append(out, n.Message())
	}
	return strings.Join(out, "\n")
}

// A Job's own default is to orphan its Pods.
func TestOrphaningIsSaidOfTheOwnerAndOfWhatItLeft(t *testing.T) {
	job := st.Object("batch/v1", "Job", "shop/import")
	work := st.Pod("shop/import-x", st.OwnedBy(job))
	l := &log{level: whole}
	l.delete(10, alice, job, policy(""), lingers(job, 10, object.OrphanFinalizer))
	freed := owned(work)
	l.wrote(11, gc, freed, func(r *trace.Request) { r.Unlinked = []types.UID{job.UID} })
	if got, want := notes(l, job), "its dependents stayed, without an owner: Pod/import-x (orphaning is the default of its kind, when a request names no policy)"; got != want {
		t.Errorf("of the Job: %s", got)
	}
	if got, want := notes(l, work), "it lost its owner and stayed: the garbage collector removed the reference at 2026-11-20T08:00:11Z; Job/import was deleted by alice at 2026-11-20T08:00:10Z\nit was last seen at 2026-11-20T08:00:11Z"; got != want {
		t.Errorf("of the Pod: %s", got)
	}
}

func TestACollectionMayHaveDeletedWhatNothingElseRulesOut(t *testing.T) {
	labelled := st.Pod("shop/labelled")
	labelled.Labels = map[string]string{"app": "web"}
	other := st.Pod("shop/other-app")
	other.Labels = map[string]string{"app": "db"}
	later, alive := st.Pod("shop/later"), st.Pod("shop/alive")
	l := &log{level: whole}
	for _, o := range []object.Object{labelled, other, alive} {
		l.create(1, alice, o)
	}
	l.level = metadata
	l.collection(100, bob, labelled)
	c := &l.Requests[len(l.Requests)-1]
	c.Target.LabelSelector, c.MayBeDryRun = "app=web", true
	l.level = whole
	l.create(200, alice, later)
	l.wrote(210, alice, alive)
	const seen = "it was last seen at 2026-11-20T08:0"
	const may = "it may be among the pods with app=web whose deletion bob asked for at 2026-11-20T08:01:40Z, perhaps as a dry run: the log does not tell"
	for o, want := range map[*object.Object]string{&labelled: seen + "0:01Z\n" + may, &other: seen + "0:01Z", &later: seen + "3:20Z", &alive: seen + "3:30Z", {Identity: st.Pod("shop/never-seen").Identity}: may, {Identity: st.Pod("elsewhere/pod").Identity}: ""} {
		if got := notes(l, *o); got != want {
			t.Errorf("of %s: %q", o.Name, got)
		}
	}
}

// A log of klog has no year. The deletions that an audit log has, too, give it one, and show that its clock is behind.
func TestALogGetsItsYearFromTheDeletionsThatTheAuditLogHas(t *testing.T) {
	read := func(shared bool) *trace.DeletionReport {
		l := &log{level: whole}
		l.create(1, alice, web)
		l.create(2, alice, rs)
		l.delete(10, alice, web)
		if shared {
			l.delete(20, gc, rs)
		}
		f := l.facts()
		f.Source(&trace.Source{File: "kcm.log", Yearless: true})
		for _, line := range []trace.Line{{Says: trace.Deletes, Object: rs.Identity}, {Says: trace.Deletes, Object: pod.Identity}} {
			line.Time, line.Place.File = time.Date(0, 11, 20, 8, 0, 14, 0, time.UTC), "kcm.log"
			f.Line(&line)
		}
		return f.Explain()
	}
	r := read(true)
	if s := r.Sources[1]; s.Yearless || s.ClockBehind != 6 || s.SharedDeletions != 1 || !r.Cascades[1].At.Equal(at(20)) {
		t.Errorf("got %+v, the Pod went at %s", s, r.Cascades[1].At)
	}
	r = read(false)
	if s := r.Sources[1]; !s.Yearless || r.Cascades[0].At.Year() == 2026 && r.Cascades[1].At.Year() == 2026 {
		t.Errorf("got %+v", s)
	}
}
