package collect

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// offline is a collect whose scans read a file, and a function that writes that file.
func offline(t *testing.T) (f *collectFlags, writes func(*snapshot.Snapshot), errs *bytes.Buffer) {
	t.Helper()
	errs = &bytes.Buffer{}
	from := cli.NewScanOptions(cli.Streams{Out: &bytes.Buffer{}, Err: errs, Now: time.Now})
	from.From = filepath.Join(t.TempDir(), "cluster.json")
	f = &collectFlags{options: cli.NewMutatingOptions("collect", from)}
	f.options.Given = pflag.NewFlagSet("collect", pflag.ContinueOnError)
	return f, func(s *snapshot.Snapshot) {
		var b bytes.Buffer
		if err := s.Save(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(from.From, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}, errs
}

func TestWhatWasConfirmedAtThePromptIsPlannedAgainBeforeItIsDone(t *testing.T) {
	node := st.Node("gone")
	at := func(version string, o object.Object) object.Object {
		o.ResourceVersion = version
		return o
	}
	doomed := at("1", st.Namespace("doomed", st.OwnedBy(node)))
	inside := at("1", st.Secret("doomed/inside"))
	scan := func(objects ...object.Object) *snapshot.Snapshot {
		return st.New(st.Serving(st.Containers()...), st.Absent("v1", "Node", "gone"), st.Listing(objects...))
	}
	withGap := func(s *snapshot.Snapshot) *snapshot.Snapshot {
		s.Gaps = []snapshot.Gap{{Group: "metrics.k8s.io", Resource: snapshot.All, Reason: snapshot.Unavailable}}
		return s
	}
	before := func() *snapshot.Snapshot { return scan(doomed, inside) }
	for name, c := range map[string]struct {
		after  *snapshot.Snapshot
		strict bool
		want   error
	}{
		"nothing changed":                  {before(), false, nil},
		"an object was written to":         {scan(at("2", doomed), inside), false, nil},
		"something unrelated came":         {scan(doomed, inside, at("1", st.Secret("a/unrelated"))), false, nil},
		"more would go along":              {scan(doomed, inside, at("1", st.Secret("doomed/new"))), false, cli.ExitError(cli.ExitUnconfirmed)},
		"less would go along":              {scan(doomed), false, cli.ExitError(cli.ExitUnconfirmed)},
		"there is nothing left to do":      {scan(), false, cli.ExitError(cli.ExitUnconfirmed)},
		"there is more to delete":          {scan(doomed, inside, at("1", st.Namespace("more", st.OwnedBy(node)))), false, cli.ExitError(cli.ExitUnconfirmed)},
		"something could not be read":      {withGap(before()), false, cli.ExitError(cli.ExitUnconfirmed)},
		"the same, and --strict":           {withGap(before()), true, cli.ExitError(cli.ExitIncomplete)},
		"nothing could be read of a group": {withGap(scan()), false, cli.ExitError(cli.ExitUnconfirmed)},
	} {
		t.Run(name, func(t *testing.T) {
			f, writes, errs := offline(t)
			f.options.Scan.Strict = c.strict
			a := &cli.Operation{Options: f.options, Replan: f.planPass, Scope: f.options.Scan.Everything(cluster.Scope{})}
			writes(before())
			if err := a.Prepare(t.Context(), f.planPass); err != nil {
				t.Fatal(err)
			}
			writes(c.after)
			if err := a.PlanAgain(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v; it says %s", err, c.want, errs)
			}
		})
	}

	t.Run("and what is done is the later plan", func(t *testing.T) {
		f, writes, _ := offline(t)
		a := &cli.Operation{Options: f.options, Replan: f.planPass, Scope: f.options.Scan.Everything(cluster.Scope{})}
		writes(before())
		if err := a.Prepare(t.Context(), f.planPass); err != nil {
			t.Fatal(err)
		}
		writes(scan(at("2", doomed), inside))
		if err := a.PlanAgain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := a.Current.Plan.Steps[0].Object.ResourceVersion; got != "2" {
			t.Errorf("the deletion is bound to resourceVersion %s", got)
		}
	})

	t.Run("and of a saved plan, what is left of it counts", func(t *testing.T) {
		f, writes, errs := offline(t)
		stale := at("1", st.Namespace("stale", st.OwnedBy(node)))
		a := &cli.Operation{Options: f.options, Replan: f.planPass, Scope: f.options.Scan.Everything(cluster.Scope{})}
		writes(scan(doomed, inside, stale))
		if err := a.Prepare(t.Context(), f.planPass); err != nil {
			t.Fatal(err)
		}
		saved := a.Current.Plan
		a = &cli.Operation{Options: f.options, Replan: f.planPass, Scope: f.options.Scan.Everything(cluster.Scope{}), Saved: saved}
		writes(scan(doomed, inside, at("2", stale)))
		if err := a.Prepare(t.Context(), f.planPass); err != nil {
			t.Fatal(err)
		}
		if len(a.Stale) != 1 || len(a.Current.Plan.Steps) != 1 {
			t.Fatalf("%d steps are refused, and %d left", len(a.Stale), len(a.Current.Plan.Steps))
		}
		if err := a.PlanAgain(t.Context()); err != nil {
			t.Errorf("nothing changed since the preview: %v, %s", err, errs)
		}
		writes(scan(at("2", doomed), inside, at("2", stale)))
		if err := a.PlanAgain(t.Context()); !errors.Is(err, cli.ExitError(cli.ExitUnconfirmed)) {
			t.Errorf("another step is refused by now: %v", err)
		}
	})
}

func TestASavedPlanIsRefusedWhereTheScanReadsLess(t *testing.T) {
	f, writes, errs := offline(t)
	orphan := st.Secret("a/orphan", st.OwnedBy(st.ConfigMap("a/gone")))
	scan := st.New(st.Absent("v1", "ConfigMap", "a/gone"), st.Listing(orphan))
	a := &cli.Operation{Options: f.options, Replan: f.planPass, Scope: f.options.Scan.Everything(cluster.Scope{})}
	writes(scan)
	if err := a.Prepare(t.Context(), f.planPass); err != nil {
		t.Fatal(err)
	}
	scan.Gaps = []snapshot.Gap{{Group: "metrics.k8s.io", Resource: snapshot.All, Reason: snapshot.Unavailable}}
	writes(scan)
	for name, c := range map[string]struct {
		saved *plan.Plan
		want  int
	}{"of a complete scan": {a.Current.Plan, 1}, "of one with the same gap": {&plan.Plan{Gaps: scan.Gaps}, 0}} {
		later := &cli.Operation{Options: f.options, Replan: f.planPass, Scope: f.options.Scan.Everything(cluster.Scope{}), Saved: c.saved}
		if err := later.Prepare(t.Context(), f.planPass); err != nil {
			t.Fatal(err)
		}
		if len(later.NewGaps) != c.want {
			t.Errorf("%s: %v", name, later.NewGaps)
		}
		if c.want == 0 {
			continue
		}
		later.Options.Flags.DryRun = cli.DryRunNone
		later.Options.Flags.Yes, later.Options.Output = true, "json"
		if err := later.Run(t.Context()); !errors.Is(err, cli.ExitError(cli.ExitUnconfirmed)) {
			t.Errorf("%s: it ends with %v; it says %s", name, err, errs)
		}
		for _, want := range []string{"error: this scan could not read what the scan of the saved plan read: API group metrics.k8s.io. Nothing was changed\n", "hint: make a new plan"} {
			if !bytes.Contains(errs.Bytes(), []byte(want)) {
				t.Errorf("%s: it does not say %q: %s", name, want, errs)
			}
		}
	}
}
