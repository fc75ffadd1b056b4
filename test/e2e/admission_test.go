package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const admissionGroup = "admissionregistration.k8s.io/v1"

// guardPolicy creates a policy and its binding for an operation on ConfigMaps.
func (s *scene) guardPolicy(name, operation string, spec, binding map[string]any) {
	s.Helper()
	constraints, _ := spec["matchConstraints"].(map[string]any)
	if constraints == nil {
		constraints = map[string]any{}
	}
	constraints["resourceRules"] = []any{map[string]any{"operations": []any{operation}, "apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"configmaps"}}}
	spec["matchConstraints"] = constraints
	s.create(newObject(admissionGroup, "ValidatingAdmissionPolicy", "", name, withField("spec", spec)))
	bound := map[string]any{"policyName": name, "validationActions": []any{"Deny"}}
	for field, value := range binding {
		bound[field] = value
	}
	s.create(newObject(admissionGroup, "ValidatingAdmissionPolicyBinding", "", name, withField("spec", bound)))
}

// guardWebhook creates a webhook that is called for deletions of ConfigMaps with a label, and refuses all of them.
func (s *scene) guardWebhook(name string) {
	s.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			APIVersion, Kind string
			Request          struct{ UID string }
		}
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			s.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": review.APIVersion, "kind": review.Kind, "response": map[string]any{
			"uid": review.Request.UID, "allowed": false, "status": map[string]any{"message": "the guard keeps it"},
		}})
	}))
	s.Cleanup(server.Close)
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	s.create(newObject(admissionGroup, "ValidatingWebhookConfiguration", "", name, withField("webhooks", []any{map[string]any{
		"name": name + ".example.com", "sideEffects": "None", "admissionReviewVersions": []any{"v1"}, "failurePolicy": "Fail",
		"clientConfig":   map[string]any{"url": server.URL, "caBundle": authority},
		"rules":          []any{map[string]any{"operations": []any{"DELETE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"configmaps"}}},
		"objectSelector": map[string]any{"matchLabels": map[string]any{"guard": name}},
	}})))
}

// guarded is one deletion of an owner with a dependent that a guard keeps, or may.
type guarded struct {
	namespace string
	objects   []object
	flags     []string
	predicted map[string]string // by kind and name
}

// What a preview says of an object.
const (
	goes, waits, stays, uncertain = "deleted", "terminating", "not deleted", "uncertain"
)

// previewLine is a line of a preview: the label, and the object.
var previewLine = regexp.MustCompile(`(?m)^(\S+)? .*?((?:ConfigMap|Secret|Namespace)/\S+)(.*)$`)

// predict takes what a preview says of each object.
func (g *guarded) predict(preview string) {
	g.predicted = map[string]string{}
	above := ""
	for _, found := range previewLine.FindAllStringSubmatch(preview, -1) {
		if found[1] != "" {
			above = found[1]
		}
		said := map[string]string{"delete": goes, "blocked": stays, "keep": stays, "uncertain": uncertain}[above]
		switch {
		case strings.Contains(found[3], "uncertain: "):
			said = uncertain
		case said == goes && (strings.Contains(found[3], "blocked by") || strings.Contains(found[3], "waits")):
			said = waits
		}
		if g.predicted[found[2]] == "" {
			g.predicted[found[2]] = said
		}
	}
}

// disagrees returns where the cluster is not as predicted.
func (g *guarded) disagrees(s *scene, ctx context.Context) (out []string) {
	for _, o := range g.objects {
		name := o.GetKind() + "/" + o.GetName()
		live, err := s.client(o).Get(ctx, o.GetName(), metav1.GetOptions{})
		now := stays
		switch {
		case apierrors.IsNotFound(err):
			now = goes
		case err != nil:
			now = err.Error()
		case live.GetDeletionTimestamp() != nil:
			now = waits
		}
		want := g.predicted[name]
		if want == "" {
			want = stays
		}
		if want != uncertain && now != want {
			out = append(out, fmt.Sprintf("%s in %s %v is %s, predicted: %s", name, g.namespace, g.flags, now, want))
		}
	}
	return out
}

// Admission that keeps a dependent stops a cascade halfway. A preview that asks the API server shows where, with each policy of
// the deletion.
func TestWhatAdmissionKeepsEndsAsPredicted(t *testing.T) {
	s := withRealCollector.newScene(t)
	settings := s.namespace("settings")
	s.create(configMap(settings, "kept-names", withField("data", map[string]any{"names": "by-parameter,other"})))
	s.guardPolicy("by-label", "DELETE", map[string]any{
		"matchConstraints": map[string]any{"objectSelector": map[string]any{"matchLabels": map[string]any{"guard": "label"}}},
		"validations":      []any{map[string]any{"expression": "false", "message": "its label keeps it"}},
	}, nil)
	s.guardPolicy("by-parameter", "DELETE", map[string]any{
		"paramKind":   map[string]any{"apiVersion": "v1", "kind": "ConfigMap"},
		"validations": []any{map[string]any{"expression": "!(oldObject.metadata.name in params.data.names.split(','))", "message": "it is on the list"}},
	}, map[string]any{"paramRef": map[string]any{"name": "kept-names", "namespace": settings, "parameterNotFoundAction": "Allow"}})
	s.guardPolicy("by-condition", "DELETE", map[string]any{
		"matchConditions": []any{map[string]any{"name": "keep", "expression": "oldObject.metadata.name.startsWith('keep-')"}},
		"validations":     []any{map[string]any{"expression": "false", "message": "its name keeps it"}},
	}, nil)
	s.guardPolicy("by-user", "DELETE", map[string]any{
		"matchConstraints": map[string]any{"objectSelector": map[string]any{"matchLabels": map[string]any{"guard": "user"}}},
		"validations":      []any{map[string]any{"expression": "request.userInfo.username.startsWith('system:')"}},
	}, nil)
	s.guardPolicy("frozen", "UPDATE", map[string]any{
		"matchConstraints": map[string]any{"objectSelector": map[string]any{"matchLabels": map[string]any{"frozen": "true"}}},
		"validations":      []any{map[string]any{"expression": "false", "message": "it is frozen"}},
	}, nil)
	s.guardWebhook("asked")
	s.Cleanup(func() { // before the scene deletes what they keep
		for _, o := range s.created {
			if strings.HasPrefix(o.GetAPIVersion(), "admissionregistration.k8s.io/") {
				s.must(s.deleteObject(context.Background(), o))
			}
		}
		s.await("the end of the guards", func(ctx context.Context) (bool, error) {
			for _, o := range s.created {
				err := s.client(o).Delete(ctx, o.GetName(), metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
				if err != nil && !apierrors.IsNotFound(err) {
					return false, nil
				}
			}
			return true, nil
		})
	})
	s.startRealCollector()

	guards := []struct {
		name  string
		more  []func(object)
		flags []string
		says  string
	}{
		{"labelled", []func(object){labelled("guard", "label")}, nil, "stays as long as ValidatingAdmissionPolicy/by-label refuses its deletion: its label keeps it"},
		{"by-parameter", nil, nil, "stays as long as ValidatingAdmissionPolicy/by-parameter refuses its deletion: it is on the list"},
		{"keep-this", nil, nil, "stays as long as ValidatingAdmissionPolicy/by-condition refuses its deletion: its name keeps it"},
		{"asked", []func(object){labelled("guard", "asked")}, []string{"--ask-as-controllers"}, "stays as long as ValidatingWebhookConfiguration/asked (webhook asked.example.com) refuses its deletion: "},
		{"asked-as-you", []func(object){labelled("guard", "asked")}, nil, "(webhook asked.example.com) refuses its deletion for you, so perhaps for the garbage collector"},
		{"of-users", []func(object){labelled("guard", "user")}, nil, "ValidatingAdmissionPolicy/by-user refuses its deletion for you, so perhaps for the garbage collector"},
	}
	for _, guard := range guards { // policies and webhooks take effect some time after they are created
		probe := s.create(configMap(settings, guard.name, guard.more...))
		s.await("the guard of "+guard.name, func(ctx context.Context) (bool, error) {
			err := s.client(probe).Delete(ctx, guard.name, metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
			return err != nil, nil
		})
	}
	frozen := s.create(configMap(settings, "frozen", labelled("frozen", "true")))
	s.await("the guard of updates", func(ctx context.Context) (bool, error) {
		_, err := s.client(frozen).Patch(ctx, "frozen", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil, nil
	})
	var all []*guarded
	for _, guard := range guards {
		for _, policy := range policies {
			ns := s.namespace("guarded")
			owner := s.create(secret(ns, "owner"))
			free := s.create(configMap(ns, "free", ownedBy(referenceTo(owner, blocking))))
			kept := s.create(configMap(ns, guard.name, append(guard.more, ownedBy(referenceTo(owner, blocking)))...))
			leaf := s.create(configMap(ns, "leaf", ownedBy(referenceTo(kept, blocking))))
			g := &guarded{namespace: ns, objects: []object{owner, free, kept, leaf}}
			g.flags = append([]string{"secret/owner", "-n", ns, "--cascade=" + strings.ToLower(string(policy))}, guard.flags...)
			all = append(all, g)
			preview := s.gc(append([]string{"delete", "--dry-run=server"}, g.flags...)...)
			if policy != metav1.DeletePropagationOrphan {
				preview.shows(t, guard.says)
			}
			preview.exits(t, map[bool]int{true: 1}[strings.Contains(preview.Stdout, "stays as long as ")])
			g.predict(preview.Stdout)
		}
	}
	for _, policy := range policies { // references and finalizers that nobody may remove
		ns := s.namespace("frozen")
		owner := s.create(secret(ns, "owner"))
		other := s.create(secret(ns, "other"))
		both := s.create(configMap(ns, "both", labelled("frozen", "true"), ownedBy(referenceTo(owner, blocking), referenceTo(other))))
		g := &guarded{namespace: ns, objects: []object{owner, other, both}, flags: []string{"secret/owner", "-n", ns, "--cascade=" + strings.ToLower(string(policy))}}
		all = append(all, g)
		g.predict(s.gc(append([]string{"delete", "--dry-run=server"}, g.flags...)...).exits(t, 0).Stdout)
	}
	ns := s.namespace("guarded")
	kept := s.create(configMap(ns, "labelled", labelled("guard", "label")))
	space := newObject("v1", "Namespace", "", ns)
	g := &guarded{namespace: ns, objects: []object{space, s.create(secret(ns, "other")), kept}, flags: []string{"namespace/" + ns}}
	all = append(all, g)
	g.predict(s.gc("delete", "--dry-run=server", "namespace/"+ns).exits(t, 1).shows(t, "stays as long as ValidatingAdmissionPolicy/by-label refuses its deletion").Stdout)

	for _, g := range all {
		s.gc(append([]string{"delete", "--yes", "--no-backup", "--timeout=1s"}, g.flags...)...)
	}
	var left []string
	disagree := func(ctx context.Context) bool {
		left = nil
		for _, g := range all {
			left = append(left, g.disagrees(s, ctx)...)
		}
		return len(left) > 0
	}
	for range 100 {
		if !disagree(t.Context()) {
			break
		}
		s.awaitSentinel(settings)
	}
	s.awaitSentinel(settings)
	disagree(t.Context())
	for _, line := range left {
		t.Error(line)
	}
	certain := 0
	for _, g := range all {
		for _, said := range g.predicted {
			if said != uncertain {
				certain++
			}
		}
	}
	t.Logf("%d deletions, %d certain predictions", len(all), certain)
}
