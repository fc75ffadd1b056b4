package simulation

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/mutation"
	"github.com/kubectl-gc/kubectl-gc/test/oracle"
)

// brokenProgram is a change of the collector in service that breaks it.
type brokenProgram struct {
	broken   string // what the changed program does
	file     string // in pkg
	old, new string // old occurs exactly once in the file
	found    string // matches the failure
}

const (
	solidOwner = `although its owner`
	oneAtATime = `Lease|watches are open at rest`
	notAtRest  = `not at rest|upstream's collector leaves`
	notBacked  = `in no backup`
)

var mutations = []brokenProgram{
	{
		"goes on when its Lease is lost", "cmd/controller/service.go",
		"cancel(lock.Hold(renewing))", "_, _ = cancel, lock.Hold(renewing)", oneAtATime,
	},
	{
		"takes a Lease that another instance holds", "cluster/lease/lease.go",
		"time.Since(l.observedAt) < max(now.Duration(), time.Second)", "false", oneAtATime,
	},
	{
		"goes on when it cannot renew its Lease", "cluster/lease/lease.go",
		"case time.Since(l.renewed) >= renewDeadline:", "case false:", oneAtATime,
	},
	{
		"writes manifests to the disk when the round is over", "cli/run_backup.go",
		"err == nil {\n\t\terr = b.folder.Sync()\n\t}", "err == nil {\n\t\treturn saved, failed, nil\n\t}", notBacked,
	},
	{
		"does not sync manifests", "backup/record_file.go",
		"return r.file.Sync()", "return nil", notBacked,
	},
	{
		"binds a DELETE to the UID only", "cluster/write/writer.go",
		"Preconditions{UID: &o.UID, ResourceVersion: &o.ResourceVersion}", "Preconditions{UID: &o.UID}", "resourceVersion",
	},
	{
		"believes what it has read of an owner earlier", "execute/planrun/step.go",
		"case len(unread) > 0:", "case false:", solidOwner,
	},
	{
		"takes every error for the absence of an owner", "cluster/scan/object_reader.go",
		"out.Reason, out.Message = client.Classify(err)\n\t\tif out.Reason == snapshot.Vanished {\n\t\t\tout.Reason = snapshot.Unverified\n\t\t}", "out.Outcome = snapshot.Absent", solidOwner,
	},
	{
		"never tries a step again that failed", "controller/controller.go",
		"hold{until: time.Now().Add(backoff(failures)), failures: failures + 1}", "hold{until: time.Now().Add(1000 * time.Hour), failures: failures}", notAtRest,
	},
	{
		"waits for ever for the events of a silent watch", "cluster/client/watch.go",
		"overdue = timer.C", "_ = timer.C", notAtRest,
	},
	{
		"removes a finalizer without a new list of dependents", "execute/planrun/step.go",
		"!t.step.Requested && t.relists <= min(t.attempts, maxRelists-1):", "false:", "finalizer",
	},
	{
		"ignores the list after a gap in a watch", "cluster/monitor/objects.go",
		"differs := !slices.EqualFunc(", "if t.version != \"\" {\n\t\tt.version = version\n\t\treturn\n\t}\n\tdiffers := !slices.EqualFunc(", notAtRest,
	},
}

// firstFailure matches what a failing day is printed with.
var firstFailure = regexp.MustCompile(`seed \d+ fails:\n.*`)

// maxSeeds is how many days may pass until a mutation is found.
const maxSeeds = 5000

// TestTheSimulationFindsWhatIsBroken simulates days with programs that are broken in one way each.
func TestTheSimulationFindsWhatIsBroken(t *testing.T) {
	upstream := ""
	if mutation.Requested() {
		upstream = oracle.Program(t)
	}
	for _, m := range mutations {
		t.Run(m.broken, func(t *testing.T) {
			overlay := mutation.Overlay(t, m.file, m.old, m.new)
			program := filepath.Join(t.TempDir(), "simulation")
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay="+overlay, "-o", program, ".")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for first, seeds := 1, 20; first <= maxSeeds; first, seeds = first+seeds, min(2*seeds, maxSeeds) {
				run := exec.CommandContext(t.Context(), program, "-test.run=^TestCollectorInService$", "-test.v", "-test.timeout=0")
				run.Env = append(os.Environ(), oracle.ProgramVariable+"="+upstream, fmt.Sprintf("%s=%d", seedVariable, first), fmt.Sprintf("%s=%d", seedsVariable, seeds))
				if out, err := run.CombinedOutput(); err != nil {
					failure := firstFailure.FindString(string(out))
					if !regexp.MustCompile(m.found).MatchString(failure) {
						t.Errorf("it fails, but not as expected:\n%s", out)
					}
					t.Log(failure)
					return
				}
			}
			t.Errorf("not found in %d days", maxSeeds)
		})
	}
}
