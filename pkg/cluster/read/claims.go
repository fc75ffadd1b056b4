package read

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MarkClaims returns a copy of the snapshot with the Claims of its Pods in the given namespaces,
// and of its PersistentVolumes if one of them is empty. Claims are not metadata, so whole objects
// are read. What cannot be read stays unmarked. So do all Pods of a namespace if one that the
// scan did not see uses a claim. The error is the context's.
func MarkClaims(ctx context.Context, c *client.Client, s *snapshot.Snapshot, namespaces []string) (*snapshot.Snapshot, error) {
	known := map[types.UID]bool{}
	for _, o := range s.Objects {
		known[o.UID] = true
	}
	found, err := client.InParallel(ctx, c.Options.Concurrency, namespaces, func(namespace string) map[types.UID][]string {
		of := snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
		if namespace == "" {
			of = snapshot.Type{Version: "v1", Resource: "persistentvolumes", Kind: "PersistentVolume"}
		}
		claims, err := readClaims(ctx, c, of, namespace)
		unseen := func(uid types.UID) bool { return !known[uid] && len(claims[uid]) > 0 }
		if err != nil || slices.ContainsFunc(slices.Collect(maps.Keys(claims)), unseen) {
			return nil
		}
		return claims
	})
	if err != nil {
		return nil, err
	}
	marked := *s
	marked.Objects = slices.Clone(s.Objects)
	claims := map[types.UID][]string{}
	for _, some := range found {
		maps.Copy(claims, some)
	}
	for i, o := range marked.Objects {
		if of, ok := claims[o.UID]; ok {
			withClaims := *o
			withClaims.Claims = of
			marked.Objects[i] = &withClaims
		}
	}
	return &marked, nil
}

// readClaims reads the claims of each object of a type, page by page.
func readClaims(ctx context.Context, c *client.Client, of snapshot.Type, namespace string) (map[types.UID][]string, error) {
	out := map[types.UID][]string{}
	in := client.Query{Type: of, Namespace: namespace}
	options := metav1.ListOptions{Limit: c.Options.ChunkSize}
	for list := (client.Pages{}); ; options.Continue = list.Continue {
		raw, err := c.Fetch(ctx, in, client.AcceptWhole, options)
		if apierrors.IsResourceExpired(err) && options.Continue != "" {
			clear(out)
			options, list = metav1.ListOptions{}, client.Pages{}
			continue
		}
		if err != nil {
			return nil, err
		}
		items, meta, err := client.ReadPage(raw, in, false)
		if err != nil {
			return nil, err
		}
		first := ""
		for k, raw := range items {
			item, err := client.ReadItem(raw, in, false)
			if err != nil {
				return nil, err
			}
			var held struct{ Spec, Status json.RawMessage }
			if err := json.Unmarshal(raw, &held); err != nil {
				return nil, err
			}
			if k == 0 {
				first = item.Namespace + "/" + item.Name
			}
			i := object.Identity{APIVersion: of.APIVersion(), Kind: of.Kind, Name: item.Name}
			out[item.UID] = object.ClaimsOf(i, held.Spec, held.Status)
		}
		switch more, err := list.Next(meta, first, len(items)); {
		case err != nil:
			return nil, err
		case !more:
			return out, nil
		}
	}
}
