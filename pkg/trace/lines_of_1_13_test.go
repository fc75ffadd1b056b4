package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace/logs"
)

type sink struct{ *log }

func (s sink) Request(q *trace.Request) { s.Requests = append(s.Requests, *q) }
func (s sink) Line(line *trace.Line)    { s.Lines = append(s.Lines, *line) }

// Kubernetes 1.13 deleted a Redis together with its exporter, whose owner is in another namespace: it looked for the
// owner there, in vain, and remembered from then on that the UID does not exist (attemptToDeleteItem and
// isDangling in garbagecollector.go). The lines are by its format strings, at -v=5.
func TestKubernetes113DeletesARedisBecauseOfItsExporter(t *testing.T) {
	of := st.Object("app.example.com/v1", "RedisCluster", "kube-system/redis-0826", st.UID("4091c1cb-8ab7-40ca-a373-5aa28956a6e0"))
	exporter := st.Object("apps/v1", "StatefulSet", "monitoring/redis-exporter", st.UID("e89a5951-52af-4650-986f-04c1fd4ba638"), st.OwnedBy(of))
	own := st.Object("apps/v1", "StatefulSet", "kube-system/redis-0826", st.UID("5b7c6f0e-0f3c-4b57-8b0c-7d8a7e1c2f11"), st.OwnedBy(of))
	member := st.Pod("kube-system/redis-0826-0", st.UID("0c9d3c52-9d7a-4d0c-bd60-6b0ce0a3f2b7"), st.OwnedBy(own))

	var text strings.Builder
	write := func(second float64, file string, line int, format string, args ...any) {
		fmt.Fprintf(&text, "I%s       1 %s:%d] %s\n", at(second).UTC().Format("0102 15:04:05.000000"), file, line, fmt.Sprintf(format, args...))
	}
	identity := func(o object.Object) string {
		return fmt.Sprintf("[%s/%s, namespace: %s, name: %s, uid: %s]", o.APIVersion, o.Kind, o.Namespace, o.Name, o.UID)
	}
	collects := func(second float64, o object.Object, found string) {
		r := o.Owners[0]
		write(second, "garbagecollector.go", 404, "processing item %s", identity(o))
		write(second+0.001, "garbagecollector.go", 314, found, o.UID, r.APIVersion, r.Kind, r.Name)
		write(second+0.002, "garbagecollector.go", 442, "classify references of %s.\nsolid: %#v\ndangling: %#v\nwaitingForDependentsDeletion: %#v\n", identity(o), []string(nil), []string{string(r.UID)}, []string(nil))
		write(second+0.003, "garbagecollector.go", 498, "delete object %s with propagation policy %s", identity(o), "Background")
	}
	const (
		notFound = "object %s's owner %s/%s, %s is not found"
		absent   = "according to the absentOwnerCache, object %s's owner %s/%s, %s does not exist"
	)
	write(1, "garbagecollector.go", 131, "Starting garbage collector controller")
	collects(20, exporter, notFound)
	collects(21, own, absent)
	write(21.5, "graph_builder.go", 599, "GraphBuilder process object: %s/%s, namespace %s, name %s, uid %s, event type %s", own.APIVersion, own.Kind, own.Namespace, own.Name, own.UID, "delete")
	collects(22, member, absent)

	read := func(l *log) {
		if _, err := logs.Read(t.Context(), strings.NewReader(text.String()), "kcm.log", at(0).Year(), sink{l}); err != nil {
			t.Fatal(err)
		}
	}
	// The log does not tell which of the two references was wrong.
	alone := &log{}
	read(alone)
	expect(t, alone, `
		unknown root, 2 objects
		  StatefulSet/redis-0826: unknown: the garbage collector took RedisCluster/redis-0826 for absent, perhaps because it had looked for it in namespace monitoring, on behalf of StatefulSet/redis-exporter (CollectorRestarted)
		    Pod/redis-0826-0: its owner is gone
		unknown root, 1 objects
		  StatefulSet/redis-exporter: unknown: what became of RedisCluster/redis-0826 is not in the log (CollectorRestarted)
		`)
	before := &log{}
	before.before(of, exporter, own, member)
	read(before)
	expect(t, before, `
		the garbage collector, 3 objects
		  StatefulSet/redis-exporter: its only owner, RedisCluster/redis-0826, is in another namespace (kube-system), which does not count (CollectorRestarted)
		    StatefulSet/redis-0826: RedisCluster/redis-0826 was remembered as absent because of StatefulSet/redis-exporter in namespace monitoring
		      Pod/redis-0826-0: its owner is gone
		`)
}
