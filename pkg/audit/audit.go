package audit

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// Filter selects objects and rules. The zero value selects all of them.
type Filter struct {
	Namespace  string          // empty: all objects, including cluster-scoped ones
	Selector   labels.Selector // nil: all objects
	Rules      []string        // ids; empty: all
	StuckAfter time.Duration   // how long a terminating object may wait for a foreign finalizer
}

// IDs returns the ids of all rules, in their order.
func IDs() []string {
	out := make([]string, len(Rules))
	for i, r := range Rules {
		out[i] = r.ID
	}
	return out
}

// Run audits the objects of a graph: those that were listed, and those that were only looked up
// because a reference names them, as the collector processes these, too
// (docs/gc-semantics.md#virtual-owners). The only error is that of Check.
func Run(j *collector.Judge, o Filter) (*Report, error) { return newRuleContext(j, o).run() }

func newRuleContext(j *collector.Judge, o Filter) *ruleContext {
	out := &ruleContext{
		graph: j.Graph(), judge: j, planner: repair.New(j), options: o,
		model:    sync.OnceValue(func() *simulate.Model { return simulate.NewModel(j, simulate.Cluster) }),
		possible: sync.OnceValue(func() *simulate.Prediction { return simulate.Run(j, simulate.Cluster, simulate.Bounds{}) }),
	}
	out.holds = sync.OnceValue(func() *terminating.Diagnoser { return terminating.New(out.model(), out.after) })
	return out
}

// after returns the state of the model when the cluster's own collector has done all it can.
func (r *ruleContext) after() *simulate.Model { return r.possible().Model }

func (r *ruleContext) run() (*Report, error) {
	rules, err := choose(r.options.Rules)
	if err != nil {
		return nil, err
	}
	g := r.graph
	report := NewReport(g.Snapshot())
	for _, part := range snapshot.Parallel(g.Observed(), func(from, to int) Report { return r.part(rules, from, to) }) {
		report.Findings = append(report.Findings, part.Findings...)
		report.Summary.add(part.Summary)
	}
	for _, rule := range rules {
		if rule.group != nil {
			report.add(rule, rule.group(r))
		}
	}
	r.predict(report)
	report.count()
	report.sort()
	return report, nil
}

// part applies the rules to the objects from..to-1.
func (r *ruleContext) part(rules []Rule, from, to int) Report {
	var report Report
	var judgements []collector.Judgement // reused for every object: findings keep none
	for n := graph.Node(from); int(n) < to; n++ {
		obj := r.graph.Object(n)
		if !r.inScope(obj) {
			continue
		}
		virtual := r.graph.Virtual(n)
		if !virtual {
			report.Summary.Objects++
			report.Summary.References += len(obj.Owners)
		}
		if !r.isProcessed(n) {
			continue
		}
		judgements = r.judge.Append(judgements[:0], n)
		c := r.objectContext(n, judgements)
		for _, rule := range rules {
			if rule.find == nil {
				continue
			}
			found := rule.find(c)
			for i := range found {
				if virtual {
					found[i].Fix = NoFix // repair only patches listed objects
				}
			}
			report.add(rule, found)
		}
	}
	return report
}

// isProcessed reports whether the collector processes an object, so that rules can say something
// about it.
func (r *ruleContext) isProcessed(n graph.Node) bool {
	o := r.graph.Object(n)
	if r.graph.Virtual(n) {
		return !o.Terminating() && len(o.Owners) > 0 && r.graph.KnownToCollector(n)
	}
	return len(o.Owners) > 0 || o.Terminating()
}

func (r *ruleContext) objectContext(n graph.Node, judgements []collector.Judgement) objectContext {
	obj := r.graph.Object(n)
	c := objectContext{rules: r, node: n, object: obj, judgements: judgements}
	c.assessment = collector.Assess(obj, collector.Verdicts(c.judgements))
	if slices.ContainsFunc(c.judgements, func(j collector.Judgement) bool { return j.Cause != collector.CauseNone || j.NamesOutdatedVersion() }) {
		c.repairs = r.planner.Object(n)
	}
	return c
}

func (r *ruleContext) inScope(o *object.Object) bool {
	if r.options.Namespace != "" && o.Namespace != r.options.Namespace {
		return false
	}
	return r.options.Selector == nil || r.options.Selector.Matches(labels.Set(o.Labels))
}

func choose(ids []string) ([]Rule, error) {
	if len(ids) == 0 {
		return Rules, nil
	}
	for _, id := range ids {
		if !slices.Contains(IDs(), id) {
			return nil, fmt.Errorf("there is no rule %q: rules are %s", id, strings.Join(IDs(), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(Rules), func(r Rule) bool { return !slices.Contains(ids, r.ID) }), nil
}
