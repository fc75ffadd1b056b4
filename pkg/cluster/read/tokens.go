package read

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MarkTokens returns a copy of the snapshot in which the token Secrets in these namespaces say whose token they
// hold. Metadata does not have a Secret's type, so the server selects them. c is nil for a snapshot from a
// file, which may have the whole Secrets. Where that is unknown, the Secrets become a gap. The error is the
// context's.
func MarkTokens(ctx context.Context, c *client.Client, s *snapshot.Snapshot, namespaces []string) (*snapshot.Snapshot, error) {
	if len(namespaces) == 0 {
		return s, nil
	}
	marked := *s
	marked.Gaps, marked.Objects = slices.Clone(s.Gaps), slices.Clone(s.Objects)
	found := map[types.UID]object.Identity{} // the accounts, by their tokens
	for _, namespace := range namespaces {
		tokens := client.Query{
			Type: snapshot.Type{Version: "v1", Resource: "secrets", Kind: "Secret", Namespaced: true}, Namespace: namespace, Metadata: true,
		}
		gap := snapshot.Gap{Resource: "secrets", Namespace: namespace, Reason: snapshot.NotInFile, Message: "the file does not name the types of Secrets"}
		unread := slices.ContainsFunc(s.Objects, func(o *object.Object) bool { return isSecret(o) && o.Namespace == namespace && o.Lifecycle == nil })
		if c != nil {
			err := client.EachWhole(ctx, c, tokens, metav1.ListOptions{FieldSelector: "type=kubernetes.io/service-account-token", Limit: c.Config.ChunkSize},
				func(secret metav1.PartialObjectMetadata) bool {
					found[secret.UID] = object.AccountOfToken(namespace, secret.Annotations)
					return true
				})
			if unread = err != nil; unread {
				gap = client.GapOf(tokens, err)
			}
		}
		if unread {
			marked.Gaps = append(marked.Gaps, gap)
		}
	}
	for i, o := range s.Objects {
		if account, isToken := found[o.UID]; isToken && isSecret(o) {
			marked.Objects[i] = new(*o)
			marked.Objects[i].Lifecycle = &object.Lifecycle{With: account}
		}
	}
	return &marked, ctx.Err()
}

func isSecret(o *object.Object) bool { return o.APIVersion == "v1" && o.Kind == "Secret" }
