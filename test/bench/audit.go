package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

const (
	listStreams    = 8 // the default concurrency of audit
	acceptMetadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
)

// audits compares audit with the transfer floor at each number of objects, and prints how the cost
// of audit grows.
func (b *bench) audits(ctx context.Context) error {
	var fewest int
	var first cost
	for _, wanted := range b.objects {
		fmt.Fprintf(b.progress, "creating objects up to %d\n", wanted)
		if err := b.seeder.fill(ctx, wanted); err != nil {
			return err
		}
		if err := b.waitUntilCached(ctx, b.seeder.applications-1); err != nil {
			return err
		}
		objects, lists, err := b.scan(ctx, wanted)
		if err != nil {
			return err
		}
		costs, err := b.compare(ctx, fmt.Sprintf("A scan of %d objects, in %d lists:", objects, len(lists)), b.settle,
			contender{"kubectl gc audit", b.process("kubectl-gc", "audit", "--request-timeout=0")},
			contender{"transfer floor", b.process("bench", append([]string{transferCommand}, lists...)...)})
		if err != nil {
			return err
		}
		if c := costs[0]; fewest == 0 {
			fewest, first = objects, c
		} else {
			more := float64(objects) / float64(fewest)
			fmt.Fprintf(b.out, "\nFrom %d to %d objects: wall time per object times %.2f, CPU per object times %.2f, peak memory in all times %s\n",
				fewest, objects, float64(c.wall)/float64(first.wall)/more, float64(c.cpu)/float64(first.cpu)/more, ratio(c.memory, first.memory))
		}
	}
	return nil
}

// waitUntilCached returns when the API server knows an application. A list that includes more than
// the server knows is read from etcd, at a much higher cost.
func (b *bench) waitUntilCached(ctx context.Context, application int) error {
	pods, name := b.client.CoreV1().Pods(namespaceOf(application)), fmt.Sprintf("app-%05d-pod-000", application)
	return wait.PollUntilContextTimeout(ctx, time.Second, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		_, err := pods.Get(ctx, name, metav1.GetOptions{ResourceVersion: "0"})
		return err == nil, nil
	})
}

var (
	scanned = regexp.MustCompile(`(?m)^true (\d+)$`)
	listed  = regexp.MustCompile(`url="https://[^/"]+(/apis?/[^"]+)"`)
)

// scan runs audit, and returns the number of objects and the lists that it requested.
func (b *bench) scan(ctx context.Context, wanted int) (objects int, lists []string, err error) {
	_, out, err := b.start(ctx, "kubectl-gc", "audit", "--request-timeout=0", "-v=6", "-o", `jsonpath={.complete} {.summary.objects}{"\n"}`)
	if err != nil {
		return 0, nil, err
	}
	if found := scanned.FindStringSubmatch(out); found != nil {
		objects, _ = strconv.Atoi(found[1])
	}
	if objects < wanted {
		return 0, nil, fmt.Errorf("audit scanned %d objects, want at least %d:\n%s", objects, wanted, out[max(0, len(out)-2000):])
	}
	for _, found := range listed.FindAllStringSubmatch(out, -1) {
		lists = append(lists, found[1])
	}
	return objects, lists, nil
}

// transfer requests lists, and discards the responses.
func transfer(ctx context.Context, client kubernetes.Interface, lists []string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(listStreams)
	for _, list := range lists {
		group.Go(func() error {
			response, err := client.CoreV1().RESTClient().Get().RequestURI(list).SetHeader("Accept", acceptMetadata).Stream(ctx)
			if err == nil {
				defer response.Close() // read only
				_, err = io.Copy(io.Discard, response)
			}
			if err != nil {
				return fmt.Errorf("list %s: %w", list, err)
			}
			return nil
		})
	}
	return group.Wait()
}
