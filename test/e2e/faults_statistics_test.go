package e2e

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/docgen"
	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

// statistics are the sums over all runs of a series.
type statistics struct {
	kinds []proxy.Kind // in the order of the report
	lies  bool

	From    uint64   // the first seed
	Done    []uint64 // the seeds of the finished runs
	Failing []uint64 // the seeds of the failed runs
	Took    time.Duration

	Runs      int // that could be evaluated
	ByCommand map[string]int
	Objects   int
	Deleted   int // under faults: deleted, or terminating
	Codes     map[int]int
	Kinds     map[proxy.Kind]int
	Lost      int // writes that were executed, but whose response was lost
	Longest   time.Duration

	WrongDeletes, NotBackedUp, Panics, Hangs, Differing, Other int
	Nondeterministic                                           int // deleted objects that the real collector might also have kept

	// Only under lies.
	Unproven, FalseSuccess, CreatedTwice int
	Honest                               int // runs in which no lie was told
	// Failed counts, by kind of lie, the failed runs with lies of that kind only.
	Failed map[proxy.Kind]int
	Peak   int64 // the peak memory of all runs of the program, in bytes
}

func newStatistics(from uint64, kinds []proxy.Kind) *statistics {
	return &statistics{kinds: kinds, From: from, ByCommand: map[string]int{}, Codes: map[int]int{}, Kinds: map[proxy.Kind]int{}, Failed: map[proxy.Kind]int{}}
}

// add adds a run. v is nil if it could not be evaluated.
func (t *statistics) add(seed uint64, v *verdict, passed bool) {
	t.Done = append(t.Done, seed)
	if !passed {
		t.Failing = append(t.Failing, seed)
	}
	if v == nil {
		return
	}
	t.Runs++
	t.ByCommand[v.command]++
	t.Objects += v.objects
	t.Deleted += v.deleted
	if v.inTime {
		t.Codes[v.result.Code]++
	} else {
		t.Hangs++
	}
	t.Longest = max(t.Longest, v.result.Took)
	counts := v.injected()
	for kind, n := range counts {
		t.Kinds[kind] += n
	}
	switch {
	case len(counts) == 0:
		t.Honest++
	case len(counts) == 1 && !passed:
		for kind := range counts {
			t.Failed[kind]++
		}
	}
	if v.faults != nil {
		t.Lost += v.faults.LostWrites()
	}
	t.Unproven += len(v.unproven)
	t.FalseSuccess += min(1, len(v.falseSuccess))
	t.CreatedTwice += len(v.createdTwice)
	t.Peak = max(t.Peak, v.peak)
	t.WrongDeletes += len(v.wrongDeletes)
	t.Nondeterministic += len(v.nondeterministic)
	t.NotBackedUp += len(v.notBackedUp)
	t.Panics += len(v.panics)
	t.Differing += len(v.differing)
	t.Other += len(v.other)
}

// Faults returns the total number of faults.
func (t *statistics) Faults() (n int) {
	for _, count := range t.Kinds {
		n += count
	}
	return n
}

// figure is a line of the report.
type figure struct {
	What string
	N    int
}

// Injected returns the faults by kind.
func (t *statistics) Injected() []figure {
	var out []figure
	for _, k := range t.kinds {
		out = append(out, figure{string(k), t.Kinds[k]})
	}
	return out
}

// Most returns the limit per run of a kind of fault that costs time.
func (t *statistics) Limit(k proxy.Kind) int { return proxy.Limits()[k] }

// Found returns the numbers of violations, which must be 0, and as the last figure a number that
// need not be 0.
func (t *statistics) Found() []figure {
	return []figure{
		{"wrong deletes", t.WrongDeletes},
		{"deletes without backup", t.NotBackedUp},
		{"panics", t.Panics},
		{"hangs", t.Hangs},
		{"objects in another final state than without faults", t.Differing},
		{"other violations: an undocumented exit code, a change with exit code 2, a token in the output", t.Other},
		{"runs that could not be evaluated", len(t.Done) - t.Runs},
		{"nondeterministic deletions, which the cluster's own collector may do or not", t.Nondeterministic},
	}
}

// FoundUnderLies returns the numbers of further violations, under lies.
func (t *statistics) FoundUnderLies() []figure {
	return []figure{
		{"finalizers removed without proof", t.Unproven},
		{"runs that ended with exit code 0 although not everything was done", t.FalseSuccess},
		{"objects that were created twice", t.CreatedTwice},
	}
}

// Amounts returns how much was done.
func (t *statistics) Amounts() []figure {
	out := []figure{{"runs under faults", t.Runs}}
	for _, command := range slices.Sorted(maps.Keys(t.ByCommand)) {
		out = append(out, figure{"of these `" + command + "`", t.ByCommand[command]})
	}
	for _, code := range slices.Sorted(maps.Keys(t.Codes)) {
		out = append(out, figure{fmt.Sprintf("that ended with exit code %d", code), t.Codes[code]})
	}
	return append(out,
		figure{"objects in the graphs", t.Objects},
		figure{"of these deleted or terminating under faults", t.Deleted},
		figure{"faults", t.Faults()},
		figure{"writes that were executed and whose response was lost", t.Lost},
		figure{"writes that reached the server twice", t.Kinds[proxy.Repeated]},
	)
}

// AmountsUnderLies returns how much was done under lies.
func (t *statistics) AmountsUnderLies() []figure {
	out := []figure{{"runs under lies", t.Runs}, {"of these without any lie, by chance", t.Honest}}
	for _, command := range slices.Sorted(maps.Keys(t.ByCommand)) {
		out = append(out, figure{"runs of `" + command + "`", t.ByCommand[command]})
	}
	for _, code := range slices.Sorted(maps.Keys(t.Codes)) {
		out = append(out, figure{fmt.Sprintf("that ended with exit code %d", code), t.Codes[code]})
	}
	return append(out,
		figure{"objects in the graphs", t.Objects},
		figure{"of these deleted or terminating under lies", t.Deleted},
		figure{"kinds of lie", len(t.kinds)},
		figure{"lies", t.Faults()},
	)
}

// PeakMiB returns the peak memory of any run.
func (t *statistics) PeakMiB() int64 { return t.Peak >> 20 }

// MostMiB returns the memory limit.
func (t *statistics) LimitMiB() int64 { return maxMemory >> 20 }

func (t *statistics) String() string {
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	parts := [][]figure{t.Amounts(), t.Injected(), t.Found()}
	if t.lies {
		parts = [][]figure{t.AmountsUnderLies(), t.Injected(), t.Found(), t.FoundUnderLies()}
	}
	for _, rows := range parts {
		for _, r := range rows {
			fmt.Fprintf(table, "%d\t%s\n", r.N, r.What)
		}
		fmt.Fprintln(table)
	}
	_ = table.Flush() // to memory, so there is no error
	fmt.Fprintf(&out, "in %s, from %s=%d on", t.Took.Round(time.Second), seedVariable, t.From)
	if t.lies {
		fmt.Fprintf(&out, "; the program took %d MiB of memory at most", t.PeakMiB())
	}
	for _, kind := range slices.Sorted(maps.Keys(t.Failed)) {
		fmt.Fprintf(&out, "\nFAILED with that kind alone: %d × %s", t.Failed[kind], kind)
	}
	for _, seed := range t.Failing {
		fmt.Fprintf(&out, "\nFAILED: %s=%d", seedVariable, seed)
	}
	return out.String()
}

// counts returns the numbers of one run on one line.
func (v *verdict) counts() string {
	var out []string
	counts := v.injected()
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d × %s", counts[k], k))
	}
	return fmt.Sprintf("%d deleted, %d of them nondeterministic; %s", v.deleted, len(v.nondeterministic), strings.Join(out, "; "))
}

// injected counts the faults or lies of a run by kind.
func (v *verdict) injected() map[proxy.Kind]int {
	if v.liar == nil {
		return v.faults.Counts()
	}
	out := v.liar.Counts()
	if v.tables != nil {
		for kind, n := range v.tables.Counts() {
			out[kind] += n
		}
	}
	return out
}

//go:embed reliability.md.tmpl
var faultsSection string

// write writes the statistics into a section of a documentation page.
func (t *statistics) write(path, part, section string) error {
	return docgen.Fill(path, part, section, t)
}
