package health

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const admissionGroup = "admissionregistration.k8s.io"

// At most maxAsked writes are sent as a dry run, maxAlike of those that have a type, namespace and finalizer in common,
// each within askTimeout: most webhooks have 10 seconds to answer.
const maxAsked, maxAlike, askTimeout = 40, 5, 15 * time.Second

// admission is a scan with the webhook configurations of its cluster, as far as they could be read.
type admission struct {
	client         *client.Client
	seen           *snapshot.Snapshot
	view           *snapshot.View
	configurations []snapshot.WebhookConfiguration
}

// Admission returns what the API server refuses because of webhooks without a backend and, by dry run, of writes that end
// deletions under way, and of those about objects of the scan that the webhooks and bound policies of the cluster match.
// The scan must have kept labels.
func Admission(ctx context.Context, c *client.Client, seen *snapshot.Snapshot) reason.Admission {
	guards, configurations, unread := guardsOf(ctx, c, seen)
	var matching [][]snapshot.AdmissionWebhook
	for _, g := range guards {
		matching = append(matching, g.matches)
	}
	var known []reason.WebhookRefuses
	for _, w := range withoutBackend(ctx, c, configurations) {
		for _, w.Refuses.Operation = range []string{"DELETE", "UPDATE"} {
			if w.Calls(w.Refuses.Operation) && !slices.Contains(known, w.Refuses) {
				known = append(known, w.Refuses)
			}
		}
	}
	a := &admission{c, seen, snapshot.NewView(seen), configurations}
	out, _ := a.ask(ctx, append(seen.Samples(matching), seen.Endings((*object.Object).Terminating)...))
	out.Refused = reason.JoinRefusals(known, out.Refused)
	if unread = cmp.Or(unread, ctx.Err()); unread != nil {
		_, message := client.Classify(unread)
		out.Unknown = redact.Text(message)
	}
	return out
}

// guard is a webhook, or a policy with one of its bindings.
type guard struct {
	of          object.Identity // the configuration or the policy
	webhook     string
	matches     []snapshot.AdmissionWebhook // a write that all of them match
	looksAtUser bool                        // so another user may get another answer
}

// guardsOf returns the webhooks and bound policies of a cluster, and the configurations of the webhooks: the others, and an
// error, if some could not be read.
func guardsOf(ctx context.Context, c *client.Client, seen *snapshot.Snapshot) (out []guard, configurations []snapshot.WebhookConfiguration, failed error) {
	configurations, failed = webhookConfigurations(ctx, c)
	for _, configuration := range configurations {
		for _, hook := range configuration.Webhooks {
			looks := slices.ContainsFunc(hook.MatchConditions, snapshot.Expression.LooksAtUser)
			out = append(out, guard{configuration.Identity(), hook.Name, []snapshot.AdmissionWebhook{hook.AdmissionWebhook}, looks})
		}
	}
	for _, kind := range []string{"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"} {
		policies, err := listPolicies(ctx, c, seen, kind)
		var bindings []policy
		if len(policies) > 0 {
			var bindingsErr error
			bindings, bindingsErr = listPolicies(ctx, c, seen, kind+"Binding")
			err = cmp.Or(err, bindingsErr)
		}
		failed = cmp.Or(failed, err)
		for _, b := range bindings {
			for _, p := range policies {
				if p.Metadata.Name == b.Spec.PolicyName {
					of := object.Identity{APIVersion: admissionGroup + "/v1", Kind: kind, Name: p.Metadata.Name, UID: p.Metadata.UID}
					looks := slices.ContainsFunc(slices.Concat(p.Spec.MatchConditions, p.Spec.Variables, p.Spec.Validations), snapshot.Expression.LooksAtUser)
					matches := []snapshot.AdmissionWebhook{p.Spec.MatchConstraints.with(p.Spec.MatchConditions), b.Spec.MatchResources.with(nil)}
					out = append(out, guard{of, "", matches, looks})
				}
			}
		}
	}
	return out, configurations, failed
}

// policy is an admission policy, with MatchConstraints, or its binding.
type policy struct {
	Metadata metav1.ObjectMeta
	Spec     struct {
		PolicyName                       string
		MatchConstraints, MatchResources matchResources
		MatchConditions                  []snapshot.Expression
		Variables, Validations           []snapshot.Expression
	}
}

type matchResources struct {
	snapshot.AdmissionWebhook
	ResourceRules []snapshot.WebhookRule
}

// with returns what is matched under these conditions. Without rules, it is every resource.
func (m matchResources) with(conditions []snapshot.Expression) snapshot.AdmissionWebhook {
	m.Rules, m.MatchConditions = m.ResourceRules, conditions
	if len(m.Rules) == 0 {
		m.Rules = []snapshot.WebhookRule{{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}}}
	}
	return m.AdmissionWebhook
}

func listPolicies(ctx context.Context, c *client.Client, seen *snapshot.Snapshot, kind string) ([]policy, error) {
	served := snapshot.NewMapper(seen.Types).Versions(admissionGroup, kind)
	if len(served) == 0 || seen.ShowsNone(served[0]) {
		return nil, nil
	}
	return client.ListWhole[policy](ctx, c, client.Query{Type: served[0]}, metav1.ListOptions{})
}

// Refusals returns what the API server refuses of the writes because of webhooks without a backend and, where a
// deletion is under way, what it refuses by dry run. Nothing is said of what may not be read. The snapshot has what is
// known of webhooks if c is nil.
func Refusals(ctx context.Context, c *client.Client, seen *snapshot.Snapshot, writes []snapshot.WriteRequest) []reason.WebhookRefuses {
	a := &admission{client: c, seen: seen, view: snapshot.NewView(seen)}
	if c == nil {
		return a.view.Refusals(seen.Webhooks, writes)
	}
	a.configurations, _ = webhookConfigurations(ctx, c)
	tried, accepted := a.ask(ctx, slices.DeleteFunc(slices.Clone(writes), func(w snapshot.WriteRequest) bool { return !w.UnderWay }))
	var plain, conditional []snapshot.AdmissionWebhook
	for _, w := range withoutBackend(ctx, c, a.configurations) {
		if len(w.MatchConditions) == 0 {
			plain = append(plain, w)
		} else {
			conditional = append(conditional, w) // its conditions may exempt this user, and not a controller
		}
	}
	known := a.view.Refusals(conditional, writes)
	writes = slices.DeleteFunc(slices.Clone(writes), func(w snapshot.WriteRequest) bool { return accepted[w] })
	known = append(known, a.view.Refusals(plain, writes)...)
	return reason.JoinRefusals(known, tried.Refused)
}

// ask asks the API server by dry run whether it accepts writes about objects of the scan. It asks only about what the
// API server itself serves, as other servers may not know dry runs.
func (a *admission) ask(ctx context.Context, writes []snapshot.WriteRequest) (out reason.Admission, accepted map[snapshot.WriteRequest]bool) {
	accepted = map[snapshot.WriteRequest]bool{}
	objects := map[types.UID]*object.Object{}
	for _, o := range a.seen.Objects {
		objects[o.UID] = o
	}
	var asked []snapshot.WriteRequest
	known := map[snapshot.WriteRequest]int{} // and those alike
	for _, w := range writes {
		alike := w
		alike.Object.Name, alike.Object.UID = "", ""
		o := objects[w.Object.UID]
		if known[w] == 0 && known[alike] < maxAlike && len(asked) < maxAsked && o != nil && !o.Contested && a.seen.ServedByKubernetes(a.view, o.Identity) {
			known[w], known[alike] = 1, known[alike]+1
			asked = append(asked, w)
		}
	}
	planned := make([]PlannedWrite, len(asked))
	for i, w := range asked {
		planned[i] = PlannedWrite{Object: objects[w.Object.UID], Operation: w.Operation}
		if slices.Contains(planned[i].Object.Finalizers, w.Finalizer) {
			planned[i].Change.RemoveFinalizer = w.Finalizer
		}
	}
	answers := a.tryOut(ctx, planned, nil)
	for i, err := range answers {
		switch by, webhook, refused := client.RefusedByAdmission(err); {
		case refused:
			by.Said, by.Operation, by.Finalizer, by.First = redact.Text(by.Said), asked[i].Operation, asked[i].Finalizer, asked[i].Object
			if webhook != "" {
				by.Configuration = a.configurationOf(webhook, by)
			}
			out.Refused = reason.AddRefusal(out.Refused, by)
		case webhook != "":
			out.Unknown = fmt.Sprintf("the API server sends no dry run to webhook %s, which declares side effects", webhook)
		case failed(err, snapshot.Gone):
		case err != nil:
			out.Unknown = cmp.Or(out.Unknown, redact.Text(err.Error()))
		default:
			accepted[asked[i]] = true
		}
	}
	out.Accepted = len(accepted)
	return out, accepted
}

// tryOut sends writes as dry runs, at this pace unless it is nil, and returns the error of each.
func (a *admission) tryOut(ctx context.Context, writes []PlannedWrite, pace func(context.Context) error) []error {
	brief := *a.client
	brief.Config.Timeout = askTimeout
	writer := write.New(&brief, a.seen, true)
	send := func(o *object.Object, w PlannedWrite) (err error) {
		if w.Operation == "DELETE" {
			_, err = writer.As(w.As).Delete(ctx, o, metav1.DeletePropagationBackground, nil)
			return err
		}
		_, err = writer.As(w.As).Patch(ctx, o, w.Change)
		return err
	}
	answers, _ := client.InParallel(ctx, brief.Config.SmallConcurrency, writes, func(w PlannedWrite) error {
		if pace != nil {
			if err := pace(ctx); err != nil {
				return err
			}
		}
		err := send(w.Object, w)
		if failed(err, snapshot.Conflict) {
			if now, unread := writer.Read(ctx, w.Object.Identity); unread == nil && now != nil {
				w.Change = object.Change{RemoveFinalizer: w.Change.RemoveFinalizer} // references may have moved
				err = send(now, w)
			}
		}
		return err
	})
	return answers
}

// failed reports whether a request failed for this reason.
func failed(err error, why snapshot.ErrorClass) bool {
	failed, ok := errors.AsType[*client.RequestError](err)
	return ok && failed.Reason == why
}

// configurationOf returns the configuration of a webhook, the zero value if that is not known. Two may have webhooks of
// one name: a mutating one is called first, and seldom denies.
func (a *admission) configurationOf(webhook string, r reason.WebhookRefuses) (out object.Identity) {
	for _, configuration := range a.configurations { // the validating ones first
		for _, hook := range configuration.Webhooks {
			if hook.Name == webhook && hook.Calls(r.Operation) && (out.Name == "" || !r.Decided) {
				out = configuration.Identity()
			}
		}
	}
	return out
}
