package trust

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// webhooks is the type of the configurations of validating webhooks.
var webhooks = admissionType("validatingwebhookconfigurations", "ValidatingWebhookConfiguration")

func admissionType(resource, kind string) *Type {
	return &Type{GroupVersionResource: schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: resource}, Kind: kind}
}

// guardedScene has an owner with three dependents, and types of admission.
func guardedScene(t *testing.T) (*Server, *user) {
	s := NewServer(t)
	s.Serve(webhooks, admissionType("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
		admissionType("validatingadmissionpolicies", "ValidatingAdmissionPolicy"), admissionType("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"))
	owner := s.Add(Secrets.Object("shop", "owner"))
	for i := range 3 {
		s.Add(ownedBy(ConfigMaps.Object("shop", fmt.Sprintf("c%d", i)), referenceTo(owner)))
	}
	return s, newUser(t, s)
}

// guard adds a webhook for deletions of ConfigMaps, which refuses that of c1.
func (s *Server) guard() {
	configuration := webhooks.Object("", "guard")
	configuration.Fields = map[string]any{"webhooks": []any{map[string]any{
		"name": "guard.example.com", "clientConfig": map[string]any{"url": "https://127.0.0.1:1"},
		"rules": []any{map[string]any{"operations": []any{"DELETE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"configmaps"}}},
	}}}
	s.Add(configuration)
	s.Admit = func(operation string, o *apiserver.Object) error {
		if operation == "DELETE" && o.Name == "c1" {
			return apierrors.NewBadRequest(`admission webhook "guard.example.com" denied the request: it is in use`)
		}
		return nil
	}
}

// dryRuns returns the names of the objects that dry runs were about, sorted.
func (s *Server) dryRuns() (out []string) {
	for _, r := range s.Requests() {
		if r.Method != http.MethodGet && !r.Write() && !strings.Contains(r.Path, "/authorization.k8s.io/") {
			out = append(out, r.Path[strings.LastIndex(r.Path, "/")+1:])
		}
	}
	slices.Sort(out)
	return out
}

// A deletion asks the API server by dry run about what it takes along, once each, and only if a webhook or policy may refuse.
func TestAdmissionIsAskedOnceAboutWhatAGuardMatches(t *testing.T) {
	t.Parallel()
	s, u := guardedScene(t)
	u.runs("delete", "secret/owner", "-n", "shop", "--dry-run=server").exits(0)
	if got := s.dryRuns(); !slices.Equal(got, []string{"owner"}) { // which the run itself sends
		t.Errorf("without a guard, the dry runs are about %q", got)
	}
	for _, r := range s.Requests() {
		if strings.Contains(r.Path, "/validatingadmissionpolic") && !strings.Contains(r.Header.Get("Accept"), "as=") {
			t.Errorf("without a guard: %s %s", r.Method, r.Path)
		}
	}

	s.guard()
	s.ForgetRequests()
	u.runs("delete", "secret/owner", "-n", "shop", "--dry-run").exits(0)
	if got := s.dryRuns(); len(got) > 0 {
		t.Errorf("a preview that sends no writes asks about %q", got)
	}
	s.ForgetRequests()
	out := u.runs("delete", "secret/owner", "-n", "shop", "--dry-run=server").exits(0).stdout
	if got, want := s.dryRuns(), []string{"c0", "c1", "c2", "owner"}; !slices.Equal(got, want) {
		t.Errorf("the dry runs are about %q, want %q", got, want)
	}
	if want := "uncertain shop ConfigMap/c1 may stay as it is: ValidatingWebhookConfiguration/guard (webhook guard.example.com) refuses its deletion for you, so perhaps for the garbage collector: it is in use"; !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
		t.Errorf("%q is not in\n%s", want, out)
	}
	s.ForgetRequests()
	u.runs("delete", "secret/owner", "-n", "shop", "--yes", "--no-backup", "--timeout=5s")
	if got, want := s.dryRuns(), []string{"c0", "c1", "c2"}; !slices.Equal(got, want) {
		t.Errorf("a run asks about %q, want %q", got, want)
	}
}

// An aggregated API server may carry out what is sent as a dry run, so nothing is tried there before the question.
func TestNothingIsTriedInAnAggregatedAPIBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of   *Type
		want []string
	}{
		"a built-in type": {ConfigMaps, []string{"a"}},
		"another server":  {aggregated("metrics.example.com", "samples", "Sample"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewServer(t)
			if c.of != ConfigMaps {
				s.Serve(c.of)
			}
			former := referenceTo(s.Add(Secrets.Object("shop", "owner")))
			former.UID, former.BlockOwnerDeletion = "former", new(true)
			s.Add(ownedBy(c.of.Object("shop", "a"), former))
			newUser(t, s).runs("repair", c.of.Resource+"/a", "-n", "shop", "--fix", "relink").exits(4)
			if got := s.dryRuns(); !slices.Equal(got, c.want) {
				t.Errorf("dry runs are sent about %q, want %q", got, c.want)
			}
		})
	}
}
