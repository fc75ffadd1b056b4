package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const (
	garbageLabel     = "bench.kubectl-gc.dev/garbage"
	garbageNamespace = metav1.NamespacePublic
	deleteStreams    = 64                    // the default concurrency of collect for writes
	pollInterval     = 20 * time.Millisecond // of the remaining garbage
)

// collections compares collect with bare DELETEs and with the real collector, each time on new
// garbage.
func (b *bench) collections(ctx context.Context) error {
	createGarbage := func(ctx context.Context) error {
		if err := b.seeder.garbage(ctx, b.garbage); err != nil {
			return err
		}
		return b.settle(ctx)
	}
	_, err := b.compare(ctx, fmt.Sprintf("A collection of %d objects:", b.garbage), createGarbage,
		contender{"kubectl gc collect", b.collect}, contender{"list, then DELETEs", b.process("bench", deletesCommand)}, contender{"the real collector", b.realCollector})
	return err
}

func (b *bench) collect(ctx context.Context) (cost, error) {
	backups := filepath.Join(b.dir, "backups")
	c, _, err := b.start(ctx, "kubectl-gc", "collect", "--yes", "--max-deletes", strconv.Itoa(b.garbage), "--backup-dir", backups)
	return c, errors.Join(err, os.RemoveAll(backups))
}

// realCollector measures the collector of kube-controller-manager from the start of its workers.
func (b *bench) realCollector(ctx context.Context) (c cost, err error) {
	if err := b.plane.SetCollector(ctx, testcluster.On); err != nil {
		return c, err
	}
	begun := time.Now()
	err = wait.PollUntilContextTimeout(ctx, pollInterval, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		left, err := b.client.CoreV1().ConfigMaps(garbageNamespace).List(ctx, metav1.ListOptions{LabelSelector: garbageLabel, Limit: 1})
		if err != nil {
			return false, fmt.Errorf("look for garbage: %w", err)
		}
		return len(left.Items) == 0, nil
	})
	c.wall, c.cpu = time.Since(begun), b.cpu("kube-controller-manager")
	return c, errors.Join(err, b.plane.SetCollector(ctx, testcluster.Absent))
}

// deleteGarbage lists the garbage and deletes it, bound to UID and resourceVersion as by collect.
func deleteGarbage(ctx context.Context, client kubernetes.Interface) error {
	configMaps := client.CoreV1().ConfigMaps(garbageNamespace)
	garbage, err := configMaps.List(ctx, metav1.ListOptions{LabelSelector: garbageLabel})
	if err != nil {
		return fmt.Errorf("list garbage: %w", err)
	}
	background := metav1.DeletePropagationBackground
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deleteStreams)
	for i := range garbage.Items {
		o := &garbage.Items[i]
		group.Go(func() error {
			bound := metav1.Preconditions{UID: &o.UID, ResourceVersion: &o.ResourceVersion}
			return configMaps.Delete(ctx, o.Name, metav1.DeleteOptions{Preconditions: &bound, PropagationPolicy: &background})
		})
	}
	return group.Wait()
}
