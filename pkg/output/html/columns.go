package html

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/tree"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/repair"
)

// none is no index in a list.
const none = -1

// objects has an entry for each object of the graph in every list. UID has more: those of
// owners that were not read.
type objects struct {
	Listed    int      `json:"listed"` // how many were listed; the others were only looked up
	Name      []string `json:"name"`
	Kind      []int    `json:"kind"`      // in Kinds
	Namespace []int    `json:"namespace"` // in Texts
	Age       []int    `json:"age"`       // in Texts
	UID       []string `json:"uid"`       // of the absent ones, too
	Owners    []int    `json:"owners"`    // how many references each has
	Outcome   []int    `json:"fate"`      // in Outcomes, or -1
	// Per object that has any: its index, then a note or finalizers, in Texts.
	Ending     [][]int `json:"ending"`
	Finalizers [][]int `json:"finalizers"`
}

func (b *pageBuilder) objects() objects {
	seen := b.graph.Observed()
	all := objects{
		Listed: b.graph.Listed(), Name: make([]string, seen), Kind: make([]int, seen), Namespace: make([]int, seen), Age: make([]int, seen),
		UID: make([]string, b.graph.Len()), Owners: make([]int, seen), Outcome: make([]int, seen), Ending: [][]int{}, Finalizers: [][]int{},
	}
	taken := b.graph.Snapshot().Taken
	for i := range seen {
		o := b.graph.Object(graph.Node(i))
		all.Name[i], all.Owners[i] = escape.Line(o.Name), len(o.Owners)
		all.Kind[i], all.Namespace[i] = b.kinds.number([2]string{o.APIVersion, o.Kind}), b.text(o.Namespace)
		if !o.Created.IsZero() {
			all.Age[i] = b.texts.number(duration.HumanDuration(taken.Sub(o.Created)))
		}
		if o.Terminating() {
			all.Ending = append(all.Ending, []int{i, b.texts.number(escape.Sentence(tree.Terminating(o, taken)))})
		}
		if len(o.Finalizers) > 0 {
			held := []int{i}
			for _, f := range o.Finalizers {
				held = append(held, b.text(f))
			}
			all.Finalizers = append(all.Finalizers, held)
		}
		all.Outcome[i] = b.unchanged(graph.Node(i), o)
	}
	for i := range all.UID {
		all.UID[i] = escape.Line(string(b.graph.UID(graph.Node(i))))
	}
	shown := graph.NewSet(b.graph)
	for _, r := range planview.Rows(b.page.Pass) { // the first line of an object says most
		if n := b.indexOf(r); n != none && shown.Add(graph.Node(n)) {
			all.Outcome[n] = b.outcomes.number(outcome{tone(r), r.Label, r.Why})
		}
	}
	return all
}

// indexOf returns the index of a row's object, or none.
func (b *pageBuilder) indexOf(r planview.PreviewRow) int {
	if n := b.graph.Find(r.Object.UID); r.Object.UID != "" && n != graph.None {
		return int(n)
	}
	return none
}

// tone returns the colour of a line of the preview.
func tone(r planview.PreviewRow) string {
	switch r.Action {
	case plan.ActionDelete:
		return "goes"
	case "":
		return "waits"
	default:
		return "changes"
	}
}

// unchanged returns the outcome of an object without a step: it is deleted with its
// namespace or definition, or all its owners exist. The findings cover all others.
func (b *pageBuilder) unchanged(n graph.Node, o *object.Object) int {
	if int(n) >= b.graph.Listed() || o.Terminating() {
		return none
	}
	if c := b.container(o); c != nil {
		return b.outcomes.number(outcome{"goes", "", escape.Sentence(explain.DeletedWith(c))})
	}
	for i := range o.Owners {
		if j := b.judge.Reference(graph.Edge{Node: n, Index: i}); !plain(j) {
			return none
		}
	}
	return b.outcomes.number(outcome{"stays", "keep", escape.Sentence(explain.KeptReason(o.Owners))})
}

// container returns the namespace or definition of an object if it is being deleted, or
// nil.
func (b *pageBuilder) container(o *object.Object) *object.Object {
	key := [3]string{o.Namespace, o.APIVersion, o.Kind} // the same for all objects of a kind in a namespace
	found, known := b.containers[key]
	if !known {
		if i := slices.IndexFunc(b.terminating, func(c *object.Object) bool { return b.graph.View().Contains(c.Identity, o) }); i >= 0 {
			found = b.terminating[i]
		}
		b.containers[key] = found
	}
	return found
}

// findings has an entry for each finding in every list, in the order of
// audit.MostSevereFirst.
type findings struct {
	Rule        []int    `json:"rule"`     // in Rules
	Severity    []int    `json:"severity"` // 0 error, 1 warning, 2 info
	Object      []int    `json:"object"`
	Brief       []int    `json:"brief"`  // in Texts, as all below
	Effect      []int    `json:"effect"` // what the collector does
	Consequence []int    `json:"consequence"`
	Repair      []int    `json:"repair"`   // a command line; empty if only a person can tell
	Group       []int    `json:"group"`    // of findings with the same cause, in the order of audit.Groups
	Problems    []int    `json:"problems"` // per group
	Message     []string `json:"message"`
	Members     [][]int  `json:"members"` // per cycle: the index of the finding, then its objects
}

var severities = []audit.Severity{audit.Error, audit.Warning, audit.Info}

func (b *pageBuilder) findings() findings {
	ids := audit.IDs()
	all := findings{
		Rule: []int{}, Severity: []int{}, Object: []int{}, Brief: []int{}, Effect: []int{}, Consequence: []int{},
		Repair: []int{}, Group: []int{}, Problems: []int{}, Message: []string{}, Members: [][]int{},
	}
	group := map[*audit.Finding]int{}
	for i, g := range audit.Groups(b.page.Report.Findings) {
		all.Problems = append(all.Problems, b.texts.number(auditreport.Problem(&g)))
		for _, f := range g.Findings {
			group[f] = i
		}
	}
	planner, repairs := repair.New(b.judge), map[graph.Node][]repair.Repair{}
	for i, f := range b.sorted {
		all.Rule = append(all.Rule, slices.Index(ids, f.Rule))
		all.Severity = append(all.Severity, slices.Index(severities, f.Severity))
		all.Object = append(all.Object, int(b.graph.Find(f.Object.UID)))
		all.Brief = append(all.Brief, b.text(f.Reason.Brief()))
		all.Effect = append(all.Effect, b.text(f.Effect.Brief()))
		all.Consequence = append(all.Consequence, b.text(string(f.Consequence)))
		if f.Reference != nil && repairs[f.Edge.Node] == nil {
			repairs[f.Edge.Node] = planner.Object(f.Edge.Node)
		}
		byPerson := f.Reference != nil && repairs[f.Edge.Node][f.Edge.Index].NeedsDecision
		all.Repair = append(all.Repair, b.texts.number(b.repairCommand(f, byPerson)))
		all.Group = append(all.Group, group[f])
		all.Message = append(all.Message, escape.Sentence(f.Message()))
		if len(f.Members) > 0 {
			members := []int{i}
			for _, m := range f.Members {
				members = append(members, int(b.graph.Find(m.UID)))
			}
			all.Members = append(all.Members, members)
		}
	}
	return all
}

// repairCommand returns the command that previews the repair of a finding. It is empty if there is none, if the
// object was only looked up, or if its name cannot be shown as it is. byPerson reports that only a person can
// decide on the repair.
func (b *pageBuilder) repairCommand(f *audit.Finding, byPerson bool) string {
	name := f.Object.Name
	if f.Fix == audit.NoFix || b.page.Suggest == nil || b.graph.Virtual(b.graph.Find(f.Object.UID)) || escape.Line(name) != name {
		return ""
	}
	words := append([]string{"repair"}, explain.Arguments(b.graph, f.Object)...)
	if _, repairable := audit.RepairFor(f.Rule); repairable {
		words = append(words, "--rule", f.Rule)
	} else {
		uid := b.surplus(f)
		if uid == "" {
			return ""
		}
		words, byPerson = append(words, "--reference", string(uid)), true
	}
	if byPerson {
		words = append(words, "--fix", string(f.Fix))
	}
	return b.page.Suggest(append(words, "--dry-run")...)
}

// surplus returns the UID in the reference that a finding is about: of a cycle, in the first that its first
// member has to it. It is empty if the object has several references to that UID, as all of them would go.
func (b *pageBuilder) surplus(f *audit.Finding) types.UID {
	owners := b.graph.Object(b.graph.Find(f.Object.UID)).Owners
	in := map[types.UID]bool{}
	if f.Reference != nil {
		in[f.Reference.UID] = true
	}
	for _, m := range f.Members {
		in[m.UID] = len(f.Members) == 1 || m.UID != f.Object.UID
	}
	first := slices.IndexFunc(owners, func(r object.Reference) bool { return in[r.UID] })
	if first < 0 || slices.ContainsFunc(owners[first+1:], func(r object.Reference) bool { return r.UID == owners[first].UID }) {
		return ""
	}
	return owners[first].UID
}

// references has an entry for each owner reference, those of the first object first.
type references struct {
	To  []int `json:"to"`  // the index of the object with the UID
	How []int `json:"how"` // the verdict's number, and the flags
	// Claims has the references that are not plain, or name their owner differently: index of
	// the reference, apiVersion, kind and name in Texts, index of the finding or -1.
	Claims [][5]int `json:"claims"`
}

// The flags of a reference, beside its verdict.
const (
	controls = 8
	blocks   = 16
)

func (b *pageBuilder) references() references {
	type claim struct {
		edge graph.Edge
		rule string
	}
	finding := map[claim]int{}
	for i, f := range b.sorted {
		if f.Reference != nil {
			finding[claim{f.Edge, f.Rule}] = i
		}
	}
	all := references{To: []int{}, How: []int{}, Claims: [][5]int{}}
	for n := graph.Node(0); b.graph.Object(n) != nil; n++ {
		for i, r := range b.graph.Object(n).Owners {
			e := graph.Edge{Node: n, Index: i}
			j := b.judge.Reference(e)
			how := slices.Index(verdicts, j.Verdict)
			if r.Controls() {
				how |= controls
			}
			if r.Blocks() {
				how |= blocks
			}
			if !plain(j) || !namesExactly(r, j.UIDHolder) {
				found, known := finding[claim{e, string(j.Cause)}]
				if !known {
					found = none
				}
				all.Claims = append(all.Claims, [5]int{len(all.To), b.text(r.APIVersion), b.text(r.Kind), b.text(r.Name), found})
			}
			all.To = append(all.To, int(b.graph.Owners(n)[i]))
			all.How = append(all.How, how)
		}
	}
	return all
}

// plain reports whether a reference is valid and unremarkable.
func plain(j collector.Judgement) bool {
	return j.Verdict == collector.VerdictSolid && j.Cause == collector.CauseNone
}

// namesExactly reports whether a reference names its owner as it was read.
func namesExactly(r object.Reference, o *object.Object) bool {
	return o != nil && r.APIVersion == o.APIVersion && r.Kind == o.Kind && r.Name == o.Name
}

// steps is the plan with an entry for each line of its preview in every list.
type steps struct {
	Sum    string   `json:"sum"`
	Digest string   `json:"digest"`
	Tone   []int    `json:"tone"`   // in Texts, as all below but Object and Depth
	Action []int    `json:"action"` //
	Name   []string `json:"name"`   // of lines that only count objects; else empty
	Object []int    `json:"object"` // or -1
	Why    []int    `json:"why"`
	Depth  []int    `json:"depth"`
}

func (b *pageBuilder) steps() *steps {
	all := &steps{
		Sum: planview.SummaryLine(b.page.Plan, ""), Digest: b.page.Plan.Digest(),
		Tone: []int{}, Action: []int{}, Name: []string{}, Object: []int{}, Why: []int{}, Depth: []int{},
	}
	for _, r := range planview.Rows(b.page.Plan) {
		at, shown := b.indexOf(r), ""
		if at == none {
			shown = r.Name
		}
		all.Object, all.Name = append(all.Object, at), append(all.Name, shown)
		all.Tone, all.Action = append(all.Tone, b.texts.number(tone(r))), append(all.Action, b.texts.number(r.Label))
		all.Why, all.Depth = append(all.Why, b.texts.number(r.Why)), append(all.Depth, r.Depth)
	}
	return all
}
