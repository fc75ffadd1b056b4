package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// The parts of an application: six of ten objects are Pods, as in most clusters.
const (
	podsEach       = 12
	configMapsEach = 3
	secretsEach    = 2
	applicationIs  = 1 + 2 + podsEach + configMapsEach + secretsEach // and a deployment and two replicasets

	applicationsInNamespace = 50
	writers                 = 24
)

// The first application, on which tree is measured.
const (
	firstNamespace   = "bench-000"
	firstApplication = "app-00000"
	currentRevision  = "7c9d8"
)

func podName(replicaSet string, i int) string { return fmt.Sprintf("%s-%05d", replicaSet, i) }
func configMapName(application string, i int) string {
	return fmt.Sprintf("%s-settings-%d", application, i)
}

func secretName(application string, i int) string { return fmt.Sprintf("%s-token-%d", application, i) }

// seed creates applications in a test control plane. It is a process of its own, so that
// its memory does not count for the measured processes.
func seed(ctx context.Context, args []string, progress io.Writer) error {
	flags := flag.NewFlagSet(seedCommand, flag.ContinueOnError)
	objects := flags.Int("objects", 0, "")
	before := flags.Int("before", 0, "") // number of objects that exist already
	kubeconfig := flags.String("kubeconfig", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := testcluster.RequireTestCluster(*kubeconfig); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.QPS = -1
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("prepare client: %w", err)
	}
	s := &seeder{client: client, progress: progress}
	return s.fill(ctx, applications(*before), applications(*objects))
}

// applications returns the number of applications with that many objects.
func applications(objects int) int { return (objects + applicationIs - 1) / applicationIs }

type seeder struct {
	client   kubernetes.Interface
	progress io.Writer
	created  atomic.Int64
}

// fill creates applications up to a number, after the existing ones.
func (s *seeder) fill(ctx context.Context, before, applications int) error {
	for i := before; i < applications; i++ {
		if i%applicationsInNamespace > 0 {
			continue
		}
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName(i)}}
		if _, err := s.client.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create namespace: %w", err)
		}
	}
	stop := s.printProgress()
	defer stop()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := before; i < applications; i++ {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			a := application{seeder: s, namespace: namespaceName(i), name: fmt.Sprintf("app-%05d", i)}
			if err := a.create(ctx); err != nil {
				return fmt.Errorf("create %s: %w", a.name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func namespaceName(application int) string {
	return fmt.Sprintf("bench-%03d", application/applicationsInNamespace)
}

// printProgress prints the progress every ten seconds until stop is called.
func (s *seeder) printProgress() (stop func()) {
	quit, begun := make(chan struct{}), time.Now()
	go func() {
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				fmt.Fprintf(s.progress, "%5s  %d objects\n", time.Since(begun).Round(time.Second), s.created.Load())
			}
		}
	}()
	return func() { close(quit) }
}

// application is a Deployment with all its dependents.
type application struct {
	*seeder
	namespace, name string
}

func (a application) create(ctx context.Context) error {
	apps, core := a.client.AppsV1(), a.client.CoreV1()
	template := a.template(currentRevision)
	deployment, err := apps.Deployments(a.namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: a.meta(a.name, nil),
		Spec:       appsv1.DeploymentSpec{Replicas: count(podsEach), Selector: &metav1.LabelSelector{MatchLabels: a.labels()}, Template: template},
	}, metav1.CreateOptions{})
	if err := a.count(err); err != nil {
		return err
	}
	owner := []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))}

	if _, err := a.createReplicaSet(ctx, "5f6b4", 0, owner); err != nil { // of the previous revision
		return err
	}
	current, err := a.createReplicaSet(ctx, currentRevision, podsEach, owner)
	if err != nil {
		return err
	}
	if err := a.createPods(ctx, current); err != nil {
		return err
	}
	for i := range configMapsEach {
		_, err := core.ConfigMaps(a.namespace).Create(ctx, &corev1.ConfigMap{
			ObjectMeta: a.meta(configMapName(a.name, i), owner), Data: map[string]string{"level": "info"},
		}, metav1.CreateOptions{})
		if err := a.count(err); err != nil {
			return err
		}
	}
	for i := range secretsEach {
		_, err := core.Secrets(a.namespace).Create(ctx, &corev1.Secret{
			ObjectMeta: a.meta(secretName(a.name, i), owner), StringData: map[string]string{"token": "not-a-secret"},
		}, metav1.CreateOptions{})
		if err := a.count(err); err != nil {
			return err
		}
	}
	return nil
}

func (a application) createReplicaSet(ctx context.Context, hash string, replicas int, owner []metav1.OwnerReference) (*appsv1.ReplicaSet, error) {
	template := a.template(hash)
	meta := a.meta(a.name+"-"+hash, owner)
	meta.Labels = template.Labels
	created, err := a.client.AppsV1().ReplicaSets(a.namespace).Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: meta,
		Spec:       appsv1.ReplicaSetSpec{Replicas: count(replicas), Selector: &metav1.LabelSelector{MatchLabels: template.Labels}, Template: template},
	}, metav1.CreateOptions{})
	return created, a.count(err)
}

func (a application) createPods(ctx context.Context, set *appsv1.ReplicaSet) error {
	owner := []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
	for i := range podsEach {
		meta := a.meta(podName(set.Name, i), owner)
		meta.Labels = set.Spec.Template.Labels
		_, err := a.client.CoreV1().Pods(a.namespace).Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: set.Spec.Template.Spec}, metav1.CreateOptions{})
		if err := a.count(err); err != nil {
			return err
		}
	}
	return nil
}

// count counts created objects and returns the error.
func (a application) count(err error) error {
	if err == nil {
		a.created.Add(1)
	}
	return err
}

func (a application) labels() map[string]string {
	return map[string]string{"app.kubernetes.io/name": a.name, "app.kubernetes.io/part-of": "bench"}
}

func (a application) meta(name string, owners []metav1.OwnerReference) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: a.namespace, Name: name, Labels: a.labels(), OwnerReferences: owners}
}

func (a application) template(hash string) corev1.PodTemplateSpec {
	labels := a.labels()
	labels["pod-template-hash"] = hash
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "registry.example.com/" + a.name + ":1.0",
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
			Env:   []corev1.EnvVar{{Name: "LEVEL", Value: "info"}},
		}}},
	}
}

func count(n int) *int32 {
	out := int32(n)
	return &out
}
