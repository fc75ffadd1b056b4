package read

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Grant is the result of access reviews for a right. It is zero if the type is not served: a
// restoration may create its definition first.
type Grant struct {
	Type snapshot.Type
	// Refused starts with the object for which a review by name was refused. The objects after it
	// need the same right, which is refused in their namespace.
	Refused []object.Identity
	Unknown error // not nil if the right could not be reviewed
}

// Limits for the access reviews of one preflight.
const (
	maxReviews    = 100
	reviewTimeout = 5 * time.Second
)

var errTooMany = errors.New("it would take too many requests to find out")

// Steps of a review, from general to specific. byName and above are about one object each.
const (
	inCluster = iota
	inNamespace
	byName
)

// ReviewAccess asks the API server for each right: first in the whole cluster; if that is
// refused, in the namespace; and if that is refused too, object by object up to the first
// refusal, since a role may be limited to names. Admission may still refuse what is allowed here.
func ReviewAccess(ctx context.Context, c *client.Client, seen *snapshot.Snapshot, rights []object.Right) []Grant {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	grants := make([]Grant, len(rights))
	mapper := snapshot.NewMapper(seen.Types)
	var open []int
	for i, r := range rights {
		if m, ok := mapper.Map(r.Objects[0].APIVersion, r.Objects[0].Kind); ok && m.Served {
			grants[i].Type = m.Type
			open = append(open, i)
		}
	}
	decisions := map[resourceAttributes]decision{}
	for step := inCluster; len(open) > 0; step++ {
		most := maxReviews - len(decisions)
		if step == inNamespace {
			most /= 2 // leaves requests to confirm refusals by name
		}
		about := make([]resourceAttributes, len(open))
		for k, i := range open {
			about[k] = attributesOf(rights[i], grants[i].Type, step)
		}
		review(ctx, c, about, decisions, most)
		var next []int
		for k, i := range open {
			switch d := decisions[about[k]]; {
			case !d.known:
				grants[i].Unknown = cmp.Or(d.err, ctx.Err(), errTooMany)
			case d.allowed && step < byName:
			case !d.allowed && step >= byName:
				grants[i].Refused = rights[i].Objects[step-byName:]
			case step+1-byName < len(rights[i].Objects):
				next = append(next, i)
			}
		}
		open = next
	}
	return grants
}

// attributesOf describes a request that uses the right.
func attributesOf(r object.Right, t snapshot.Type, step int) resourceAttributes {
	out := resourceAttributes{Verb: r.Verb, Group: t.Group, Resource: t.Resource}
	if step >= inNamespace {
		out.Namespace = r.Objects[0].Namespace
	}
	if step >= byName && r.Verb != "create" { // a create has no name for an authorizer
		o := r.Objects[step-byName]
		out.Name = o.Name
		if o.IsNamespace() { // a request about a namespace is in that namespace
			out.Namespace = o.Name
		}
	}
	return out
}

// decision is the result of an access review. The zero value means there was none.
type decision struct {
	known, allowed bool
	err            error
}

// review requests the decisions that are missing, but at most most.
func review(ctx context.Context, c *client.Client, about []resourceAttributes, decisions map[resourceAttributes]decision, most int) {
	var missing []resourceAttributes
	for _, a := range about {
		if _, asked := decisions[a]; !asked && len(missing) < most {
			decisions[a] = decision{}
			missing = append(missing, a)
		}
	}
	answers, _ := client.InParallel(ctx, c.Config.SmallConcurrency, missing, func(a resourceAttributes) decision {
		allowed, err := isAllowed(ctx, c, a)
		return decision{err == nil, allowed, err}
	})
	for i, a := range missing {
		decisions[a] = answers[i]
	}
}

// resourceAttributes describes a request to an authorizer (authorization.k8s.io/v1). Without a
// name it is about any object, without a namespace about all namespaces.
type resourceAttributes struct {
	Namespace string `json:"namespace,omitempty"`
	Verb      string `json:"verb"`
	Group     string `json:"group,omitempty"`
	Resource  string `json:"resource"`
	Name      string `json:"name,omitempty"`
}

// accessReview is a SelfSubjectAccessReview. Importing the API's own types would register the
// whole group.
type accessReview struct {
	metav1.TypeMeta
	Spec struct {
		ResourceAttributes *resourceAttributes `json:"resourceAttributes,omitempty"`
	} `json:"spec"`
	Status struct {
		Allowed         *bool  `json:"allowed"`
		EvaluationError string `json:"evaluationError"`
	} `json:"status,omitzero"`
}

var accessReviewKind = metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"}

// isAllowed reports whether the API server allows a request.
func isAllowed(ctx context.Context, c *client.Client, about resourceAttributes) (bool, error) {
	question := accessReview{TypeMeta: accessReviewKind}
	question.Spec.ResourceAttributes = &about
	body, err := json.Marshal(question)
	if err != nil {
		return false, err
	}
	raw, err := c.Send(ctx, c.REST.Post().AbsPath("apis", "authorization.k8s.io", "v1", "selfsubjectaccessreviews").
		SetHeader("Content-Type", runtime.ContentTypeJSON).SetHeader("Accept", runtime.ContentTypeJSON).
		MaxRetries(client.MaxRetryAfter).Body(body))
	if err != nil {
		return false, err
	}
	var answer accessReview
	if err := json.Unmarshal(raw, &answer); err != nil {
		return false, fmt.Errorf("decode a %s: %w", accessReviewKind.Kind, err)
	}
	switch err := verifyReview(&answer, about); {
	case err != nil:
		return false, err
	case answer.Status.Allowed == nil:
		return false, errors.New("the answer does not say whether it is allowed")
	case !*answer.Status.Allowed && answer.Status.EvaluationError != "":
		return false, errors.New(answer.Status.EvaluationError)
	}
	return *answer.Status.Allowed, nil
}

// verifyReview returns an error unless an answer is an access review and, if it repeats the
// question, about the same request.
func verifyReview(got *accessReview, about resourceAttributes) error {
	switch repeated := got.Spec.ResourceAttributes; {
	case got.TypeMeta != accessReviewKind:
		return client.NewAnswerError("it is of %s, not of kind %q", client.DescribeKind(got.TypeMeta), accessReviewKind.Kind)
	case repeated != nil && *repeated != about:
		return client.NewAnswerError("it is about %+v", *repeated)
	}
	return nil
}
