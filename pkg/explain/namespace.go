package explain

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// conditions adds the conditions of a terminating Namespace that are true, and what others say themselves.
func (b *answerBuilder) conditions() {
	if s := b.object.NamespaceStatus; s != nil {
		for _, c := range s.True() {
			b.answer.Conditions = append(b.answer.Conditions, Condition{object.StatusCondition{Type: c.Type, Status: "True", Message: c.Message}, conditionMeanings[c.Type]})
		}
	}
	if s := b.object.Status; s != nil {
		for _, c := range s.Conditions {
			b.answer.Conditions = append(b.answer.Conditions, Condition{StatusCondition: c})
		}
	}
}

var conditionMeanings = map[string]string{
	object.DiscoveryFailure:    "the namespace controller could not discover every API group",
	object.GroupVersionFailure: "the namespace controller could not parse the version of an API group",
	object.ContentFailure:      "the namespace controller could not delete some of the contents",
	object.ContentRemaining:    "objects remain",
	object.FinalizersRemaining: "finalizers remain",
}

// namespace explains a Namespace that waits for something other than the garbage collector, or
// should be gone.
func (b *answerBuilder) namespace(h *terminating.Hold) {
	causes := slices.Clone(h.Namespace.Causes)
	if !h.Late(b.StuckAfter) { // it is normal that the namespace controller has not reported or done anything yet
		causes = slices.DeleteFunc(causes, func(c terminating.NamespaceCause) bool {
			return c.Kind == terminating.CauseConditionsUnread || c.Kind == terminating.CauseNothing
		})
	}
	over := len(causes) == 0 || causes[0].Outdated
	if over {
		b.underWay(h.Consequence, ", and this tool found nothing left in it.")
	} else {
		b.underWay(h.Consequence, ", and "+causes[0].Reason.Message()+".")
	}
	b.suggestRepairOfNamespace(h)
	for i, cause := range causes {
		if over || i > 0 {
			b.answer.next("It " + cause.Reason.Message() + ".")
		}
		switch cause.Kind {
		case terminating.CauseFinalizers:
			b.explainFinalizers(b.object.Identity, b.initial.HeldBy(b.node))
		case terminating.CauseContentsLeft:
			b.nameControllers(cause.Finalizers[:min(len(cause.Finalizers), maxNames)])
			b.blockedContents(h.Consequence == collector.ConsequenceStuck || h.Late(b.StuckAfter))
		case terminating.CauseDiscovery, terminating.CauseVersionParsing, terminating.CauseDeletionFails, terminating.CauseSpecFinalizers,
			terminating.CauseContentsUnread, terminating.CauseConditionsUnread, terminating.CauseNothing:
		}
	}
	if h.Consequence == collector.ConsequenceStuck {
		b.answer.next("The namespace controller retries at least once a minute, so you need not restart anything.")
	}
	if over {
		b.answer.next("It should be gone by now.")
	}
}

// suggestRepairOfNamespace suggests what repairs the causes.
func (b *answerBuilder) suggestRepairOfNamespace(h *terminating.Hold) {
	d := h.Namespace
	for _, service := range d.APIServices[:min(len(d.APIServices), maxNames)] {
		b.answer.suggest("see why APIService "+service.Name+" does not answer, and repair it", "kubectl", "describe", "apiservice/"+service.Name)
		if service.Aggregated {
			b.answer.suggest("or delete that APIService if nobody needs the API. This deletes nothing that its server stores", "kubectl", "delete", "apiservice/"+service.Name)
		}
	}
	for _, g := range d.Unlistable[:min(len(d.Unlistable), maxNames)] {
		switch g.Reason {
		case snapshot.StoreRead:
			b.suggestUnreadable(g)
		case snapshot.Webhook:
			b.answer.suggest("see which server the conversion webhook of CustomResourceDefinition "+g.Word()+" names, and repair it",
				"kubectl", "get", "customresourcedefinition/"+g.Word(), "-o", "jsonpath={.spec.conversion.webhook.clientConfig}")
		default:
			b.answer.suggest("see why "+g.Word()+" cannot be listed", "kubectl", "get", g.Word(), "-n", b.object.Name)
		}
	}
	for _, cause := range d.Causes {
		switch cause.Kind {
		case terminating.CauseDeletionFails:
			failed := func(c reason.ReportedCondition) bool { return strings.Contains(c.Message, "failed calling webhook") }
			switch {
			case len(b.graph.Snapshot().Refused) > 0:
			case slices.ContainsFunc(d.Conditions, failed):
				b.answer.suggest("repair the webhook that the condition names, or delete its configuration if nothing needs it; this lists them",
					"kubectl", "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "-o", "custom-columns=KIND:.kind,NAME:.metadata.name,WEBHOOKS:.webhooks[*].name")
			case len(d.Undeleted) > 0:
				first := b.graph.Object(d.Undeleted[0]).Identity
				b.answer.suggest("see who refuses to delete "+first.String()+"; with --dry-run=server, nothing is deleted",
					append(append([]string{"kubectl", "delete"}, b.arguments(first)...), "--dry-run=server")...)
			}
		case terminating.CauseConditionsUnread:
			if h.Late(b.StuckAfter) {
				b.answer.suggest("read its conditions", "kubectl", "get", "namespace/"+b.object.Name, "-o", "jsonpath={.status.conditions}")
			}
		case terminating.CauseNothing:
			if h.Late(b.StuckAfter) {
				b.answer.suggest("see when kube-controller-manager, which runs the namespace controller, last renewed its lease",
					"kubectl", "get", "lease/kube-controller-manager", "-n", "kube-system", "-o", "jsonpath={.spec.renewTime}")
			}
		case terminating.CauseDiscovery:
			if !cause.Outdated && len(d.APIServices) == 0 {
				b.answer.suggest("see which APIService is not available", "kubectl", "get", "apiservices")
			}
		case terminating.CauseVersionParsing, terminating.CauseContentsUnread, terminating.CauseSpecFinalizers, terminating.CauseFinalizers, terminating.CauseContentsLeft:
		}
	}
}

// refusals says what the API server refuses of what ends the object, or what it contains.
func (b *answerBuilder) refusals() {
	for _, r := range b.graph.Snapshot().Refused {
		b.answer.next(r.Message() + ".")
		sentence, command := r.Remedy()
		b.answer.suggest(sentence, command...)
	}
}
