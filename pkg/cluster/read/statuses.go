package read

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/lease"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

const (
	maxStatuses = 20        // objects that MarkStatuses reads
	maxWarnings = 3         // Events that it keeps of each
	activeFor   = time.Hour // what is younger is a sign that a controller runs
)

// MarkStatuses returns a copy of the snapshot with the Status of objects that finalizers of other controllers
// hold, and with ActiveLeases: of the selected ones, the oldest maxStatuses, at most one per kind and finalizers if
// there are more. What cannot be read stays unmarked. The error is the context's.
func MarkStatuses(ctx context.Context, c *client.Client, s *snapshot.Snapshot, selected func(*object.Object) bool) (*snapshot.Snapshot, error) {
	var held []*object.Object
	for _, o := range s.Objects {
		// A Secret has no status, and need not be read whole.
		if o.Terminating() && len(o.ForeignFinalizers()) > 0 && !o.Contested && !o.IsNamespace() && o.Kind != "Secret" && selected(o) {
			held = append(held, o)
		}
	}
	if len(held) == 0 {
		return s, nil
	}
	slices.SortStableFunc(held, func(a, b *object.Object) int { return a.Deleted.Compare(*b.Deleted) })
	if len(held) > maxStatuses {
		known := map[string]bool{}
		held = slices.DeleteFunc(held, func(o *object.Object) bool {
			key := strings.Join(append(o.ForeignFinalizers(), o.APIVersion, o.Kind), " ")
			again := known[key]
			known[key] = true
			return again
		})
	}
	view := snapshot.NewView(s)
	statuses, err := client.InParallel(ctx, c.Config.Concurrency, held[:min(len(held), maxStatuses)], func(o *object.Object) *object.DeletionStatus {
		return statusOf(ctx, c, view, o, s.Taken)
	})
	if err != nil {
		return nil, err
	}
	marked := *s
	marked.ActiveLeases = activeLeases(ctx, c, s.Taken)
	marked.Objects = slices.Clone(s.Objects)
	for i, o := range s.Objects {
		if at := slices.Index(held, o); at >= 0 && at < len(statuses) && statuses[at] != nil {
			marked.Objects[i] = new(*o)
			marked.Objects[i].Status = statuses[at]
		}
	}
	return &marked, ctx.Err()
}

// statusOf returns what an object says, and nil if it cannot be read or is another one now.
func statusOf(ctx context.Context, c *client.Client, view *snapshot.View, o *object.Object, now time.Time) *object.DeletionStatus {
	var whole struct {
		Metadata metav1.ObjectMeta
		Status   json.RawMessage
	}
	q, err := client.QueryOf(view, o.Identity)
	if err != nil || client.GetWhole(ctx, c, q, &whole) != nil || whole.Metadata.UID != o.UID {
		return nil
	}
	recent := now.Add(-activeFor)
	out := &object.DeletionStatus{Conditions: object.ConditionsOf(whole.Status), Writers: object.ActiveWriters(whole.Metadata.ManagedFields, slices.MaxFunc([]time.Time{recent, o.Created}, time.Time.Compare))}
	events, _ := Events(ctx, c, o.Identity) // there are none if they cannot be read
	for _, e := range events {
		if e.UID != "" && e.UID != string(o.UID) {
			continue
		}
		if e.Type == "Warning" {
			out.Warnings = append(out.Warnings, e)
		}
		if e.Last.After(recent) && !slices.Contains(out.Reporters, e.Source) {
			out.Reporters = append(out.Reporters, e.Source)
		}
	}
	out.Warnings = out.Warnings[max(len(out.Warnings)-maxWarnings, 0):]
	return out
}

// activeLeases returns which Leases have a holder and were renewed in the hour before, and nil if that cannot be read. Those of Nodes
// are many, and are left out.
func activeLeases(ctx context.Context, c *client.Client, now time.Time) []string {
	type leaseObject struct {
		Metadata struct{ Name string }
		Spec     lease.Lease
	}
	others := fields.OneTermNotEqualSelector("metadata.namespace", "kube-node-lease").String()
	found, err := client.ListWhole[leaseObject](ctx, c, client.Query{Type: lease.Leases}, metav1.ListOptions{FieldSelector: others})
	if err != nil {
		return nil
	}
	out := []string{}
	for _, l := range found {
		if l.Spec.HolderIdentity != "" && l.Spec.RenewTime.After(now.Add(-activeFor)) {
			out = append(out, l.Metadata.Name+" (held by "+l.Spec.HolderIdentity+")")
		}
	}
	return out
}
