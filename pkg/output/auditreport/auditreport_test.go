package auditreport_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/auditreport"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func id(namespace, kind, name string) object.Identity {
	return object.Identity{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name, UID: "u-1"}
}

// saying returns a reason with a given sentence.
func saying(sentence string) *reason.Reason { return reason.Of(said(sentence)) }

type said string

func (s said) Message() string { return string(s) }

// report returns findings in the order of a report.
func report() *audit.Report {
	return &audit.Report{
		Summary: audit.Totals{Objects: 50132, References: 60418, SeverityCounts: audit.SeverityCounts{Errors: 3, Warnings: 2}},
		Findings: []audit.Finding{
			{
				Rule: "unserved-owner-version", Severity: audit.Error, Object: id("shop", "ConfigMap", "flags"),
				Verdict: collector.VerdictUnresolvable, Consequence: collector.ConsequenceStuck, Fix: audit.UpdateVersion,
				Reason: saying("apps/v1beta1 Deployment/web: version not served (served: v1)"), Effect: saying("can never decide"),
			},
			{
				Rule: "missing-owner", Severity: audit.Warning, Object: id("shop", "ConfigMap", "shared"),
				Verdict: collector.VerdictDangling, Consequence: collector.ConsequenceUnlink, Fix: audit.Unlink,
				Reason: saying("Deployment/old is gone"), Effect: saying("drops the reference, 1 owner remains"),
			},
			{
				Rule: "replaced-owner", Severity: audit.Error, Object: id("shop", "Secret", "restored"),
				Verdict: collector.VerdictDangling, Consequence: collector.ConsequenceDelete, Fix: audit.Relink,
				Reason: saying("Deployment/web has another UID now"), Effect: saying("deletes it"),
			},
			{
				Rule: "unverified-owner", Severity: audit.Warning, Object: id("billing", "Secret", "token"),
				Verdict: collector.VerdictUnknown, Consequence: collector.ConsequenceUnknown, Fix: audit.NoFix,
				Reason: saying("Invoice/2026-11: may not list invoices"), Effect: saying("unknown"),
			},
		},
	}
}

func written(t *testing.T, r *audit.Report, wide bool, mode color.Choice) string {
	t.Helper()
	var out bytes.Buffer
	if err := auditreport.Table(&out, r, wide, color.New(mode, false, false)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTable(t *testing.T) {
	hostile := &audit.Report{Findings: []audit.Finding{{
		Rule: "missing-owner", Severity: audit.Info, Object: id("", "Node", "n\nerror  forged"), Consequence: collector.ConsequenceNone,
		Reason: saying(strings.Repeat("x", 102400) + "/\x1b[31m is gone"), Effect: saying("nothing"),
	}}}
	for name, c := range map[string]struct {
		report *audit.Report
		wide   bool
		mode   color.Choice
		want   string
	}{
		"the most severe come first, else the report's order stays": {
			report(), false, color.Never,
			`SEVERITY  RULE                    NAMESPACE  OBJECT            PROBLEM                                                       RESULT
error     replaced-owner          shop       Secret/restored   Deployment/web has another UID now                            deletes it
error     unserved-owner-version  shop       ConfigMap/flags   apps/v1beta1 Deployment/web: version not served (served: v1)  can never decide
warning   missing-owner           shop       ConfigMap/shared  Deployment/old is gone                                        drops the reference, 1 owner remains
warning   unverified-owner        billing    Secret/token      Invoice/2026-11: may not list invoices                        unknown
`,
		},
		"wide adds UID, verdict and fix, and keeps one line per finding": {
			&audit.Report{Findings: report().Findings[1:2]}, true, color.Never,
			`SEVERITY  RULE           NAMESPACE  OBJECT            PROBLEM                 RESULT                                UID  VERDICT        FIX
warning   missing-owner  shop       ConfigMap/shared  Deployment/old is gone  drops the reference, 1 owner remains  u-1  no such owner  unlink
`,
		},
		"wide says of a finding about no reference that it has no verdict": {
			&audit.Report{Findings: []audit.Finding{{Rule: "owner-cycle", Severity: audit.Error, Object: id("a", "B", "c"), Fix: audit.Unlink, Reason: saying("b"), Effect: saying("e")}}}, true, color.Never,
			`SEVERITY  RULE         NAMESPACE  OBJECT  PROBLEM  RESULT  UID  VERDICT  FIX
error     owner-cycle  a          B/c     b        e       u-1  -        your choice
`,
		},
		"colours underline severity and effect": {
			&audit.Report{Findings: report().Findings[1:3]}, false, color.Always,
			"SEVERITY  RULE            NAMESPACE  OBJECT            PROBLEM                             RESULT\n" +
				"\x1b[31merror\x1b[0m     \x1b[0mreplaced-owner  shop       Secret/restored   Deployment/web has another UID now  \x1b[31mdeletes it\x1b[0m\n" +
				"\x1b[33mwarning\x1b[0m   \x1b[0mmissing-owner   shop       ConfigMap/shared  Deployment/old is gone              \x1b[33mdrops the reference, 1 owner remains\x1b[0m\n",
		},
		"names from the cluster are escaped and shortened": {
			hostile, false, color.Never,
			"SEVERITY  RULE           NAMESPACE  OBJECT                 PROBLEM" + strings.Repeat(" ", 208) + "  RESULT\n" +
				`info      missing-owner  -          Node/n\nerror  forged  ` + strings.Repeat("x", 200) + "…(102414 bytes)  nothing\n",
		},
		"without findings there is no table": {&audit.Report{}, true, color.Always, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, written(t, c.report, c.wide, c.mode)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func grouped(t *testing.T, r *audit.Report, mode color.Choice) string {
	t.Helper()
	var out bytes.Buffer
	if err := auditreport.GroupTable(&out, r, color.New(mode, false, false)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestGroupTable(t *testing.T) {
	lost := func(namespace, kind string, names ...string) (out []audit.Finding) {
		for _, name := range names {
			f := report().Findings[2]
			f.Rule, f.Object, f.Reason = "missing-owner", id(namespace, kind, name), saying("Deployment/old does not exist")
			f.Reference = &object.Reference{Kind: "Deployment", Name: "old", UID: "u-old"}
			out = append(out, f)
		}
		return out
	}
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprintf("c-%02d", i+1))
	}
	for name, c := range map[string]struct {
		findings []audit.Finding
		want     string // without repeated blanks
	}{
		"one finding is an ordinary row":                 {lost("shop", "Secret", "a"), "error missing-owner shop: Secret/a Deployment/old does not exist deletes it"},
		"a cluster-scoped object has no namespace":       {lost("", "Node", "a"), "error missing-owner Node/a Deployment/old does not exist deletes it"},
		"60 objects with one cause are one row":          {lost("big", "ConfigMap", many...), "error missing-owner big: ConfigMap/c-01, c-02, c-03 + 57 more Deployment/old does not exist deletes it"},
		"three objects are named, each kind once":        {append(lost("a", "ConfigMap", "x", "y"), lost("a", "Secret", "z")...), "error missing-owner a: ConfigMap/x, y, Secret/z Deployment/old does not exist deletes it"},
		"the namespace with the most objects is first":   {append(lost("a", "Secret", "x"), lost("b", "Secret", "x", "y", "z")...), "error missing-owner b: Secret/x, y + 1 more; a: Secret/x Deployment/old does not exist deletes it"},
		"namespaces beyond the third are counted":        {slices.Concat(lost("a", "Secret", "x"), lost("b", "Secret", "x"), lost("c", "Secret", "x"), lost("d", "Secret", "x", "y"), lost("e", "Secret", "x")), "error missing-owner d: Secret/x + 1 more; a: Secret/x; b: Secret/x + 2 more in 2 namespaces Deployment/old does not exist deletes it"},
		"names that a terminal would act on are escaped": {lost("n\x1b", "Secret", "a\n"), `error missing-owner n\x1b: Secret/a\n Deployment/old does not exist deletes it`},
	} {
		t.Run(name, func(t *testing.T) {
			_, rows, _ := strings.Cut(grouped(t, &audit.Report{Findings: c.findings}, color.Never), "\n")
			if diff := cmp.Diff(c.want, strings.Join(strings.Fields(rows), " ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	if got := grouped(t, &audit.Report{}, color.Always); got != "" {
		t.Errorf("without findings it writes %q", got)
	}
	r := report()
	r.Clusters = []audit.Counts{{Name: "prod", Answered: true}}
	if got := grouped(t, r, color.Always); !strings.HasPrefix(got, "CLUSTER  SEVERITY") || !strings.Contains(got, "\x1b[31mdeletes it") {
		t.Errorf("got %q", got)
	}
}

func TestTableDoesNotChangeTheReport(t *testing.T) {
	r := report()
	written(t, r, true, color.Always)
	if diff := cmp.Diff(report(), r); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSummaryLine(t *testing.T) {
	for want, r := range map[string]audit.Report{
		"3 errors, 2 warnings in 50,132 objects with 60,418 owner references. Incomplete scan.":                     {Summary: report().Summary},
		"1 error, 1 warning, 1 info in 1 object with 1 owner reference. Complete scan: 57 of 57 resource types.":    {Complete: true, Summary: audit.Totals{Objects: 1, References: 1, SeverityCounts: audit.SeverityCounts{Errors: 1, Warnings: 1, Infos: 1}}},
		"2 infos in 999 objects with 1,000 owner references. Complete scan: 57 of 57 resource types.":               {Complete: true, Summary: audit.Totals{Objects: 999, References: 1000, SeverityCounts: audit.SeverityCounts{Infos: 2}}},
		"1,234,567 warnings in 12,345,678 objects with 0 owner references. Complete scan: 57 of 57 resource types.": {Complete: true, Summary: audit.Totals{Objects: 12345678, SeverityCounts: audit.SeverityCounts{Warnings: 1234567}}},
		"No problems found in 7 objects with 3 owner references. Complete scan: 57 of 57 resource types.":           {Complete: true, Summary: audit.Totals{Objects: 7, References: 3}},
		"No problems found in 0 objects with 0 owner references. Incomplete scan.":                                  {},
	} {
		t.Run(want, func(t *testing.T) {
			if diff := cmp.Diff(want, auditreport.SummaryLine(&r, 57)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestHints(t *testing.T) {
	explain := func(o object.Identity, cluster string) string { return "kubectl gc why " + o.String() + cluster }
	all := auditreport.Commands{Repair: "kubectl gc repair --dry-run", Preview: "kubectl gc collect --dry-run", Explain: explain}
	unverified := &audit.Report{Findings: report().Findings[3:]}
	for name, c := range map[string]struct {
		report   *audit.Report
		commands auditreport.Commands
		want     []string
	}{
		"all hints": {
			report(), all,
			[]string{"Fix the references: kubectl gc repair --dry-run", "Preview what a garbage collector deletes now: kubectl gc collect --dry-run", "Explain one object: kubectl gc why Secret/restored"},
		},
		"nothing to repair or collect": {unverified, all, []string{"Explain one object: kubectl gc why Secret/token"}},
		"without other commands":       {report(), auditreport.Commands{Explain: explain}, []string{"Explain one object: kubectl gc why Secret/restored"}},
		"no findings":                  {&audit.Report{}, all, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, auditreport.Hints(c.report, c.commands)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestGaps(t *testing.T) {
	gap := func(group, resource, namespace string, reason snapshot.ErrorClass) snapshot.Gap {
		return snapshot.Gap{Group: group, Resource: resource, Namespace: namespace, Reason: reason, Message: "not shown"}
	}
	var many []snapshot.Gap
	for i := range 15 {
		many = append(many, gap("example.com", fmt.Sprintf("things%02d", i), "", snapshot.Unavailable))
	}
	for name, c := range map[string]struct {
		gaps  []snapshot.Gap
		limit int
		want  string
	}{
		"no gap": {nil, 3, ""},
		"a type is named with its reason": {
			[]snapshot.Gap{gap("billing.example.com", "invoices", "", snapshot.Forbidden)},
			3,
			"warning: could not read 1 of 68 types: invoices.billing.example.com (forbidden). Objects that they own were not checked.",
		},
		"a group whose types are not known is counted as a group": {
			[]snapshot.Gap{gap("", "secrets", "", snapshot.Forbidden), gap("metrics.k8s.io", "*", "", snapshot.Unavailable)},
			3,
			"warning: could not read 1 of 68 types and 1 API group: secrets (forbidden), API group metrics.k8s.io (unavailable). Objects that they own were not checked.",
		},
		"a single namespace is named": {
			[]snapshot.Gap{gap("", "secrets", "a", snapshot.Forbidden)},
			3,
			"warning: could not read 1 of 68 types: secrets in namespace a (forbidden). Objects that they own were not checked.",
		},
		"a common namespace and reason is named once": {
			[]snapshot.Gap{gap("", "pods", "a", snapshot.Forbidden), gap("", "secrets", "a", snapshot.Forbidden)},
			3,
			"warning: could not read 2 of 68 types in namespace a (forbidden): pods, secrets. Objects that they own were not checked.",
		},
		"a single owner is not counted as a type": {
			[]snapshot.Gap{{Resource: "secrets", Namespace: "a", Name: "token", Reason: snapshot.TimedOut}},
			3,
			"warning: could not read single owners of 1 type: secrets/token in namespace a (timeout). Objects that they own were not checked.",
		},
		"many namespaces of one type are counted": {
			[]snapshot.Gap{gap("", "secrets", "a", snapshot.Forbidden), gap("", "secrets", "b", snapshot.Forbidden), gap("", "secrets", "c", snapshot.TimedOut)},
			3,
			"warning: could not read 1 of 68 types: secrets in 2 namespaces (forbidden), secrets in namespace c (timeout). Objects that they own were not checked.",
		},
		"a gap of all namespaces includes the others": {
			[]snapshot.Gap{gap("", "secrets", "", snapshot.Forbidden), gap("", "secrets", "b", snapshot.Forbidden)},
			3,
			"warning: could not read 1 of 68 types: secrets (forbidden). Objects that they own were not checked.",
		},
		"many types are named up to a limit": {
			many, 3,
			"warning: could not read 15 of 68 types: things00.example.com (unavailable), things01.example.com (unavailable), things02.example.com (unavailable), and 12 more. Objects that they own were not checked.",
		},
		"without a limit all are named": {
			many[:2], 0,
			"warning: could not read 2 of 68 types: things00.example.com (unavailable), things01.example.com (unavailable). Objects that they own were not checked.",
		},
		"a kubectl list says what it lacks": {
			[]snapshot.Gap{{Group: "*", Resource: "*", Reason: snapshot.NotInFile, Message: "the file may lack\x1b objects"}},
			3,
			`warning: the file may lack\x1b objects.`,
		},
		"failed discovery": {
			[]snapshot.Gap{gap("*", "*", "", snapshot.Unavailable)},
			3,
			"warning: could not read some types: all other types (unavailable). Objects that they own were not checked.",
		},
		"names are escaped": {
			[]snapshot.Gap{gap("x\n", "\x1b[31m", "", "odd\u202e")},
			3,
			`warning: could not read 1 of 68 types: \x1b[31m.x\n (odd\u202e). Objects that they own were not checked.`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, auditreport.Gaps("", c.gaps, 68, c.limit)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestClustersAreNamed(t *testing.T) {
	r := report()
	r.Clusters = []audit.Counts{{Name: "edge\x1b"}, {Name: "prod", Answered: true}, {Name: "staging", Answered: true}}
	for i := range r.Findings {
		r.Findings[i].Cluster = []string{"prod", "staging"}[i%2]
	}
	lines := strings.Split(written(t, r, false, color.Never), "\n")
	if !strings.HasPrefix(lines[0], "CLUSTER  ") {
		t.Errorf("the header is %q", lines[0])
	}
	for _, line := range lines[1 : len(lines)-1] {
		if !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "prod  ") && !strings.HasPrefix(line, "staging  ") {
			t.Errorf("no cluster in %q", line)
		}
	}
	if want := ` in 2 clusters; no answer from edge\x1b. `; !strings.Contains(auditreport.SummaryLine(r, 0), want) {
		t.Errorf("the sum is %q, want%q in it", auditreport.SummaryLine(r, 0), want)
	}
	gaps := []snapshot.Gap{{Resource: "secrets", Reason: snapshot.Forbidden}}
	if got, want := auditreport.Gaps("prod\n", gaps, 68, 3), `warning: cluster prod\n: could not read 1 of 68 types`; !strings.HasPrefix(got, want) {
		t.Errorf("the warning is %q, want %q", got, want)
	}
}

func TestCauses(t *testing.T) {
	gaps := []snapshot.Gap{
		{Resource: "secrets", Reason: snapshot.Forbidden, Message: "a refusal explains itself"},
		{Group: "a.example.com", Resource: "things", Reason: snapshot.Webhook, Message: "no answer\x1b[31m\nat all"},
		{Group: "b.example.com", Resource: "things", Reason: snapshot.Unavailable},
		{Group: "c.example.com", Resource: "*", Reason: snapshot.Unavailable, Message: "down"},
		{Group: "d.example.com", Resource: "*", Reason: snapshot.Unavailable, Message: "down too"},
	}
	want := []string{`things.a.example.com: no answer\x1b[31m\nat all`, "API group c.example.com: down"}
	if diff := cmp.Diff(want, auditreport.Causes(gaps, 2)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func FuzzTable(f *testing.F) {
	for _, s := range []string{"", "web", "a\nb", "\x1b]0;x\x07", "\u202e\u009b", "\xff", "日本", "  lead"} {
		f.Add(s, s, s)
	}
	f.Fuzz(func(t *testing.T, namespace, kind, brief string) {
		r := &audit.Report{Findings: []audit.Finding{{Severity: audit.Error, Object: id(namespace, kind, brief), Reason: saying(brief), Effect: saying(brief)}}}
		got := written(t, r, true, color.Never) + grouped(t, r, color.Never)
		if strings.Count(got, "\n") != 4 || strings.ContainsFunc(got, func(r rune) bool { return escape.Hidden(r) && r != '\n' }) {
			t.Errorf("got %q", got)
		}
	})
}

func TestSummaryLineCountsTypes(t *testing.T) {
	gap := func(resource, namespace, name string) snapshot.Gap {
		return snapshot.Gap{Resource: resource, Namespace: namespace, Name: name}
	}
	for want, gaps := range map[string][]snapshot.Gap{
		"Incomplete scan: 55 of 57 resource types.": {gap("secrets", "a", ""), gap("secrets", "b", ""), gap("pods", "", ""), gap("nodes", "", "single")},
		"Incomplete scan.":                          {gap("nodes", "", "single"), gap("jobs", snapshot.All, "")},
		"Incomplete scan. ":                         {gap("pods", "", ""), gap(snapshot.All, "", "")},
	} {
		if got := auditreport.SummaryLine(&audit.Report{Gaps: gaps}, 57); !strings.HasSuffix(got, "references. "+strings.TrimSpace(want)) {
			t.Errorf("of %v: %q", gaps, got)
		}
	}
}

func TestSettled(t *testing.T) {
	minute := metav1.Duration{Duration: time.Minute}
	for want, s := range map[string]*audit.Settlement{
		"": nil,
		"Read again 1m0s after the scan: 1 object is gone or changed, so not reported.":                                                                              {After: minute, InProgress: 1},
		"Read again 1m0s after the scan: 1,200 objects are unchanged, so no garbage collector seems to be running.":                                                  {After: minute, Remaining: 1200},
		"Read again 1m0s after the scan: 1 object is gone or changed, so not reported. 2 objects are unchanged, and may wait for their turn: use a longer --settle.": {After: minute, InProgress: 1, Remaining: 2},
		"Read again 1m0s after the scan: 2 objects are gone or changed, so not reported. 1 object is unchanged, and may wait for its turn: use a longer --settle.":   {After: minute, InProgress: 2, Remaining: 1},
		"Read again 1m0s after the scan: 3 objects could not be read.":                                                                                               {After: minute, Unread: 3},
	} {
		if diff := cmp.Diff(want, auditreport.Settled(s)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if got := auditreport.Settled(&audit.Settlement{After: minute}); got != "" {
		t.Errorf("of no object it says %q", got)
	}
}

func TestMayBeInProgress(t *testing.T) {
	pending := &audit.Report{Findings: []audit.Finding{{Reference: &object.Reference{}, Consequence: collector.ConsequenceUnlink}, {Consequence: collector.ConsequenceStuck}}}
	want := "Leave out what a running garbage collector is about to do: audit --settle 30s"
	if diff := cmp.Diff(want, auditreport.MayBeInProgress(pending, "audit --settle 30s")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	pending.Settled = &audit.Settlement{}
	for what, r := range map[string]*audit.Report{"objects that were read again": pending, "a report without findings": {}} {
		if got := auditreport.MayBeInProgress(r, "x"); got != "" {
			t.Errorf("of %s it says %q", what, got)
		}
	}
}
