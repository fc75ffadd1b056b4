package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Options says what to judge and by which rules. The zero value judges
// everything by every rule.
type Options struct {
	Namespace  string          // only objects of this namespace; empty: all, cluster-scoped ones too
	Selector   labels.Selector // only objects with these labels; nil: all
	Rules      []string        // ids; empty: every rule
	StuckAfter time.Duration   // how long a terminating object may wait for a foreign finalizer; zero: no time
}

// UnknownRuleError says that an id names no rule.
type UnknownRuleError struct{ ID string }

func (e *UnknownRuleError) Error() string {
	return fmt.Sprintf("there is no rule %q: rules are %s", e.ID, strings.Join(IDs(), ", "))
}

// IDs are the ids of all rules, in their order.
func IDs() []string {
	out := make([]string, len(Rules))
	for i, r := range Rules {
		out[i] = r.ID
	}
	return out
}

// RuleOf is the id of the rule that speaks of a cause; empty for none.
func RuleOf(c collector.VerdictCause) string { return ruleOf[c] }

var ruleOf = map[collector.VerdictCause]string{
	collector.Unverified:          unverifiedOwner.ID,
	collector.ClusterToNamespaced: clusterToNamespacedOwner.ID,
	collector.UnservedVersion:     unservedOwnerVersion.ID,
	collector.UnknownKind:         unknownOwnerKind.ID,
	collector.CrossNamespace:      crossNamespaceOwner.ID,
	collector.Mismatched:          mismatchedOwner.ID,
	collector.Replaced:            replacedOwner.ID,
	collector.Missing:             missingOwner.ID,
	collector.Terminating:         terminatingOwner.ID,
}

// RepairableRules are the ids of the rules that speak of references which package mend may
// mend, in their order.
func RepairableRules() []string {
	var out []string
	for _, id := range IDs() {
		if _, mends := RepairFor(id); mends {
			out = append(out, id)
		}
	}
	return out
}

// RepairFor is the cause of which the rule speaks, if mending it is package mend's.
// What other rules speak of, a person has to decide, or it mends itself.
func RepairFor(rule string) (cause collector.VerdictCause, ok bool) {
	for cause, id := range ruleOf {
		if id == rule {
			return cause, cause != collector.Unverified && cause != collector.Terminating
		}
	}
	return collector.NoCause, false
}

// Run audits a graph. Only objects that a list showed are judged, not those of
// unmonitored types that a reference names (docs/gc-semantics.md#virtual-owners).
// The only error is an *UnknownRule.
func Run(g *graph.Graph, o Options) (*Report, error) {
	rules, err := choose(o.Rules)
	if err != nil {
		return nil, err
	}
	judge := collector.NewJudge(g)
	p := &ruleContext{graph: g, judge: judge, planner: repair.New(g, judge), options: o}
	s := g.Snapshot()
	report := &Report{Complete: s.Complete(), Gaps: gapsOf(s.Gaps, ""), Findings: []Finding{}}
	for _, part := range snapshot.Parallel(g.Listed(), func(from, to int) Report { return p.part(rules, from, to) }) {
		report.join(part)
	}
	for _, rule := range rules {
		if rule.group != nil {
			report.keep(rule, rule.group(p))
		}
	}
	report.sort()
	return report, nil
}

// part is what the rules have to say of the objects from..to-1, one by one.
func (p *ruleContext) part(rules []Rule, from, to int) Report {
	var report Report
	var judgements []collector.Judgement // of one object; findings keep none
	for n := graph.Node(from); int(n) < to; n++ {
		obj := p.graph.Object(n)
		if !p.inScope(obj) {
			continue
		}
		report.Summary.Objects++
		report.Summary.References += len(obj.Owners)
		if len(obj.Owners) == 0 && !obj.Terminating() {
			continue
		}
		judgements = p.judge.Append(judgements[:0], n)
		view := objectContext{rules: p, node: n, object: obj, judgements: judgements}
		view.assessment = collector.Assess(obj, collector.Verdicts(view.judgements))
		if slices.ContainsFunc(view.judgements, func(j collector.Judgement) bool { return j.Cause != collector.NoCause }) {
			view.repairs = p.planner.Object(n)
		}
		for _, rule := range rules {
			if rule.find != nil {
				report.keep(rule, rule.find(view))
			}
		}
	}
	return report
}

func (p *ruleContext) inScope(o *object.Object) bool {
	if p.options.Namespace != "" && o.Namespace != p.options.Namespace {
		return false
	}
	return p.options.Selector == nil || p.options.Selector.Matches(labels.Set(o.Labels))
}

// Check answers an *UnknownRule for the first id that names no rule.
func Check(ids []string) error {
	_, err := choose(ids)
	return err
}

func choose(ids []string) ([]Rule, error) {
	if len(ids) == 0 {
		return Rules, nil
	}
	for _, id := range ids {
		if !slices.Contains(IDs(), id) {
			return nil, &UnknownRuleError{ID: id}
		}
	}
	var out []Rule
	for _, r := range Rules {
		if slices.Contains(ids, r.ID) {
			out = append(out, r)
		}
	}
	return out, nil
}

// SiblingsAtRisk says whether the server's own collector keys its verdicts by
// UID alone, so that one bad reference can take the valid dependents of the
// same owner along: before 1.20 (docs/gc-semantics.md#versions). An unknown version
// is not.
func SiblingsAtRisk(server string) bool { return Before(server, "1.20.0") }

// Before says whether a server is known to be older than a release of Kubernetes.
func Before(server, release string) bool {
	v, err := version.ParseGeneric(server)
	return err == nil && v.LessThan(version.MustParseGeneric(release))
}
