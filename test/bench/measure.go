package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// cost is what one run took, or the medians of several. Zero means unknown.
type cost struct {
	wall, cpu time.Duration // cpu is user and system time
	memory    int64         // peak resident memory in bytes
	servers   time.Duration // CPU time of kube-apiserver and etcd
}

// contender is one of several ways to do the same.
type contender struct {
	name string
	run  func(context.Context) (cost, error)
}

// compare runs all contenders once a round, and prints and returns the medians. Each round begins
// with another one, as a run affects the next one. It calls prepare before each run. The ratios that
// it prints are to the second contender.
func (b *bench) compare(ctx context.Context, title string, prepare func(context.Context) error, contenders ...contender) ([]cost, error) {
	samples := make([][]cost, len(contenders))
	for round := range b.runs {
		for i := range contenders {
			next := (round + i) % len(contenders)
			if err := prepare(ctx); err != nil {
				return nil, err
			}
			servers := b.cpu("kube-apiserver", "etcd")
			c, err := contenders[next].run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", contenders[next].name, err)
			}
			c.servers = b.cpu("kube-apiserver", "etcd") - servers
			fmt.Fprintf(b.progress, "  %s: %.2f s\n", contenders[next].name, c.wall.Seconds())
			samples[next] = append(samples[next], c)
		}
	}
	medians := make([]cost, len(contenders))
	for i, s := range samples {
		medians[i].wall = median(s, func(c cost) time.Duration { return c.wall })
		medians[i].cpu = median(s, func(c cost) time.Duration { return c.cpu })
		medians[i].memory = median(s, func(c cost) int64 { return c.memory })
		medians[i].servers = median(s, func(c cost) time.Duration { return c.servers })
	}
	fmt.Fprintf(b.out, "\n%s\n\n", title)
	table := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tWALL\tRATIO\tCPU\tRATIO\tPEAK MEMORY\tRATIO\tCPU OF SERVERS\tRATIO")
	for i, c := range medians {
		memory := "-"
		if c.memory > 0 {
			memory = fmt.Sprintf("%d MiB", c.memory>>20)
		}
		fmt.Fprintf(table, "%s\t%.3f s\t%s\t%.3f s\t%s\t%s\t%s\t%.2f s\t%s\n", contenders[i].name,
			c.wall.Seconds(), ratio(c.wall, medians[1].wall), c.cpu.Seconds(), ratio(c.cpu, medians[1].cpu),
			memory, ratio(c.memory, medians[1].memory), c.servers.Seconds(), ratio(c.servers, medians[1].servers))
	}
	return medians, table.Flush()
}

func median[T cmp.Ordered](sample []cost, figure func(cost) T) T {
	var all []T
	for _, c := range sample {
		all = append(all, figure(c))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// ratio returns "-" if one of both is unknown.
func ratio[T int64 | time.Duration](a, b T) string {
	if a == 0 || b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(a)/float64(b))
}

// settle makes the API server collect its memory garbage. With many objects this takes seconds of
// all cores, and would slow down some runs and not others.
func (b *bench) settle(ctx context.Context) error {
	if out, err := b.plane.Kubectl(ctx, "get", "--raw", "/debug/pprof/heap?gc=1").CombinedOutput(); err != nil {
		return fmt.Errorf("make the API server collect its garbage: %w\n%.200s", err, out)
	}
	return nil
}

// process returns what measures a program that was built.
func (b *bench) process(program string, args ...string) func(context.Context) (cost, error) {
	return func(ctx context.Context) (cost, error) {
		c, _, err := b.start(ctx, program, args...)
		return c, err
	}
}

// start runs a program that was built, and returns what it cost and what it printed.
func (b *bench) start(ctx context.Context, program string, args ...string) (c cost, printed string, err error) {
	file := filepath.Join(b.dir, "cost")
	cmd := exec.CommandContext(ctx, filepath.Join(b.dir, "launch"), append([]string{file, filepath.Join(b.dir, program)}, args...)...)
	cmd.Env = b.plane.Env()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return c, "", fmt.Errorf("run %s %s: %w\n%s", program, args[0], err, out)
	}
	written, err := os.ReadFile(file)
	if err == nil {
		_, err = fmt.Sscan(string(written), &c.wall, &c.cpu, &c.memory)
	}
	if err != nil {
		return c, "", fmt.Errorf("read what %s %s cost: %w", program, args[0], err)
	}
	return c, string(out), nil
}

// cpu returns the CPU time that servers of the control plane have used so far.
func (b *bench) cpu(servers ...string) (sum time.Duration) {
	for _, name := range servers {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(b.plane.PIDs[name]) + "/stat")
		if err != nil {
			return 0 // only Linux has it
		}
		// The name before it is in brackets and may contain anything.
		fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
		for _, ticks := range fields[11:13] { // user and system
			n, _ := strconv.Atoi(ticks)
			sum += time.Duration(n) * 10 * time.Millisecond // Linux always reports 100 ticks a second to programs
		}
	}
	return sum
}
