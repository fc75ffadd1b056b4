package html_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/html"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func written(t testing.TB, s *snapshot.Snapshot, source html.Origin) string {
	t.Helper()
	judge := collector.NewJudge(graph.New(s))
	report, err := audit.Run(judge, audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	pass := plan.New(judge, plan.CollectPurpose(nil))
	var out bytes.Buffer
	if err := html.Write(&out, html.Page{Judge: judge, Report: report, Pass: pass, Plan: pass, Source: source, Version: "v1.2.3"}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// between returns the text between two marks. The first occurs once.
func between(t testing.TB, page, from, to string) string {
	t.Helper()
	before, rest, found := strings.Cut(page, from)
	if !found || strings.Contains(rest, from) {
		t.Fatalf("%q is not there once, but %d times", from, strings.Count(page, from))
	}
	inside, _, found := strings.Cut(rest, to)
	if !found {
		t.Fatalf("%q does not follow the first %d bytes", to, len(before))
	}
	return inside
}

const opensData = `<script type="application/json" id="data">`

// content is the part of the data that the tests check.
type content struct {
	About struct {
		Complete bool
		Taken    string
		Context  string
	}
	Gaps struct {
		Warning string
		All     []struct{ What, Reason string }
	}
	Verdicts []struct{ Word string }
	Fates    []struct{ Tone, Action, Why string }
	Objects  struct {
		Listed int
		Name   []string
		UID    []string
		Owners []int
		Fate   []int
	}
	References struct {
		To, How []int
		Claims  [][]int
	}
	Findings struct {
		Object   []int
		Brief    []int
		Group    []int
		Problems []int
		Message  []string
	}
	Steps *struct {
		Object, Action, Depth []int
	}
	Texts []string
}

func contentOf(t *testing.T, page string) content {
	t.Helper()
	var c content
	if err := json.Unmarshal([]byte(between(t, page, opensData, "</script>")), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *content) place(t *testing.T, name string) int {
	t.Helper()
	at := slices.Index(c.Objects.Name, name)
	if at < 0 {
		t.Fatalf("there is no object %q", name)
	}
	return at
}

// outcome returns the outcome of an object as "action: why".
func (c *content) outcome(t *testing.T, name string) string {
	t.Helper()
	at := c.Objects.Fate[c.place(t, name)]
	if at < 0 {
		return ""
	}
	return c.Fates[at].Action + ": " + c.Fates[at].Why
}

func TestEqualScansGiveEqualPages(t *testing.T) {
	look := func() *snapshot.Snapshot { return st.New(st.Layers(200), st.Without(st.Nth(0))) }
	first, second := written(t, look(), html.Origin{}), written(t, look(), html.Origin{})
	if first != second {
		t.Error("two pages of one look differ")
	}
}

func TestPolicyAllowsOnlyThePagesOwnScriptAndStyle(t *testing.T) {
	page := written(t, st.New(), html.Origin{})
	sum := func(text string) string {
		hash := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	}
	want := "default-src 'none'; script-src " + sum(between(t, page, "<script>", "</script>")) +
		"; style-src " + sum(between(t, page, "<style>", "</style>")) + "; base-uri 'none'; form-action 'none'"
	if got := between(t, page, `http-equiv="Content-Security-Policy" content="`, `"`); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPageLoadsNothing(t *testing.T) {
	page := written(t, st.New(), html.Origin{})
	page = strings.ReplaceAll(page, "http://www.w3.org/2000/svg", "")                                                // a name, not an address
	page = strings.ReplaceAll(page, `"page":"https://github.com/kubectl-gc/kubectl-gc/blob/main/docs/rules.md#`, "") // of a link, which a person may follow
	for _, mark := range []string{"http:", "https:", "src=", "@import", "url(", "innerHTML", "outerHTML", "insertAdjacent", "eval(", "Function(", " style=", "onclick="} {
		if strings.Contains(page, mark) {
			t.Errorf("it holds %q", mark)
		}
	}
}

func TestOutcomes(t *testing.T) {
	owner, gone := st.Deployment("shop/web"), st.Deployment("shop/gone")
	lost := st.ConfigMap("shop/lost", st.OwnedBy(gone))
	below := st.ConfigMap("shop/below", st.OwnedBy(lost))
	shared := st.ConfigMap("shop/shared", st.OwnedBy(owner, gone))
	c := contentOf(t, written(t, st.New(st.Listing(owner, lost, below, shared, st.Secret("shop/kept", st.OwnedBy(owner)))), html.Origin{}))
	for name, want := range map[string]string{
		"lost":   "delete: its only owner, Deployment/gone, does not exist",
		"below":  "delete: its owner is gone",
		"shared": "unlink: Deployment/gone does not exist; Deployment/web remains",
		"kept":   "keep: its owner Deployment/web exists",
		"web":    "keep: it has no owner, so the garbage collector never touches it",
	} {
		if got := c.outcome(t, name); got != want {
			t.Errorf("of %s it says %q, want %q", name, got, want)
		}
	}
}

// Nothing stays in a namespace that is being deleted, regardless of its owners.
func TestOutcomesInTerminatingNamespace(t *testing.T) {
	owner := st.Deployment("shop/web")
	look := st.New(st.Serving(st.TypesWithContents()...), st.Listing(st.Namespace("shop", st.Terminating()), owner, st.ConfigMap("shop/a", st.OwnedBy(owner)), st.Secret("other/b")))
	c := contentOf(t, written(t, look, html.Origin{}))
	for name, want := range map[string]string{
		"web": ": with Namespace/shop, which is being deleted",
		"a":   ": with Namespace/shop, which is being deleted",
		"b":   "keep: it has no owner, so the garbage collector never touches it",
	} {
		if got := c.outcome(t, name); got != want {
			t.Errorf("of %s it says %q, want %q", name, got, want)
		}
	}
}

func TestUnknownIsNotDeleted(t *testing.T) {
	look := st.New(st.Listing(st.ConfigMap("shop/a", st.OwnedBy(st.Secret("shop/owner")))), st.Unreadable("secrets", snapshot.Forbidden))
	c := contentOf(t, written(t, look, html.Origin{}))
	if got := c.outcome(t, "a"); got != "" {
		t.Errorf("nobody knows what becomes of it, and the page says %q", got)
	}
	if c.About.Complete || len(c.Gaps.All) != 1 || c.Gaps.All[0].What != "secrets" || !strings.Contains(c.Gaps.Warning, "could not read") {
		t.Errorf("the gap is not named: %+v", c.Gaps)
	}
	if got := c.Verdicts[c.References.How[0]&7].Word; got != "unknown" {
		t.Errorf("the reference is called %s", got)
	}
}

func TestFindingsAreGroupedByCause(t *testing.T) {
	gone := st.Deployment("shop/gone")
	c := contentOf(t, written(t, st.New(st.Listing(
		st.ConfigMap("shop/a", st.OwnedBy(gone, st.Deployment("shop/web"))), st.ConfigMap("shop/b", st.OwnedBy(gone)), st.ConfigMap("shop/c", st.OwnedBy(gone)), st.Deployment("shop/web"),
	)), html.Origin{}))
	var causes []string
	for f, group := range c.Findings.Group {
		causes = append(causes, c.Objects.Name[c.Findings.Object[f]]+": "+c.Texts[c.Findings.Problems[group]])
	}
	want := []string{"b: Deployment/gone does not exist", "c: Deployment/gone does not exist", "a: Deployment/gone does not exist"}
	if !slices.Equal(causes, want) || !slices.Equal(c.Findings.Group, []int{0, 0, 1}) {
		t.Errorf("the causes are %q in the groups %v", causes, c.Findings.Group)
	}
}

func TestLookedUpObjectsHaveNoOutcome(t *testing.T) {
	owner := st.Deployment("shop/web")
	look := st.New(st.Listing(st.ConfigMap("shop/a", st.OwnedBy(owner))), st.Found(owner))
	c := contentOf(t, written(t, look, html.Origin{}))
	if c.Objects.Listed != 1 || c.outcome(t, "web") != "" {
		t.Errorf("%d objects were listed, and of the other it says %q", c.Objects.Listed, c.outcome(t, "web"))
	}
}

// Every reference has a valid index, and a bad one has its finding.
func TestReferenceIndexes(t *testing.T) {
	gone := st.Deployment("shop/gone")
	look := st.New(st.Listing(st.ConfigMap("shop/a", st.OwnedBy(gone, st.Deployment("shop/web"))), st.Deployment("shop/web")))
	c := contentOf(t, written(t, look, html.Origin{}))
	a := c.place(t, "a")
	if c.Objects.Owners[a] != 2 || len(c.References.To) != 2 {
		t.Fatalf("the references are %+v", c.References)
	}
	if to := c.References.To[0]; to < len(c.Objects.Name) || c.Objects.UID[to] != string(gone.UID) {
		t.Errorf("the reference to what is gone leads to %d", to)
	}
	if len(c.References.Claims) != 1 || c.References.Claims[0][0] != 0 || c.Texts[c.References.Claims[0][3]] != "gone" {
		t.Fatalf("claims are %v", c.References.Claims)
	}
	if f := c.References.Claims[0][4]; c.Findings.Object[f] != a || c.Texts[c.Findings.Brief[f]] != "Deployment/gone does not exist" {
		t.Errorf("finding %d speaks of it: %+v", f, c.Findings)
	}
}

// hostile are strings that try to leave the data element.
var hostile = []string{
	"</script><script>alert(1)</script>", "<!--", "<!--<script>", "]]>", `"};alert(1)//`, "\u2028\u2029", "\u202eevil", "\x00", "\xff\xfe", "\x1b[31m",
	"{{policy}}", "{{script}}", "&lt;b&gt;", "'\"`$", "<img src=x onerror=alert(1)>", "\ufeff", "\U000e0001", strings.Repeat("x", 100_000),
}

func TestHostileTextStaysData(t *testing.T) {
	var all []object.Object
	for i, s := range hostile {
		o := st.ConfigMap("shop/"+s, st.WithFinalizers(s), st.OwnedBy(st.Object(s, s, "shop/"+s, st.UID(types.UID(s)))))
		o.UID = types.UID(string(rune('a'+i)) + s)
		all = append(all, o)
	}
	look := st.New(st.Listing(all...), func(s *snapshot.Snapshot) {
		s.Server = hostile[0]
		s.Gaps = append(s.Gaps, snapshot.Gap{Group: hostile[0], Resource: hostile[1], Reason: snapshot.Forbidden, Message: hostile[0]})
	})
	calm := written(t, st.New(), html.Origin{})
	page := written(t, look, html.Origin{Context: hostile[0], Address: hostile[0], File: hostile[0], Namespace: hostile[0], Selector: hostile[0]})
	data := between(t, page, opensData, "</script>")
	if strings.ContainsAny(data, "<>&") || strings.ContainsFunc(strings.TrimSuffix(data, "\n"), escape.Hidden) || !utf8.ValidString(data) {
		t.Error("something hostile stands in the data as it is")
	}
	if around(t, page) != around(t, calm) {
		t.Error("the page around the data depends on the data")
	}
	c := contentOf(t, page)
	if want := escape.Terminal(hostile[0]); c.About.Context != want {
		t.Errorf("the context is %q, want %q", c.About.Context, want)
	}
	for _, n := range c.Objects.Name {
		if len(n) > 2000 {
			t.Errorf("a name of %d bytes is not shortened", len(n))
		}
	}
}

// around returns a page without its data.
func around(t testing.TB, page string) string {
	t.Helper()
	return strings.Replace(page, between(t, page, opensData, "</script>"), "", 1)
}

func FuzzData(f *testing.F) {
	for _, s := range hostile {
		f.Add(s, s)
	}
	hidden := regexp.MustCompile(`</?[a-zA-Z!]`)
	calm := around(f, written(f, st.New(), html.Origin{}))
	f.Fuzz(func(t *testing.T, name, owner string) {
		o := st.Secret("shop/x", st.Owned(object.Reference{APIVersion: owner, Kind: name, Name: owner, UID: "u"}))
		o.Name = name
		page := written(t, st.New(st.Listing(o)), html.Origin{Context: owner})
		data := between(t, page, opensData, "</script>")
		if hidden.MatchString(data) || strings.ContainsFunc(strings.TrimSuffix(data, "\n"), escape.Hidden) {
			t.Errorf("it stands in the data as it is: %q, %q", name, owner)
		}
		if around(t, page) != calm {
			t.Errorf("the page around the data is another for %q, %q", name, owner)
		}
		if got := contentOf(t, page).Objects.Name[0]; got != escape.Short(name, 400) {
			t.Errorf("%q is shown as %q", name, got)
		}
	})
}

func TestWriteErrorsAreReturned(t *testing.T) {
	judge := collector.NewJudge(graph.New(st.New()))
	report, err := audit.Run(judge, audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	if err := html.Write(failing{full}, html.Page{Judge: judge, Report: report, Pass: plan.New(judge, plan.CollectPurpose(nil))}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
