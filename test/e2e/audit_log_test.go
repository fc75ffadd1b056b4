package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace/logs"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// recordAuditLog writes some of the lines of TestAuditLogOfDeletions to a file that the reader is tested with.
var recordAuditLog = flag.Bool("record-audit-log", false, "write pkg/trace/logs/testdata/recorded.jsonl")

// lessDetail precedes the rules of docs/trace/audit-policy.yaml.
const lessDetail = `
- {level: Metadata, namespaces: [at-metadata], verbs: [create, update, patch, delete, deletecollection]}
- {level: Request, namespaces: [at-request], verbs: [create, update, patch, delete, deletecollection]}`

// auditFlags are flags of an API server that writes this audit log, by the policy in docs/trace with more rules in
// front of its own.
func auditFlags(t *testing.T, log, rules string) []string {
	t.Helper()
	policy, err := os.ReadFile("../../docs/trace/audit-policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "audit-policy.yaml")
	if err := os.WriteFile(path, bytes.Replace(policy, []byte("\nrules:"), []byte("\nrules:"+rules), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"audit-policy-file=" + path, "audit-log-path=" + log}
}

// The same deletions are in the log at each level of detail. The dry runs and the refused ones are not read, except
// that a dry run at level Metadata cannot be told from a deletion.
func TestAuditLogOfDeletions(t *testing.T) {
	log := filepath.Join(t.TempDir(), "audit.log")
	s := newSceneOf(t, testcluster.Options{
		ManagerFlags:   []string{"use-service-account-credentials=true"},
		APIServerFlags: auditFlags(t, log, lessDetail),
	})
	s.defineTestKinds()
	uids := map[string]types.UID{}
	for _, ns := range []string{"at-metadata", "at-request", "at-response"} {
		s.deleteInAllWays(ns, uids)
	}
	crd := definition("trace.example.com", "Trace", "Namespaced", version("v1", true))
	s.define(crd)
	s.create(newObject("trace.example.com/v1", "Trace", "default", "instance"))
	crd = s.live(crd)
	s.remove(crd, metav1.DeletePropagationBackground)
	s.awaitGone(crd)

	written, err := os.ReadFile(log)
	s.must(err)
	if *recordAuditLog {
		s.must(os.WriteFile("../../pkg/trace/logs/testdata/recorded.jsonl", linesForTests(s, written), 0o600))
	}
	deleted := map[string][]string{}
	var pod logs.Whole
	var all evidence
	source, err := logs.Read(t.Context(), bytes.NewReader(written), log, 0, &all)
	s.must(err)
	for _, q := range all.Requests {
		if q.Result != trace.Done {
			continue
		}
		is := q.Target
		if strings.HasPrefix(is.Name, "generated-") {
			is.Name = "generated"
		}
		if q.Verb == "delete" && is.Namespace != "" && is.Resource != "pods" && is.Resource != "replicasets" {
			deleted[is.Namespace] = append(deleted[is.Namespace], is.Name)
			if want := uids[is.Namespace+"/"+is.Name]; is.UID != want && (is.UID != "" || is.Namespace == "at-response" && is.Resource != "secrets") {
				s.Errorf("%s in %s has UID %q, want %q", is.Name, is.Namespace, is.UID, want)
			}
		}
		if is.Namespace == "at-response" && is.Name == "graceful" {
			pod = logs.Whole{Offset: q.Place.Offset, UID: q.Objects[0].UID}
		}
	}
	want := []string{
		"by-background", "by-background-child", "by-foreground", "by-foreground-child", "by-orphan", "web", "url", "bare",
		"held-update", "held-patch", "generated", "secret", "one", "held",
	}
	for _, ns := range []string{"at-metadata", "at-request", "at-response"} {
		want := want
		if ns == "at-metadata" {
			want = append(slices.Clone(want), "kept", "kept") // dry runs, which a body and a URL ask for
		}
		slices.Sort(want)
		slices.Sort(deleted[ns])
		if diff := cmp.Diff(want, deleted[ns]); diff != "" {
			s.Errorf("deletions in %s (-want +got):\n%s", ns, diff)
		}
	}
	if source.Unreadable > 0 || source.Levels["Metadata"] == 0 || source.Levels["Request"] == 0 || source.Levels["RequestResponse"] == 0 {
		s.Errorf("%+v", source)
	}

	// A Pod that is read back can be created again.
	var again *unstructured.Unstructured
	s.must(logs.ReadObjects(t.Context(), bytes.NewReader(written), log, []logs.Whole{pod}, func(_ logs.Whole, o *unstructured.Unstructured) { again = o }))
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers"} {
		unstructured.RemoveNestedField(again.Object, "metadata", field)
	}
	again.SetNamespace("default")
	s.create(object{again})
}

// linesForTests returns the lines of some requests, of updates only the last one.
func linesForTests(s *scene, log []byte) []byte {
	s.Helper()
	type kept struct {
		request string
		line    []byte
	}
	var lines []kept
	for line := range bytes.Lines(log) {
		var e struct {
			Verb           string
			ResponseStatus struct{ Code int }
			ObjectRef      struct{ Namespace, Name, Resource, Subresource string }
		}
		s.must(json.Unmarshal(line, &e))
		if strings.HasPrefix(e.ObjectRef.Name, "web-") {
			e.ObjectRef.Name = "web-"
		}
		resource := strings.TrimSuffix(e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/")
		request := fmt.Sprint(e.ResponseStatus.Code, " ", e.Verb, " ", resource, " ", e.ObjectRef.Namespace, " ", e.ObjectRef.Name)
		if !slices.Contains(requestsForTests, request) {
			continue
		}
		if e.Verb == "update" {
			lines = slices.DeleteFunc(lines, func(l kept) bool { return l.request == request })
		}
		lines = append(lines, kept{request, line})
	}
	var text []byte
	for _, l := range lines {
		text = append(text, l.line...)
	}
	return text
}

var requestsForTests = []string{
	"200 delete configmaps at-metadata by-foreground",
	"200 delete configmaps at-metadata by-foreground-child",
	"201 create pods/eviction at-metadata evicted",
	"200 delete configmaps at-metadata kept",
	"200 update configmaps at-metadata held-update",
	"201 create configmaps at-request by-foreground-child",
	"200 delete configmaps at-request by-foreground",
	"200 delete configmaps at-request by-foreground-child",
	"201 create pods/eviction at-request evicted",
	"200 delete configmaps at-response by-background",
	"201 create configmaps at-response by-foreground-child",
	"200 delete configmaps at-response by-foreground",
	"200 delete configmaps at-response by-foreground-child",
	"200 patch configmaps at-response by-foreground",
	"200 patch configmaps at-response by-orphan-child",
	"200 delete deployments at-response web",
	"200 delete pods at-response web-",
	"200 delete configmaps at-response url",
	"200 delete configmaps at-response bare",
	"200 delete pods at-response graceful",
	"200 delete configmaps at-response kept",
	"404 delete configmaps at-response absent",
	"409 delete configmaps at-response kept",
	"403 delete configmaps at-response kept",
	"200 update configmaps at-response held-update",
	"200 patch configmaps at-response held-patch",
	"201 patch configmaps at-response applied",
	"200 delete widgets at-response one",
	"200 deletecollection widgets at-response ",
	"200 delete namespaces at-response at-response",
	"200 deletecollection configmaps at-response ",
	"200 update namespaces/finalize at-response at-response",
	"200 delete customresourcedefinitions  traces.trace.example.com",
	"200 update customresourcedefinitions/status  traces.trace.example.com",
}

// deleteInAllWays fills and deletes a namespace, and adds the UIDs of its objects by namespace/name.
func (s *scene) deleteInAllWays(ns string, uids map[string]types.UID) {
	s.Helper()
	space := s.create(newObject("v1", "Namespace", "", ns))
	jane := func(args ...string) {
		s.kubectl(append(args, "-n", ns, "--as=jane@example.com", "--as-group=system:masters")...)
	}
	create := func(o object) object {
		s.Helper()
		o = s.create(o)
		uids[ns+"/"+o.GetName()] = o.GetUID()
		return o
	}
	deletion := func(o object, options metav1.DeleteOptions) error {
		return s.client(o).Delete(s.Context(), o.GetName(), options)
	}

	for _, policy := range []string{"background", "foreground", "orphan"} {
		owner := create(configMap(ns, "by-"+policy))
		child := create(configMap(ns, "by-"+policy+"-child", ownedBy(referenceTo(owner, blocking, controlling))))
		jane("delete", "configmap", "by-"+policy, "--cascade="+policy, "--wait=false")
		s.awaitGone(owner)
		if policy != "orphan" {
			s.awaitGone(child)
		}
	}
	web := create(newObject("apps/v1", "Deployment", ns, "web", withField("spec", map[string]any{
		"replicas": int64(1), "selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
		"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "web"}}, "spec": podSpec()},
	})))
	pods := s.dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(ns)
	s.await("the pod", func(context.Context) (bool, error) {
		list, err := pods.List(s.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == 1, err
	})
	jane("delete", "deployment", "web", "--cascade=foreground", "--wait=false")
	s.awaitGone(web)

	create(configMap(ns, "url"))
	jane("delete", "--raw=/api/v1/namespaces/"+ns+"/configmaps/url?propagationPolicy=Foreground&gracePeriodSeconds=0")
	create(configMap(ns, "bare"))
	jane("delete", "--raw=/api/v1/namespaces/"+ns+"/configmaps/bare")

	for _, name := range []string{"evicted", "graceful"} {
		p := create(pod(ns, name, heldBy("example.com/hold")))
		if name == "evicted" {
			_, err := s.client(p).Create(s.Context(), newObject("policy/v1", "Eviction", ns, name).Unstructured, metav1.CreateOptions{}, "eviction")
			s.must(err)
		} else {
			s.must(deletion(p, metav1.DeleteOptions{}))
		}
		now, uid := int64(0), p.GetUID() // as a kubelet does
		s.must(deletion(p, metav1.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &uid}}))
		s.patch(p, `{"metadata":{"finalizers":null}}`)
		s.awaitGone(p)
	}

	// Dry runs, and answers 404, 409 and 403.
	kept := create(configMap(ns, "kept"))
	jane("delete", "configmap", "kept", "--dry-run=server")
	jane("delete", "--raw=/api/v1/namespaces/"+ns+"/configmaps/kept?dryRun=All")
	jane("delete", "configmap", "absent")
	other := types.UID("00000000-0000-0000-0000-000000000000")
	if err := deletion(kept, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}); !apierrors.IsConflict(err) {
		s.Fatal(err)
	}
	s.kubectl("delete", "configmap", "kept", "-n", ns, "--context="+s.controlPlane.Context("dave")).exits(s, 1)

	for _, verb := range []string{"update", "patch"} {
		o := create(configMap(ns, "held-"+verb, heldBy("example.com/hold")))
		s.must(deletion(o, metav1.DeleteOptions{}))
		if verb == "patch" {
			s.patch(o, `{"metadata":{"finalizers":null}}`)
			continue
		}
		live := s.live(o)
		live.SetFinalizers(nil)
		_, err := s.client(o).Update(s.Context(), live.Unstructured, metav1.UpdateOptions{})
		s.must(err)
	}
	generated := configMap(ns, "")
	generated.SetGenerateName("generated-")
	generated = s.create(generated)
	uids[ns+"/generated"] = generated.GetUID()
	s.must(deletion(generated, metav1.DeleteOptions{}))
	_, err := s.client(kept).Apply(s.Context(), "applied", configMap(ns, "applied").Unstructured, metav1.ApplyOptions{FieldManager: "e2e"})
	s.must(err)
	s.must(deletion(create(secret(ns, "secret")), metav1.DeleteOptions{}))

	widget := create(newObject(customGroup+"/v1", "Widget", ns, "one"))
	s.must(deletion(widget, metav1.DeleteOptions{}))
	create(newObject(customGroup+"/v1", "Widget", ns, "two", labelled("app", "web")))
	s.must(s.client(widget).DeleteCollection(s.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=web"}))
	held := create(newObject(customGroup+"/v1", "Widget", ns, "held", heldBy("example.com/hold")))
	s.must(deletion(held, metav1.DeleteOptions{}))
	s.patch(held, `{"metadata":{"finalizers":null}}`)

	jane("delete", "namespace", ns, "--wait=false")
	s.awaitGone(space)
}
