package monitor_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/monitor"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// BenchmarkAuditAfterOneChange measures what one event costs a follower of 100,000 objects: the
// snapshot, and then all findings.
func BenchmarkAuditAfterOneChange(b *testing.B) {
	const objects = 100_000
	items := make([]clustertest.Fields, objects)
	for i := range items {
		items[i] = clustertest.Item(fmt.Sprintf("pod-%06d", i))
		if i%10 > 0 { // ten in a tree
			own(items[i], fmt.Sprintf("pod-%06d", i-i%10))
		}
	}
	m, s := start(b, map[string]func(*http.Request) any{pods: clustertest.Reply(clustertest.List(items...))}, monitor.Settings{}, client.Config{})
	take(b, m)
	b.Run("snapshot", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			take(b, m)
		}
	})
	version := objects
	b.Run("event to findings", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for len(m.Changed()) > 0 {
				<-m.Changed()
			}
			version++
			name := fmt.Sprint("new-", version)
			s.RawEvents(pods) <- clustertest.Fields{"type": "ADDED", "object": item(name, "uid-"+name, fmt.Sprint(version))}
			<-m.Changed()
			if _, err := audit.Run(collector.NewJudge(graph.New(take(b, m))), audit.Filter{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Logf("bytes counted per object: %d", m.Stats().Bytes/int64(m.Stats().Objects))
}

// BenchmarkRoundOverOneObject measures what a collector in service does about one change on a server of
// 70 types, requests left out: the part of the live copy that matters, its graph and a plan.
func BenchmarkRoundOverOneObject(b *testing.B) {
	dependent := clustertest.Item("dependent")
	own(dependent, "owner")
	answers := map[string]func(*http.Request) any{pods: clustertest.Reply(clustertest.List(clustertest.Item("owner"), dependent))}
	types := []clustertest.Fields{clustertest.NamespacedType("widgets", "Widget")}
	for i := range 67 {
		name := fmt.Sprintf("thing%02ds", i)
		types = append(types, clustertest.NamespacedType(name, fmt.Sprintf("Thing%02d", i)))
		answers["/apis/example.com/v1/"+name] = clustertest.Reply(clustertest.List())
	}
	answers["/apis/example.com/v1"] = clustertest.Reply(clustertest.TypeList("example.com/v1", types...))
	m, _ := start(b, answers, monitor.Settings{}, client.Config{})
	round := func() int {
		part, err := m.SnapshotOfChanges(b.Context(), "uid-dependent")
		if err != nil {
			b.Fatal(err)
		}
		return len(plan.New(collector.NewJudge(graph.NewWithMapper(part.Snapshot, part.Mapper)), plan.CollectPurpose(nil)).Steps)
	}
	if err := m.WaitForSync(b.Context()); err != nil {
		b.Fatal(err)
	}
	round() // over everything
	b.ReportAllocs()
	for b.Loop() {
		if steps := round(); steps > 0 {
			b.Fatalf("%d steps", steps)
		}
	}
}

// own makes an item a dependent of a Pod.
func own(item clustertest.Fields, owner string) {
	item["metadata"].(clustertest.Fields)["ownerReferences"] = []clustertest.Fields{{"apiVersion": "v1", "kind": "Pod", "name": owner, "uid": "uid-" + owner}}
}
