package health

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// PlannedWrite is a write that a plan foresees.
type PlannedWrite struct {
	Object    *object.Object // in the state of the scan
	Operation string         // DELETE or UPDATE
	Change    object.Change  // of the UPDATE; empty if what it changes is not there yet
	Own       bool           // who asks sends it, and not a controller
	As        string         // the account of the controller that sends it, to be asked as that; empty: as who runs this program
}

// Guards are the admission webhooks and bound policies of a cluster.
type Guards struct {
	admission admission
	matcher   *snapshot.Matcher
	all       []guard
	unread    bool // some could not be read, so any write may have to be asked about
}

// NewGuards reads the webhooks and policies of the cluster of a scan that kept labels. It sends no request about policies
// if the scan shows that there are none.
func NewGuards(ctx context.Context, c *client.Client, seen *snapshot.Snapshot) *Guards {
	all, configurations, err := guardsOf(ctx, c, seen)
	return &Guards{admission{c, seen, snapshot.NewView(seen), configurations}, seen.NewMatcher(), all, err != nil}
}

// Ask asks the API server by dry run about the writes that a guard may match, at this pace unless it is nil. It returns an
// answer for each of these. It does not ask aggregated APIs.
func (g *Guards) Ask(ctx context.Context, writes []PlannedWrite, pace func(context.Context) error) snapshot.Answers {
	out := snapshot.Answers{}
	var asked []PlannedWrite
	for _, w := range writes {
		switch matched := len(g.matching(w)) > 0; {
		case !matched && !g.unread:
		case g.admission.seen.ServedByKubernetes(g.admission.view, w.Object.Identity):
			asked = append(asked, w)
		case matched: // another server may know no dry runs, and do it
			out[snapshot.Write{UID: w.Object.UID, Operation: w.Operation}] = reason.AdmissionAnswer{
				Because: reason.RefusedByAdmission{Update: w.Operation == "UPDATE", Doubt: reason.NotAnswered},
			}
		}
	}
	for i, err := range g.admission.tryOut(ctx, asked, pace) {
		out[snapshot.Write{UID: asked[i].Object.UID, Operation: asked[i].Operation}] = g.answer(asked[i], err)
	}
	return out
}

// matching returns the guards that may match a write.
func (g *Guards) matching(w PlannedWrite) []guard {
	var out []guard
	for _, of := range g.all {
		if matches, _ := g.matcher.Matches(of.matches, w.Object, w.Operation); matches {
			out = append(out, of)
		}
	}
	return out
}

// answer returns what a dry run has shown of a write.
func (g *Guards) answer(w PlannedWrite, err error) reason.AdmissionAnswer {
	by, webhook, refused := client.RefusedByAdmission(err)
	out := reason.AdmissionAnswer{Refused: refused, Because: reason.RefusedByAdmission{Webhook: webhook, Update: w.Operation == "UPDATE"}}
	because, asOther := &out.Because, !w.Own && w.As == ""
	switch {
	case refused:
		_, said, _ := strings.Cut(by.Said, `" denied the request: `)
		because.By, because.Said = by.Configuration, redact.Text(cmp.Or(said, by.Said))
		if webhook != "" {
			by.Operation = w.Operation
			because.By = g.admission.configurationOf(webhook, by)
		}
		if asOther && g.mayExempt(because.By, webhook, by.Decided) {
			because.Doubt = reason.RefusedForYou
		}
	case webhook != "":
		because.By = g.admission.configurationOf(webhook, reason.WebhookRefuses{Operation: w.Operation, Decided: true})
		because.Doubt = reason.CannotBeAsked
	case err == nil || failed(err, snapshot.Gone):
		of := g.matching(w)
		if i := slices.IndexFunc(of, func(of guard) bool { return of.looksAtUser }); i >= 0 && asOther && err == nil {
			because.By, because.Webhook, because.Doubt = of[i].of, of[i].webhook, reason.AcceptedForYou
		}
	case !w.Own: // who runs this program learns of missing rights elsewhere
		because.Said, because.Doubt = redact.Text(err.Error()), reason.NotAnswered
	}
	return out
}

// mayExempt reports whether what refuses a write may allow a controller to send it: a webhook that decides, for it knows the
// user; one that cannot be called, if a condition decides whether it has to; a policy that looks at the user; and whatever else
// the API server has.
func (g *Guards) mayExempt(by object.Identity, webhook string, decided bool) bool {
	i := slices.IndexFunc(g.all, func(of guard) bool { return of.of.Kind == by.Kind && of.of.Name == by.Name && of.webhook == webhook })
	switch {
	case i < 0:
		return true
	case webhook == "":
		return g.all[i].looksAtUser
	}
	return decided || len(g.all[i].matches[0].MatchConditions) > 0
}
