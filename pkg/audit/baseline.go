package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// SeverityCounts counts findings by severity.
type SeverityCounts struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
}

func (k *SeverityCounts) add(o *SeverityCounts) {
	k.Errors += o.Errors
	k.Warnings += o.Warnings
	k.Infos += o.Infos
}

func (k *SeverityCounts) count(s Severity) {
	switch s {
	case Error:
		k.Errors++
	case Warning:
		k.Warnings++
	case Info:
		k.Infos++
	}
}

// Baseline holds the findings of an earlier report.
type Baseline struct {
	known map[findingKey]Severity // the worst of equal findings
}

// findingKey identifies a finding in reports of different times. A version is not part of it: a
// server may serve an object in another one later.
type findingKey struct {
	cluster, rule, group, kind, namespace, name string
	uid                                         types.UID
	// These are of the reference, and zero if the finding is not about one.
	owner            object.Identity
	controls, blocks bool
}

func keyOf(cluster, rule string, of object.Identity, reference *object.Reference) findingKey {
	key := findingKey{cluster: cluster, rule: rule, group: of.GroupVersionKind().Group, kind: of.Kind, namespace: of.Namespace, name: of.Name, uid: of.UID}
	if reference != nil {
		key.owner, key.controls, key.blocks = reference.OwnerIn(""), reference.Controls(), reference.Blocks()
	}
	return key
}

// ErrPartialBaseline reports that a baseline lacks the findings of another baseline.
var ErrPartialBaseline = errors.New("it was written with --baseline itself, so it lacks the findings of that baseline")

// ParseBaseline reads a report from its JSON document, whose apiVersion must be as given.
func ParseBaseline(document []byte, apiVersion string) (*Baseline, error) {
	var report struct {
		APIVersion string          `json:"apiVersion"`
		Kind       string          `json:"kind"`
		Known      *SeverityCounts `json:"known"`
		Findings   []struct {
			Cluster   string            `json:"cluster"`
			Rule      string            `json:"rule"`
			Severity  Severity          `json:"severity"`
			Object    object.Identity   `json:"object"`
			Reference *object.Reference `json:"reference"`
		} `json:"findings"`
	}
	if err := json.NewDecoder(bytes.NewReader(document)).Decode(&report); err != nil {
		return nil, errors.New("it is not an AuditReport in JSON")
	}
	switch {
	case report.APIVersion != apiVersion || report.Kind != "AuditReport":
		return nil, fmt.Errorf("it is of apiVersion %q and kind %q, not an AuditReport of %s", report.APIVersion, report.Kind, apiVersion)
	case report.Findings == nil:
		return nil, errors.New("it has no findings, not even an empty list")
	case report.Known != nil:
		return nil, ErrPartialBaseline
	}
	b := &Baseline{known: map[findingKey]Severity{}}
	for _, f := range report.Findings {
		if !slices.Contains([]Severity{Error, Warning, Info}, f.Severity) {
			return nil, fmt.Errorf("a finding has the severity %q", f.Severity)
		}
		key := keyOf(f.Cluster, f.Rule, f.Object, f.Reference)
		if was, ok := b.known[key]; !ok || f.Severity.AtLeast(was) {
			b.known[key] = f.Severity
		}
	}
	return b, nil
}

// Subtract removes the findings that the baseline has with the same severity or a worse one, and
// counts them in Known. cluster is the name under which the baseline has them, empty for the only
// cluster.
func (r *Report) Subtract(b *Baseline, cluster string) {
	known := &SeverityCounts{}
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
		was, ok := b.known[keyOf(cluster, f.Rule, f.Object, f.Reference)]
		if !ok || !was.AtLeast(f.Severity) {
			return false
		}
		known.count(f.Severity)
		return true
	})
	r.Known = known
	r.count()
}
