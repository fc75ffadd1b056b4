package trace_test

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// without returns an object as a line has it that lacks a part of its identity.
func without(o object.Object, edit func(*object.Identity)) object.Object {
	edit(&o.Identity)
	return o
}

func withoutKind(o object.Object) object.Object {
	return without(o, func(i *object.Identity) { i.Kind = "" })
}

func withoutUID(o object.Object) object.Object {
	return without(o, func(i *object.Identity) { i.UID = "" })
}

func TestLinesOfTheManager(t *testing.T) {
	for name, c := range map[string]struct {
		level level
		log   func(*log)
		want  string
	}{
		"that saw the owner go keep together what came from it": {log: func(l *log) {
			l.line(9, trace.Gone, web)
			l.line(10, trace.OwnerKnownAbsent, rs, web)
			l.line(10, trace.Deletes, rs)
		}, want: `
			unknown root, 2 objects
			  Deployment/web?: unknown: its deletion is not in the log
			    ReplicaSet/web-1: unknown: what became of Deployment/web is not in the log
			`},
		"about an owner in the foreground": {log: func(l *log) {
			l.line(9, trace.OwnerInForeground, rs, withoutKind(web))
			l.line(10, trace.Deletes, rs)
			l.Lines[1].Policy = "Foreground"
			l.line(10, trace.OwnerInForeground, pod, withoutKind(rs))
			l.line(11, trace.Deletes, pod)
		}, want: `
			unknown root, 3 objects
			  /web[]?: unknown: its deletion is not in the log
			    ReplicaSet/web-1: unknown: what became of /web is not in the log
			      Pod/web-1-x: its owner waits for it (foreground)
			`},
		"about an owner that waits, and does not block on this one": {log: func(l *log) {
			l.line(10, trace.OwnerWaits, rs, withoutUID(web))
			l.line(10, trace.OwnerWaits, rs, web)
			l.line(10, trace.Deletes, rs)
		}, want: `
			unknown root, 2 objects
			  Deployment/web?: unknown: its deletion is not in the log
			    ReplicaSet/web-1: unknown: what became of Deployment/web is not in the log
			`},
		"that removed the bad reference do not blame it": {log: func(l *log) {
			l.line(5, trace.OwnerElsewhere, export, cluster)
			l.line(6, trace.RemovesReference, export)
			l.line(31, trace.Deletes, export)
		}, want: `
			unknown root, 1 objects
			  StatefulSet/redis-exporter: unknown: no file shows an owner whose deletion took it along
			`},
		"with the UID of the object alone, and the kind of the owner unknown": {log: func(l *log) {
			l.line(5, trace.OwnerElsewhere, without(export, func(i *object.Identity) { *i = object.Identity{UID: i.UID} }), withoutKind(cluster))
			l.line(31, trace.Deletes, export)
		}, want: `
			the garbage collector, 1 objects
			  StatefulSet/redis-exporter: its only owner, /redis-0826, is in another namespace (kube-system), which does not count
			`},
		"do not tell which of two owners of one name is meant": {log: func(l *log) {
			again := web
			again.UID = "again"
			l.level = whole
			l.delete(1, alice, web)
			l.create(2, alice, again)
			l.delete(3, bob, again)
			l.line(10, trace.OwnerKnownAbsent, rs, withoutUID(web))
			l.line(10, trace.Deletes, rs)
		}, want: `
			alice, 1 objects
			  Deployment/web: asked for
			bob, 1 objects
			  Deployment/web: asked for
			unknown root, 1 objects
			  ReplicaSet/web-1: unknown: several objects named Deployment/web were deleted, and the log does not tell which was its owner
			`},
		"tell which controller sent a request": {log: func(l *log) {
			l.before(web, rs)
			l.delete(9, alice, web)
			l.line(10, trace.Deletes, rs)
			l.delete(10.01, manager, rs)
		}, want: `
			perhaps alice, 2 objects
			  Deployment/web~: asked for (PerhapsDone)
			    ReplicaSet/web-1~: its owner is gone
			`},
		"tell who began what a kubelet ended": {level: whole, log: func(l *log) {
			l.before(rs, pod)
			l.delete(9, alice, rs)
			l.line(10, trace.Deletes, pod)
			l.delete(40, kubelet, pod)
		}, want: `
			alice, 2 objects
			  ReplicaSet/web-1: asked for
			    Pod/web-1-x: its owner is gone
			`},
		"long before somebody else's request": {level: whole, log: func(l *log) {
			l.line(10, trace.Deletes, pod)
			l.delete(40, bob, pod)
		}, want: `
			unknown root, 1 objects
			  Pod/web-1-x: unknown: one of the garbage collector, bob
			`},
		"about a valid sibling of an object that stays": {log: func(l *log) {
			l.before(cluster, export, redis)
			l.line(31, trace.OwnerNotFound, export, cluster)
			l.line(33, trace.OwnerKnownAbsent, redis, cluster)
			l.line(33, trace.Deletes, redis)
		}, want: `
			the garbage collector, 1 objects
			  StatefulSet/redis: RedisCluster/redis-0826 was remembered as absent because of StatefulSet/redis-exporter in namespace monitoring
			`},
		"about an owner that was looked for in the right namespace too": {log: func(l *log) {
			l.before(cluster, export, redis)
			l.line(31, trace.OwnerNotFound, export, cluster)
			l.line(32, trace.OwnerNotFound, redis, cluster)
			l.line(33, trace.OwnerKnownAbsent, redis, cluster)
			l.line(33, trace.Deletes, redis)
		}, want: `
			unknown root, 1 objects
			  StatefulSet/redis: unknown: what became of RedisCluster/redis-0826 is not in the log
			`},
	} {
		t.Run(name, func(t *testing.T) {
			l := &log{level: c.level}
			c.log(l)
			expect(t, l, c.want)
		})
	}
}

// A collection at level Metadata is a request without a known result.
func TestACollectionAtLevelMetadata(t *testing.T) {
	l := &log{}
	l.collection(10, alice, pod)
	expect(t, l, "alice deletes collection pods in \"shop\", 0 objects\n")
}

// Objects that own each other go back to nobody.
func TestACircleOfOwners(t *testing.T) {
	a, b := st.Pod("shop/a"), st.Pod("shop/b")
	a.Owners, b.Owners = []object.Reference{st.To(b)}, []object.Reference{st.To(a)}
	l := &log{level: whole}
	l.before(a, b)
	l.delete(10, gc, a)
	l.delete(11, gc, b)
	expect(t, l, `
		unknown root, 2 objects
		  Pod/a: unknown: no file shows an owner whose deletion took it along
		    Pod/b: its owner is gone
		`)
}
