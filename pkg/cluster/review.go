package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// attributes are what an authorizer knows of a request (authorization.k8s.io/v1,
// ResourceAttributes). Without a name it is about any object, without a namespace about
// all of them, or about what is cluster-scoped.
type attributes struct {
	Namespace string `json:"namespace,omitempty"`
	Verb      string `json:"verb"`
	Group     string `json:"group,omitempty"`
	Resource  string `json:"resource"`
	Name      string `json:"name,omitempty"`
}

// review is a SelfSubjectAccessReview or a SelfSubjectRulesReview, as far as it is of
// interest here. The types of these APIs register all others of the group.
type review struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Spec       reviewSpec   `json:"spec"`
	Status     reviewStatus `json:"status,omitzero"`
}

type reviewSpec struct {
	ResourceAttributes *attributes `json:"resourceAttributes,omitempty"`
	Namespace          string      `json:"namespace,omitempty"`
}

type reviewStatus struct {
	Allowed         *bool  `json:"allowed"`
	ResourceRules   []rule `json:"resourceRules"`
	Incomplete      *bool  `json:"incomplete"`
	EvaluationError string `json:"evaluationError"`
}

// review has the server say what we may do. It stores nothing.
func (c *Cluster) review(ctx context.Context, kind, resource string, spec reviewSpec) (*reviewStatus, error) {
	body, err := json.Marshal(review{APIVersion: "authorization.k8s.io/v1", Kind: kind, Spec: spec})
	if err != nil {
		return nil, err
	}
	raw, err := c.rest.Post().AbsPath("apis", "authorization.k8s.io", "v1", resource).
		SetHeader("Content-Type", runtime.ContentTypeJSON).SetHeader("Accept", runtime.ContentTypeJSON).
		MaxRetries(retryAfter).Body(body).Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var answer review
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("decode a %s: %w", kind, err)
	}
	return &answer.Status, verifyReview(&answer, kind, spec)
}

// may asks about one request. An error is no answer.
func (c *Cluster) may(ctx context.Context, at attributes) (bool, error) {
	status, err := c.review(ctx, "SelfSubjectAccessReview", "selfsubjectaccessreviews", reviewSpec{ResourceAttributes: &at})
	switch {
	case err != nil:
		return false, err
	case status.Allowed == nil:
		return false, errors.New("the answer does not say whether it is allowed")
	case !*status.Allowed && status.EvaluationError != "":
		return false, errors.New(status.EvaluationError)
	}
	return *status.Allowed, nil
}

// rules are what we may do in a namespace; whole says that there are no others.
func (c *Cluster) rules(ctx context.Context, namespace string) (rules []rule, whole bool) {
	status, err := c.review(ctx, "SelfSubjectRulesReview", "selfsubjectrulesreviews", reviewSpec{Namespace: namespace})
	if err != nil {
		return nil, false
	}
	return status.ResourceRules, status.Incomplete != nil && !*status.Incomplete && status.EvaluationError == ""
}
