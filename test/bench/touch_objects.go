package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// touchObjects changes one object of every large type, as happens all the time in a live
// cluster. A server keeps the history of a type in memory if it changed since the last
// compaction of etcd, every five minutes, and then serves all pages from memory. Otherwise
// it reads every page but the first from etcd, which costs more than twice as much
// (ListFromCacheSnapshot).
func (w *harness) touchObjects(ctx context.Context) error {
	touch, types, err := w.toucher()
	if err != nil {
		return err
	}
	for i := range types {
		if err := touch(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// toucher returns what changes an object of the i-th of n types.
func (w *harness) toucher() (touch func(ctx context.Context, i int) error, n int, err error) {
	config, err := clientcmd.BuildConfigFromFlags("", w.plane.Kubeconfig)
	if err != nil {
		return nil, 0, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, 0, fmt.Errorf("prepare client: %w", err)
	}
	apps, core, o := client.AppsV1(), client.CoreV1(), metav1.PatchOptions{}
	const how = types.MergePatchType
	patches := []func(ctx context.Context, change []byte) error{
		func(ctx context.Context, change []byte) error {
			_, err := apps.Deployments(firstNamespace).Patch(ctx, firstApplication, how, change, o)
			return err
		},
		func(ctx context.Context, change []byte) error {
			_, err := apps.ReplicaSets(firstNamespace).Patch(ctx, firstApplication+"-"+currentRevision, how, change, o)
			return err
		},
		func(ctx context.Context, change []byte) error {
			_, err := core.Pods(firstNamespace).Patch(ctx, podName(firstApplication+"-"+currentRevision, 0), how, change, o)
			return err
		},
		func(ctx context.Context, change []byte) error {
			_, err := core.ConfigMaps(firstNamespace).Patch(ctx, configMapName(firstApplication, 0), how, change, o)
			return err
		},
		func(ctx context.Context, change []byte) error {
			_, err := core.Secrets(firstNamespace).Patch(ctx, secretName(firstApplication, 0), how, change, o)
			return err
		},
	}
	return func(ctx context.Context, i int) error {
		change := fmt.Appendf(nil, `{"metadata":{"annotations":{"bench/changed":%q}}}`, time.Now().Format(time.RFC3339Nano))
		if err := patches[i](ctx, change); err != nil {
			return fmt.Errorf("change an object: %w", err)
		}
		return nil
	}, len(patches), nil
}
