package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// The deletions whose latency is measured. The single ones of all turns take more than a minute, so
// that the API server collects its own garbage several times during those of every collector: that
// takes it a second or two, every 20 seconds, and decides on the 99th percentile.
const (
	watchNamespace  = "bench-watch"
	turns           = 10   // of each collector: many and short, as a machine's speed changes from minute to minute
	restTurns       = 3    // in the first ones, the collector is also measured at rest
	singleDeletions = 1500 // in a turn, one after the other, each with one dependent
	burstDeletions  = 150  // in a turn, as fast as the server takes them, each with dependentsEach
	dependentsEach  = 4
	restFor         = 30 * time.Second // not less than monitor.DefaultDiscoveryInterval
	collectTimeout  = 2 * time.Minute
)

// watchReport has what collectors in service cost, and how quick they are.
type watchReport struct {
	Line       string
	Date       time.Time
	Machine    machine
	Kubernetes string
	Objects    int
	Rest       time.Duration
	Turns      int
	RestTurns  int
	Single     int
	Burst      int
	Each       int
	Rows       []watchRow
}

// watchRow is one collector, in one turn or in all of them.
type watchRow struct {
	Name          string
	Ready         time.Duration // from its start until it collects
	Rest          *restCost     // nil in a turn without
	Single, Burst latencies
	BurstWall     time.Duration // from the first deletion until everything is gone
}

// restCost is what a collector needs while nothing happens that concerns it.
type restCost struct {
	CPU    float64 // part of one core
	Memory int64   // resident
}

// inAll returns the medians of a collector's turns, and the latencies of all of them.
func inAll(rows []watchRow) watchRow {
	row := watchRow{
		Name:      rows[0].Name,
		Ready:     medianOf(rows, func(t watchRow) time.Duration { return t.Ready }),
		BurstWall: medianOf(rows, func(t watchRow) time.Duration { return t.BurstWall }),
	}
	var rests []restCost
	for _, t := range rows {
		row.Single, row.Burst = append(row.Single, t.Single...), append(row.Burst, t.Burst...)
		if t.Rest != nil {
			rests = append(rests, *t.Rest)
		}
	}
	row.Rest = &restCost{
		CPU:    medianOf(rests, func(r restCost) float64 { return r.CPU }),
		Memory: medianOf(rests, func(r restCost) int64 { return r.Memory }),
	}
	return row
}

// latencies are times from the answer to the deletion of an owner to the deletion of its last
// dependent.
type latencies []time.Duration

// Median returns the median.
func (l latencies) Median() time.Duration { return median(l) }

// P99 returns the 99th percentile.
func (l latencies) P99() time.Duration {
	if len(l) == 0 {
		return 0
	}
	all := slices.Sorted(slices.Values(l))
	return all[(len(all)*99-1)/100]
}

// service is a collector that runs until it is stopped.
type service struct {
	name  string
	start func(context.Context) (pid int, stop func() error, err error)
}

// benchWatch compares collect --watch with the real collector on one cluster.
func benchWatch(ctx context.Context, o options, stdout, progress io.Writer) error {
	alone := testcluster.Options{Collector: testcluster.Absent, ManagerFlags: []string{"controllers=garbage-collector-controller"}}
	return withHarness(ctx, o, progress, alone, func(w *harness) error {
		if err := w.discover(ctx); err != nil {
			return err
		}
		if _, err := w.fill(ctx, 0, o.objects); err != nil {
			return err
		}
		r := &watchReport{
			Line: o.line(), Date: time.Now().UTC(), Machine: thisMachine(), Kubernetes: w.kubernetes, Objects: o.objects,
			Rest: restFor, Turns: turns, RestTurns: restTurns, Single: singleDeletions, Burst: burstDeletions, Each: dependentsEach,
		}
		services := []service{
			{"`collect --watch --no-backup`", w.watchService("--no-backup")},
			{"`collect --watch`, with backups", w.watchService("--backup-dir", filepath.Join(w.dir, "backups"))},
			{"the real collector", w.realService},
		}
		measured := make([][]watchRow, len(services))
		for n := range turns {
			for k := range services {
				i := (k + n) % len(services) // another one comes first each time
				s := services[i]
				fmt.Fprintf(progress, "measuring %s, turn %d of %d\n", s.name, n+1, turns)
				row, err := w.measureService(ctx, s, n < restTurns)
				if err != nil {
					return fmt.Errorf("%s: %w", s.name, err)
				}
				fmt.Fprintf(progress, "  single: median %s, burst: %s\n", milliseconds(row.Single.Median()), seconds(row.BurstWall))
				measured[i] = append(measured[i], row)
			}
		}
		for _, rows := range measured {
			r.Rows = append(r.Rows, inAll(rows))
		}
		return w.publish(r, stdout)
	})
}

func (w *harness) watchService(more ...string) func(context.Context) (int, func() error, error) {
	return func(ctx context.Context) (int, func() error, error) {
		args := append([]string{"collect", "--watch", "--yes", "--leader-elect=false", "--max-deletes=0"}, more...)
		cmd := exec.CommandContext(ctx, w.plugin, args...)
		cmd.Env = w.plane.Env()
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			return 0, nil, err
		}
		return cmd.Process.Pid, func() error {
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				return err
			}
			if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted {
				return fmt.Errorf("%w\n%s", err, &said)
			}
			return nil
		}, nil
	}
}

func (w *harness) realService(ctx context.Context) (int, func() error, error) {
	if err := w.plane.SetCollector(ctx, testcluster.On); err != nil {
		return 0, nil, err
	}
	return w.plane.PIDs[managerName], func() error { return w.plane.SetCollector(ctx, testcluster.Absent) }, nil
}

// measureService starts a collector and measures it, at rest too if that is asked for. A first
// deletion shows when it is ready.
func (w *harness) measureService(ctx context.Context, s service, atRest bool) (row watchRow, err error) {
	client, err := newClient(w.plane.Kubeconfig)
	if err != nil {
		return row, err
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: watchNamespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return row, err
	}
	begun := time.Now()
	pid, stop, err := s.start(ctx)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	d := &deletionTimer{client: client}
	if _, _, err := d.measure(ctx, "ready", 1, 1, 1); err != nil {
		return row, err
	}
	row.Name, row.Ready = s.name, time.Since(begun)
	if err := w.waitUntilQuiet(ctx); err != nil {
		return row, err
	}
	if atRest {
		before := cpuOf(pid)
		select {
		case <-ctx.Done():
			return row, ctx.Err()
		case <-time.After(restFor):
		}
		row.Rest = &restCost{CPU: (cpuOf(pid) - before).Seconds() / restFor.Seconds(), Memory: residentMemory(pid)}
	}
	if row.Single, _, err = d.measure(ctx, "single", singleDeletions, 1, 1); err != nil {
		return row, err
	}
	row.Burst, row.BurstWall, err = d.measure(ctx, "burst", burstDeletions, dependentsEach, writers)
	return row, err
}

// residentMemory returns the resident memory of a process in bytes, 0 if it is unknown.
func residentMemory(pid int) int64 {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	n, _ := strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
	return n << 10
}

// deletionTimer deletes owners and measures when their dependents are gone.
type deletionTimer struct{ client kubernetes.Interface }

// measure creates owners with dependents, deletes the owners, as many at a time as streams, and
// returns the latency of each and the time of it all. With one stream, it deletes an owner when the
// dependents of the one before are gone.
func (d *deletionTimer) measure(ctx context.Context, name string, owners, each, streams int) (latencies, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, collectTimeout)
	defer cancel()
	names, uids, err := d.create(ctx, name, owners, each)
	if err != nil {
		return nil, 0, err
	}
	left := make([]int, owners)
	index := make(map[types.UID]int, owners*each)
	for i := range owners {
		left[i] = each
		for _, uid := range uids[i] {
			index[uid] = i
		}
	}
	secrets := d.client.CoreV1().Secrets(watchNamespace)
	list, err := secrets.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return nil, 0, err
	}
	watch, err := secrets.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		return nil, 0, err
	}
	defer watch.Stop()
	deleted, gone := make([]time.Time, owners), make([]time.Time, owners)
	turn := make(chan struct{}, owners)
	var group errgroup.Group
	group.Go(func() error {
		for remaining := owners; remaining > 0; {
			event, open := <-watch.ResultChan()
			if !open {
				return fmt.Errorf("the watch of the benchmark ended with %d owners to go: %w", remaining, ctx.Err())
			}
			o, ok := event.Object.(*corev1.Secret)
			if !ok || event.Type != "DELETED" {
				continue
			}
			i, ours := index[o.UID]
			if !ours {
				continue
			}
			if left[i]--; left[i] == 0 {
				gone[i] = time.Now()
				remaining--
				turn <- struct{}{}
			}
		}
		return nil
	})
	begun := time.Now()
	deletions, _ := errgroup.WithContext(ctx)
	deletions.SetLimit(streams)
	background := metav1.DeletePropagationBackground
	for i := range owners {
		if streams == 1 && i > 0 {
			select {
			case <-turn:
			case <-ctx.Done():
				return nil, 0, ctx.Err()
			}
		}
		deletions.Go(func() error {
			err := d.client.CoreV1().ConfigMaps(watchNamespace).Delete(ctx, names[i], metav1.DeleteOptions{PropagationPolicy: &background})
			deleted[i] = time.Now()
			return err
		})
	}
	if err := errors.Join(deletions.Wait(), group.Wait()); err != nil {
		return nil, 0, err
	}
	wall := time.Since(begun)
	out := make(latencies, owners)
	for i := range out {
		out[i] = max(0, gone[i].Sub(deleted[i]))
	}
	return out, wall, nil
}

// create creates ConfigMaps that own Secrets, and returns their names and the UIDs of the Secrets.
func (d *deletionTimer) create(ctx context.Context, name string, owners, each int) (names []string, uids [][]types.UID, err error) {
	names, uids = make([]string, owners), make([][]types.UID, owners)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range owners {
		group.Go(func() error {
			made, err := d.client.CoreV1().ConfigMaps(watchNamespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-"}}, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			names[i] = made.Name
			for range each {
				below, err := d.client.CoreV1().Secrets(watchNamespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
					GenerateName:    name + "-",
					OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: made.Name, UID: made.UID}},
				}}, metav1.CreateOptions{})
				if err != nil {
					return err
				}
				uids[i] = append(uids[i], below.UID)
			}
			return nil
		})
	}
	return names, uids, group.Wait()
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

func (r *watchReport) print(out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tREADY\tCPU AT REST\tMEMORY\tSINGLE MEDIAN\tP99\tBURST MEDIAN\tP99\tBURST")
	for _, row := range r.Rows {
		fmt.Fprintln(table, strings.Join([]string{
			row.Name, seconds(row.Ready), fmt.Sprintf("%.2f %%", 100*row.Rest.CPU), memory(row.Rest.Memory), milliseconds(row.Single.Median()), milliseconds(row.Single.P99()),
			milliseconds(row.Burst.Median()), milliseconds(row.Burst.P99()), seconds(row.BurstWall),
		}, "\t"))
	}
	return table.Flush()
}

//go:embed performance-watch.md.tmpl
var watchPage string

// Milliseconds formats a latency.
func (r *watchReport) Milliseconds(d time.Duration) string { return milliseconds(d) }

// Percent formats a part of a core.
func (r *watchReport) Percent(part float64) string { return fmt.Sprintf("%.1f %%", 100*part) }

// write writes the report as a page of the documentation.
func (r *watchReport) write(path string) error { return render(path, watchPage, r) }
