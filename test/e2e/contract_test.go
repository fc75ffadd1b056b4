package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// The JSON documents, declared as a client would declare them.
type (
	report struct {
		APIVersion string    `json:"apiVersion"`
		Kind       string    `json:"kind"`
		Complete   bool      `json:"complete"`
		Gaps       []gap     `json:"gaps"`
		Summary    summary   `json:"summary"`
		Settled    *settled  `json:"settled"`
		Known      *known    `json:"known"`
		Findings   []finding `json:"findings"`
	}
	terminatingReport struct {
		APIVersion string              `json:"apiVersion"`
		Kind       string              `json:"kind"`
		Complete   bool                `json:"complete"`
		Gaps       []gap               `json:"gaps"`
		Objects    []terminatingObject `json:"objects"`
	}
	terminatingObject struct {
		Cluster   string    `json:"cluster"`
		Object    identity  `json:"object"`
		Requested time.Time `json:"requested"`
		Scanned   time.Time `json:"scanned"`
		Holder    string    `json:"heldBy"`
		// RootCause is nil where it is the object itself.
		RootCause  *identity          `json:"rootCause"`
		Finalizers []holdingFinalizer `json:"finalizers"`
		Because
	}
	holdingFinalizer struct {
		Name       string `json:"name"`
		Controller string `json:"controller"`
		Condition  string `json:"condition"`
		Traces     *controllerTraces
	}
	controllerTraces struct {
		Domain  string
		Own     bool
		Found   []string
		More    int
		Active  []string
		Watched bool
		Unread  []any
	}
	settled struct {
		After      string `json:"after"`
		InProgress int    `json:"inProgress"`
		Remaining  int    `json:"remaining"`
		Unread     int    `json:"unread"`
	}
	known struct {
		Errors   int `json:"errors"`
		Warnings int `json:"warnings"`
		Infos    int `json:"infos"`
	}
	gap struct {
		Cluster   string `json:"cluster"`
		Group     string `json:"group"`
		Resource  string `json:"resource"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
		Reason    string `json:"reason"`
		Message   string `json:"message"`
	}
	summary struct {
		Objects    int `json:"objects"`
		References int `json:"references"`
		Errors     int `json:"errors"`
		Warnings   int `json:"warnings"`
		Infos      int `json:"infos"`
	}
	// Because is a reason: its code, its parameters and its sentence.
	Because struct {
		Reason     string         `json:"reason"`
		Parameters map[string]any `json:"parameters"`
		Message    string         `json:"message"`
	}
	finding struct {
		Cluster     string    `json:"cluster"`
		Rule        string    `json:"rule"`
		Severity    string    `json:"severity"`
		Object      identity  `json:"object"`
		Reference   *ownerRef `json:"reference"`
		Verdict     string    `json:"verdict"`
		Consequence string    `json:"consequence"`
		// Nondeterministic is set where the order of events decides.
		Nondeterministic json.RawMessage `json:"nondeterministic"`
		Because
		Effect Because `json:"effect"`
		// Evidence is set by --settle.
		Evidence *Because   `json:"evidence"`
		Fix      string     `json:"fix"`
		Members  []identity `json:"members"`
	}
	// namespaceStuck has the parameters of the reason NamespaceStuck.
	namespaceStuck struct {
		Causes     []Because   `json:"causes"`
		Conditions []condition `json:"conditions"`
	}
	condition struct {
		Type    string `json:"type"`
		Meaning string `json:"meaning"` // only in an Explanation
		Message string `json:"message"`
	}
	identity struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Namespace  string `json:"namespace"`
		Name       string `json:"name"`
		UID        string `json:"uid"`
	}
	ownerRef struct {
		APIVersion         string `json:"apiVersion"`
		Kind               string `json:"kind"`
		Name               string `json:"name"`
		UID                string `json:"uid"`
		Controller         bool   `json:"controller"`
		BlockOwnerDeletion bool   `json:"blockOwnerDeletion"`
	}
	// explanation has what why says about writers.
	explanation struct {
		Answers []struct {
			References, Finalizers []struct {
				Name      string
				WrittenBy []written
			}
		}
	}
	written struct {
		Manager     string    `json:"manager"`
		Operation   string    `json:"operation"`
		Subresource string    `json:"subresource"`
		Time        time.Time `json:"time"`
	}
	tree struct {
		APIVersion string       `json:"apiVersion"`
		Kind       string       `json:"kind"`
		Complete   bool         `json:"complete"`
		Gaps       []gap        `json:"gaps"`
		Targets    []identity   `json:"targets"`
		Objects    []treeObject `json:"objects"`
	}
	treeObject struct {
		identity
		Created    *time.Time  `json:"created"`
		Deleted    *time.Time  `json:"deleted"`
		Finalizers []string    `json:"finalizers"`
		Owners     []treeOwner `json:"owners"`
	}
	treeOwner struct {
		ownerRef
		Verdict string `json:"verdict"`
		Rule    string `json:"rule"`
	}
)

func (i identity) String() string {
	if i.Namespace == "" {
		return i.Kind + "/" + i.Name
	}
	return i.Namespace + " " + i.Kind + "/" + i.Name
}

// String returns on one line everything of a finding that people act on.
func (f finding) String() string {
	line := fmt.Sprintf("%s %s: %s", f.Severity, f.Rule, f.Object)
	if f.Reference != nil {
		r := *f.Reference
		line += fmt.Sprintf(" -> %s %s/%s %s controller=%t block=%t is %s", r.APIVersion, r.Kind, r.Name, r.UID, r.Controller, r.BlockOwnerDeletion, f.Verdict)
	}
	for _, m := range f.Members {
		line += " & " + m.String()
	}
	return line + ": " + f.Consequence
}

// brief returns a finding in the form that tests state: rule, object and consequence.
func (f finding) brief() string {
	return fmt.Sprintf("%s %s: %s/%s: %s", f.Severity, f.Rule, f.Object.Kind, f.Object.Name, f.Consequence)
}

// briefIn returns the findings about objects of one namespace in their brief form.
func (r report) briefIn(namespace string) []string {
	out := []string{}
	for _, f := range r.Findings {
		if f.Object.Namespace == namespace {
			out = append(out, f.brief())
		}
	}
	return out
}

// audit runs an audit that must succeed, and decodes its report. The exit code must match the
// findings.
func (t tool) audit(args ...string) report {
	t.Helper()
	r := t.gc(append([]string{"audit", "-o", "json"}, args...)...)
	out := decode[report](t, r)
	want := 0
	if out.Summary.Errors > 0 {
		want = 1
	}
	r.exits(t, want)
	checkReport(t, out)
	return out
}

// auditIncomplete runs an audit that must be incomplete and warn with these words on standard
// error. With --strict it exits with 3.
func (t tool) auditIncomplete(words []string, args ...string) report {
	t.Helper()
	r := t.gc(append([]string{"audit", "-o", "json", "--strict"}, args...)...).exits(t, 3).warns(t, words...)
	out := decode[report](t, r)
	checkReport(t, out)
	return out
}

func checkReport(t testing.TB, r report) {
	t.Helper()
	if r.APIVersion != "kubectl-gc.dev/v1alpha1" || r.Kind != "AuditReport" || r.Gaps == nil || r.Findings == nil || r.Complete != (len(r.Gaps) == 0) {
		t.Errorf("no valid report: %s %s, complete %t, %d gaps", r.APIVersion, r.Kind, r.Complete, len(r.Gaps))
	}
	counted := summary{Objects: r.Summary.Objects, References: r.Summary.References}
	for _, f := range r.Findings {
		switch f.Severity {
		case "error":
			counted.Errors++
		case "warning":
			counted.Warnings++
		case "info":
			counted.Infos++
		}
	}
	if counted != r.Summary {
		t.Errorf("the summary says %+v of findings that are %+v", r.Summary, counted)
	}
	if !slices.IsSortedFunc(r.Findings, func(a, b finding) int { return strings.Compare(sortKey(a.Object), sortKey(b.Object)) }) {
		t.Error("the findings are not in the order of their objects")
	}
}

// sortKey orders identities by kind, namespace, name and UID.
func sortKey(i identity) string {
	return strings.Join([]string{i.Kind, i.Namespace, i.Name, i.UID}, "\x00")
}

// awaitReport audits until done returns true for the report.
func (s *scene) awaitReport(into *report, what string, args []string, done func(report) bool) {
	s.Helper()
	s.await(what, func(context.Context) (bool, error) {
		*into = s.tool().audit(args...)
		return done(*into), nil
	})
}
