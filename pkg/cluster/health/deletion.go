package health

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/write"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// probeName is a ConfigMap that kube-controller-manager publishes in every namespace, and again
// if somebody deletes it.
const probeName = "kube-root-ca.crt"

var errNoProbe = errors.New("no namespace has the ConfigMap " + probeName + " that this check needs")

// HonoursForegroundDeletion reports whether the API server does its part of garbage collection. It
// sends the foreground deletion of a ConfigMap as a dry run. A server that runs with
// --enable-garbage-collector=false answers as if it had deleted the object at once
// (registry.Store.Delete).
func HonoursForegroundDeletion(ctx context.Context, c *client.Client, seen *snapshot.Snapshot) (bool, error) {
	var probe *object.Object
	for _, o := range seen.Objects {
		if o.Kind == "ConfigMap" && o.APIVersion == "v1" && o.Name == probeName && !o.Terminating() && len(o.Finalizers) == 0 && (probe == nil || o.Namespace == metav1.NamespaceDefault) {
			probe = o
		}
	}
	if probe == nil {
		return false, errNoProbe
	}
	left, err := write.New(c, seen, true).Delete(ctx, probe, metav1.DeletePropagationForeground, nil)
	if err != nil {
		return false, err
	}
	return left != nil && left.DeletingDependents(), nil
}
