package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// The garbage consists of ConfigMaps whose owners never existed, in several namespaces.
const (
	garbageNamespaces = 5
	ownersInNamespace = 10
	garbageLabel      = "bench.kubectl-gc.dev/garbage"
)

// createGarbage creates garbage, with new owner UIDs each time.
func createGarbage(ctx context.Context, args []string, progress io.Writer) error {
	flags := flag.NewFlagSet(litterCommand, flag.ContinueOnError)
	objects := flags.Int("objects", 0, "")
	kubeconfig := flags.String("kubeconfig", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	client, err := newClient(*kubeconfig)
	if err != nil {
		return err
	}
	owners := make([][]metav1.OwnerReference, garbageNamespaces)
	for i := range owners {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: garbageNamespace(i)}}
		if _, err := client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create namespace: %w", err)
		}
		for j := range ownersInNamespace {
			owners[i] = append(owners[i], metav1.OwnerReference{
				APIVersion: "apps/v1", Kind: "Deployment", Name: fmt.Sprintf("gone-%d", j), UID: uuid.NewUUID(),
			})
		}
	}
	s := &seeder{client: client, progress: progress}
	stop := s.printProgress()
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for n := range *objects {
		group.Go(func() error {
			namespace, owner := n%garbageNamespaces, n/garbageNamespaces%ownersInNamespace
			_, err := client.CoreV1().ConfigMaps(garbageNamespace(namespace)).Create(ctx, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{
					Name: fmt.Sprintf("garbage-%05d", n), Labels: map[string]string{garbageLabel: ""},
					OwnerReferences: owners[namespace][owner : owner+1],
				},
				Data: map[string]string{"level": "info", "note": "nobody needs this any more"},
			}, metav1.CreateOptions{})
			if err != nil {
				return fmt.Errorf("create garbage: %w", err)
			}
			s.created.Add(1)
			return nil
		})
	}
	return group.Wait()
}

func garbageNamespace(i int) string { return fmt.Sprintf("garbage-%d", i) }

// newClient returns a client of a test control plane, without rate limits.
func newClient(kubeconfig string) (kubernetes.Interface, error) {
	if err := testcluster.RequireTestCluster(kubeconfig); err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("prepare client: %w", err)
	}
	return client, nil
}

// garbageLeft reports whether garbage is left, with one request to the server's cache.
func garbageLeft(ctx context.Context, client kubernetes.Interface) (bool, error) {
	left, err := client.CoreV1().ConfigMaps(metav1.NamespaceAll).List(ctx, metav1.ListOptions{LabelSelector: garbageLabel, Limit: 1})
	if err != nil {
		return false, fmt.Errorf("look for garbage: %w", err)
	}
	return len(left.Items) > 0, nil
}
