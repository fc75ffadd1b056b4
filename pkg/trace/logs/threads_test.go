package logs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// told returns what a line says in a few words.
func told(l *trace.Line) string {
	s := fmt.Sprintf("%s %s", l.Says, l.Object)
	if l.Object.Namespace != "" {
		s += " in namespace " + l.Object.Namespace
	}
	for _, part := range []string{l.Owner.Name, string(l.By), l.Text} {
		if part != "" {
			s += ", " + part
		}
	}
	if l.Object.UID == "" && l.Says != trace.NotWorking {
		s += ", no UID"
	}
	if !l.Time.IsZero() {
		s += l.Time.Format(" 01-02 15:04:05")
	}
	return s
}

// What people paste in threads is read, with other names; each is named after its thread.
func TestReadWhatPeoplePaste(t *testing.T) {
	const (
		pack    = `"[pkg.example.io/v1/PackRevision, namespace: , name: pack-9f1, uid: 6b]"`
		item    = `[v1/Pod, namespace: shop, name: web-1, uid: u-1]`
		rc      = `Event(api.ObjectReference{Kind:"ReplicationController", Namespace:"shop", Name:"web", UID:"u", APIVersion:"v1", ResourceVersion:"9", FieldPath:""}): type: 'Normal' reason: 'SuccessfulDelete' Deleted pod: web-1`
		scaled  = `Event(v1.ObjectReference{Kind:"Deployment", Namespace:"shop", Name:"web", UID:"u", APIVersion:"apps/v1", ResourceVersion:"9", FieldPath:""}): type: 'Normal' reason: 'ScalingReplicaSet' Scaled up replica set web-1 to 1`
		stamped = `2024-01-11T11:26:09.172533345Z stderr F `
	)
	azure := func(category, log string) string {
		text, _ := json.Marshal(log)
		return `{"category":"` + category + `","properties":{"log":` + string(text) + `},"time":"2026-01-02T03:04:06Z"}` + "\n"
	}
	amazon := func(stream, log string) string {
		text, _ := json.Marshal(log)
		return `{"logStreamName":"` + stream + `-7197","timestamp":1767323046000,"message":` + string(text) + `}`
	}
	deleted := `I0102 03:04:06.853066       1 event.go:291] "Event occurred" object="shop/web" kind="ReplicaSet" apiVersion="apps/v1" type="Normal" reason="SuccessfulDelete" message="Deleted pod: web-1"`
	const podDeleted = "deletes Pod/web-1 in namespace shop, controller, ReplicaSet/web, no UID 01-02 03:04:06"
	for name, tt := range map[string]struct {
		text, form string
		want       []string
	}{
		"kubernetes-141382, headers that are cut": {"I... garbagecollector.go:506] \"Processing item\" item=" + pack + " virtual=false\nE garbagecollector.go:650] \"Deleting item\" item=" + pack + ` propagationPolicy="Background"`, trace.FormManagerLog, []string{
			"processes PackRevision/pack-9f1", "deletes PackRevision/pack-9f1, garbage-collector",
		}},
		"kubernetes-87668, the time of day":    {"17:38:26.789723 kcm 1 garbagecollector.go:404] processing item " + item, trace.FormManagerLog, []string{"processes Pod/web-1 in namespace shop"}},
		"kubernetes-108373, no header":         {"garbagecollector.go:507] object " + item + "'s doesn't have an owner, continue on next item", trace.FormManagerLog, nil},
		"navigator-168, two headers":           {"I1201 17:17:09.080] I1201 17:10:11.521630       5 garbagecollector.go:404] processing item " + item, trace.FormManagerLog, []string{"processes Pod/web-1 in namespace shop 12-01 17:10:11"}},
		"dashboard-995, back-ticks":            {"`I0707 14:24:13.245338     611 replication_controller.go:510] x`\n`I0707 15:41:24.799915     611 event.go:211] " + rc + "`", trace.FormManagerLog, []string{"deletes Pod/web-1 in namespace shop, controller, ReplicationController/web, no UID 07-07 15:41:24"}},
		"kubernetes-83672, a prompt":           {"[root@a ~]# kubectl logs -f kube-controller-manager-a -n kube-system  |grep web\nI0912 05:59:22.598437       1 event.go:221] " + scaled, trace.FormManagerLog, nil},
		"kubernetes-119862, headings":          {"# kube-scheduler\nI0809 00:12:58.755233      11 schedule_one.go:265] \"x\"\n\n# kube-controller-manager\nI0809 00:12:58.757005      10 taint_manager.go:106] \"NoExecuteTaintManager is deleting pod\" pod=\"shop/web-1\"", trace.FormManagerLog, []string{"deletes Pod/web-1 in namespace shop, taint-eviction-controller, no UID 08-09 00:12:58"}},
		"origin-7227, one process":             {"Feb 10 15:44:55 a openshift[2248]: I0210 15:44:55.974539    2248 event.go:210] " + rc, trace.FormManagerLog, []string{"deletes Pod/web-1 in namespace shop, controller, ReplicationController/web, no UID 02-10 15:44:55"}},
		"rancher-38536, back-ticks":            {"`" + anEventOfAudit + "`", auditLog, []string{"delete configmaps a, by jane, perhaps a dry run"}},
		"kubernetes-57829, v1beta1":            {strings.NewReplacer("audit.k8s.io/v1", "audit.k8s.io/v1beta1", "requestReceivedTimestamp", "timestamp", `,"stageTimestamp":"2026-01-02T03:04:05Z"`, "").Replace(anEventOfAudit), auditLog, []string{"delete configmaps a, by jane, perhaps a dry run"}},
		"calico-7598, the collector's watch":   {"W0427 03:27:41.676584       1 reflector.go:424] vendor/k8s.io/client-go/metadata/metadatainformer/informer.go:90: failed to list *v1.PartialObjectMetadata: no", trace.FormManagerLog, []string{"not-working /, vendor/k8s.io/client-go/metadata/metadatainformer/informer.go:90: failed to list *v1.PartialObjectMetadata: no 04-27 03:27:41"}},
		"kubernetes-127105, caches":            {"E0904 01:50:06.546595       1 shared_informer.go:316] unable to sync caches for garbage collector", trace.FormManagerLog, []string{"not-working /, unable to sync caches for garbage collector 09-04 01:50:06"}},
		"kubernetes-48213, a namespace: a Pod": {"gc_controller.go:62] PodGC is force deleting Pod: kube-system:proxy-1\n...\n(repeat every 20s)", trace.FormManagerLog, []string{"deletes Pod/proxy-1 in namespace kube-system, pod-garbage-collector, no UID"}},
		"kubernetes-66957, a Pod without a namespace": {
			"I0727 14:27:32.177149       1 gc_controller.go:162] Found orphaned Pod proxy-1 assigned to the Node node-1. Deleting.\nI0727 14:27:32.177223       1 gc_controller.go:62] PodGC is force deleting Pod: kube-system:proxy-1\n" +
				"I0727 14:27:33.177149       1 gc_controller.go:162] Found orphaned Pod other assigned to the Node node-1. Deleting.", trace.FormManagerLog,
			[]string{"deletes Pod/proxy-1 in namespace kube-system, pod-garbage-collector, no UID 07-27 14:27:32"},
		},
		"kueue-4520, owners": {
			stamped + `I0111 11:26:09.851574       1 garbagecollector.go:574] "remove dangling references and waiting references for item" item=` + pack + ` dangling=[{"apiVersion":"v1","kind":"Pod","name":"cart-1","uid":"p-1"}] waitingForDependentsDeletion=[{"apiVersion":"v1","kind":"Pod","name":"cart-0","uid":"p-0"}]`, trace.FormManagerLog,
			[]string{"owner-waits PackRevision/pack-9f1, cart-0 01-11 11:26:09", "removes-reference PackRevision/pack-9f1, cart-1 01-11 11:26:09"},
		},
		"aks-azure-monitor, two logs":      {azure("kube-audit", anEventOfAudit) + azure("kube-controller-manager", deleted), bothLogs, []string{"delete configmaps a, by jane, perhaps a dry run", podDeleted}},
		"aks-azure-monitor, the other way": {azure("kube-controller-manager", deleted) + azure("kube-audit", anEventOfAudit), bothLogs, []string{"delete configmaps a, by jane, perhaps a dry run", podDeleted}},
		"aks-azure-monitor, cut blanks":    {azure("kube-controller-manager", "I0102 03:04:25.9763861 event.go:221] "+strings.ReplaceAll(rc, `, N`, `,N`)), trace.FormManagerLog, []string{"deletes Pod/web-1 in namespace shop, controller, ReplicationController/web, no UID 01-02 03:04:06"}},
		"eks-cloudwatch, filter":           {`{"events":[` + amazon("kube-apiserver-audit", anEventOfAudit) + "," + amazon("kube-controller-manager", deleted) + "]}", bothLogs, []string{"delete configmaps a, by jane, perhaps a dry run", podDeleted}},
		"eks-cloudwatch, tail":             {"2026-01-02T03:04:06+00:00 kube-apiserver-audit-71 " + anEventOfAudit + "\n2026-01-02T03:04:06.8+00:00 kube-controller-manager-71 " + deleted, bothLogs, []string{"delete configmaps a, by jane, perhaps a dry run", podDeleted}},
		"a stream that a line names":       {amazon("kube-controller-manager", deleted) + "\n" + amazon("kube-controller-manager", "kube-apiserver-audit-1 "+anEventOfAudit) + "\n" + amazon("kube-controller-manager", azure("kube-audit", anEventOfAudit)), trace.FormManagerLog, []string{podDeleted}},
		"two logs, but one without a name": {anEventOfAudit + "\n" + azure("kube-controller-manager", deleted), auditLog, []string{"delete configmaps a, by jane, perhaps a dry run"}},
		"the other log without a name":     {azure("kube-audit", anEventOfAudit) + azure("kube-controller-manager", deleted) + deleted + "\n" + anEventOfAudit, bothLogs, []string{"delete configmaps a, by jane, perhaps a dry run", podDeleted}},
	} {
		t.Run(name, func(t *testing.T) {
			var found finds
			source, err := Read(t.Context(), strings.NewReader(tt.text), "log", 0, &found)
			var got []string
			for i := range found.requests {
				got = append(got, summary(&found.requests[i]))
			}
			for i := range found.lines {
				got = append(got, told(&found.lines[i]))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil || source.Form != tt.form {
				t.Errorf("%+v, %v\n%s", source, err, diff)
			}
		})
	}
}

// A name in a line with a header may have a line break in it: what follows that is no line.
func TestALogWithHeadersHasNoLinesWithoutThem(t *testing.T) {
	const item = `[v1/Pod, namespace: shop, name: web-1, uid: u-1]`
	for _, forged := range []string{"garbagecollector.go:1] delete object " + item + " with propagation policy Background", `"Deleting item" item="` + item + `"`} {
		lines, _, err := readLines(t, header1127+"object e's owner v1/A, x\n"+forged+"\n")
		if len(lines) > 0 || err != nil {
			t.Errorf("%v, %v", lines, err)
		}
	}
}

// rancher-38536 has a log of requests alone.
func TestALogOfRequestsWithoutAnswersSaysSo(t *testing.T) {
	received := strings.Replace(anEventOfAudit, "ResponseComplete", "RequestReceived", 1)
	if _, source := read(t, received); source.Unanswered != 1 {
		t.Errorf("%+v", source)
	}
	if _, source := read(t, received+"\n"+anEventOfAudit); source.Unanswered != 0 {
		t.Errorf("%+v", source)
	}
}

func TestReadEventsOfACluster(t *testing.T) {
	event := func(kind, name, reason, message string, changes m) string {
		e := m{
			"apiVersion": "v1", "kind": "Event", "metadata": m{"namespace": "shop", "creationTimestamp": "2026-11-27T21:00:00Z"}, "reason": reason, "message": message,
			"involvedObject": m{"apiVersion": "apps/v1", "kind": kind, "namespace": "shop", "name": name, "uid": "u-1"},
			"firstTimestamp": "2026-11-27T21:00:01Z", "lastTimestamp": "2026-11-27T21:00:01Z", "eventTime": nil,
		}
		for k, v := range changes {
			e[k] = v
		}
		text, _ := json.Marshal(e)
		return string(text)
	}
	scaled := event("ReplicaSet", "web", "SuccessfulDelete", "Deleted pod: web-1", nil)
	untyped := event("ReplicaSet", "web", "SuccessfulDelete", "Deleted pod: web-1", m{"apiVersion": nil, "kind": nil})
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"a controller": {scaled, []string{"deletes Pod/web-1 in namespace shop, controller, ReplicaSet/web, no UID 11-27 21:00:01"}},
		"again and again": {event("Pod", "web-1", "TaintManagerEviction", "Marking for deletion Pod shop/web-1", m{"lastTimestamp": "2026-11-27T21:07:00Z"}), []string{
			"deletes Pod/web-1 in namespace shop, taint-eviction-controller 11-27 21:00:01", "deletes Pod/web-1 in namespace shop, taint-eviction-controller 11-27 21:07:00",
		}},
		"a Node": {event("Pod", "web-1", "NodeControllerEviction", "Marking for deletion Pod web-1 from Node node-1", nil), []string{"deletes Pod/web-1 in namespace shop, controller, node-lifecycle-controller 11-27 21:00:01"}},
		"an owner in another namespace": {event("Widget", "w", "OwnerRefInvalidNamespace", `ownerRef [v1/Pod, namespace: shop, name: boss, uid: b-1] does not exist in namespace "shop"`, nil), []string{
			"owner-elsewhere Widget/w in namespace shop, boss 11-27 21:00:01",
		}},
		"of the other group": {event("", "", "SuccessfulDelete", "", m{
			"apiVersion": "events.k8s.io/v1", "involvedObject": nil, "message": nil, "note": "Deleted pod: web-1", "firstTimestamp": nil, "lastTimestamp": nil,
			"regarding": m{"kind": "ReplicaSet", "namespace": "shop", "name": "web"}, "eventTime": "2026-11-27T21:00:01.5Z",
		}), []string{"deletes Pod/web-1 in namespace shop, controller, ReplicaSet/web, no UID 11-27 21:00:01"}},
		"a list": {`{"apiVersion":"v1","items":[` + scaled + "," + event("Pod", "a", "Pulled", "x", nil) + `,{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"` + header1127 + `synced garbage collector"}}],"kind":"List"}`, []string{
			"deletes Pod/web-1 in namespace shop, controller, ReplicaSet/web, no UID 11-27 21:00:01",
		}},
		"a list of the API": {`{"kind":"EventList","apiVersion":"v1","metadata":{},"items":[` + untyped + `]}`, []string{
			"deletes Pod/web-1 in namespace shop, controller, ReplicaSet/web, no UID 11-27 21:00:01",
		}},
		"one that speaks of another namespace":   {event("Pod", "web-1", "TaintManagerEviction", "Marking for deletion Pod prod/web-1", nil), nil},
		"one that is about an object of another": {event("Pod", "web-1", "TaintManagerEviction", "Marking for deletion Pod shop/web-1", m{"metadata": m{"namespace": "mine"}}), nil},
	} {
		var found finds
		source, err := Read(t.Context(), strings.NewReader(tt.text), "events.json", 0, &found)
		var got []string
		for i := range found.lines {
			got = append(got, told(&found.lines[i]))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil || source.Form != events || source.First.IsZero() || source.Unreadable != map[bool]int{true: 1}[tt.want == nil] {
			t.Errorf("%s: %+v, %v\n%s", name, source, err, diff)
		}
	}
}

func TestAListWithoutEventsIsOne(t *testing.T) {
	if _, source := read(t, `{"kind":"EventList","apiVersion":"v1","metadata":{},"items":[]}`); source.Form != events {
		t.Errorf("%+v", source)
	}
}

// What is like an Event in another list is none: a custom resource may have any fields.
func TestAListOfOthersHasNoEvents(t *testing.T) {
	for _, begin := range []string{`{"kind":"ConfigMapList","apiVersion":"v1","items":[{`, `{"apiVersion":"v1","items":[{"apiVersion":"example.com/v1","kind":"Evil",`} {
		var found finds
		_, err := Read(t.Context(), strings.NewReader(begin+`"reason":"Killing","message":"Stopping container a","involvedObject":{"kind":"Pod","name":"a"},"firstTimestamp":"2026-11-27T21:00:01Z","data":{"a":"`+header1127+`synced garbage collector"}}]}`), "x", 0, &found)
		if err == nil || len(found.lines) > 0 {
			t.Errorf("%v, %v", found.lines, err)
		}
	}
}

// A short text is no binary data because the buffer that it is in has zeros.
func TestOnlyBinaryDataLooksLikeThat(t *testing.T) {
	for text, want := range map[string]string{"hello\n": "", "hello\x00\x00\x00\x00\x00\x00\x00\x00\n": "binary data"} {
		_, err := Read(t.Context(), strings.NewReader(text), "x", 0, nobody{})
		var foreign *ForeignError
		if !errors.As(err, &foreign) || foreign.Looks != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
