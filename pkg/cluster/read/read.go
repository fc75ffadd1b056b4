// Package read reads what metadata does not hold: whole objects for a backup, Events, the server's
// tables, claims, access rights, names and the identity of a cluster.
package read

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

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
	found, err := c.GetObject(ctx, client.Query{Type: identityType, Name: identityName})
	switch {
	case client.IsNotFound(err, identityType.GroupResource(), identityName):
		return "", errors.New("there is no Namespace kube-system")
	case err != nil:
		return "", fmt.Errorf("read Namespace kube-system: %w", err)
	}
	return found.UID, nil
}

// UIDInScan returns what UID does if a scan shows Namespace kube-system, and else "".
func UIDInScan(seen *snapshot.Snapshot) types.UID {
	for _, o := range seen.Objects {
		if o.Name == identityName && o.IsNamespace() && !o.Contested {
			return o.UID
		}
	}
	return ""
}
