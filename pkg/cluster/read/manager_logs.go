package read

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var pods = snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}

// NamespaceEvents returns all Events in a namespace, as the API server answers.
func NamespaceEvents(ctx context.Context, c *client.Client, namespace string) ([]byte, error) {
	raw, err := c.Fetch(ctx, client.Query{Type: events, Namespace: namespace}, client.AcceptWhole, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("read the Events in namespace %q: %w", namespace, err)
	}
	return raw, nil
}

// ManagerLogs calls yield with the logs of kube-controller-manager, with times, if it is a Pod of kube-system with the label that kubeadm
// gives it; one that cannot be read does not hold up the others.
func ManagerLogs(ctx context.Context, c *client.Client, yield func(pod string, log io.Reader) error) error {
	of := client.Query{Type: pods, Namespace: metav1.NamespaceSystem}
	raw, err := c.Fetch(ctx, of, client.AcceptWhole, metav1.ListOptions{LabelSelector: "component=kube-controller-manager"})
	var managers metav1.PartialObjectMetadataList
	if err == nil {
		err = json.Unmarshal(raw, &managers)
	}
	if err != nil {
		return fmt.Errorf("find the Pods of kube-controller-manager: %w", err)
	}
	var failed error
	for _, pod := range managers.Items {
		of.Name = pod.Name
		in, err := client.SetPath(c.REST.Get(), of).Suffix("log").Param("timestamps", "true").SetHeader("Accept", client.AcceptLog).Stream(ctx)
		if err == nil {
			err = yield(pod.Name, in)
			_ = in.Close()
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("read the log of Pod %q in kube-system: %w", pod.Name, err))
		}
	}
	return failed
}
