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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// The deletions whose latency is measured. Those of the collectors alternate in short blocks, as the
// speed of a machine changes from second to second. The blocks of all take minutes: the API server
// collects its own garbage every 20 seconds, for a second or two, which decides on the 99th
// percentile.
const (
	watchNamespace  = "bench-watch"
	starts          = 3   // of each collector, to measure when it is ready, and what it costs at rest
	blocks          = 100 // of single deletions
	singleDeletions = 50  // in a block, one after the other, each with one dependent
	bursts          = 15
	burstDeletions  = 150 // in a burst, as fast as the server takes them, each with dependentsEach
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
	Starts     int
	Rest       time.Duration
	Blocks     int
	Single     int // deletions in a block
	Bursts     int
	Burst      int // deletions in a burst
	Each       int
	Rows       []watchRow // the real collector last
}

// watchRow is what was measured of one collector.
type watchRow struct {
	Name          string
	Ready         time.Duration // from its start until it collects
	CPU           float64       // at rest, part of one core
	Memory        int64         // at rest, resident
	Single, Burst latencies
	BurstWall     time.Duration // from the first deletion until everything is gone
	// The ratios of single medians and of BurstWall to those of the real collector right before or after.
	SingleRatio, BurstRatio ratios
}

// ratios are those of figures that were measured in pairs.
type ratios []float64

// String returns the median and the quartiles.
func (r ratios) String() string {
	all := slices.Sorted(slices.Values(r))
	return fmt.Sprintf("%.2f (%.2f to %.2f)", median(all), all[len(all)/4], all[len(all)*3/4])
}

// ratiosOf returns the ratios of the elements of a to those of b.
func ratiosOf(a, b []time.Duration) ratios {
	out := make(ratios, len(a))
	for i := range a {
		out[i] = float64(a[i]) / float64(b[i])
	}
	return out
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

// service is a collector, and what was measured of it.
type service struct {
	name  string
	start func(context.Context) (pid int, stop func() error, err error)

	pid     int
	stop    func() error // nil if it does not run
	ready   []time.Duration
	cpu     []float64
	memory  []int64
	singles latencies
	medians []time.Duration // of the blocks
	bursts  latencies
	walls   []time.Duration
}

func (s *service) row(theirs *service) watchRow {
	return watchRow{
		Name: s.name, Ready: median(s.ready), CPU: median(s.cpu), Memory: median(s.memory),
		Single: s.singles, Burst: s.bursts, BurstWall: median(s.walls),
		SingleRatio: ratiosOf(s.medians, theirs.medians), BurstRatio: ratiosOf(s.walls, theirs.walls),
	}
}

// pause stops the process until resume. What it watches waits for it meanwhile.
func (s *service) pause() error { return syscall.Kill(s.pid, syscall.SIGSTOP) }

func (s *service) resume() error { return syscall.Kill(s.pid, syscall.SIGCONT) }

// end ends the process if it runs, paused or not.
func (s *service) end() error {
	if s.stop == nil {
		return nil
	}
	stop := s.stop
	s.stop = nil
	return errors.Join(s.resume(), stop())
}

// benchWatch compares collect --watch with the real collector on one cluster.
func benchWatch(ctx context.Context, o options, stdout, progress io.Writer) error {
	alone := testcluster.Options{Collector: testcluster.Absent, ManagerFlags: []string{"controllers=garbage-collector-controller"}}
	return withHarness(ctx, o, progress, alone, func(w *harness) (err error) {
		if err := w.discover(ctx); err != nil {
			return err
		}
		if _, err := w.fill(ctx, 0, o.objects); err != nil {
			return err
		}
		services := []*service{
			{name: "`collect --watch --no-backup`", start: w.watchService("--no-backup")},
			{name: "`collect --watch`, with backups", start: w.watchService("--backup-dir", filepath.Join(w.dir, "backups"))},
			{name: "the real collector", start: w.realService},
		}
		defer func() {
			for _, s := range services {
				err = errors.Join(err, s.end())
			}
		}()
		if err := w.measureServices(ctx, services, progress); err != nil {
			return err
		}
		r := &watchReport{
			Line: o.line(), Date: time.Now().UTC(), Machine: thisMachine(), Kubernetes: w.kubernetes, Objects: o.objects,
			Starts: starts, Rest: restFor, Blocks: blocks, Single: singleDeletions, Bursts: bursts, Burst: burstDeletions, Each: dependentsEach,
		}
		for _, s := range services {
			r.Rows = append(r.Rows, s.row(services[len(services)-1]))
		}
		return w.publish(r, stdout)
	})
}

// measureServices measures the services in turns, and leaves them paused.
func (w *harness) measureServices(ctx context.Context, services []*service, progress io.Writer) error {
	client, err := newClient(w.plane.Kubeconfig)
	if err != nil {
		return err
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: watchNamespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{}); err != nil {
		return err
	}
	d := &deletionTimer{client: client}
	inTurns := func(what string, n int, measure func(*service) error) error {
		for i := range n {
			if i%10 == 0 {
				fmt.Fprintf(progress, "%s, %d of %d\n", what, i+1, n)
			}
			for k := range services {
				s := services[(k+i)%len(services)] // another one comes first each time
				if err := measure(s); err != nil {
					return fmt.Errorf("%s: %s: %w", s.name, what, err)
				}
			}
		}
		return nil
	}
	// whileRunning resumes a service for a measurement, once it has caught up.
	whileRunning := func(measure func(*service) error) func(*service) error {
		return func(s *service) error {
			if err := s.resume(); err != nil {
				return err
			}
			return errors.Join(measure(s), s.pause())
		}
	}
	if err := inTurns("starting the collectors", starts, func(s *service) error { return w.measureStart(ctx, s, d) }); err != nil {
		return err
	}
	err = inTurns("single deletions", blocks, whileRunning(func(s *service) error {
		single, _, err := d.measure(ctx, "single", singleDeletions, 1, 1, w.waitUntilQuiet)
		s.singles, s.medians = append(s.singles, single...), append(s.medians, single.Median())
		return err
	}))
	if err != nil {
		return err
	}
	return inTurns("bursts", bursts, whileRunning(func(s *service) error {
		burst, wall, err := d.measure(ctx, "burst", burstDeletions, dependentsEach, writers, w.waitUntilQuiet)
		s.bursts, s.walls = append(s.bursts, burst...), append(s.walls, wall)
		return err
	}))
}

// measureStart starts a service again, measures when it is ready and what it costs at rest, and pauses
// it. A first deletion shows when it is ready.
func (w *harness) measureStart(ctx context.Context, s *service, d *deletionTimer) (err error) {
	if err := s.end(); err != nil {
		return err
	}
	begun := time.Now()
	if s.pid, s.stop, err = s.start(ctx); err != nil {
		return err
	}
	atOnce := func(context.Context) error { return nil }
	if _, _, err := d.measure(ctx, "ready", 1, 1, 1, atOnce); err != nil {
		return err
	}
	s.ready = append(s.ready, time.Since(begun))
	if err := w.waitUntilQuiet(ctx); err != nil {
		return err
	}
	before := cpuOf(s.pid)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(restFor):
	}
	s.cpu, s.memory = append(s.cpu, (cpuOf(s.pid)-before).Seconds()/restFor.Seconds()), append(s.memory, residentMemory(s.pid))
	return s.pause()
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

// measure creates owners with dependents, waits, deletes the owners, as many at a time as streams, and
// returns the latency of each and the time of it all. With one stream, it deletes an owner when the
// dependents of the one before are gone.
func (d *deletionTimer) measure(ctx context.Context, name string, owners, each, streams int, wait func(context.Context) error) (latencies, time.Duration, error) {
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
	if err := wait(ctx); err != nil {
		return nil, 0, err
	}
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
	fmt.Fprintln(table, "WHAT\tREADY\tCPU AT REST\tMEMORY\tSINGLE MEDIAN\tRATIO\tP99\tBURST MEDIAN\tP99\tBURST\tRATIO")
	for _, row := range r.Rows {
		fmt.Fprintln(table, strings.Join([]string{
			row.Name, seconds(row.Ready), fmt.Sprintf("%.2f %%", 100*row.CPU), memory(row.Memory), milliseconds(row.Single.Median()), row.SingleRatio.String(), milliseconds(row.Single.P99()),
			milliseconds(row.Burst.Median()), milliseconds(row.Burst.P99()), seconds(row.BurstWall), row.BurstRatio.String(),
		}, "\t"))
	}
	return table.Flush()
}

//go:embed performance-watch.md.tmpl
var watchPage string

// Ours returns the rows of all but the real collector.
func (r *watchReport) Ours() []watchRow { return r.Rows[:len(r.Rows)-1] }

// Milliseconds formats a latency.
func (r *watchReport) Milliseconds(d time.Duration) string { return milliseconds(d) }

// Percent formats a part of a core.
func (r *watchReport) Percent(part float64) string { return fmt.Sprintf("%.1f %%", 100*part) }

// write writes the report as a page of the documentation.
func (r *watchReport) write(path string) error { return render(path, watchPage, r) }
