package proxy

import (
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maybeExecute forwards a write, or not: the client cannot tell from the false response whether
// it was executed.
func (t *falseResponse) maybeExecute() {
	if t.class == write && t.dice.IntN(2) == 0 {
		t.ask()
	}
}

func instead(contentType, body string) func(*falseResponse) *response {
	return func(t *falseResponse) *response {
		t.maybeExecute()
		return text(http.StatusOK, contentType, body)
	}
}

var otherCodes = []int{
	http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusConflict, http.StatusGone,
	http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusServiceUnavailable,
}

func otherCode(t *falseResponse) *response {
	honest := t.ask()
	if !honest.ok() || honest.doc == nil {
		return nil
	}
	out := t.answer(honest.doc)
	out.code = otherCodes[t.dice.IntN(len(otherCodes))]
	return out
}

func (t *falseResponse) status(code int, reason metav1.StatusReason, message, resource, name string) *response {
	return t.answer(map[string]any{
		"apiVersion": "v1", "kind": "Status", "metadata": map[string]any{}, "status": metav1.StatusFailure, "message": message, "reason": string(reason),
		"code": code, "details": map[string]any{"kind": resource, "name": name},
	})
}

func failureIn200(t *falseResponse) *response {
	t.maybeExecute()
	if t.dice.IntN(2) == 0 {
		return t.status(http.StatusForbidden, metav1.StatusReasonForbidden, "you may not", t.resource, t.name)
	}
	return t.status(http.StatusInternalServerError, metav1.StatusReasonInternalError, "etcdserver: request timed out", t.resource, t.name)
}

func notFoundIn200(t *falseResponse) *response {
	return t.status(http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", t.resource, t.name), t.resource, t.name)
}

func notFoundOfOther(t *falseResponse) *response {
	name := t.name + "-2"
	out := t.status(http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s %q not found", t.resource, name), t.resource, name)
	out.code = http.StatusNotFound
	return out
}

func noDocument(t *falseResponse) *response {
	t.maybeExecute()
	return t.inJSON([]any{nil, []any{}, "ok", map[string]any{}, true}[t.dice.IntN(5)])
}

func otherTable(t *falseResponse) *response {
	honest := t.ask()
	if honest.doc["kind"] != "Table" {
		return nil
	}
	doc := deepCopy(honest.doc)
	doc["kind"] = []string{"PartialObjectMetadataList", "List", "Status", "APIResourceList"}[t.dice.IntN(4)]
	return t.inJSON(doc)
}

func otherReview(t *falseResponse) *response {
	honest := t.ask()
	if !honest.ok() {
		return nil
	}
	doc := deepCopy(honest.doc)
	doc["kind"] = []string{"SubjectAccessReview", "TokenReview", "SelfSubjectReview", "Table"}[t.dice.IntN(4)]
	return t.inJSON(doc)
}
