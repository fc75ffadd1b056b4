package logs

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
	if is.SelectorUnknown {
		b.WriteString(" selector unknown")
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
	}
	if q.Result != trace.Done {
		fmt.Fprintf(&b, ", %s", []string{"done", "refused", "unknown"}[q.Result])
	}
	if q.MayBeDryRun {
		b.WriteString(", perhaps a dry run")
	}
	if len(q.Unlinked) > 0 {
		fmt.Fprintf(&b, ", unlinks %d", len(q.Unlinked))
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
		if o.Whole {
			b.WriteString(" whole")
		}
	}
	return b.String()
}

// finds are what a reader found.
type finds struct {
	requests []trace.Request
	lines    []trace.Line
}

func (f *finds) Request(q *trace.Request) { f.requests = append(f.requests, *q) }
func (f *finds) Line(l *trace.Line)       { f.lines = append(f.lines, *l) }

func read(t testing.TB, log string) ([]trace.Request, trace.Source) {
	t.Helper()
	var found finds
	source, err := Read(t.Context(), strings.NewReader(log), "audit.log", 0, &found)
	if err != nil {
		t.Fatal(err)
	}
	return found.requests, source
}

func recording(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile("testdata/recorded.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}

// line is an event of a deletion that succeeded, after changes to its m. A nil value removes a field.
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

type m = map[string]any

func configMap(name, uid string) m {
	return m{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m{"name": name, "namespace": "shop", "uid": uid}}
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
		`delete configmaps at-metadata by-foreground, by admin as jane@example.com, perhaps a dry run`,
		`delete configmaps at-metadata by-foreground-child uid, by generic-garbage-collector, perhaps a dry run`,
		`create pods eviction at-metadata evicted, by admin, perhaps a dry run`,
		`delete configmaps at-metadata kept uid, by admin as jane@example.com, perhaps a dry run`, // it was one
		`delete configmaps at-metadata kept uid, by admin as jane@example.com, perhaps a dry run`, // dryRun=All in its URL does not count if it has a body
		`update configmaps at-metadata held-update uid, by admin`,
		`create configmaps at-request by-foreground-child, by admin`,
		`delete configmaps at-request by-foreground, by admin as jane@example.com, options "Foreground"`,
		`delete configmaps at-request by-foreground-child uid, by generic-garbage-collector, options "Background" uid`,
		`create pods eviction at-request evicted, by admin, options ""`,
		`delete configmaps at-response absent, by admin as jane@example.com, options "Background", refused`,
		`delete configmaps at-response kept, by admin, options "" uid, refused`,
		`delete configmaps at-response kept, by dave, options "", refused`,
		`delete configmaps at-response by-background uid, by admin as jane@example.com, options "Background"`,
		`create configmaps at-response by-foreground-child uid, by admin; v1 ConfigMap/by-foreground-child in "at-response" uid of ConfigMap/by-foreground whole`,
		`delete configmaps at-response by-foreground uid, by admin as jane@example.com, options "Foreground"; v1 ConfigMap/by-foreground in "at-response" uid held by foregroundDeletion terminating whole`,
		`delete configmaps at-response by-foreground-child uid, by generic-garbage-collector, options "Background" uid`,
		`patch configmaps at-response by-foreground uid, by generic-garbage-collector; v1 /by-foreground in "at-response" uid terminating`,
		`patch configmaps at-response by-orphan-child uid, by generic-garbage-collector, unlinks 1; v1 /by-orphan-child in "at-response" uid`,
		`delete deployments.apps at-response web uid, by admin as jane@example.com, options "Foreground"; apps/v1 Deployment/web in "at-response" uid held by foregroundDeletion terminating whole`,
		`delete pods at-response web-* uid, by generic-garbage-collector, options "Background" uid; v1 Pod/web-* in "at-response" uid of ReplicaSet/web-* terminating whole`,
		`delete configmaps at-response url uid, by admin as jane@example.com, options "Foreground"; v1 ConfigMap/url in "at-response" uid held by foregroundDeletion terminating whole`,
		`delete configmaps at-response bare uid, by admin as jane@example.com, options ""`,
		`delete pods at-response graceful uid, by admin, options ""; v1 Pod/graceful in "at-response" uid held by example.com/hold terminating whole`,
		`delete pods at-response graceful uid, by admin, options "" uid; v1 Pod/graceful in "at-response" uid held by example.com/hold terminating whole`,
		`update configmaps at-response held-update uid, by admin; v1 ConfigMap/held-update in "at-response" uid terminating whole`,
		`patch configmaps at-response held-patch uid, by admin; v1 ConfigMap/held-patch in "at-response" uid terminating whole`,
		`patch configmaps at-response applied uid, by admin; v1 ConfigMap/applied in "at-response" uid whole`,
		`delete widgets.e2e.kubectl-gc.dev at-response one uid, by admin, options ""`,
		`deletecollection widgets.e2e.kubectl-gc.dev at-response app=web, by admin, options ""; e2e.kubectl-gc.dev/v1 Widget/two in "at-response" uid whole`,
		`delete namespaces at-response uid, by admin as jane@example.com, options "Background"; v1 Namespace/at-response in "" uid terminating whole`,
		`deletecollection widgets.e2e.kubectl-gc.dev at-response, by namespace-controller, options "Background"`,
		`deletecollection configmaps at-response, by namespace-controller, options "Background"; v1 ConfigMap/applied in "at-response" uid whole; v1 ConfigMap/by-orphan-child in "at-response" uid whole; v1 ConfigMap/kept in "at-response" uid whole; v1 ConfigMap/kube-root-ca.crt in "at-response" uid whole`,
		`update namespaces finalize at-response uid, by namespace-controller; v1 Namespace/at-response in "" uid terminating whole`,
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
	if diff := cmp.Diff(map[string]int{"Metadata": 5, "Request": 3, "RequestResponse": 18}, stats.Levels); diff != "" {
		t.Error(diff)
	}
}

// generated are names of the ReplicaSet and the Pod of a Deployment.
var generated = regexp.MustCompile(`web-[-0-9a-z]+`)

func TestReadUnderstands(t *testing.T) {
	pod := func(sub string) m {
		return m{"resource": "pods", "namespace": "shop", "name": "p", "apiVersion": "v1", "subresource": sub}
	}
	terminating := m{"apiVersion": "v1", "kind": "Pod", "metadata": m{"name": "p", "namespace": "shop", "uid": "u", "deletionTimestamp": "2026-01-02T03:04:05Z"}}
	tests := map[string]struct {
		changes m
		want    string // empty: it is passed over
	}{
		"level Metadata":                     {m{"level": "Metadata"}, "delete configmaps shop web, by jane, perhaps a dry run"},
		"the beginning of a request":         {m{"stage": "RequestReceived"}, ""},
		"a panic":                            {m{"stage": "Panic"}, `delete configmaps shop web, by jane, options "", unknown`},
		"no code":                            {m{"responseStatus": m{}}, `delete configmaps shop web, by jane, options "", unknown`},
		"a redirect":                         {m{"responseStatus": m{"code": 304}}, `delete configmaps shop web, by jane, options "", unknown`},
		"a timeout":                          {m{"responseStatus": m{"code": 504}}, `delete configmaps shop web, by jane, options "", unknown`},
		"a client that left":                 {m{"responseStatus": m{"code": 499}}, `delete configmaps shop web, by jane, options "", unknown`},
		"a refusal":                          {m{"responseStatus": m{"code": 403}}, `delete configmaps shop web, by jane, options "", refused`},
		"an update that was refused":         {m{"verb": "update", "responseStatus": m{"code": 409}}, ""},
		"an update whose outcome is unknown": {m{"verb": "update", "responseStatus": m{"code": 504}}, "update configmaps shop web, by jane, unknown"},
		"accepted":                           {m{"responseStatus": m{"code": 202}}, `delete configmaps shop web, by jane, options ""`},
		"no object":                          {m{"objectRef": nil}, ""},
		"an option in the URL, no body":      {m{"requestURI": "/x?propagationPolicy=Orphan"}, `delete configmaps shop web, by jane, options "Orphan"`},
		"... of an event that was cut":       {m{"requestURI": "/x?propagationPolicy=Orphan", "annotations": m{"audit.k8s.io/truncated": "true"}}, "delete configmaps shop web, by jane, perhaps a dry run"},
		"... of an aggregated API":           {m{"requestURI": "/x?dryRun=All", "objectRef": m{"resource": "widgets", "apiGroup": "example.com", "name": "w"}}, "delete widgets.example.com w, by jane, perhaps a dry run"},
		"... of a custom resource":           {m{"requestURI": "/x?dryRun=All", "responseObject": m{}, "objectRef": m{"resource": "widgets", "apiGroup": "example.com", "name": "w"}}, ""},
		"a dry run in the URL, at Metadata":  {m{"requestURI": "/x?dryRun=All", "level": "Metadata"}, "delete configmaps shop web, by jane, perhaps a dry run"},
		"an update that is a dry run":        {m{"requestURI": "/x?dryRun=All", "verb": "update", "responseObject": configMap("web", "u")}, ""},
		"... which a body does not change":   {m{"requestURI": "/x?dryRun=All", "verb": "patch", "requestObject": m{}, "responseObject": configMap("web", "u")}, ""},
		"options in the URL":                 {m{"requestURI": "/x?propagationPolicy=Orphan&gracePeriodSeconds=7&uid=u", "responseObject": m{}}, `delete configmaps shop web uid, by jane, options "Orphan" uid`},
		"an old option in the URL":           {m{"requestURI": "/x?orphanDependents=true", "responseObject": m{}}, `delete configmaps shop web, by jane, options "Orphan"`},
		"an old option in the body":          {m{"requestObject": m{"orphanDependents": false}}, `delete configmaps shop web, by jane, options "Background"`},
		"a body hides the URL":               {m{"requestURI": "/x?propagationPolicy=Orphan&dryRun=All", "requestObject": m{}}, `delete configmaps shop web, by jane, options ""`},
		"a dry run in the URL":               {m{"requestURI": "/x?dryRun=All"}, ""},
		"a dry run in the body":              {m{"requestObject": m{"dryRun": []string{"All"}}}, ""},
		"an eviction":                        {m{"verb": "create", "objectRef": pod("eviction"), "requestObject": m{"deleteOptions": m{"gracePeriodSeconds": 3}}}, `create pods eviction shop p, by jane, options ""`},
		"a dry run of an eviction":           {m{"verb": "create", "objectRef": pod("eviction"), "requestObject": m{"deleteOptions": m{"dryRun": []string{"All"}}}}, ""},
		"a dry run of an eviction, URL":      {m{"verb": "create", "objectRef": pod("eviction"), "requestURI": "/x?dryRun=All", "requestObject": m{}}, ""},
		"another subresource":                {m{"verb": "create", "objectRef": pod("binding")}, ""},
		"a status":                           {m{"verb": "patch", "objectRef": pod("status"), "responseObject": configMap("p", "u")}, ""},
		"the status of a terminating object": {m{"verb": "patch", "objectRef": pod("status"), "responseObject": terminating}, `patch pods status shop p uid, by jane; v1 Pod/p in "shop" uid terminating whole`},
		"a renewal":                          {m{"verb": "update", "objectRef": m{"resource": "leases", "apiGroup": "coordination.k8s.io", "name": "n"}}, ""},
		"the deletion of a lease":            {m{"objectRef": m{"resource": "leases", "apiGroup": "coordination.k8s.io", "name": "n"}}, `delete leases.coordination.k8s.io n, by jane, options ""`},
		"leases of another group":            {m{"verb": "update", "objectRef": m{"resource": "leases", "apiGroup": "example.com", "name": "n"}}, "update leases.example.com n, by jane"},
		"an Event":                           {m{"objectRef": m{"resource": "events", "namespace": "shop", "name": "e"}}, ""},
		"events of another group":            {m{"objectRef": m{"resource": "events", "apiGroup": "example.com", "name": "e"}}, "delete events.example.com e, by jane, perhaps a dry run"},
		"an eviction of something else":      {m{"verb": "create", "objectRef": m{"resource": "machines", "apiGroup": "example.com", "name": "m", "subresource": "eviction"}}, ""},
		"a review":                           {m{"verb": "create", "objectRef": m{"resource": "subjectaccessreviews", "apiGroup": "authorization.k8s.io"}}, ""},
		"creation, UID of the client": {
			m{"verb": "create", "responseStatus": m{"code": 201}, "requestObject": configMap("web", "client"), "objectRef": m{"resource": "configmaps", "namespace": "shop", "name": "web", "uid": "client"}},
			`create configmaps shop web, by jane`,
		},
		"creation, UID of the server": {
			m{"verb": "create", "responseStatus": m{"code": 201}, "requestObject": configMap("web", "client"), "responseObject": configMap("web", "server")},
			`create configmaps shop web uid, by jane; v1 ConfigMap/web in "shop" uid whole`,
		},
		"an update, level Request": {
			m{"verb": "update", "level": "Request", "requestObject": terminating, "objectRef": m{"resource": "pods", "namespace": "shop", "name": "p", "uid": "u"}},
			`update pods shop p uid, by jane`,
		},
		"the status that a client wrote":         {m{"verb": "update", "objectRef": pod("status"), "requestObject": terminating}, ""},
		"an eviction, level Metadata":            {m{"verb": "create", "level": "Metadata", "objectRef": pod("eviction")}, `create pods eviction shop p, by jane, perhaps a dry run`},
		"... whose URL is a dry run":             {m{"verb": "create", "level": "Metadata", "requestURI": "/x?dryRun=All", "objectRef": pod("eviction")}, ""},
		"references that are removed":            {m{"verb": "patch", "requestObject": m{"metadata": m{"ownerReferences": []any{m{"$patch": "delete", "uid": "a"}, m{"uid": "b"}, m{"$patch": "delete", "uid": "c"}}}}}, `patch configmaps shop web, by jane, unlinks 2`},
		"a UID that was not there":               {m{"responseStatus": m{"code": 409}, "requestObject": m{"preconditions": m{"uid": "u"}}}, `delete configmaps shop web, by jane, options "" uid, refused`},
		"the patch of a client is not an object": {m{"verb": "patch", "requestObject": configMap("web", "u")}, `patch configmaps shop web, by jane`},
		"an object without a kind":               {m{"responseObject": m{"metadata": m{"name": "web", "uid": "u"}}}, `delete configmaps shop web uid, by jane, options "";  /web in "" uid`},
		"a table":                                {m{"responseObject": m{"apiVersion": "meta.k8s.io/v1", "kind": "Table", "metadata": m{}, "rows": []any{}}}, `delete configmaps shop web, by jane, options ""`},
		"a collection of metadata": {m{"verb": "deletecollection", "objectRef": m{"resource": "widgets", "apiGroup": "example.com", "apiVersion": "v2", "namespace": "shop"}, "responseObject": m{
			"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": m{}, "items": []any{m{"metadata": m{"name": "a", "namespace": "shop", "uid": "u"}}},
		}}, `deletecollection widgets.example.com shop, by jane, options ""; example.com/v2 /a in "shop" uid`},
		"an empty collection": {m{"verb": "deletecollection", "responseObject": m{"apiVersion": "v1", "kind": "ConfigMapList", "metadata": m{}, "items": nil}}, `deletecollection configmaps shop web, by jane, options ""`},
		"m that differ in case": {m{"responseObject": m{
			"apiVersion": "example.com/v1", "kind": "Widget", "metadata": m{"name": "web", "uid": "u"}, "Kind": "Other", "METADATA": 1, "status": m{},
		}}, `delete configmaps shop web uid, by jane, options ""; example.com/v1 Widget/web in "" uid whole`},
		"a kind whose name ends like a list": {
			m{"responseObject": m{"apiVersion": "example.com/v1", "kind": "AllowList", "metadata": m{"name": "web", "uid": "u"}, "items": []any{m{}}}},
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
	event := line(t, m{"responseObject": m{"apiVersion": "v1", "kind": "Status", "details": m{"uid": "u", "verb": "get"}}, "userAgent": `a "verb":"get" \ b`})
	indented := func(indent string, of string) string {
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(of), "", indent); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	text, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	quoted := string(text)
	list := `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[` + event + "," + event + `]}`
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = io.WriteString(z, event+"\n")
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	want := `delete configmaps shop web uid, by jane, options ""`
	for name, tt := range map[string]struct {
		log    string
		events int
	}{
		"as it is":                      {event, 1},
		"CRLF":                          {"\r\n\r\n" + event + "\r\n\r\n", 1},
		"BOM":                           {"\xef\xbb\xbf" + event, 1},
		"UTF-16":                        {"\xff\xfe" + strings.Join(strings.Split(event, ""), "\x00") + "\x00", 1},
		"gzip":                          {zipped.String(), 1},
		"two gzips":                     {zipped.String() + zipped.String(), 2},
		"indented":                      {indented("  ", event) + "\n" + indented("\t", event), 2},
		"an array":                      {"[" + event + "," + event + "]", 2},
		"an array, an event a line":     {"[\n" + event + ",\n" + event + "\n]\n", 2},
		"an array, indented":            {indented("    ", "["+event+","+event+"]"), 2},
		"an EventList":                  {list, 2},
		"an EventList, indented":        {indented("  ", list), 2},
		"EventLists":                    {list + "\n" + list, 4},
		"with commas":                   {event + ",\n" + event, 2},
		"escaped keys":                  {strings.NewReplacer(`"verb":"delete"`, `"\u0076erb":"d\u0065lete"`, `"kind":"Event"`, `"kind":"E\u0076ent"`).Replace(event), 1},
		"kind at last":                  {`{"verb":"delete",` + strings.Replace(event[1:len(event)-1], `"kind":"Event",`, "", 1) + `,"kind":"Event"}`, 1},
		"a key of stage":                {strings.Replace(event, `"stage":`, `"x":{"stage":"Panic"},"stage":`, 1), 1},
		"Docker":                        {`{"log":` + quoted + `,"stream":"stdout","time":"2026-01-02T03:04:05Z"}`, 1},
		"containerd":                    {`2026-01-02T03:04:05Z stdout F ` + event, 1},
		"kubectl logs":                  {`[pod/kube-apiserver-a/kube-apiserver] 2026-01-02T03:04:05Z ` + event, 1},
		"oc adm node-logs":              {`master-0.example.com ` + event, 1},
		"Fluent Bit":                    {`{"date":1767323045.1,"log":` + quoted + `,"kubernetes":{"pod_name":"a"}}`, 1},
		"Fluent Bit, merged":            {`{"@timestamp":"2026-01-02T03:04:05Z","log_processed":` + event + `}`, 1},
		"Filebeat":                      {`{"@timestamp":"2026-01-02T03:04:05Z","message":` + quoted + `,"host":{"name":"a"},"log":{"offset":5}}`, 1},
		"Vector":                        {`{"message":` + quoted + `,"source_type":"file","timestamp":"2026-01-02T03:04:05Z"}`, 1},
		"Loki":                          {`[{"line":` + quoted + `,"timestamp":"1767323045100000000","fields":{}}]`, 1},
		"Loki, logcli":                  {`{"labels":{"job":"audit"},"line":` + quoted + `,"timestamp":"2026-01-02T03:04:05Z"}`, 1},
		"CloudWatch, get-log-events":    {indented("    ", `{"events":[{"timestamp":1767323045100,"message":`+quoted+`,"ingestionTime":1767323045200}],"nextForwardToken":"f/1"}`), 1},
		"CloudWatch, filter":            {`{"events":[{"logStreamName":"kube-apiserver-audit-1","timestamp":1,"message":` + quoted + `,"eventId":"1"}],"searchedLogStreams":[]}`, 1},
		"CloudWatch, Firehose":          {`{"messageType":"DATA_MESSAGE","logGroup":"/aws/eks/a/cluster","logEvents":[{"id":"1","timestamp":1,"message":` + quoted + `}]}`, 1},
		"CloudWatch, Insights":          {`{"results":[[{"field":"@timestamp","value":"2026-01-02 03:04:05.000"},{"field":"@message","value":` + quoted + `}]],"status":"Complete"}`, 1},
		"CloudWatch, aws logs tail":     {"2026-01-02T03:04:05.100000+00:00 kube-apiserver-audit-1 " + event, 1},
		"CloudWatch, separated by tabs": {"2026-01-02T03:04:05.100Z\t" + event, 1},
		"Azure, storage":                {`{"records":[{"time":"2026-01-02T03:04:05Z","category":"kube-audit","properties":{"log":` + quoted + `,"stream":"stdout","pod":"kube-apiserver-a"}}]}`, 1},
		"Azure, a record a line":        {`{"category":"kube-audit","properties":{"pod":"a","log":` + quoted + `}}`, 1},
		"Azure, Log Analytics":          {`[{"TableName":"PrimaryResult","TimeGenerated":"2026-01-02T03:04:05Z","log_s":` + quoted + `}]`, 1},
		"Azure, API":                    {`{"tables":[{"name":"PrimaryResult","columns":[{"name":"TimeGenerated","type":"datetime"}],"rows":[["2026-01-02T03:04:05Z",` + quoted + `]]}]}`, 1},
		"Google, other payload":         {`{"insertId":"{","jsonPayload":` + event + `}`, 1},
		"quoted in Markdown":            {"> ```\n> " + event + "\n> ```\n", 1},
		"in the log of kube-apiserver":  {"I0102 03:04:05.000000       1 httplog.go:1] x\n" + event + "\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, source := read(t, tt.log)
			if len(got) != tt.events || source.Form != auditLog || source.Events != tt.events || source.Levels["RequestResponse"] != tt.events ||
				!source.First.Equal(time.Date(2026, 1, 2, 3, 4, 5, 100002000, time.UTC)) {
				t.Fatalf("%d requests, %+v", len(got), source)
			}
			for i := range got {
				if says := summary(&got[i]); says != want {
					t.Error(says)
				}
			}
		})
	}
}

func TestReadCountsWhatItCannotRead(t *testing.T) {
	good := line(t, nil)
	refs := strings.Repeat("{},", maxParts) + "{}"
	items := strings.Repeat(`{"metadata":{"name":"a"}},`, maxParts) + `{"metadata":{"name":"a"}}`
	for name, bad := range map[string]string{
		"it is JSON that was cut off":                             good[:len(good)-40],
		"it holds no event":                                       strings.Replace(good, "audit.k8s.io/v1", "audit.k8s.io/v2", 1),
		"is longer than 16 MiB":                                   `{"x":"` + strings.Repeat("x", maxUnit) + `"}`,
		"more than 100000 objects":                                line(t, m{"verb": "deletecollection", "responseObject": json.RawMessage(`{"apiVersion":"v1","kind":"PodList","metadata":{},"items":[` + items + `]}`)}),
		"more than 100000 objects, owners, finalizers and labels": line(t, m{"responseObject": json.RawMessage(`{"apiVersion":"v1","kind":"Pod","metadata":{"ownerReferences":[` + refs + `]}}`)}),
		"a field that no server writes":                           line(t, m{"requestURI": strings.Repeat("x", maxText+1)}),
		"metadata of more than 2 MiB":                             line(t, m{"responseObject": json.RawMessage(`{"metadata":{"name":"` + strings.Repeat("x", maxMetadata) + `"}}`)}),
		"it is not JSON":                                          strings.Replace(good, `"groups":["dev"]`, `"groups":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000), 1),
		"cannot parse":                                            line(t, m{"stageTimestamp": "yesterday"}),
		"a time that no server writes":                            line(t, m{"responseObject": m{"metadata": m{"name": "a", "creationTimestamp": "9999-12-31T23:59:59-01:00"}}}),
		"json: cannot unmarshal":                                  line(t, m{"responseObject": m{"metadata": m{"name": 1}}}),
		"cannot unmarshal string into Go value of type []string":  line(t, m{"user": m{"groups": "a"}}),
		"it holds no event and no line of these logs: \"{}\"":     "{}",
	} {
		got, stats := read(t, good+"\n"+bad+"\n"+good)
		if len(got) < 2 || stats.Unreadable != 1 || !strings.Contains(stats.Example, name) || !strings.HasPrefix(stats.Example, "line 2 cannot be read: ") || len(stats.Example) > 500 {
			t.Errorf("%s: %d requests, %d unreadable: %s", name, len(got), stats.Unreadable, stats.Example)
		}
	}
}

// Whoever runs a Pod chooses its text, and a name may be that of an object in another cluster.
func TestReadOfAnExportOfAmazonKeepsWhatIsOfTheFirstCluster(t *testing.T) {
	quoted, err := json.Marshal(line(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	export := func(group string) string {
		return `{"messageType":"DATA_MESSAGE","logGroup":"` + group + `","logStream":"kube-apiserver-audit-1","logEvents":[{"message":` + string(quoted) + `}]}` + "\n"
	}
	for name, other := range map[string]string{"of another cluster": "/aws/eks/b/cluster", "of another component": "/aws/containerinsights/a/application"} {
		got, source := read(t, export("/aws/eks/a/cluster")+export(other)+export("/aws/eks/a/cluster"))
		if len(got) != 2 || source.Unreadable != 1 || !strings.Contains(source.Example, name) || source.Cluster != "/aws/eks/a/cluster" {
			t.Errorf("%s: %d requests, %+v", name, len(got), source)
		}
	}
}

func TestReadOfAnotherFileSaysWhatItIs(t *testing.T) {
	for log, want := range map[string]string{
		"I1127 21:45:02.027172       1 httplog.go:1] starting\n": "a log of another component of Kubernetes",
		"LPKSHHRH\x00\x00":                 "journalctl -o short-iso",
		"PK\x03\x04":                       "unpack it",
		"\x28\xb5\x2f\xfd":                 "unpack it",
		"- insertId: a\n  protoPayload:\n": "--format=json",
		`{"apiVersion":"v1","kind":"List","items":[{"metadata":{}}]}`:   "objects of a cluster",
		"LAST SEEN   TYPE      REASON\n":                                "kubectl get events",
		"apiVersion: audit.k8s.io/v1\nkind: Policy\n":                   "YAML",
		"@timestamp,@message\n":                                         "export the log as JSON",
		"Hello, we see this, and ask\n":                                 "kube-controller-manager",
		"<!DOCTYPE html>\n":                                             "a web page",
		"GET / 200":                                                     "neither an audit log nor",
		strings.Repeat("GET / 200\n", undecided/5):                      "neither an audit log nor",
		strings.Repeat("\x00", 2*maxUnit):                               "binary data",
		`{"a":"` + strings.Repeat("x", 2*maxUnit):                       "neither an audit log nor",
		`{"kind":"Event","apiVersion":"audit.k8s.io/v2"}`:               "neither an audit log nor",
		"{\n insertId:  \"a\"\n":                                        "--format=json",
		"apiVersion: v1\nitems:\n- apiVersion: v1\n  involvedObject:\n": "-o json",
		"node-1 audit.log\n":                                            "oc adm node-logs NODE",
	} {
		_, err := Read(t.Context(), strings.NewReader(log), "audit.log", 0, nobody{})
		var foreign *ForeignError
		if !errors.As(err, &foreign) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v", log, err)
		}
	}
	if _, stats := read(t, "\n"); stats.Lines != 0 {
		t.Error(stats) // a log that was just rotated
	}
	canceled, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	cancel(stop)
	if _, err := Read(canceled, strings.NewReader(strings.Repeat(line(t, nil)+"\n", 2000)), "audit.log", 0, nobody{}); !errors.Is(err, stop) {
		t.Error(err)
	}
}

func TestReadObjects(t *testing.T) {
	list := line(t, m{"verb": "deletecollection", "responseObject": m{"apiVersion": "apps/v1", "kind": "DeploymentList", "metadata": m{}, "items": []any{
		m{"metadata": m{"name": "a", "uid": "1"}, "spec": m{"replicas": 3}}, m{"metadata": m{"name": "b", "uid": "2"}},
	}}})
	request := line(t, m{"verb": "create", "responseStatus": m{"code": 201}, "responseObject": configMap("c", "3")})
	long := line(t, m{"user": m{"extra": strings.Repeat("x", 50_000)}, "responseObject": m{"apiVersion": "v1", "kind": "ConfigMap", "metadata": m{"name": "long", "uid": "0"}, "data": strings.Repeat("x", 3<<20)}})
	log := "\n" + long + "\n" + list + "\r\n" + `{"message":` + fmt.Sprintf("%q", request) + "}\n" + line(t, nil)
	var of []Whole
	all, _ := read(t, log)
	for _, q := range all {
		for _, o := range q.Objects {
			of = append(of, Whole{q.Place.Offset, o.UID})
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
	want := []string{"0 v1 ConfigMap long 0 <nil>", "1 apps/v1 Deployment a 3 <nil>", "2 apps/v1 Deployment b 0 <nil>", "3 v1 ConfigMap c 0 <nil>"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, w := range []Whole{{1, "4"}, {2, "1"}, {1 << 40, ""}, {int64(len(log) - len(line(t, nil))), types.UID("1")}} {
		err := ReadObjects(t.Context(), strings.NewReader(log), "audit.log", []Whole{w}, yield)
		if err == nil || !strings.Contains(err.Error(), "is not at byte") {
			t.Error(w, err)
		}
	}
}
