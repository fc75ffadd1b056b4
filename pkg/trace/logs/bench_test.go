package logs

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// BenchmarkRead reads each of the main forms. One GB must take no more than 20 s on one core.
func BenchmarkRead(b *testing.B) {
	record := strings.Split(strings.TrimSpace(recording(b)), "\n")
	var all, metadata, quoted, tail, insights, google, klog, manager, jsonLog strings.Builder
	insights.WriteString(`{"events":[`)
	google.WriteString("[")
	for i := range 2000 {
		event := strings.ReplaceAll(record[i%len(record)], "at-", fmt.Sprintf("at%d-", i))
		text, _ := json.Marshal(event)
		all.WriteString(event + "\n")
		if strings.Contains(event, `"level":"Metadata"`) {
			metadata.WriteString(event + "\n")
		}
		fmt.Fprintf(&quoted, `{"log":%s,"stream":"stdout","time":"2026-11-27T21:00:01.6Z"}`+"\n", text)
		fmt.Fprintf(&tail, "2026-11-27T21:00:01.612000+00:00 kube-apiserver-audit-1 %s\n", event)
		fmt.Fprintf(&insights, `{"timestamp":1795813201500,"message":%s,"ingestionTime":1795813201500,"eventId":"%d"},`, text, i)
		google.WriteString(strings.ReplaceAll(googleEntry, "web-1", fmt.Sprint("web-", i)) + ",")
		fmt.Fprintf(&klog, "I1127 21:00:01.500000       1 endpoints_controller.go:500] \"Syncing\" endpoints=\"shop/web-%d\" and=\"more than that\" the=\"line is long\"\n", i)
		fmt.Fprintf(&manager, "I1127 21:00:01.500000       1 garbagecollector.go:500] \"Processing item\" item=\"[v1/ConfigMap, namespace: shop, name: web-%d, uid: %d]\" virtual=false\n", i, i)
		fmt.Fprintf(&manager, "I1127 21:00:01.500000       1 garbagecollector.go:500] processing item [v1/ConfigMap, namespace: shop, name: web-%d, uid: %d]\n", i, i)
		fmt.Fprintf(&jsonLog, `{"ts":1795813201500.123,"caller":"garbagecollector/garbagecollector.go:580","msg":"Processing item","v":2,"item":{"name":"web-%d","namespace":"shop","apiVersion":"v1","uid":"%d"},"virtual":false}`+"\n", i, i)
	}
	reads := strings.NewReplacer(`"verb":"delete"`, `"verb":"get"`, `"verb":"create"`, `"verb":"list"`, `"verb":"update"`, `"verb":"watch"`).Replace(all.String())
	for _, form := range []struct{ name, text string }{
		{"audit", all.String()},
		{"audit of reads", reads},
		{"audit at Metadata", metadata.String()},
		{"audit, wrapped", quoted.String()},
		{"CloudWatch, text", tail.String()},
		{"CloudWatch, JSON", strings.TrimSuffix(insights.String(), ",") + `],"searchedLogStreams":[]}`},
		{"Google", strings.TrimSuffix(google.String(), ",") + "]"},
		{"klog of others", klog.String()},
		{"klog of the collector", manager.String()},
		{"klog, JSON", jsonLog.String()},
	} {
		b.Run(form.name, func(b *testing.B) {
			b.SetBytes(int64(len(form.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(b.Context(), io.MultiReader(strings.NewReader(form.text)), "log", 0, nobody{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
