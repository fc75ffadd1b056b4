package html

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/explain"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/explainview"
)

// pageData is the data of a page, which only the script of the same page reads. Long lists
// are in columns: a number for each object, reference or finding. Shared strings are
// numbers in Texts.
type pageData struct {
	About      about      `json:"about"`
	Gaps       gaps       `json:"gaps"`
	Rules      []rule     `json:"rules"`
	Verdicts   []verdict  `json:"verdicts"`
	Kinds      []kindName `json:"kinds"`
	Outcomes   []outcome  `json:"fates"`
	Objects    objects    `json:"objects"`
	References references `json:"references"`
	Findings   findings   `json:"findings"`
	Steps      *steps     `json:"steps"` // null without Page.Plan
	Texts      []string   `json:"texts"`
}

// about says when and where the scan was made, and what it found.
type about struct {
	Tool      string       `json:"tool"`
	Taken     string       `json:"taken"`
	Server    string       `json:"server"`
	Context   string       `json:"context"`
	Address   string       `json:"address"`
	File      string       `json:"file"`
	Namespace string       `json:"namespace"`
	Selector  string       `json:"selector"`
	Flags     string       `json:"flags"`
	Complete  bool         `json:"complete"`
	Sum       string       `json:"sum"`
	Summary   audit.Totals `json:"summary"`
	Hints     string       `json:"hints"`
	Warnings  []string     `json:"warnings"`
}

type rule struct {
	ID      string `json:"id"`
	Summary string `json:"summary"`
	Page    string `json:"page"`
}

type verdict struct {
	Word    string `json:"word"`
	Meaning string `json:"meaning"`
}

type kindName struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Word       string `json:"word"` // on a command line
}

// outcome is what a collection does with an object.
type outcome struct {
	Tone   string `json:"tone"`   // goes, changes, waits or stays
	Action string `json:"action"` // of the garbage collector; empty if others do it
	Why    string `json:"why"`
}

// verdicts are in the order of their numbers.
var verdicts = []collector.Verdict{
	collector.VerdictSolid, collector.VerdictDangling, collector.VerdictWaiting, collector.VerdictUnresolvable, collector.VerdictScopeError, collector.VerdictUnknown,
}

// list holds each of its values once, and numbers them.
type list[T comparable] struct {
	numbers map[T]int
	values  []T
}

func newList[T comparable]() list[T] { return list[T]{map[T]int{}, []T{}} }

// number returns the number of a value, which it adds if the list lacks it.
func (l *list[T]) number(value T) int {
	n, known := l.numbers[value]
	if !known {
		n = len(l.values)
		l.numbers[value] = n
		l.values = append(l.values, value)
	}
	return n
}

// pageBuilder makes the document of a page.
type pageBuilder struct {
	page     Page
	graph    *graph.Graph     // the judge's
	judge    *collector.Judge // the page's
	sorted   []*audit.Finding
	texts    list[string]    // escaped
	kinds    list[[2]string] // apiVersion and kind
	outcomes list[outcome]

	terminating []*object.Object // namespaces and definitions that are being deleted
	containers  map[[3]string]*object.Object
}

func documentOf(p Page) *pageData {
	b := &pageBuilder{
		page: p, graph: p.Judge.Graph(), judge: p.Judge, sorted: audit.MostSevereFirst(p.Report.Findings),
		texts: newList[string](), kinds: newList[[2]string](), outcomes: newList[outcome](), containers: map[[3]string]*object.Object{},
	}
	b.texts.number("") // is 0
	for _, o := range b.graph.Snapshot().Objects {
		if o.Terminating() && (o.IsNamespace() || o.IsCRD()) {
			b.terminating = append(b.terminating, o)
		}
	}
	doc := &pageData{About: b.about(), Gaps: b.gaps(), Kinds: []kindName{}}
	for _, r := range audit.Rules {
		doc.Rules = append(doc.Rules, rule{r.ID, r.Summary, r.Page()})
	}
	for _, v := range verdicts {
		doc.Verdicts = append(doc.Verdicts, verdict{string(v), explainview.Meaning(v)})
	}
	doc.Objects, doc.Findings, doc.References = b.objects(), b.findings(), b.references()
	if p.Plan != nil {
		doc.Steps = b.steps()
	}
	for _, k := range b.kinds.values {
		doc.Kinds = append(doc.Kinds, kindName{escape.Line(k[0]), escape.Line(k[1]), escape.Line(explain.TypeArgument(b.graph, k[0], k[1]))})
	}
	doc.Outcomes, doc.Texts = b.outcomes.values, b.texts.values
	return doc
}

// text returns the number of a string from the cluster, escaped and shortened.
func (b *pageBuilder) text(s string) int { return b.texts.number(escape.Line(s)) }

func (b *pageBuilder) about() about {
	s, source := b.graph.Snapshot(), b.page.Source
	a := about{
		Tool: escape.Line(b.page.Version), Taken: s.Taken.UTC().Format(time.RFC3339), Server: escape.Line(s.Server),
		Context: escape.Line(source.Context), Address: escape.Line(source.Address), File: escape.Line(source.File),
		Namespace: escape.Line(source.Namespace), Selector: escape.Line(source.Selector), Flags: escape.Sentence(source.Flags),
		Complete: b.page.Report.Complete, Sum: auditreport.SummaryLine(b.page.Report, s.MonitoredTypes()), Summary: b.page.Report.Summary,
		Hints: escape.Sentence(b.page.Hints), Warnings: []string{},
	}
	for _, w := range b.page.Warnings {
		a.Warnings = append(a.Warnings, escape.Sentence(w))
	}
	return a
}

// gaps are what could not be read.
type gaps struct {
	Warning string   `json:"warning"` // in one line; empty if there are none
	Causes  []string `json:"causes"`
	All     []gap    `json:"all"`
}

type gap struct {
	What    string `json:"what"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// How many gaps the first line names, and how many have a line of their own below.
const (
	namedGaps = 6
	mostGaps  = 2000
)

func (b *pageBuilder) gaps() gaps {
	s := b.graph.Snapshot()
	out := gaps{Warning: auditreport.Gaps("", s.Gaps, s.MonitoredTypes(), namedGaps), Causes: append([]string{}, auditreport.Causes(s.Gaps, namedGaps)...), All: []gap{}}
	for _, g := range s.Gaps[:min(len(s.Gaps), mostGaps)] {
		out.All = append(out.All, gap{escape.Line(g.String()), escape.Line(g.Why()), escape.Sentence(g.Message)})
	}
	return out
}
