package client

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestRefusedByAdmission(t *testing.T) {
	const rbac = `configmaps "a" is forbidden: User "alice" cannot delete resource "configmaps" in API group "" in the namespace "shop"`
	for name, c := range map[string]struct {
		code    int32
		message string
		webhook string
		want    reason.WebhookRefuses
		refused bool
	}{
		"a right that is missing":     {403, rbac, "", reason.WebhookRefuses{Said: rbac}, false},
		"a right to a whole type":     {403, `configmaps is forbidden: User "alice" cannot list resource`, "", reason.WebhookRefuses{Said: `configmaps is forbidden: User "alice" cannot list resource`}, false},
		"a conflict":                  {409, "the object has been modified", "", reason.WebhookRefuses{Said: "the object has been modified"}, false},
		"an object that is gone":      {404, `configmaps "a" not found`, "", reason.WebhookRefuses{Said: `configmaps "a" not found`}, false},
		"an object that is not valid": {422, `ConfigMap "a" is invalid: data: Required value`, "", reason.WebhookRefuses{Said: `ConfigMap "a" is invalid: data: Required value`}, true},
		"another plugin":              {403, `pods "a" is forbidden: exceeded quota: q`, "", reason.WebhookRefuses{Said: `pods "a" is forbidden: exceeded quota: q`}, true},
		"a webhook that cannot be called": {
			500, `Internal error occurred: failed calling webhook "g.example.com": failed to call webhook: Post "https://h/": x509: unknown authority`,
			"g.example.com",
			reason.WebhookRefuses{Said: `failed calling webhook "g.example.com": failed to call webhook: Post "https://h/": x509: unknown authority`},
			true,
		},
		"a webhook that denies": {
			400, `admission webhook "g.example.com" denied the request: frozen`,
			"g.example.com",
			reason.WebhookRefuses{Decided: true, Said: `admission webhook "g.example.com" denied the request: frozen`},
			true,
		},
		"a webhook that denies and speaks of rights": {
			403, `admission webhook "g.example.com" denied the request: ` + rbac,
			"g.example.com",
			reason.WebhookRefuses{Decided: true, Said: `admission webhook "g.example.com" denied the request: ` + rbac},
			true,
		},
		"a webhook that denies and speaks of dry runs": {
			400, `admission webhook "g.example.com" denied the request: admission webhook "x" does not support dry run`,
			"g.example.com",
			reason.WebhookRefuses{Decided: true, Said: `admission webhook "g.example.com" denied the request: admission webhook "x" does not support dry run`},
			true,
		},
		"a webhook with side effects": {
			400, `admission webhook "g.example.com" does not support dry run`,
			"g.example.com",
			reason.WebhookRefuses{Said: `admission webhook "g.example.com" does not support dry run`},
			false,
		},
		"a webhook that changes what is deleted": {
			500, `Internal error occurred: admission webhook "g.example.com" attempted to modify the object, which is not supported for this operation`,
			"g.example.com",
			reason.WebhookRefuses{Said: `admission webhook "g.example.com" attempted to modify the object, which is not supported for this operation`},
			true,
		},
		"a policy": {
			422, `persistentvolumeclaims "data" is forbidden: ValidatingAdmissionPolicy 'limit' with binding 'all' denied request: too large`,
			"",
			reason.WebhookRefuses{Configuration: object.Identity{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy", Name: "limit"}, Binding: "all", Decided: true, Said: "too large"},
			true,
		},
		"a policy with reason Forbidden": {
			403, `persistentvolumeclaims "data" is forbidden: ValidatingAdmissionPolicy 'limit' with binding 'all' denied request: User "x" cannot`,
			"",
			reason.WebhookRefuses{Configuration: object.Identity{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy", Name: "limit"}, Binding: "all", Decided: true, Said: `User "x" cannot`},
			true,
		},
		"a policy without its parameter": {
			422, `persistentvolumeclaims "data" is forbidden: ValidatingAdmissionPolicy 'limit' with binding 'all' denied request: failed to configure binding: no params found`,
			"",
			reason.WebhookRefuses{Configuration: object.Identity{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy", Name: "limit"}, Binding: "all", Said: "failed to configure binding: no params found"},
			true,
		},
		"a policy that is not configured": {
			422, `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'limit' denied request: failed to configure policy: no`,
			"",
			reason.WebhookRefuses{Configuration: object.Identity{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy", Name: "limit"}, Said: "failed to configure policy: no"},
			true,
		},
		"a policy whose expression fails": {
			422, `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'limit' with binding 'all' denied request: expression 'object.x' resulted in error: no such key: x`,
			"",
			reason.WebhookRefuses{Configuration: object.Identity{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy", Name: "limit"}, Binding: "all", Said: "expression 'object.x' resulted in error: no such key: x"},
			true,
		},
		"a mutating policy": {
			403, `policy 'limit' with binding 'all' denied request: failed to configure binding: no params found`,
			"",
			reason.WebhookRefuses{Configuration: object.Identity{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingAdmissionPolicy", Name: "limit"}, Binding: "all", Said: "failed to configure binding: no params found"},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := error(&apierrors.StatusError{ErrStatus: metav1.Status{Code: c.code, Message: c.message}})
			got, webhook, refused := RefusedByAdmission(err)
			if diff := cmp.Diff(c.want, got); diff != "" || refused != c.refused || webhook != c.webhook {
				t.Errorf("webhook %q, refused: %v (-want +got)\n%s", webhook, refused, diff)
			}
		})
	}
	if _, _, refused := RefusedByAdmission(errors.New(`admission webhook "x" denied the request`)); refused {
		t.Error("an error that is no answer of the API server counts")
	}
}
