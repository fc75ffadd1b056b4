package e2e

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	texts "text/template"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

// tally sums up what happened in all runs under faults.
type tally struct {
	Runs      int
	ByCommand map[string]int
	Objects   int
	Deleted   int // under faults, in the end or on their way
	Codes     map[int]int
	Kinds     map[proxy.Kind]int
	Lost      int // writes that were done, whose answer did not arrive
	Longest   time.Duration

	Wrong, Unsaved, Panics, Hangs, Unlike, Other int
}

func newTally() *tally {
	return &tally{ByCommand: map[string]int{}, Codes: map[int]int{}, Kinds: map[proxy.Kind]int{}}
}

func (t *tally) add(v verdict) {
	t.Runs++
	t.ByCommand[v.command]++
	t.Objects += v.objects
	t.Deleted += v.deleted
	if v.ended {
		t.Codes[v.result.Code]++
	} else {
		t.Hangs++
	}
	t.Longest = max(t.Longest, v.result.Took)
	for kind, n := range v.mischief.Counts() {
		t.Kinds[kind] += n
	}
	t.Lost += v.mischief.LostWrites()
	t.Wrong += len(v.wrong)
	t.Unsaved += len(v.unsaved)
	t.Panics += len(v.panics)
	t.Unlike += len(v.unlike)
	t.Other += len(v.other)
}

// Faults is how many there were in all.
func (t *tally) Faults() (n int) {
	for _, of := range t.Kinds {
		n += of
	}
	return n
}

// figure is a line of the report.
type figure struct {
	What string
	N    int
}

// Injected are the faults by kind.
func (t *tally) Injected() []figure {
	var out []figure
	for _, k := range proxy.Kinds() {
		out = append(out, figure{string(k), t.Kinds[k]})
	}
	return out
}

// Most is how many faults a run has at most of a kind that costs time.
func (t *tally) Most(k proxy.Kind) int { return proxy.Limits()[k] }

// Found is what must be nought.
func (t *tally) Found() []figure {
	return []figure{
		{"wrong deletes", t.Wrong},
		{"deletes without backup", t.Unsaved},
		{"panics", t.Panics},
		{"hangs", t.Hangs},
		{"objects that ended otherwise than undisturbed", t.Unlike},
		{"other breaches: an exit code that is not documented, a change with exit code 2, a token in sight", t.Other},
	}
}

// Amounts is how much was done.
func (t *tally) Amounts() []figure {
	out := []figure{{"runs under faults", t.Runs}}
	for _, command := range slices.Sorted(maps.Keys(t.ByCommand)) {
		out = append(out, figure{"of these `" + command + "`", t.ByCommand[command]})
	}
	for _, code := range slices.Sorted(maps.Keys(t.Codes)) {
		out = append(out, figure{fmt.Sprintf("that ended with exit code %d", code), t.Codes[code]})
	}
	return append(out,
		figure{"objects in the graphs", t.Objects},
		figure{"of these deleted under faults, or on their way", t.Deleted},
		figure{"faults", t.Faults()},
		figure{"writes that were done and whose answer was lost", t.Lost},
		figure{"writes that reached the server twice", t.Kinds[proxy.Repeated]},
	)
}

func (t *tally) String() string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, rows := range [][]figure{t.Amounts(), t.Injected(), t.Found()} {
		for _, r := range rows {
			fmt.Fprintf(table, "%d\t%s\n", r.N, r.What)
		}
		fmt.Fprintln(table)
	}
	_ = table.Flush() // to memory
	return out.String()
}

// counts are those of one run on a line.
func (v verdict) counts() string {
	var out []string
	for _, k := range proxy.Kinds() {
		if n := v.mischief.Counts()[k]; n > 0 {
			out = append(out, fmt.Sprintf("%d × %s", n, k))
		}
	}
	return fmt.Sprintf("%d deleted; %s", v.deleted, strings.Join(out, "; "))
}

//go:embed reliability.md.tmpl
var page string

// The lines between which the page is this test's. What is outside is others'.
const pageBegins, pageEnds = "<!-- faults: written by make soak -->\n", "<!-- end of faults -->\n"

// write puts the figures into a page of the documentation.
func (t *tally) write(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, found := strings.Cut(string(content), pageBegins)
	_, tail, ends := strings.Cut(rest, pageEnds)
	if !found || !ends {
		return fmt.Errorf("write %s: it lacks the lines between which the figures belong", path)
	}
	var out strings.Builder
	if err := texts.Must(texts.New("page").Parse(page)).Execute(&out, t); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.WriteFile(path, []byte(head+pageBegins+out.String()+pageEnds+tail), 0o644) // a page for everybody
}
