package read

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
)

// NamespaceEvents returns all Events in a namespace, as the API server answers.
func NamespaceEvents(ctx context.Context, c *client.Client, namespace string) ([]byte, error) {
	raw, err := c.GetRaw(ctx, "/api/v1/namespaces/"+namespace+"/events", "application/json")
	if err != nil {
		return nil, fmt.Errorf("read the Events in namespace %q: %w", namespace, err)
	}
	return raw, nil
}

// ManagerLogs calls yield with the logs of kube-controller-manager, with times, if it is a Pod of kube-system with the label that kubeadm
// gives it; one that cannot be read does not hold up the others.
func ManagerLogs(ctx context.Context, c *client.Client, yield func(pod string, log io.Reader) error) error {
	const path = "/api/v1/namespaces/kube-system/pods"
	raw, err := c.Send(ctx, c.REST.Get().AbsPath(path).Param("labelSelector", "component=kube-controller-manager").SetHeader("Accept", "application/json"))
	var pods metav1.PartialObjectMetadataList
	if err == nil {
		err = json.Unmarshal(raw, &pods)
	}
	if err != nil {
		return fmt.Errorf("find the Pods of kube-controller-manager: %w", err)
	}
	var failed error
	for _, pod := range pods.Items {
		in, err := c.REST.Get().AbsPath(path, pod.Name, "log").Param("timestamps", "true").SetHeader("Accept", client.AcceptLog).Stream(ctx)
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
