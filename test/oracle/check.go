package oracle

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// Ask returns the reply to a request.
type Ask func(context.Context, scenario.Request) (scenario.Reply, error)

// Checker compares what this program says about scenarios with the replies of Ask.
type Checker struct {
	Ask    Ask
	Orders int
	// Only is the command that is compared. Empty: all.
	Only string
}

// Result is what the comparison of one scenario found.
type Result struct {
	Predictions int
	Findings    []Finding
}

// Finding is a disagreement with the scenario that shows it.
type Finding struct {
	Disagreement
	Scenario scenario.Scenario
	Seed     uint64 // of the orders
}

// String returns the finding with its scenario in the format of Parse.
func (f Finding) String() string { return f.Disagreement.String() + "\n" + Format(f.Scenario) }

// subject returns the command and the aspect, without the owner of a reference.
func (f Finding) subject() string {
	aspect, _, _ := strings.Cut(f.Aspect, ":")
	return f.Command + " " + aspect
}

// maxSettled limits how often the objects of a scenario are replaced by those that the
// controllers leave before the first deletion.
const maxSettled = 3

// Check compares the commands with the ends of a scenario. It leaves the preview of the deletions
// out if they are refused, or if the objects go on changing before the first one.
func (c Checker) Check(ctx context.Context, s scenario.Scenario, seed uint64) (Result, error) {
	var out Result
	if c.Only != "delete" {
		var err error
		if out, err = c.checkAtRest(ctx, s, seed); err != nil || c.Only != "" {
			return out, err
		}
	}
	for range maxSettled {
		if s = Accepted(s); len(s.Deletes) == 0 {
			break
		}
		reply, err := c.ask(ctx, s, seed)
		if err != nil {
			return out, err
		}
		i := slices.IndexFunc(reply.Ends, func(e scenario.End) bool { return e.Settled != nil })
		if i < 0 {
			return out, out.compare(s, seed, reply, PredictDelete)
		}
		s = settled(s, reply.Ends[i].Settled)
	}
	return out, nil
}

// ask returns the reply about a scenario. The error has the scenario.
func (c Checker) ask(ctx context.Context, s scenario.Scenario, seed uint64) (scenario.Reply, error) {
	reply, err := c.Ask(ctx, scenario.Request{Scenario: s, Seed: seed, Orders: c.Orders})
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, Format(s))
	}
	return reply, err
}

// checkAtRest compares the commands that say what the collector does without further
// deletions.
func (c Checker) checkAtRest(ctx context.Context, s scenario.Scenario, seed uint64) (Result, error) {
	var out Result
	s.Deletes, s.Refused = nil, nil // they do not ask admission
	reply, err := c.ask(ctx, s, seed)
	if err == nil && (c.Only == "" || c.Only == "audit") {
		err = out.compare(s, seed, reply, PredictAudit)
	}
	if err == nil && (c.Only == "" || c.Only == "why") {
		err = out.compare(s, seed, reply, PredictWhy)
	}
	if err == nil && (c.Only == "" || c.Only == "collect") {
		err = out.add(c.checkCollect(ctx, s, seed, reply))
	}
	if err == nil && (c.Only == "" || c.Only == "repair") {
		err = out.add(c.checkRepair(ctx, s, seed, reply))
	}
	return out, err
}

// add adds another result. It returns the error.
func (r *Result) add(more Result, err error) error {
	r.Predictions += more.Predictions
	r.Findings = append(r.Findings, more.Findings...)
	return err
}

// rareOrder is how many times as many orders are tried before an object counts as deleted by none.
const rareOrder = 100

// checkCollect compares `collect` with the ends of a reply, and with those of more orders if none of
// these deletes an object.
func (c Checker) checkCollect(ctx context.Context, s scenario.Scenario, seed uint64, reply scenario.Reply) (Result, error) {
	var out, again Result
	err := out.compare(s, seed, reply, PredictCollect)
	if err != nil || !slices.ContainsFunc(out.Findings, func(f Finding) bool { return f.Class == DeletedByNoOrder }) {
		return out, err
	}
	c.Orders *= rareOrder
	if reply, err = c.ask(ctx, s, seed); err == nil {
		err = again.compare(s, seed, reply, PredictCollect)
	}
	return again, err
}

// checkRepair compares the ends of a reply with those after the repair of the scenario. If some order deletes an object only
// then, it tries more orders without the repair.
func (c Checker) checkRepair(ctx context.Context, s scenario.Scenario, seed uint64, without scenario.Reply) (Result, error) {
	repaired, changed := Repaired(s)
	if !changed {
		return Result{}, nil
	}
	var out, again Result
	predict := func(s scenario.Scenario) []Prediction { return PredictRepair(s, Ends(without)) }
	reply, err := c.ask(ctx, repaired, seed)
	if err == nil {
		err = out.compare(s, seed, reply, predict)
	}
	if err != nil || len(out.Findings) == 0 {
		return out, err
	}
	c.Orders *= rareOrder
	if without, err = c.ask(ctx, s, seed); err == nil {
		err = again.compare(s, seed, reply, predict)
	}
	return again, err
}

// compare adds where predictions about a scenario and the ends of a reply disagree.
func (r *Result) compare(s scenario.Scenario, seed uint64, reply scenario.Reply, predict func(scenario.Scenario) []Prediction) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s\n%s", p, debug.Stack(), Format(s))
		}
	}()
	predictions := predict(s)
	r.Predictions += len(predictions)
	for _, d := range Compare(predictions, Ends(reply)) {
		r.Findings = append(r.Findings, Finding{d, s, seed})
	}
	return nil
}

// settled returns the scenario with other objects, without the deletions of those that are
// gone and without the types whose CustomResourceDefinition is.
func settled(s scenario.Scenario, objects []scenario.Object) scenario.Scenario {
	left := byUID(objects)
	goneDefinitions := map[string]bool{}
	for i := range s.Objects {
		if o := &s.Objects[i]; o.Kind == definition.Kind && left[o.UID] == nil {
			goneDefinitions[o.Name] = true
		}
	}
	s.Objects = objects
	s.Deletes = slices.DeleteFunc(slices.Clone(s.Deletes), func(d scenario.Delete) bool { return left[types.UID(d.UID)] == nil })
	s.Types = slices.DeleteFunc(slices.Clone(s.Types), func(t scenario.Type) bool { return goneDefinitions[t.Resource+"."+t.Group] })
	return s
}
