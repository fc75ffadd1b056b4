package html

import (
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	table "github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	words "github.com/kubectl-gc/kubectl-gc/pkg/output/explainview"
)

// document is the data of a page. It is no contract: only the script of the same page
// reads it. What there is much of is in columns, a number for each object, reference or
// finding, and strings that many share are numbers in Texts.
type document struct {
	About      about      `json:"about"`
	Gaps       gaps       `json:"gaps"`
	Rules      []rule     `json:"rules"`
	Verdicts   []verdict  `json:"verdicts"`
	Kinds      []kind     `json:"kinds"`
	Fates      []fate     `json:"fates"`
	Objects    objects    `json:"objects"`
	References references `json:"references"`
	Findings   findings   `json:"findings"`
	Steps      *sequence  `json:"steps"` // null where nobody asked for them
	Texts      []string   `json:"texts"`
}

// about says where and when the scan was made, and what it found.
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
	collector.Solid, collector.Dangling, collector.Waiting, collector.Unresolvable, collector.ScopeError, collector.Unknown,
}

// builder makes the document of one page.
type builder struct {
	Page
	texts *texts
	judge *collector.Judge
	kinds map[[2]string]int
	fates map[fate]int
	doc   *document

	emptying   []*object.Object // namespaces and definitions that are being deleted
	containers map[[3]string]*object.Object
}

func documentOf(p Page) *document {
	b := &builder{
		Page: p, texts: newTexts(), judge: collector.NewJudge(p.Graph),
		kinds: map[[2]string]int{}, fates: map[fate]int{}, doc: &document{Kinds: []kind{}, Fates: []fate{}},
		containers: map[[3]string]*object.Object{},
	}
	for _, o := range p.Graph.Snapshot().Objects {
		if o.Terminating() && (o.IsNamespace() || o.IsDefinition()) {
			b.emptying = append(b.emptying, o)
		}
	}
	b.doc.About, b.doc.Gaps = b.about(), b.gaps()
	for _, r := range audit.Rules {
		b.doc.Rules = append(b.doc.Rules, rule{r.ID, r.Summary})
	}
	for _, v := range verdicts {
		b.doc.Verdicts = append(b.doc.Verdicts, verdict{string(v), words.Meaning(v)})
	}
	b.doc.Objects = b.objects()
	b.doc.Findings = b.findings()
	b.doc.References = b.references()
	if p.Plan != nil {
		b.doc.Steps = b.sequence()
	}
	b.doc.Texts = b.texts.all
	return b.doc
}

func (b *builder) about() about {
	s := b.Graph.Snapshot()
	a := about{
		Tool: name(b.Version), Taken: s.Taken.UTC().Format(time.RFC3339), Server: name(s.Server),
		Context: name(b.Source.Context), Address: name(b.Source.Address), File: name(b.Source.File),
		Namespace: name(b.Source.Namespace), Selector: name(b.Source.Selector),
		Complete: b.Report.Complete, Sum: table.SummaryLine(b.Report, s.Monitored()), Summary: b.Report.Summary,
		Hints: sentence(b.Hints), Warnings: []string{},
	}
	for _, w := range b.Warnings {
		a.Warnings = append(a.Warnings, sentence(w))
	}
	return a
}
