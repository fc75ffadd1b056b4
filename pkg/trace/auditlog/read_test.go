package auditlog

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// summary returns what a request says, without what differs between two recordings.
func summary(q *trace.Request) string {
	var b strings.Builder
	is := q.Target
	fmt.Fprintf(&b, "%s %s", q.Verb, is.Resource)
	if is.Group != "" {
		fmt.Fprintf(&b, ".%s", is.Group)
	}
	for _, part := range []string{is.Subresource, is.Namespace, is.Name, is.LabelSelector} {
		if part != "" {
			fmt.Fprintf(&b, " %s", part)
		}
	}
	if is.UID != "" {
		b.WriteString(" uid")
	}
	name := q.User.Name[strings.LastIndexByte(q.User.Name, ':')+1:]
	if q.User.Impersonator != "" {
		name = q.User.Impersonator + " as " + name
	}
	fmt.Fprintf(&b, ", by %s", name)
	if o := q.Options; o != nil {
		fmt.Fprintf(&b, ", options %q", o.Policy)
		if o.UID != "" {
			b.WriteString(" uid")
		}
		if o.ResourceVersion != "" {
			b.WriteString(" version")
		}
		if o.GraceSeconds != nil {
			fmt.Fprintf(&b, " grace %d", *o.GraceSeconds)
		}
	}
	for _, o := range q.Objects {
		fmt.Fprintf(&b, "; %s %s/%s in %q", o.APIVersion, o.Kind, o.Name, o.Namespace)
		if o.UID != "" {
			b.WriteString(" uid")
		}
		for _, owner := range o.Owners {
			fmt.Fprintf(&b, " of %s/%s", owner.Kind, owner.Name)
		}
		for _, f := range o.Finalizers {
			fmt.Fprintf(&b, " held by %s", f)
		}
		if o.Terminating() {
			b.WriteString(" terminating")
		}
		if o.NamespaceStatus != nil && o.NamespaceStatus.Finalized {
			b.WriteString(" finalized")
		}
		if o.Whole != nil {
			b.WriteString(" whole")
		}
	}
	return b.String()
}

func read(t testing.TB, log string) ([]trace.Request, Stats) {
	t.Helper()
	var all []trace.Request
	stats, err := Read(t.Context(), strings.NewReader(log), "audit.log", func(q trace.Request) { all = append(all, q) })
	if err != nil {
		t.Fatal(err)
	}
	return all, stats
}

func recording(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile("testdata/recorded.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

// line is an event of a deletion that succeeded, after changes to its fields. A nil value removes a field.
func line(t testing.TB, changes map[string]any) string {
	t.Helper()
	e := map[string]any{
		"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": "1", "stage": "ResponseComplete",
		"requestURI": "/api/v1/namespaces/shop/configmaps/web", "verb": "delete", "user": map[string]any{"username": "jane", "groups": []string{"dev"}},
		"sourceIPs": []string{"192.0.2.1"}, "userAgent": "kubectl", "responseStatus": map[string]any{"code": 200},
		"objectRef":                map[string]any{"resource": "configmaps", "namespace": "shop", "name": "web", "apiVersion": "v1"},
		"requestReceivedTimestamp": "2026-01-02T03:04:05.000001Z", "stageTimestamp": "2026-01-02T03:04:05.100002Z",
	}
	for k, v := range changes {
		if e[k] = v; v == nil {
			delete(e, k)
		}
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type fields = map[string]any

func configMap(name, uid string) fields {
	return fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": name, "namespace": "shop", "uid": uid}}
}

// The recording is of Kubernetes 1.37: go test ./test/e2e -run TestAuditLogOfDeletions -record-audit-log. It also has dry
// runs and answers 403, 404 and 409.
func TestReadOfWhatAnAPIServerWrote(t *testing.T) {
	all, stats := read(t, recording(t))
	var got []string
	for _, q := range all {
		got = append(got, generated.ReplaceAllString(summary(&q), "web-*"))
	}
	want := []string{
		`delete configmaps at-metadata by-foreground, by admin as jane@example.com`,
		`delete configmaps at-metadata by-foreground-child uid, by generic-garbage-collector`,
		`create pods eviction at-metadata evicted, by admin`,
		`delete configmaps at-metadata kept uid, by admin as jane@example.com`, // a dry run, which the log does not tell
		`update configmaps at-metadata held-update uid, by admin`,
		`create configmaps at-request by-foreground-child, by admin; v1 ConfigMap/by-foreground-child in "at-request" of ConfigMap/by-foreground whole`,
		`delete configmaps at-request by-foreground, by admin as jane@example.com, options "Foreground"`,
		`delete configmaps at-request by-foreground-child uid, by generic-garbage-collector, options "Background" uid version`,
		`create pods eviction at-request evicted, by admin, options ""`,
		`delete configmaps at-response by-background uid, by admin as jane@example.com, options "Background"`,
		`create configmaps at-response by-foreground-child uid, by admin; v1 ConfigMap/by-foreground-child in "at-response" uid of ConfigMap/by-foreground whole`,
		`delete configmaps at-response by-foreground uid, by admin as jane@example.com, options "Foreground"; v1 ConfigMap/by-foreground in "at-response" uid held by foregroundDeletion terminating whole`,
		`delete configmaps at-response by-foreground-child uid, by generic-garbage-collector, options "Background" uid version`,
		`patch configmaps at-response by-foreground uid, by generic-garbage-collector; v1 /by-foreground in "at-response" uid terminating`,
		`patch configmaps at-response by-orphan-child uid, by generic-garbage-collector; v1 /by-orphan-child in "at-response" uid`,
		`delete deployments.apps at-response web uid, by admin as jane@example.com, options "Foreground"; apps/v1 Deployment/web in "at-response" uid held by foregroundDeletion terminating whole`,
		`delete pods at-response web-* uid, by generic-garbage-collector, options "Background" uid version; v1 Pod/web-* in "at-response" uid of ReplicaSet/web-* terminating whole`,
		`delete configmaps at-response url uid, by admin as jane@example.com, options "Foreground" grace 0; v1 ConfigMap/url in "at-response" uid held by foregroundDeletion terminating whole`,
		`delete configmaps at-response bare uid, by admin as jane@example.com, options ""`,
		`delete pods at-response graceful uid, by admin, options ""; v1 Pod/graceful in "at-response" uid held by example.com/hold terminating whole`,
		`delete pods at-response graceful uid, by admin, options "" uid grace 0; v1 Pod/graceful in "at-response" uid held by example.com/hold terminating whole`,
		`update configmaps at-response held-update uid, by admin; v1 ConfigMap/held-update in "at-response" uid terminating whole`,
		`patch configmaps at-response held-patch uid, by admin; v1 ConfigMap/held-patch in "at-response" uid terminating whole`,
		`patch configmaps at-response applied uid, by admin; v1 ConfigMap/applied in "at-response" uid whole`,
		`delete widgets.e2e.kubectl-gc.dev at-response one uid, by admin, options ""`,
		`deletecollection widgets.e2e.kubectl-gc.dev at-response app=web, by admin, options ""; e2e.kubectl-gc.dev/v1 Widget/two in "at-response" uid whole`,
		`delete namespaces at-response uid, by admin as jane@example.com, options "Background"; v1 Namespace/at-response in "" uid terminating whole`,
		`deletecollection widgets.e2e.kubectl-gc.dev at-response, by namespace-controller, options "Background"`,
		`deletecollection configmaps at-response, by namespace-controller, options "Background"; v1 ConfigMap/applied in "at-response" uid whole; v1 ConfigMap/by-orphan-child in "at-response" uid whole; v1 ConfigMap/kept in "at-response" uid whole; v1 ConfigMap/kube-root-ca.crt in "at-response" uid whole`,
		`update namespaces finalize at-response uid, by namespace-controller; v1 Namespace/at-response in "" uid terminating finalized whole`,
		`delete customresourcedefinitions.apiextensions.k8s.io traces.trace.example.com uid, by admin, options "Background"; apiextensions.k8s.io/v1 CustomResourceDefinition/traces.trace.example.com in "" uid held by customresourcecleanup.apiextensions.k8s.io terminating whole`,
		`update customresourcedefinitions.apiextensions.k8s.io status traces.trace.example.com uid, by apiserver; apiextensions.k8s.io/v1 CustomResourceDefinition/traces.trace.example.com in "" uid terminating whole`,
	}
	slices.Sort(want) // controllers work side by side
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if stats.Lines != stats.Events || stats.Unreadable > 0 || !stats.First.Before(stats.Last) {
		t.Errorf("%+v", stats)
	}
	if diff := cmp.Diff(map[string]int{"Metadata": 4, "Request": 3, "RequestResponse": 15}, stats.Levels); diff != "" {
		t.Error(diff)
	}
}

// What the reader passes over without decoding it is what it passes over after decoding it.
func TestReadSkipsOnlyWhatItDoesNotNeed(t *testing.T) {
	const head = `{"kind":"Event","apiVersion":"audit.k8s.io/v1",`
	var log strings.Builder
	for l := range strings.Lines(recording(t)) {
		log.WriteString(l)
		for _, change := range [][2]string{
			{`"verb":"[a-z]+"`, `"verb":"get"`},
			{`"verb":"[a-z]+"`, `"verb":"watch"`},
			{`"requestURI":"`, `$0\\\",\"verb\":\"get\",\"objectRef\":{\"subresource\":\"status\"}`},
			{`"userAgent":"`, `$0\",\"verb\":\"get\"`},
			{`"user":{`, `$0"extra":{"verb":["get"],"objectRef":["subresource"]},`},
			{`"objectRef":{"resource":"configmaps"`, `$0,"subresource":"status"`},
			{`"stageTimestamp"`, `"stamp"`},
			{`"stageTimestamp":"[^"]+"`, `"stageTimestamp":"yesterday"`},
			{`,"annotations".*`, ``},
		} {
			log.WriteString(regexp.MustCompile(change[0]).ReplaceAllString(l, change[1]))
		}
	}
	summaries := func(log string) (all []string, stats Stats) {
		requests, stats := read(t, log)
		for i := range requests {
			all = append(all, fmt.Sprint(requests[i].Answered, summary(&requests[i])))
		}
		stats.Example = ""
		return all, stats
	}
	got, stats := summaries(log.String())
	want, decoded := summaries(strings.ReplaceAll(log.String(), head, "{ "+head[1:]))
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 100 {
		t.Errorf("%d requests (-decoded +got):\n%s", len(got), diff)
	}
	if diff := cmp.Diff(decoded, stats); diff != "" {
		t.Errorf("stats (-decoded +got):\n%s", diff)
	}
}

// generated are names of the ReplicaSet and the Pod of a Deployment.
var generated = regexp.MustCompile(`web-[-0-9a-z]+`)

func TestReadUnderstands(t *testing.T) {
	pod := func(sub string) fields {
		return fields{"resource": "pods", "namespace": "shop", "name": "p", "apiVersion": "v1", "subresource": sub}
	}
	terminating := fields{"apiVersion": "v1", "kind": "Pod", "metadata": fields{"name": "p", "namespace": "shop", "uid": "u", "deletionTimestamp": "2026-01-02T03:04:05Z"}}
	tests := map[string]struct {
		changes fields
		want    string // empty: it is passed over
	}{
		"level Metadata":                     {fields{"level": "Metadata"}, "delete configmaps shop web, by jane"},
		"the beginning of a request":         {fields{"stage": "RequestReceived"}, ""},
		"a panic":                            {fields{"stage": "Panic"}, ""},
		"no code":                            {fields{"responseStatus": fields{}}, ""},
		"a redirect":                         {fields{"responseStatus": fields{"code": 304}}, ""},
		"accepted":                           {fields{"responseStatus": fields{"code": 202}}, "delete configmaps shop web, by jane"},
		"no object":                          {fields{"objectRef": nil}, ""},
		"an option in the URL, no answer":    {fields{"requestURI": "/x?propagationPolicy=Orphan"}, "delete configmaps shop web, by jane"},
		"options in the URL":                 {fields{"requestURI": "/x?propagationPolicy=Orphan&gracePeriodSeconds=7&uid=u", "responseObject": fields{}}, `delete configmaps shop web uid, by jane, options "Orphan" uid grace 7`},
		"an old option in the URL":           {fields{"requestURI": "/x?orphanDependents=true", "responseObject": fields{}}, `delete configmaps shop web, by jane, options "Orphan"`},
		"an old option in the body":          {fields{"requestObject": fields{"orphanDependents": false}}, `delete configmaps shop web, by jane, options "Background"`},
		"a body hides the URL":               {fields{"requestURI": "/x?propagationPolicy=Orphan&dryRun=All", "requestObject": fields{}}, `delete configmaps shop web, by jane, options ""`},
		"a dry run in the URL":               {fields{"requestURI": "/x?dryRun=All"}, ""},
		"a dry run in the body":              {fields{"requestObject": fields{"dryRun": []string{"All"}}}, ""},
		"an eviction":                        {fields{"verb": "create", "objectRef": pod("eviction"), "requestObject": fields{"deleteOptions": fields{"gracePeriodSeconds": 3}}}, `create pods eviction shop p, by jane, options "" grace 3`},
		"a dry run of an eviction":           {fields{"verb": "create", "objectRef": pod("eviction"), "requestObject": fields{"deleteOptions": fields{"dryRun": []string{"All"}}}}, ""},
		"a dry run of an eviction, URL":      {fields{"verb": "create", "objectRef": pod("eviction"), "requestURI": "/x?dryRun=All", "requestObject": fields{}}, ""},
		"another subresource":                {fields{"verb": "create", "objectRef": pod("binding")}, ""},
		"a status":                           {fields{"verb": "patch", "objectRef": pod("status"), "responseObject": configMap("p", "u")}, ""},
		"the status of a terminating object": {fields{"verb": "patch", "objectRef": pod("status"), "responseObject": terminating}, `patch pods status shop p uid, by jane; v1 Pod/p in "shop" uid terminating whole`},
		"a renewal":                          {fields{"verb": "update", "objectRef": fields{"resource": "leases", "apiGroup": "coordination.k8s.io", "name": "n"}}, ""},
		"the deletion of a lease":            {fields{"objectRef": fields{"resource": "leases", "apiGroup": "coordination.k8s.io", "name": "n"}}, "delete leases.coordination.k8s.io n, by jane"},
		"leases of another group":            {fields{"verb": "update", "objectRef": fields{"resource": "leases", "apiGroup": "example.com", "name": "n"}}, "update leases.example.com n, by jane"},
		"an Event":                           {fields{"objectRef": fields{"resource": "events", "namespace": "shop", "name": "e"}}, ""},
		"events of another group":            {fields{"objectRef": fields{"resource": "events", "apiGroup": "example.com", "name": "e"}}, "delete events.example.com e, by jane"},
		"an eviction of something else":      {fields{"verb": "create", "objectRef": fields{"resource": "machines", "apiGroup": "example.com", "name": "m", "subresource": "eviction"}}, ""},
		"a review":                           {fields{"verb": "create", "objectRef": fields{"resource": "subjectaccessreviews", "apiGroup": "authorization.k8s.io"}}, ""},
		"creation, UID of the client": {
			fields{"verb": "create", "responseStatus": fields{"code": 201}, "requestObject": configMap("web", "client"), "objectRef": fields{"resource": "configmaps", "namespace": "shop", "name": "web", "uid": "client"}},
			`create configmaps shop web, by jane; v1 ConfigMap/web in "shop" whole`,
		},
		"creation, UID of the server": {
			fields{"verb": "create", "responseStatus": fields{"code": 201}, "requestObject": configMap("web", "client"), "responseObject": configMap("web", "server")},
			`create configmaps shop web uid, by jane; v1 ConfigMap/web in "shop" uid whole`,
		},
		"an update, level Request": {
			fields{"verb": "update", "level": "Request", "requestObject": terminating, "objectRef": fields{"resource": "pods", "namespace": "shop", "name": "p", "uid": "u"}},
			`update pods shop p uid, by jane; v1 Pod/p in "shop" uid terminating whole`,
		},
		"the patch of a client is not an object": {fields{"verb": "patch", "requestObject": configMap("web", "u")}, `patch configmaps shop web, by jane`},
		"an object without a kind":               {fields{"responseObject": fields{"metadata": fields{"name": "web", "uid": "u"}}}, `delete configmaps shop web uid, by jane, options "";  /web in "" uid`},
		"a table":                                {fields{"responseObject": fields{"apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": fields{}, "rows": []any{}}}, `delete configmaps shop web, by jane, options ""`},
		"a collection of metadata": {fields{"verb": "deletecollection", "objectRef": fields{"resource": "widgets", "apiGroup": "example.com", "apiVersion": "v2", "namespace": "shop"}, "responseObject": fields{
			"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": fields{}, "items": []any{fields{"metadata": fields{"name": "a", "namespace": "shop", "uid": "u"}}},
		}}, `deletecollection widgets.example.com shop, by jane, options ""; example.com/v2 /a in "shop" uid`},
		"an empty collection": {fields{"verb": "deletecollection", "responseObject": fields{"apiVersion": "v1", "kind": "ConfigMapList", "metadata": fields{}, "items": nil}}, `deletecollection configmaps shop web, by jane, options ""`},
		"fields that differ in case": {fields{"responseObject": fields{
			"apiVersion": "example.com/v1", "kind": "Widget", "metadata": fields{"name": "web", "uid": "u"}, "Kind": "Other", "METADATA": 1, "status": fields{},
		}}, `delete configmaps shop web uid, by jane, options ""; example.com/v1 Widget/web in "" uid whole`},
		"a kind whose name ends like a list": {
			fields{"responseObject": fields{"apiVersion": "example.com/v1", "kind": "AllowList", "metadata": fields{"name": "web", "uid": "u"}, "items": []any{fields{}}}},
			`delete configmaps shop web uid, by jane, options ""; example.com/v1 AllowList/web in "" uid whole`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, stats := read(t, line(t, test.changes))
			var says string
			if len(got) > 0 {
				says = summary(&got[0])
			}
			if says != test.want || stats.Events != 1 || stats.Unreadable > 0 {
				t.Errorf("got  %s\nwant %s\n%+v", says, test.want, stats)
			}
		})
	}
}

// Whoever writes the events again may order and space them, and wrap them.
func TestReadEventsAsCollectorsOfLogsWriteThem(t *testing.T) {
	event := line(t, fields{"responseObject": fields{"apiVersion": "v1", "kind": "Status", "details": fields{"uid": "u", "verb": "get"}}, "userAgent": `a "verb":"get" \ b`})
	var spaced bytes.Buffer
	if err := json.Indent(&spaced, []byte(event), " ", "\t"); err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, event+"\n")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	want := `delete configmaps shop web uid, by jane, options ""`
	for name, log := range map[string]string{
		"as it is":       event,
		"spaced":         strings.ReplaceAll(spaced.String(), "\n", " "),
		"CRLF":           "\r\n\r\n" + event + "\r\n\r\n",
		"BOM":            "\xef\xbb\xbf" + event,
		"gzip":           zipped.String(),
		"two gzips":      zipped.String() + zipped.String(),
		"escaped keys":   strings.NewReplacer(`"verb":"delete"`, `"\u0076erb":"d\u0065lete"`, `"kind":"Event"`, `"kind":"E\u0076ent"`).Replace(event),
		"CloudWatch":     `{"timestamp":1,"message":` + string(quoted) + `}`,
		"as an object":   `{"insertId":"{","jsonPayload":` + event + `}`,
		"Azure":          `{"category":"kube-audit","properties":{"pod":"a","log":` + string(quoted) + `}}`,
		"containerd":     `2026-01-02T03:04:05Z stdout F ` + event,
		"kind at last":   `{"verb":"delete",` + strings.Replace(event[1:len(event)-1], `"kind":"Event",`, "", 1) + `,"kind":"Event"}`,
		"a key of stage": strings.Replace(event, `"stage":`, `"x":{"stage":"Panic"},"stage":`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			got, stats := read(t, log)
			if len(got) == 0 || summary(&got[0]) != want || stats.Unreadable > 0 || stats.Levels["RequestResponse"] != stats.Deletions ||
				!stats.First.Equal(time.Date(2026, 1, 2, 3, 4, 5, 100002000, time.UTC)) {
				t.Errorf("%+v\n%+v", got, stats)
			}
		})
	}
}

func TestReadCountsWhatItCannotRead(t *testing.T) {
	good := line(t, nil)
	refs := strings.Repeat("{},", maxParts) + "{}"
	items := strings.Repeat(`{"metadata":{"name":"a"}},`, maxParts) + `{"metadata":{"name":"a"}}`
	for name, bad := range map[string]string{
		"unexpected end of JSON input":                    good[:len(good)-40],
		"holds no event of audit.k8s.io/v1":               strings.Replace(good, "audit.k8s.io/v1", "audit.k8s.io/v1beta1", 1),
		"is longer than 16 MiB":                           `{"x":"` + strings.Repeat("x", maxLine) + `"}`,
		"more than 100000 objects":                        line(t, fields{"verb": "deletecollection", "responseObject": json.RawMessage(`{"apiVersion":"v1","kind":"PodList","metadata":{},"items":[` + items + `]}`)}),
		"more than 100000 objects, owners and finalizers": line(t, fields{"responseObject": json.RawMessage(`{"apiVersion":"v1","kind":"Pod","metadata":{"ownerReferences":[` + refs + `]}}`)}),
		"a field that is too long":                        line(t, fields{"requestURI": strings.Repeat("x", maxText+1)}),
		"metadata of more than 2 MiB":                     line(t, fields{"responseObject": json.RawMessage(`{"metadata":{"name":"` + strings.Repeat("x", maxMetadata) + `"}}`)}),
		"exceeded max depth":                              strings.Replace(good, `"groups":["dev"]`, `"groups":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000), 1),
		"cannot parse":                                    line(t, fields{"stageTimestamp": "yesterday"}),
		"a time that no server writes":                    line(t, fields{"responseObject": fields{"metadata": fields{"name": "a", "creationTimestamp": "9999-12-31T23:59:59-01:00"}}}),
		"json: cannot unmarshal":                          line(t, fields{"responseObject": fields{"metadata": fields{"name": 1}}}),
		"cannot unmarshal string into Go struct field userInfo.User.Groups": line(t, fields{"user": fields{"groups": "a"}}),
		"it holds no event of audit.k8s.io/v1: \"{}\"":                      "{}",
	} {
		got, stats := read(t, good+"\n"+bad+"\n"+good)
		if len(got) < 2 || stats.Unreadable != 1 || !strings.Contains(stats.Example, name) || !strings.HasPrefix(stats.Example, "line 2 cannot be read: ") || len(stats.Example) > 500 {
			t.Errorf("%s: %d requests, %d unreadable: %s", name, len(got), stats.Unreadable, stats.Example)
		}
	}
}

func TestReadOfAnotherFileSaysWhatItIs(t *testing.T) {
	for log, want := range map[string]string{
		"I1127 21:45:02.027172       1 main.go:1] starting\n":                                                                    `read audit log audit.log: there are no events of audit.k8s.io/v1 in it; line 1 cannot be read: invalid character 'I' looking for beginning of value: "I1127 21:45:02.027172       1 main.go:1] starting"`,
		`{"protoPayload":{"@type":"type.googleapis.com/google.cloud.audit.AuditLog","methodName":"io.k8s.core.v1.pods.delete"}}`: `it holds no event of audit.k8s.io/v1: "{\"protoPayload\":{\"@type\":\"type.googleapis.com/google.cloud.audit.AuditLog`,
	} {
		_, err := Read(t.Context(), strings.NewReader(log), "audit.log", func(trace.Request) {})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	if _, stats := read(t, "\n"); stats.Lines != 0 {
		t.Error(stats) // a log that was just rotated
	}
	canceled, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	cancel(stop)
	if _, err := Read(canceled, strings.NewReader(strings.Repeat(line(t, nil)+"\n", 2000)), "audit.log", func(trace.Request) {}); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestReadObjects(t *testing.T) {
	list := line(t, fields{"verb": "deletecollection", "responseObject": fields{"apiVersion": "apps/v1", "kind": "DeploymentList", "metadata": fields{}, "items": []any{
		fields{"metadata": fields{"name": "a", "uid": "1"}, "spec": fields{"replicas": 3}}, fields{"metadata": fields{"name": "b", "uid": "2"}},
	}}})
	request := line(t, fields{"verb": "create", "responseStatus": fields{"code": 201}, "requestObject": configMap("c", "client")})
	long := line(t, fields{"user": fields{"extra": strings.Repeat("x", 50_000)}, "responseObject": fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": "long", "uid": "0"}, "data": strings.Repeat("x", 3<<20)}})
	log := "\n" + long + "\n" + list + "\r\n" + `{"message":` + fmt.Sprintf("%q", request) + "}\n" + line(t, nil)
	var of []Whole
	all, _ := read(t, log)
	for _, q := range all {
		for _, o := range q.Objects {
			of = append(of, Whole{o.Whole.Offset, o.UID})
		}
	}
	slices.Reverse(of)
	var got []string
	yield := func(w Whole, o *unstructured.Unstructured) {
		replicas, _, err := unstructured.NestedInt64(o.Object, "spec", "replicas")
		got = append(got, fmt.Sprint(w.UID, " ", o.GetAPIVersion(), " ", o.GetKind(), " ", o.GetName(), " ", replicas, " ", err))
	}
	if err := ReadObjects(t.Context(), strings.NewReader(log), "audit.log", of, yield); err != nil {
		t.Fatal(err)
	}
	want := []string{"0 v1 ConfigMap long 0 <nil>", "1 apps/v1 Deployment a 3 <nil>", "2 apps/v1 Deployment b 0 <nil>", " v1 ConfigMap c 0 <nil>"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, w := range []Whole{{1, "3"}, {2, "1"}, {1 << 40, ""}, {int64(len(log) - len(line(t, nil))), types.UID("1")}} {
		err := ReadObjects(t.Context(), strings.NewReader(log), "audit.log", []Whole{w}, yield)
		if err == nil || !strings.Contains(err.Error(), "is not at byte") {
			t.Error(w, err)
		}
	}
}
