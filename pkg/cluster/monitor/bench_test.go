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
)

// BenchmarkAuditAfterOneChange measures what one event costs a follower of 100,000 objects: the
// snapshot, and then all findings.
func BenchmarkAuditAfterOneChange(b *testing.B) {
	const objects = 100_000
	items := make([]clustertest.Fields, objects)
	for i := range items {
		items[i] = clustertest.Item(fmt.Sprintf("pod-%06d", i))
		if i%10 > 0 { // ten in a tree
			items[i]["metadata"].(clustertest.Fields)["ownerReferences"] = []clustertest.Fields{{"apiVersion": "v1", "kind": "Pod", "name": fmt.Sprintf("pod-%06d", i-i%10), "uid": fmt.Sprintf("uid-pod-%06d", i-i%10)}}
		}
	}
	m, s := start(b, map[string]func(*http.Request) any{pods: clustertest.Reply(clustertest.List(items...))}, monitor.Options{}, client.Options{})
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
			s.Events(pods) <- clustertest.Fields{"type": "ADDED", "object": item(name, "uid-"+name, fmt.Sprint(version))}
			<-m.Changed()
			if _, err := audit.Run(collector.NewJudge(graph.New(take(b, m))), audit.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Logf("bytes counted per object: %d", m.Stats().Bytes/int64(m.Stats().Objects))
}
