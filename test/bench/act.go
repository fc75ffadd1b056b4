package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// bareStreams are the numbers of concurrent bare DELETEs: as many as the collector has
// workers, and more.
var bareStreams = []int{20, 64}

// measuredRun is one way to delete the garbage. do measures it.
type measuredRun struct {
	name string
	do   func(context.Context) (cost, error)
	only []string // count only requests for these resources, without lists; nil: count all
}

// benchAct compares collect with bare DELETEs and with the real collector, each time on new
// garbage of the same kind.
func benchAct(ctx context.Context, o options, stdout, progress io.Writer) error {
	// No other controller must share the collector's process.
	alone := testcluster.Options{Collector: testcluster.Absent, ManagerFlags: []string{"controllers=garbage-collector-controller"}}
	return withHarness(ctx, o, progress, alone, func(w *harness) error {
		if err := w.discover(ctx); err != nil {
			return err
		}
		r, err := w.compareDeletions(ctx)
		if err != nil {
			return err
		}
		return w.publish(r, stdout)
	})
}

// compareDeletions runs every measuredRun in turn, each round starting with another one.
func (w *harness) compareDeletions(ctx context.Context) (*actReport, error) {
	r := &actReport{Line: w.line(), Rounds: w.runs, Objects: w.objects, Machine: thisMachine(), Kubernetes: w.kubernetes, Date: time.Now().UTC(), Bare: len(bareStreams)}
	var runs []measuredRun
	for _, n := range bareStreams {
		runs = append(runs, measuredRun{name: fmt.Sprintf("bare DELETEs, %d at a time", n), do: func(ctx context.Context) (cost, error) { return w.bareDeletes(ctx, n) }})
	}
	var acting, saving sample
	runs = append(runs, measuredRun{name: "kubectl gc collect", do: func(ctx context.Context) (cost, error) {
		whole, acted, saved, err := w.collect(ctx)
		acting, saving = append(acting, acted), append(saving, saved)
		return whole, err
	}}, measuredRun{name: "the real collector", do: w.real, only: []string{"configmaps", "deployments"}})

	rows := make([]actRow, len(runs))
	for round := range w.runs {
		for i := range runs {
			next := (i + round) % len(runs)
			fmt.Fprintf(w.progress, "round %d of %d: %s\n", round+1, w.runs, runs[next].name)
			if err := w.measureDeletion(ctx, runs[next], &rows[next]); err != nil {
				return nil, fmt.Errorf("%s: %w", runs[next].name, err)
			}
		}
	}
	for i, d := range runs {
		rows[i].Name = d.name
	}
	last := len(rows) - 1
	r.Rows = append(append(r.Rows, rows[:last]...),
		actRow{Name: "of that: backup and deletes", Runs: acting}, actRow{Name: "of that: the backup", Runs: saving}, rows[last])
	r.Busy = median(w.busy)
	return r, nil
}

// measureDeletion creates garbage and measures its deletion.
func (w *harness) measureDeletion(ctx context.Context, d measuredRun, row *actRow) error {
	seeding := exec.CommandContext(ctx, w.self, litterCommand, "-objects", strconv.Itoa(w.objects), "-kubeconfig", w.plane.Kubeconfig)
	seeding.Env, seeding.Stderr = w.plane.Env(), w.progress
	if err := seeding.Run(); err != nil {
		return fmt.Errorf("create garbage: %w", err)
	}
	c, err := newCounter(w.plane.Kubeconfig)
	if err != nil {
		return err
	}
	if err := w.waitUntilQuiet(ctx); err != nil {
		return err
	}
	servers := w.serverCPU("kube-apiserver", "etcd")
	before, err := c.requests(ctx, d.only...)
	if err != nil {
		return err
	}
	spent, err := d.do(ctx)
	if err != nil {
		return err
	}
	spent.Servers = w.serverCPU("kube-apiserver", "etcd") - servers
	after, err := c.requests(ctx, d.only...)
	if err != nil {
		return err
	}
	asked := after.less(before)
	if d.only != nil {
		delete(asked, "LIST") // lists of this benchmark itself, which check what is left
	}
	row.Runs, row.Requests = append(row.Runs, spent), append(row.Requests, asked)
	client, err := newClient(w.plane.Kubeconfig)
	if err != nil {
		return err
	}
	left, err := garbageLeft(ctx, client)
	if err == nil && left {
		err = errors.New("not all garbage is gone")
	}
	return err
}

// serverCPU returns the CPU time of the servers so far.
func (w *harness) serverCPU(names ...string) time.Duration {
	var sum time.Duration
	for _, name := range names {
		sum += cpuOf(w.plane.PIDs[name])
	}
	return sum
}

// bareDeletes measures the DELETEs alone, but the CPU time and memory of the whole process.
func (w *harness) bareDeletes(ctx context.Context, streams int) (cost, error) {
	c, out, err := w.run(ctx, program{
		name: "bench " + deletesCommand, path: w.self, env: w.plane.Env(),
		args: []string{deletesCommand, "-streams", strconv.Itoa(streams), "-kubeconfig", w.plane.Kubeconfig},
	})
	if err != nil {
		return c, err
	}
	var said deleted
	if err := json.Unmarshal(out, &said); err != nil {
		return c, fmt.Errorf("read what it says: %w", err)
	}
	if said.Objects != w.objects {
		return c, fmt.Errorf("%d of %d objects were deleted", said.Objects, w.objects)
	}
	c.Wall = said.Took
	return c, nil
}

// collect measures the whole process and, from its backup, the time of the deletions and of
// the backup, which ends with the first step.
func (w *harness) collect(ctx context.Context) (whole, acting, saving cost, err error) {
	root := filepath.Join(w.dir, "backups")
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	if whole, _, err = w.run(ctx, w.command(false, "collect", "--yes", "--max-deletes", strconv.Itoa(w.objects), "--backup-dir", root)); err != nil {
		return whole, acting, saving, err
	}
	folders, err := filepath.Glob(filepath.Join(root, "*"))
	if err != nil || len(folders) != 1 {
		return whole, acting, saving, errors.Join(err, fmt.Errorf("%d folders with backups, want 1", len(folders)))
	}
	saved, err := backup.Open(folders[0])
	if err != nil {
		return whole, acting, saving, err
	}
	defer func() { err = errors.Join(err, saved.Close()) }()
	if len(saved.Entries) != w.objects || len(saved.Results) != w.objects {
		return whole, acting, saving, fmt.Errorf("%d objects saved and %d steps done, want %d", len(saved.Entries), len(saved.Results), w.objects)
	}
	acting.Wall = saved.Header.Finished.Sub(saved.Header.Started)
	saving.Wall = saved.Results[0].Time.Sub(saved.Header.Started)
	return whole, acting, saving, nil
}
