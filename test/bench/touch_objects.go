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
	config, err := clientcmd.BuildConfigFromFlags("", w.plane.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("prepare client: %w", err)
	}
	apps, core := client.AppsV1(), client.CoreV1()
	change := fmt.Appendf(nil, `{"metadata":{"annotations":{"bench/changed":%q}}}`, time.Now().Format(time.RFC3339Nano))
	const how = types.MergePatchType
	o := metav1.PatchOptions{}
	for _, patch := range []func() error{
		func() error {
			_, err := apps.Deployments(firstNamespace).Patch(ctx, firstApplication, how, change, o)
			return err
		},
		func() error {
			_, err := apps.ReplicaSets(firstNamespace).Patch(ctx, firstApplication+"-"+currentRevision, how, change, o)
			return err
		},
		func() error {
			_, err := core.Pods(firstNamespace).Patch(ctx, podName(firstApplication+"-"+currentRevision, 0), how, change, o)
			return err
		},
		func() error {
			_, err := core.ConfigMaps(firstNamespace).Patch(ctx, configMapName(firstApplication, 0), how, change, o)
			return err
		},
		func() error {
			_, err := core.Secrets(firstNamespace).Patch(ctx, secretName(firstApplication, 0), how, change, o)
			return err
		},
	} {
		if err := patch(); err != nil {
			return fmt.Errorf("change an object: %w", err)
		}
	}
	return nil
}
