package e2e

import (
	"maps"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The JSON documents of collect, declared as a client would declare them.
type (
	planned struct {
		APIVersion string           `json:"apiVersion"`
		Kind       string           `json:"kind"`
		Mode       string           `json:"mode"`
		Complete   bool             `json:"complete"`
		Gaps       []gap            `json:"gaps"`
		Summary    plannedSummary   `json:"summary"`
		Digest     string           `json:"digest"`
		Steps      []plannedStep    `json:"steps"`
		Outcomes   []plannedOutcome `json:"outcomes"`
		Blocked    []plannedBlocked `json:"blocked"`
		Checksum   string           `json:"checksum"`
	}
	plannedSummary struct {
		Delete          int `json:"delete"`
		Unlink          int `json:"unlink"`
		Unblock         int `json:"unblock"`
		RemoveFinalizer int `json:"removeFinalizer"`
		Blocked         int `json:"blocked"`
	}
	plannedObject struct {
		identity
		ResourceVersion string `json:"resourceVersion"`
	}
	plannedStep struct {
		ID                string             `json:"id"`
		Pass              int                `json:"pass"`
		Action            string             `json:"action"`
		Object            plannedObject      `json:"object"`
		PropagationPolicy string             `json:"propagationPolicy"`
		GracePeriod       *int64             `json:"gracePeriodSeconds"`
		OwnerUIDs         []string           `json:"ownerUIDs"`
		Finalizer         string             `json:"finalizer"`
		After             []string           `json:"after"`
		References        []plannedReference `json:"references"`
		Follows           string             `json:"follows"`
		WaitsForKubelet   bool               `json:"waitsForKubelet"`
		AcceptedGaps      []string           `json:"acceptedGaps"`
		Because
	}
	plannedReference struct {
		ownerRef
		Verdict        string    `json:"verdict"`
		State          string    `json:"state"`
		UIDHolder      *identity `json:"uidHolder"`
		NameHolder     *identity `json:"nameHolder"`
		ServedVersions []string  `json:"servedVersions"`
	}
	plannedOutcome struct {
		Object           identity   `json:"object"`
		State            string     `json:"state"`
		When             string     `json:"when"`
		WaitsFor         []string   `json:"waitsFor"`
		After            []identity `json:"after"`
		Follows          string     `json:"follows"`
		Nondeterministic Because    `json:"nondeterministic"`
	}
	plannedBlocked struct {
		Object identity   `json:"object"`
		By     []identity `json:"by"`
		Because
	}
	collected struct {
		APIVersion string           `json:"apiVersion"`
		Kind       string           `json:"kind"`
		Mode       string           `json:"mode"`
		DryRun     bool             `json:"dryRun"`
		Complete   bool             `json:"complete"`
		Digest     string           `json:"digest"`
		Backup     string           `json:"backup"`
		Summary    collectedSummary `json:"summary"`
		Steps      []collectedStep  `json:"steps"`
		Blocked    []plannedBlocked `json:"blocked"`
		Left       []collectedLeft  `json:"left"`

		Verification string `json:"verification"`
		Gaps         []gap  `json:"gaps"`
	}
	collectedSummary struct {
		Deleted int `json:"deleted"`
		Done    int `json:"done"`
		Skipped int `json:"skipped"`
		Failed  int `json:"failed"`
		Blocked int `json:"blocked"`
		Left    int `json:"left"`
	}
	collectedStep struct {
		plannedStep
		Status string  `json:"status"`
		Result Because `json:"result"`
	}
	collectedLeft struct {
		Action string        `json:"action"`
		Object plannedObject `json:"object"`
		Because
	}
)

// plan returns the result of a dry run.
func (t tool) plan(args ...string) planned {
	t.Helper()
	p := decode[planned](t, t.gc(append([]string{"collect", "--dry-run", "-o", "json"}, args...)...).exits(t, 0))
	if p.APIVersion != "kubectl-gc.dev/v1alpha1" || p.Kind != "Plan" || p.Mode != "collect" || p.Complete != (len(p.Gaps) == 0) {
		t.Errorf("no valid plan: %s %s, mode %s, complete %t, %d gaps", p.APIVersion, p.Kind, p.Mode, p.Complete, len(p.Gaps))
	}
	return p
}

// collect runs collect. It must exit with 0, or with 1 if something is left or blocked, or if no
// complete scan shows that nothing is.
func (t tool) collect(args ...string) collected {
	t.Helper()
	r := t.gc(append([]string{"collect", "--yes", "-o", "json"}, args...)...)
	c := decode[collected](t, r)
	want := 0
	if c.Summary.Failed+c.Summary.Blocked+c.Summary.Left > 0 || c.Verification != "complete" {
		want = 1
	}
	r.exits(t, want)
	checkCollected(t, c)
	return c
}

func checkCollected(t testing.TB, c collected) {
	t.Helper()
	if c.APIVersion != "kubectl-gc.dev/v1alpha1" || c.Kind != "Result" || c.Mode != "collect" || c.DryRun {
		t.Errorf("no valid result: %s %s, mode %s, dry run %t", c.APIVersion, c.Kind, c.Mode, c.DryRun)
	}
	if (c.Verification == "complete") != (len(c.Gaps) == 0) && c.Verification != "none" && c.Verification != "failed" {
		t.Errorf("the verification is %s, with the gaps %+v", c.Verification, c.Gaps)
	}
	counted := collectedSummary{Deleted: c.Summary.Deleted, Blocked: len(c.Blocked), Left: len(c.Left)} // deletions are not among the steps alone
	for _, s := range c.Steps {
		switch s.Status {
		case "done":
			counted.Done++
		case "skipped":
			counted.Skipped++
		case "failed":
			counted.Failed++
		}
	}
	if counted != c.Summary {
		t.Errorf("the summary says %+v of %+v", c.Summary, counted)
	}
}

// predicted returns the final state according to a plan: the state before, changed by every step
// and outcome.
func (g *builtGraph) predicted(before graphState, p planned) graphState {
	g.Helper()
	after := maps.Clone(before)
	for _, s := range p.Steps {
		role, ours := g.members[types.UID(s.Object.UID)]
		if !ours {
			continue
		}
		c := after[role]
		c.Owners, c.Finalizers = slices.Clone(c.Owners), slices.Clone(c.Finalizers)
		switch s.Action {
		case "delete":
			c.Terminating = true
		case "unlink", "unblock":
			for _, r := range s.References {
				g.change(&c, r.ownerRef, s.Action == "unlink")
			}
		case "remove-finalizer":
			c.Finalizers = slices.DeleteFunc(c.Finalizers, func(f string) bool { return f == s.Finalizer })
		default:
			g.Errorf("step %s has the action %q", s.ID, s.Action)
		}
		after[role] = c
	}
	for _, o := range p.Outcomes {
		role, ours := g.members[types.UID(o.Object.UID)]
		if !ours || o.When == "later" {
			continue
		}
		switch c := after[role]; o.State {
		case "deleted":
			after[role] = partState{Gone: true}
		case "terminating":
			c.Terminating, c.Finalizers = true, o.WaitsFor
			after[role] = c
		}
	}
	return after
}

// change removes a reference, or its blockOwnerDeletion.
func (g *builtGraph) change(c *partState, r ownerRef, drop bool) {
	g.Helper()
	reference := func(blocks bool) roleRef {
		return g.roleRef(metav1.OwnerReference{
			APIVersion: r.APIVersion, Kind: r.Kind, Name: r.Name, UID: types.UID(r.UID), Controller: &r.Controller, BlockOwnerDeletion: &blocks,
		})
	}
	i := slices.Index(c.Owners, reference(r.BlockOwnerDeletion))
	switch {
	case i < 0:
		g.Errorf("the plan changes a reference that is not there: %s", reference(r.BlockOwnerDeletion).line)
	case drop:
		c.Owners = slices.Delete(c.Owners, i, i+1)
	default:
		c.Owners[i] = reference(false)
	}
}
