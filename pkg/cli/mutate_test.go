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

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// pass plans a pass of the garbage collector over everything.
func pass(o *MutatingOptions) Job {
	return Job{
		Options: o,
		Plan: func(_ context.Context, seen Scanned, accepted snapshot.AcceptedGaps) (*plan.Plan, error) {
			return plan.New(seen.Judge, plan.CollectPurpose(accepted)), nil
		},
	}
}

// planned scans and plans.
func planned(t *testing.T, j Job) Planned {
	t.Helper()
	seen, err := Scan(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	now, err := Plan(t.Context(), j, seen)
	if err != nil {
		t.Fatal(err)
	}
	return now
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
			write(before())
			confirmed := planned(t, pass(options))
			write(c.after)
			if _, err := planAgain(t.Context(), pass(options), confirmed); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v; it says %s", err, c.want, errs)
			}
		})
	}

	t.Run("the new plan is carried out", func(t *testing.T) {
		options, write, _ := offline(t)
		write(before())
		confirmed := planned(t, pass(options))
		write(scan(at("2", garbage), inside))
		now, err := planAgain(t.Context(), pass(options), confirmed)
		if err != nil {
			t.Fatal(err)
		}
		if got := now.Plan.Steps[0].Object.ResourceVersion; got != "2" {
			t.Errorf("the deletion is bound to resourceVersion %s", got)
		}
	})
}

// A client without a connection panics if anything is requested.
func TestInventoriesOfOrdinaryObjectsCostNoRequest(t *testing.T) {
	gone := st.ConfigMap("a/garbage", st.OwnedBy(st.ConfigMap("a/nothing")), st.WithFinalizers("example.com/hold"))
	seen := scanned(&client.Client{}, st.New(st.Listing(gone), st.Absent("v1", "ConfigMap", "a/nothing")))
	p := plan.New(seen.Judge, plan.CollectPurpose(nil))
	more, err := readInventories(t.Context(), Planned{Scanned: seen, Plan: p})
	if err != nil || more != seen.Snapshot || len(p.LostObjects) != 1 {
		t.Errorf("reads more for %v: %v", p.LostObjects, err)
	}
}
