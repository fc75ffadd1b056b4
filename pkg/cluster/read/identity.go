package read

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// The UID of Namespace kube-system identifies a cluster. The API server creates this namespace
// when it first starts and refuses to delete it. A URL does not identify a cluster: rebuilt
// clusters and forwarded ports share one.
var identityType = snapshot.Type{Version: "v1", Resource: "namespaces", Kind: "Namespace"}

const identityName = "kube-system"

// UID returns the UID of Namespace kube-system. Without an error it is not empty.
func UID(ctx context.Context, c *client.Client) (types.UID, error) {
	result, err := c.Do(ctx, func() *rest.Request { return c.Get(identityType, "", identityName, client.AcceptObject) })
	if err != nil {
		if client.IsNotFound(err, identityType.GroupResource(), identityName) {
			return "", errors.New("there is no Namespace kube-system")
		}
		return "", fmt.Errorf("read Namespace kube-system: %w", err)
	}
	found, err := client.ReadObject(result, client.Query{Type: identityType, Name: identityName})
	if err != nil {
		return "", fmt.Errorf("read Namespace kube-system: %w", err)
	}
	return found.UID, nil
}
