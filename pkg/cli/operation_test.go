package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute/planrun"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// pass is a command that plans a pass of the garbage collector over everything.
type pass struct{}

func (pass) Scope([]snapshot.Type) (scan.Scope, error) { return scan.Scope{}, nil }

func (pass) Plan(_ context.Context, p *PlannedScan) error {
	p.Plan = plan.New(p.Judge, plan.Options{Mode: plan.Collect})
	return nil
}

func (c pass) Replan(ctx context.Context, p *PlannedScan) error { return c.Plan(ctx, p) }

func (c pass) PlanRemaining(ctx context.Context, _ *plan.Plan, p *PlannedScan) error {
	return c.Plan(ctx, p)
}

func (pass) PlanAccepting(p *PlannedScan, accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
	return plan.New(p.Judge, plan.Options{Mode: plan.Collect, Accepted: accepted}), nil
}

func (pass) Perform(context.Context, *Operation, planrun.BackupWriter, execute.Options) *execute.Report {
	panic("a scan of a file is never carried out")
}

// offline returns the options of a pass whose scans read a file, and a function that writes
// that file.
func offline(t *testing.T) (options *MutatingOptions, write func(*snapshot.Snapshot), stderr *bytes.Buffer) {
	t.Helper()
	stderr = &bytes.Buffer{}
	scan := NewScanOptions(Streams{Out: &bytes.Buffer{}, Err: stderr, Now: time.Now})
	scan.From = filepath.Join(t.TempDir(), "cluster.json")
	options = NewMutatingOptions("collect", scan)
	options.given = pflag.NewFlagSet("collect", pflag.ContinueOnError)
	return options, func(s *snapshot.Snapshot) {
		var b bytes.Buffer
		if err := s.Save(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(scan.From, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}, stderr
}

func TestAConfirmedPlanIsMadeAgainAndRefusedIfItDiffers(t *testing.T) {
	node := st.Node("gone")
	at := func(version string, o object.Object) object.Object {
		o.ResourceVersion = version
		return o
	}
	garbage := at("1", st.Namespace("garbage", st.OwnedBy(node)))
	inside := at("1", st.Secret("garbage/inside"))
	scan := func(objects ...object.Object) *snapshot.Snapshot {
		return st.New(st.Serving(st.TypesWithContents()...), st.Absent("v1", "Node", "gone"), st.Listing(objects...))
	}
	withGap := func(s *snapshot.Snapshot) *snapshot.Snapshot {
		s.Gaps = []snapshot.Gap{{Group: "metrics.k8s.io", Resource: snapshot.All, Reason: snapshot.Unavailable}}
		return s
	}
	before := func() *snapshot.Snapshot { return scan(garbage, inside) }
	for name, c := range map[string]struct {
		after  *snapshot.Snapshot
		strict bool
		want   error
	}{
		"nothing changed":                  {before(), false, nil},
		"an object was written to":         {scan(at("2", garbage), inside), false, nil},
		"something unrelated came":         {scan(garbage, inside, at("1", st.Secret("a/unrelated"))), false, nil},
		"more would be deleted with it":    {scan(garbage, inside, at("1", st.Secret("garbage/new"))), false, ExitError(ExitUnconfirmed)},
		"less would be deleted with it":    {scan(garbage), false, ExitError(ExitUnconfirmed)},
		"there is nothing left to do":      {scan(), false, ExitError(ExitUnconfirmed)},
		"there is more to delete":          {scan(garbage, inside, at("1", st.Namespace("more", st.OwnedBy(node)))), false, ExitError(ExitUnconfirmed)},
		"something could not be read":      {withGap(before()), false, ExitError(ExitUnconfirmed)},
		"the same, and --strict":           {withGap(before()), true, ExitError(ExitIncomplete)},
		"nothing could be read of a group": {withGap(scan()), false, ExitError(ExitUnconfirmed)},
	} {
		t.Run(name, func(t *testing.T) {
			options, write, errs := offline(t)
			options.Scan.Strict = c.strict
			op := &Operation{Options: options, Command: pass{}}
			write(before())
			if err := op.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			write(c.after)
			if err := op.planAgain(t.Context()); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v; it says %s", err, c.want, errs)
			}
		})
	}

	t.Run("the new plan is carried out", func(t *testing.T) {
		options, write, _ := offline(t)
		op := &Operation{Options: options, Command: pass{}}
		write(before())
		if err := op.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		write(scan(at("2", garbage), inside))
		if err := op.planAgain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := op.Current.Plan.Steps[0].Object.ResourceVersion; got != "2" {
			t.Errorf("the deletion is bound to resourceVersion %s", got)
		}
	})
}
