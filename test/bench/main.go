// Command bench measures what kubectl gc costs, on a real control plane that it starts:
//
//	go run ./test/bench [-objects 50000,500000] [-runs 3] [-garbage 10000]
//
// It prints
//   - the cost of collect, compared with bare DELETEs and with the collector of
//     kube-controller-manager, whose rate limits are lifted, on the same amount of garbage
//   - the cost of audit, compared with the transfer floor: requesting the same lists and discarding
//     the responses
//   - how the cost of audit grows with the number of objects
//
// All figures are medians of interleaved runs. The API server and etcd share the machine with what
// is measured, so compare ratios, and only figures of one run of the benchmark.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// The subcommands, which the benchmark itself starts.
const (
	transferCommand = "transfer"
	deletesCommand  = "deletes"
)

const module = "github.com/kubectl-gc/kubectl-gc"

// bench has what all measurements share.
type bench struct {
	objects       []int
	runs, garbage int
	out, progress io.Writer
	dir           string // of programs and their files
	plane         *testcluster.ControlPlane
	client        kubernetes.Interface
	seeder        *seeder
}

func main() {
	b := &bench{objects: []int{50_000, 500_000}, out: os.Stdout, progress: os.Stderr}
	flag.Func("objects", "scan clusters of these `numbers` of objects (default 50000,500000)", func(value string) error {
		return json.Unmarshal([]byte("["+value+"]"), &b.objects)
	})
	flag.IntVar(&b.runs, "runs", 3, "how often to measure each program")
	flag.IntVar(&b.garbage, "garbage", 10_000, "how many objects to collect")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := b.dispatch(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (b *bench) dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return b.run(ctx)
	}
	client, err := newClient(os.Getenv(clientcmd.RecommendedConfigPathEnvVar))
	if err != nil {
		return err
	}
	switch args[0] {
	case transferCommand:
		return transfer(ctx, client, args[1:])
	case deletesCommand:
		return deleteGarbage(ctx, client)
	}
	return fmt.Errorf("unexpected argument %q", args[0])
}

// run starts a control plane and measures everything.
func (b *bench) run(ctx context.Context) (err error) {
	if len(b.objects) == 0 || slices.Min(b.objects) < 1 || b.runs < 1 || b.garbage < 1 {
		return errors.New("-objects, -runs and -garbage must be at least 1")
	}
	if err := checkMemory(slices.Max(b.objects)); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "kubectl-gc-bench-"); err != nil {
		return fmt.Errorf("make folder for programs: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.dir, module+"/cmd/kubectl-gc", module+"/test/bench", module+"/test/bench/launch")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build programs: %w\n%s", err, out)
	}
	// The collector runs only while it is measured, and alone in its process.
	options := testcluster.Options{Collector: testcluster.Absent, ManagerFlags: []string{"controllers=garbage-collector-controller"}, Stderr: b.progress}
	if b.plane, err = testcluster.Start(ctx, options); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.plane.Stop()) }()
	if b.client, err = newClient(b.plane.Kubeconfig); err != nil {
		return err
	}
	if b.seeder, err = newSeeder(ctx, b.plane); err != nil {
		return err
	}
	if err := b.collections(ctx); err != nil {
		return err
	}
	return b.audits(ctx)
}

// checkMemory returns an error if the API server may need more memory for that many objects than
// the machine has to spare.
func checkMemory(objects int) error {
	need, free := objects*24+1<<20, 0 // KiB
	meminfo, _ := os.ReadFile("/proc/meminfo")
	_, available, _ := strings.Cut(string(meminfo), "MemAvailable:")
	if n, _ := fmt.Sscan(available, &free); n == 1 && free < need {
		return fmt.Errorf("%d objects may need %d MiB, and %d MiB are free: choose fewer with -objects", objects, need>>10, free>>10)
	}
	return nil
}

// newClient returns a client of a test control plane, without rate limits and compression.
func newClient(kubeconfig string) (kubernetes.Interface, error) {
	if err := testcluster.RequireTestCluster(kubeconfig); err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS, config.DisableCompression, config.ContentType = -1, true, runtime.ContentTypeProtobuf
	return kubernetes.NewForConfig(config)
}
