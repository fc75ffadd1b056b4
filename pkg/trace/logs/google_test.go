package logs

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

const googleEntry = `{"insertId":"abc-1","labels":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""},"logName":"projects/shop-1/logs/cloudaudit.googleapis.com%2Factivity","operation":{"first":true,"id":"5f1c1a5e-0000-4000-8000-000000000001","last":true,"producer":"k8s.io"},"protoPayload":{"@type":"type.googleapis.com/google.cloud.audit.AuditLog","authenticationInfo":{"principalEmail":"jane@example.com"},"authorizationInfo":[{"granted":true,"permission":"io.k8s.core.v1.pods.delete","resource":"core/v1/namespaces/shop/pods/web-1"}],"methodName":"io.k8s.core.v1.pods.delete","request":{"@type":"meta.k8s.io/__internal.DeleteOptions","apiVersion":"meta.k8s.io/__internal","kind":"DeleteOptions","propagationPolicy":"Background"},"requestMetadata":{"callerIp":"192.0.2.7","callerSuppliedUserAgent":"kubectl/v1.33.0 (linux/amd64) kubernetes/abc"},"resourceName":"core/v1/namespaces/shop/pods/web-1","response":{"@type":"core.k8s.io/v1.Pod","apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"shop","uid":"00000001-0000-4000-8000-000000000002","labels":{"app":"web"},"deletionTimestamp":"2026-11-27T21:00:31Z","deletionGracePeriodSeconds":30,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"00000001-0000-4000-8000-000000000003","controller":true}]},"spec":{"nodeName":"node-1"},"status":{"phase":"Running"}},"serviceName":"k8s.io","status":{"code":0}},"receiveTimestamp":"2026-11-27T21:00:03.1Z","resource":{"labels":{"cluster_name":"shop","location":"europe-west1","project_id":"shop-1"},"type":"k8s_cluster"},"severity":"NOTICE","timestamp":"2026-11-27T21:00:01.5Z"}`

// The entries have the shapes of published ones, with other names.
func TestReadEntriesOfGoogleCloudAsTheyArePublished(t *testing.T) {
	log, err := os.ReadFile("testdata/google.json")
	if err != nil {
		t.Fatal(err)
	}
	all, source := read(t, string(log))
	var got []string
	for i := range all {
		got = append(got, summary(&all[i])+" from "+strings.Join(all[i].User.Addresses, ","))
	}
	want := []string{
		`delete jobs.batch shop import-1589294700 uid, by import, options "Background" from 192.0.2.9`,
		`patch deployments.apps prod checkout, by engineer@example.com, perhaps a dry run;  / in "" from 203.0.113.10`,
	}
	if diff := cmp.Diff(want, got); diff != "" || source.Form != googleAuditLog || source.Events != 3 || source.Unreadable > 0 || source.Levels["RequestResponse"] != 1 {
		t.Errorf("%+v\n%s", source, diff)
	}
	if q := all[0]; q.ID != "11111111-0000-4000-8000-000000000001" || !q.Answered.Equal(time.Date(2026, 11, 27, 21, 0, 1, 500000000, time.UTC)) || q.Code != 200 {
		t.Errorf("%+v", q)
	}
}

func TestReadUnderstandsGoogleCloud(t *testing.T) {
	object := m{"@type": "core.k8s.io/v1.ConfigMap", "apiVersion": "v1", "kind": "ConfigMap", "metadata": m{"name": "web", "namespace": "shop", "uid": "u"}}
	status := func(code int) m {
		return m{"@type": "core.k8s.io/v1.Status", "kind": "Status", "apiVersion": "v1", "code": code}
	}
	for name, tt := range map[string]struct {
		changes m // of the payload
		want    string
	}{
		"a Pod":     {nil, `delete pods shop web-1 uid, by jane@example.com, options "Background"; v1 Pod/web-1 in "shop" uid of ReplicaSet/web terminating whole`},
		"no body":   {m{"request": nil, "response": nil}, `delete pods shop web-1, by jane@example.com, perhaps a dry run`},
		"a dry run": {m{"request": m{"dryRun": []string{"All"}}}, ""},
		"an eviction": {
			m{"methodName": "io.k8s.core.v1.pods.eviction.create", "resourceName": "core/v1/namespaces/shop/pods/web-1/eviction", "request": m{"deleteOptions": m{}}, "response": nil},
			`create pods eviction shop web-1, by jane@example.com, options "", perhaps a dry run`,
		},
		"a collection": {
			m{"methodName": "io.k8s.core.v1.configmaps.deletecollection", "resourceName": "core/v1/namespaces/shop/configmaps", "response": m{"kind": "ConfigMapList", "apiVersion": "v1", "metadata": m{}, "items": []any{object}}},
			`deletecollection configmaps shop selector unknown, by jane@example.com, options "Background"; v1 ConfigMap/web in "shop" uid whole`,
		},
		"a custom resource": {
			m{"methodName": "com.example.app.v1beta2.widgets.delete", "resourceName": "app.example.com/v1beta2/namespaces/shop/widgets/web-1", "response": nil},
			`delete widgets.app.example.com shop web-1, by jane@example.com, options "Background"`,
		},
		"a cluster role": {
			m{"methodName": "io.k8s.authorization.rbac.v1.clusterroles.delete", "resourceName": "rbac.authorization.k8s.io/v1/clusterroles/system:x", "response": nil},
			`delete clusterroles.rbac.authorization.k8s.io system:x, by jane@example.com, options "Background"`,
		},
		"a namespace": {m{"methodName": "io.k8s.core.v1.namespaces.delete", "resourceName": "core/v1/namespaces/shop", "response": nil}, `delete namespaces shop, by jane@example.com, options "Background"`},
		"the end of a namespace": {
			m{"methodName": "io.k8s.core.v1.namespaces.finalize.update", "resourceName": "core/v1/namespaces/shop/finalize", "response": nil},
			`update namespaces finalize shop, by jane@example.com, perhaps a dry run`,
		},
		"references that are removed": {
			m{"methodName": "io.k8s.core.v1.configmaps.patch", "resourceName": "core/v1/namespaces/shop/configmaps/web", "request": m{"@type": "k8s.io/Patch", "metadata": m{"ownerReferences": []any{m{"$patch": "delete", "uid": "o"}}}}, "response": object},
			`patch configmaps shop web uid, by jane@example.com, perhaps a dry run, unlinks 1; v1 ConfigMap/web in "shop" uid whole`,
		},
		"somebody acts as another": {m{"response": nil, "authenticationInfo": m{"principalEmail": "jane@example.com", "authoritySelector": "bob"}}, `delete pods shop web-1, by jane@example.com as bob, options "Background"`},
		"behind an account": {
			m{"response": nil, "authenticationInfo": m{"principalEmail": "deploy@shop-1.iam.gserviceaccount.com", "serviceAccountDelegationInfo": []any{m{"principalSubject": "user:jane@example.com"}, m{"firstPartyPrincipal": m{"principalEmail": "x"}}}}},
			`delete pods shop web-1, by user:jane@example.com as deploy@shop-1.iam.gserviceaccount.com, options "Background"`,
		},
		"a subject":                {m{"response": nil, "authenticationInfo": m{"principalSubject": "principal://pool/subject/x"}}, `delete pods shop web-1, by //pool/subject/x, options "Background"`},
		"refused":                  {m{"status": m{"code": 7}, "response": nil}, `delete pods shop web-1, by jane@example.com, options "Background", refused`},
		"refused, by the Status":   {m{"status": m{"code": 2}, "response": status(409)}, `delete pods shop web-1, by jane@example.com, options "Background", refused`},
		"a timeout":                {m{"status": m{"code": 4}, "response": nil}, `delete pods shop web-1, by jane@example.com, options "Background", unknown`},
		"a timeout, by the Status": {m{"status": m{"code": 10}, "response": status(504)}, `delete pods shop web-1, by jane@example.com, options "Background", unknown`},
		"a code of tomorrow":       {m{"status": m{"code": 99}, "response": nil}, `delete pods shop web-1, by jane@example.com, options "Background", unknown`},
		"no answer":                {m{"status": nil, "response": nil}, `delete pods shop web-1, by jane@example.com, options "Background", unknown`},
		"an update that failed":    {m{"methodName": "io.k8s.core.v1.pods.update", "status": m{"code": 10}}, ""},
		"a read":                   {m{"methodName": "io.k8s.core.v1.pods.get"}, ""},
		"another service":          {m{"serviceName": "iam.googleapis.com"}, ""},
		"another name":             {m{"resourceName": "projects/shop-1/k8s/namespaces/shop/pods/web-1"}, ""},
	} {
		var entry m
		if err := json.Unmarshal([]byte(googleEntry), &entry); err != nil {
			t.Fatal(err)
		}
		payload := entry["protoPayload"].(m)
		for key, value := range tt.changes {
			if payload[key] = value; value == nil {
				delete(payload, key)
			}
		}
		text, err := json.Marshal(entry)
		if err != nil {
			t.Fatal(err)
		}
		all, source := read(t, string(text))
		var got string
		if len(all) > 0 {
			got = summary(&all[0])
		}
		if got != tt.want || source.Unreadable > 0 {
			t.Errorf("%s:\ngot  %s\nwant %s\n%+v", name, got, tt.want, source)
		}
	}
}

// An operation that takes time has an entry at its beginning, which tells nothing of its end.
func TestABeginningAtGoogleCloudIsNoAnswer(t *testing.T) {
	for _, last := range []string{`"last":false`, `"producer":"x"`} {
		all, source := read(t, strings.Replace(googleEntry, `"last":true`, last, 1))
		if len(all) > 0 || source.Events != 1 {
			t.Errorf("%d requests, %+v", len(all), source)
		}
	}
	if all, _ := read(t, googleEntry); len(all) != 1 || all[0].Result != trace.Done {
		t.Errorf("%+v", all)
	}
}
