package sarif_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	schema "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/sarif"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func written(t *testing.T, r *audit.Report) string {
	t.Helper()
	var out bytes.Buffer
	if err := sarif.Write(&out, r, audit.Rules, "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func secret(name string) object.Identity {
	return object.Identity{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: name, UID: types.UID("u-" + name)}
}

// saying returns a reason with a given sentence.
func saying(sentence string) *reason.Reason { return reason.Of(said(sentence)) }

type said string

func (s said) Message() string { return string(s) }

func finding(o object.Identity, message string) audit.Finding {
	return audit.Finding{
		Rule: "replaced-owner", Severity: audit.Error, Object: o, Reference: &object.Reference{UID: "u-owner"},
		Verdict: collector.VerdictDangling, Consequence: collector.ConsequenceDelete, Fix: audit.Relink, Reason: saying(message), Effect: saying(""),
	}
}

func report() *audit.Report {
	cluster := object.Identity{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "system:x/y z", UID: "u-role"}
	cycle := audit.Finding{
		Rule: "owner-cycle", Severity: audit.Warning, Object: secret("a"), Members: []object.Identity{secret("a"), secret("b")},
		Consequence: collector.ConsequenceStuck, Fix: audit.Unlink, Reason: saying("2 objects own each other"), Effect: saying(""),
	}
	info := finding(cluster, "harmless")
	info.Rule, info.Severity, info.Verdict, info.Consequence, info.Fix = "misspelled-owner-kind", audit.Info, collector.VerdictSolid, collector.ConsequenceNone, audit.NoFix
	return &audit.Report{
		Gaps:     []snapshot.Gap{{Group: "billing.example.com", Resource: "invoices", Reason: snapshot.Forbidden, Message: "no {0} for \u202eyou"}},
		Findings: []audit.Finding{finding(secret("restored"), "its owner was replaced"), cycle, info},
	}
}

func TestResults(t *testing.T) {
	var got struct {
		Runs []struct{ Results, Invocations json.RawMessage }
	}
	if err := json.Unmarshal([]byte(written(t, report())), &got); err != nil {
		t.Fatal(err)
	}
	want := `[
  {
    "ruleId": "replaced-owner",
    "ruleIndex": 1,
    "level": "error",
    "message": {"text": "Secret/restored: its owner was replaced"},
    "locations": [{
      "physicalLocation": {"artifactLocation": {"uri": "shop/Secret/restored"}, "region": {"startLine": 1}},
      "logicalLocations": [{"name": "restored", "fullyQualifiedName": "shop/Secret/restored", "kind": "resource"}]
    }],
    "partialFingerprints": {"primaryLocationLineHash": "F0", "ruleObjectOwner/v1": "F0"},
    "properties": {"apiVersion": "v1", "uid": "u-restored", "verdict": "dangling", "consequence": "delete", "fix": "relink"}
  },
  {
    "ruleId": "owner-cycle",
    "ruleIndex": 9,
    "level": "warning",
    "message": {"text": "Secret/a: 2 objects own each other"},
    "locations": [{
      "physicalLocation": {"artifactLocation": {"uri": "shop/Secret/a"}, "region": {"startLine": 1}},
      "logicalLocations": [{"name": "a", "fullyQualifiedName": "shop/Secret/a", "kind": "resource"}]
    }],
    "relatedLocations": [{
      "physicalLocation": {"artifactLocation": {"uri": "shop/Secret/b"}, "region": {"startLine": 1}},
      "logicalLocations": [{"name": "b", "fullyQualifiedName": "shop/Secret/b", "kind": "resource"}]
    }],
    "partialFingerprints": {"primaryLocationLineHash": "F1", "ruleObjectOwner/v1": "F1"},
    "properties": {"apiVersion": "v1", "uid": "u-a", "consequence": "stuck", "fix": "unlink"}
  },
  {
    "ruleId": "misspelled-owner-kind",
    "ruleIndex": 16,
    "level": "note",
    "message": {"text": "ClusterRole/system:x/y z: harmless"},
    "locations": [{
      "physicalLocation": {"artifactLocation": {"uri": "_cluster/ClusterRole/system%3Ax%2Fy%20z"}, "region": {"startLine": 1}},
      "logicalLocations": [{"name": "system:x/y z", "fullyQualifiedName": "ClusterRole/system:x/y z", "kind": "resource"}]
    }],
    "partialFingerprints": {"primaryLocationLineHash": "F2", "ruleObjectOwner/v1": "F2"},
    "properties": {"apiVersion": "rbac.authorization.k8s.io/v1", "uid": "u-role", "verdict": "solid", "consequence": "none", "fix": "none"}
  }
]`
	results := string(got.Runs[0].Results)
	for i, mark := range fingerprintsIn(t, results) {
		results = strings.ReplaceAll(results, mark, fmt.Sprintf("F%d", i))
	}
	if diff := cmp.Diff(decoded(t, want), decoded(t, results)); diff != "" {
		t.Errorf("results (-want +got)\n%s", diff)
	}
	invocations := `[{"executionSuccessful": true, "toolExecutionNotifications": [{"level": "warning", "message": {
		"text": "could not read invoices.billing.example.com (forbidden), so objects that they own were not checked: no {{0}} for \\u202eyou"}}]}]`
	if diff := cmp.Diff(decoded(t, invocations), decoded(t, string(got.Runs[0].Invocations))); diff != "" {
		t.Errorf("invocations (-want +got)\n%s", diff)
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// fingerprintsIn returns the different fingerprints in their order.
func fingerprintsIn(t *testing.T, results string) []string {
	t.Helper()
	var list []struct{ PartialFingerprints map[string]string }
	if err := json.Unmarshal([]byte(results), &list); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range list {
		out = append(out, r.PartialFingerprints["ruleObjectOwner/v1"])
	}
	return out
}

func TestFingerprints(t *testing.T) {
	base := finding(secret("a"), "one")
	same, otherRule, otherObject, otherOwner, noOwner := base, base, base, base, base
	same.Reason, same.Severity = saying("worded otherwise"), audit.Warning
	otherRule.Rule = "missing-owner"
	otherObject.Object.UID = "u-z"
	otherOwner.Reference = &object.Reference{UID: "u-z"}
	noOwner.Reference = nil
	var got struct {
		Runs []struct{ Results json.RawMessage }
	}
	text := written(t, &audit.Report{Findings: []audit.Finding{base, same, otherRule, otherObject, otherOwner, noOwner}})
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	marks := fingerprintsIn(t, string(got.Runs[0].Results))
	if marks[0] != marks[1] {
		t.Error("wording changes the fingerprint")
	}
	for i, mark := range marks[2:] {
		if mark == marks[0] {
			t.Errorf("finding %d has the fingerprint of the first", i+2)
		}
	}
}

func TestEveryRuleIsDescribed(t *testing.T) {
	var got struct {
		Runs []struct {
			Tool struct {
				Driver struct {
					Name, Version, InformationURI string
					Rules                         []struct {
						ID, HelpURI      string
						ShortDescription struct{ Text string }
					}
				}
			}
			Results []any
		}
	}
	if err := json.Unmarshal([]byte(written(t, &audit.Report{})), &got); err != nil {
		t.Fatal(err)
	}
	driver := got.Runs[0].Tool.Driver
	if driver.Name != "kubectl-gc" || driver.Version != "v1.2.3" || driver.InformationURI != "https://github.com/kubectl-gc/kubectl-gc" {
		t.Errorf("driver is %+v", driver)
	}
	if got.Runs[0].Results == nil {
		t.Error("an empty report has no list of results")
	}
	var ids []string
	for _, r := range driver.Rules {
		ids = append(ids, r.ID)
		if want := "https://github.com/kubectl-gc/kubectl-gc/blob/main/docs/rules.md#" + r.ID; r.HelpURI != want {
			t.Errorf("%s has help at %s", r.ID, r.HelpURI)
		}
		if r.ShortDescription.Text == "" {
			t.Errorf("%s is not described", r.ID)
		}
	}
	if diff := cmp.Diff(audit.IDs(), ids); diff != "" {
		t.Errorf("rules (-want +got)\n%s", diff)
	}
}

func TestUnknownRuleIsAnError(t *testing.T) {
	r := &audit.Report{Findings: []audit.Finding{{Rule: "none"}}}
	if err := sarif.Write(&bytes.Buffer{}, r, audit.Rules, ""); err == nil {
		t.Error("no error")
	}
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestWriteErrorsAreReturned(t *testing.T) {
	want := errors.New("pipe closed")
	if err := sarif.Write(broken{want}, report(), audit.Rules, ""); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

// valid checks that a full model of SARIF knows every field of a log, and that the log
// matches the schema.
func valid(t *testing.T, text string) *schema.Report {
	t.Helper()
	r, err := schema.FromBytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	// Left out, the model writes these empty, which the schema refuses.
	r.Runs[0].Language, r.Runs[0].Tool.Driver.Language = "en", "en"
	r.Runs[0].NewlineSequences = []string{"\n"}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	again, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	contained(t, "log", decoded(t, text), decoded(t, string(again)))
	return r
}

func contained(t *testing.T, at string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		fields, _ := got.(map[string]any)
		for key, value := range want {
			contained(t, at+"."+key, value, fields[key])
		}
	case []any:
		items, _ := got.([]any)
		if len(items) != len(want) {
			t.Errorf("%s: %d items became %d", at, len(want), len(items))
			return
		}
		for i, value := range want {
			contained(t, fmt.Sprintf("%s[%d]", at, i), value, items[i])
		}
	default:
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", at, diff)
		}
	}
}

func TestLogsAreValid(t *testing.T) {
	for name, r := range map[string]*audit.Report{
		"a report with findings and gaps":  report(),
		"a report without findings":        {},
		"a report with every sort of name": {Findings: []audit.Finding{finding(object.Identity{}, ""), finding(secret("../..\x1b[31m"), "[x](http://y)")}},
	} {
		t.Run(name, func(t *testing.T) { valid(t, written(t, r)) })
	}
}

func FuzzWrite(f *testing.F) {
	for _, s := range []string{"", "web", "..", ".", "a:b", "a/b?c#d%e", "é日本", "\x1b[31m\u202e\xff", "{0} {{", "[x](http://y)", "[[x]](\n](", strings.Repeat("x", 5000)} {
		f.Add(s, s, s, s)
		f.Add("shop", "Pod", s, "fine")
	}
	f.Fuzz(func(t *testing.T, namespace, kind, name, message string) {
		o := object.Identity{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name}
		log := valid(t, written(t, &audit.Report{Findings: []audit.Finding{finding(o, message)}}))
		result := log.Runs[0].Results[0]
		text := *result.Message.Text
		if strings.Contains(text, "](") || strings.Contains(strings.NewReplacer("{{", "", "}}", "").Replace(text), "{") {
			t.Errorf("message %q", text)
		}
		uri := *result.Locations[0].PhysicalLocation.ArtifactLocation.URI
		base := &url.URL{Scheme: "file", Path: "/base/"}
		at, err := base.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		if segments := strings.Split(at.EscapedPath(), "/"); len(segments) != 5 || segments[1] != "base" || at.Host != "" || at.RawQuery != "" || at.Fragment != "" {
			t.Errorf("uri %q leads to %s", uri, at)
		}
	})
}

func TestFingerprintsDifferByCluster(t *testing.T) {
	marks, paths := map[string]bool{}, map[string]bool{}
	for _, cluster := range []string{"", "prod", "arn:aws:eks:eu-west-1:1:cluster/prod", "..", "a b"} {
		f := finding(secret("restored"), "its owner was replaced")
		f.Cluster = cluster
		var got struct {
			Runs []struct {
				Results []struct {
					Locations []struct {
						PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
						LogicalLocations []struct{ FullyQualifiedName string }
					}
					PartialFingerprints map[string]string
					Properties          struct{ Cluster string }
				}
			}
		}
		if err := json.Unmarshal([]byte(written(t, &audit.Report{Findings: []audit.Finding{f}})), &got); err != nil {
			t.Fatal(err)
		}
		r := got.Runs[0].Results[0]
		uri, name := r.Locations[0].PhysicalLocation.ArtifactLocation.URI, r.Locations[0].LogicalLocations[0].FullyQualifiedName
		marks[r.PartialFingerprints["ruleObjectOwner/v1"]], paths[uri] = true, true
		segments := 3
		if cluster != "" {
			segments = 4
		}
		if strings.Count(uri, "/") != segments-1 || strings.HasPrefix(uri, "../") || r.Properties.Cluster != cluster || !strings.HasSuffix(name, "shop/Secret/restored") {
			t.Errorf("%q is at %s, called %s, in %q", cluster, uri, name, r.Properties.Cluster)
		}
	}
	if len(marks) != 5 || len(paths) != 5 {
		t.Errorf("some are taken for others: %v, %v", marks, paths)
	}
}
