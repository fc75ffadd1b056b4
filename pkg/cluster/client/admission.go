package client

import (
	"errors"
	"net/http"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// The messages of upstream: ErrCallingWebhook.Error, ToStatusErr and NewDryRunUnsupportedErr of webhooks, Dispatch of
// ValidatingAdmissionPolicies, PolicyError.Error of MutatingAdmissionPolicies, forbiddenMessage of the API server. They
// come before what a webhook or policy says, which so cannot pass for another's.
var (
	webhookMessage   = regexp.MustCompile(`^(failed calling|admission) webhook "([^"]+)"( denied the request)?`)
	noDryRunMessage  = regexp.MustCompile(`^admission webhook "[^"]+" does not support dry run$`)
	policyMessage    = regexp.MustCompile(`^(?:\S+ "(?:[^"\\]|\\.)*" is forbidden: )?(ValidatingAdmissionPolicy|policy) ['"]([^'"]+)['"] (?:with binding '([^']+)' )?denied request: `)
	policyFails      = regexp.MustCompile(`^(failed to configure |failed messageExpression: |compilation )|resulted in error: `)
	forbiddenMessage = regexp.MustCompile(`^\S+ (?:"(?:[^"\\]|\\.)*" )?is forbidden: User "`)
)

// RefusedByAdmission reports whether the error of a write means that the API server refuses it, and not that the user
// lacks a right, that the object has changed or is gone, or that the server does not answer. It returns what refuses,
// without the write: a policy, or the name of a webhook instead of its configuration, or neither, as it may be validation
// or another plugin. Of a webhook that cannot be asked by dry run, as it declares side effects, it returns the name, and
// false.
func RefusedByAdmission(err error) (by reason.WebhookRefuses, webhook string, refused bool) {
	var failed apierrors.APIStatus
	if !errors.As(err, &failed) {
		return by, "", false
	}
	code := failed.Status().Code
	by.Said = strings.TrimPrefix(failed.Status().Message, "Internal error occurred: ")
	if found := webhookMessage.FindStringSubmatch(by.Said); found != nil {
		by.Decided = found[3] != ""
		return by, found[2], !noDryRunMessage.MatchString(by.Said)
	}
	if found := policyMessage.FindStringSubmatch(by.Said); found != nil {
		by.Configuration = object.Identity{APIVersion: "admissionregistration.k8s.io/v1", Kind: found[1], Name: found[2]}
		by.Binding, by.Said = found[3], by.Said[len(found[0]):]
		by.Decided = !policyFails.MatchString(by.Said)
		if found[1] == "policy" { // which changes objects, and never decides
			by.Configuration.Kind, by.Decided = "MutatingAdmissionPolicy", false
		}
		return by, "", true
	}
	return by, "", code == http.StatusUnprocessableEntity || code == http.StatusForbidden && !forbiddenMessage.MatchString(by.Said)
}
