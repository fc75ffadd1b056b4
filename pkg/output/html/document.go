package html

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/explainview"
)

// document is the data of a page, which only the script of the same page reads. Long lists
// are in columns: a number for each object, reference or finding. Shared strings are
// numbers in Texts.
type document struct {
	About      about      `json:"about"`
	Gaps       gaps       `json:"gaps"`
	Rules      []rule     `json:"rules"`
	Verdicts   []verdict  `json:"verdicts"`
	Kinds      []kind     `json:"kinds"`
	Outcomes   []outcome  `json:"fates"`
	Objects    objects    `json:"objects"`
	References references `json:"references"`
	Findings   findings   `json:"findings"`
	Steps      *steps     `json:"steps"` // null without Page.Plan
	Texts      []string   `json:"texts"`
}

// about says when and where the scan was made, and what it found.
type about struct {
	Tool      string        `json:"tool"`
	Taken     string        `json:"taken"`
	Server    string        `json:"server"`
	Context   string        `json:"context"`
	Address   string        `json:"address"`
	File      string        `json:"file"`
	Namespace string        `json:"namespace"`
	Selector  string        `json:"selector"`
	Complete  bool          `json:"complete"`
	Sum       string        `json:"sum"`
	Summary   audit.Summary `json:"summary"`
	Hints     string        `json:"hints"`
	Warnings  []string      `json:"warnings"`
}

type rule struct {
	ID      string `json:"id"`
	Summary string `json:"summary"`
}

type verdict struct {
	Word    string `json:"word"`
	Meaning string `json:"meaning"`
}

// verdicts are in the order of their numbers.
var verdicts = []collector.Verdict{
	collector.VerdictSolid, collector.VerdictDangling, collector.VerdictWaiting, collector.VerdictUnresolvable, collector.VerdictScopeError, collector.VerdictUnknown,
}

// builder makes the document of a page.
type builder struct {
	page     Page
	texts    *texts
	judge    *collector.Judge // the page's
	graph    *graph.Graph     // the judge's
	kinds    map[[2]string]int
	outcomes map[outcome]int
	doc      *document

	terminating []*object.Object // namespaces and definitions that are being deleted
	containers  map[[3]string]*object.Object
}

func documentOf(p Page) *document {
	b := &builder{
		page: p, texts: newTexts(), judge: p.Judge, graph: p.Judge.Graph(),
		kinds: map[[2]string]int{}, outcomes: map[outcome]int{}, doc: &document{Kinds: []kind{}, Outcomes: []outcome{}},
		containers: map[[3]string]*object.Object{},
	}
	for _, o := range b.graph.Snapshot().Objects {
		if o.Terminating() && (o.IsNamespace() || o.IsCRD()) {
			b.terminating = append(b.terminating, o)
		}
	}
	b.doc.About, b.doc.Gaps = b.about(), b.gaps()
	for _, r := range audit.Rules {
		b.doc.Rules = append(b.doc.Rules, rule{r.ID, r.Summary})
	}
	for _, v := range verdicts {
		b.doc.Verdicts = append(b.doc.Verdicts, verdict{string(v), explainview.Meaning(v)})
	}
	b.doc.Objects = b.objects()
	b.doc.Findings = b.findings()
	b.doc.References = b.references()
	if p.Plan != nil {
		b.doc.Steps = b.steps()
	}
	b.doc.Texts = b.texts.all
	return b.doc
}

func (b *builder) about() about {
	s := b.graph.Snapshot()
	a := about{
		Tool: name(b.page.Version), Taken: s.Taken.UTC().Format(time.RFC3339), Server: name(s.Server),
		Context: name(b.page.Source.Context), Address: name(b.page.Source.Address), File: name(b.page.Source.File),
		Namespace: name(b.page.Source.Namespace), Selector: name(b.page.Source.Selector),
		Complete: b.page.Report.Complete, Sum: auditreport.SummaryLine(b.page.Report, s.MonitoredTypes()), Summary: b.page.Report.Summary,
		Hints: sentence(b.page.Hints), Warnings: []string{},
	}
	for _, w := range b.page.Warnings {
		a.Warnings = append(a.Warnings, sentence(w))
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

func (b *builder) gaps() gaps {
	s := b.graph.Snapshot()
	out := gaps{Warning: auditreport.Gaps("", s.Gaps, s.MonitoredTypes(), namedGaps), Causes: append([]string{}, auditreport.Causes(s.Gaps, namedGaps)...), All: []gap{}}
	for i, g := range s.Gaps {
		if i == mostGaps {
			break
		}
		out.All = append(out.All, gap{name(g.String()), name(string(g.Reason)), sentence(g.Message)})
	}
	return out
}
