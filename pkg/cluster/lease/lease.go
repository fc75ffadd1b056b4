// Package lease lets one of several candidates act at a time. The Lease that it uses is the one of
// client-go's leader election, with the same times. That package would add the typed clients of all
// Kubernetes APIs to the program.
package lease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// The times of kube-controller-manager (component-base/config/options, BindLeaderElectionFlags).
const (
	duration      = 15 * time.Second // a Lease that was not renewed for so long is free
	renewDeadline = 10 * time.Second // a holder that could not renew for so long stops
	retryPeriod   = 2 * time.Second
)

// ErrLost reports that the Lease could not be renewed in time, or that another candidate took it.
var ErrLost = errors.New("the lease was lost")

// Leases is the type of the Lease of a Lock.
var Leases = snapshot.Type{Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Kind: "Lease", Namespaced: true}

// Lock is a Lease, as one candidate sees it.
type Lock struct {
	client    *client.Client
	query     client.Query
	candidate string

	observed   string    // resourceVersion of the latest change
	observedAt time.Time // by the local clock: clocks are not compared
}

// New returns the Lock of a candidate, whose name must be unique.
func New(c *client.Client, namespace, name, candidate string) *Lock {
	return &Lock{client: c, query: client.Query{Type: Leases, Namespace: namespace, Name: name}, candidate: candidate}
}

// Object returns the Lease, without a UID.
func (l *Lock) Object() object.Identity {
	return object.Identity{APIVersion: Leases.APIVersion(), Kind: Leases.Kind, Namespace: l.query.Namespace, Name: l.query.Name}
}

type record struct {
	Metadata struct {
		ResourceVersion string
	}
	Spec spec
}

type spec struct {
	HolderIdentity       string            `json:"holderIdentity"`
	LeaseDurationSeconds int               `json:"leaseDurationSeconds"`
	AcquireTime          *metav1.MicroTime `json:"acquireTime,omitempty"`
	RenewTime            *metav1.MicroTime `json:"renewTime,omitempty"`
	LeaseTransitions     int               `json:"leaseTransitions"`
}

// Acquire waits until this candidate holds the Lease. It calls waiting, if not nil, when another
// candidate holds it or an attempt fails, once per holder or error.
func (l *Lock) Acquire(ctx context.Context, waiting func(holder string, err error)) error {
	said := ""
	for {
		holder, err := l.try(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && holder == l.candidate:
			return nil
		case waiting != nil && said != fmt.Sprint(holder, err):
			said = fmt.Sprint(holder, err)
			waiting(holder, err)
		}
		if err := client.Wait(ctx, retryPeriod); err != nil {
			return err
		}
	}
}

// Hold renews the Lease until the context ends, and then releases it. The error is ErrLost or
// wraps it, or is the context's.
func (l *Lock) Hold(ctx context.Context) error {
	for renewed := time.Now(); ; {
		if err := client.Wait(ctx, retryPeriod); err != nil {
			l.release(context.WithoutCancel(ctx))
			return err
		}
		attempt, cancel := context.WithDeadline(ctx, renewed.Add(renewDeadline))
		begun := time.Now()
		holder, err := l.try(attempt)
		cancel()
		switch {
		case ctx.Err() != nil:
		case err == nil && holder == l.candidate:
			renewed = begun
		case err == nil:
			return fmt.Errorf("%w: %q holds it", ErrLost, holder)
		case time.Since(renewed) >= renewDeadline:
			return fmt.Errorf("%w: %w", ErrLost, err)
		}
	}
}

// try takes or renews the Lease if it is free or held by this candidate, and returns its holder.
func (l *Lock) try(ctx context.Context) (holder string, err error) {
	var now record
	err = client.GetWhole(ctx, l.client, l.query, &now)
	if client.IsNotFound(err, Leases.GroupResource(), l.query.Name) {
		return l.create(ctx)
	}
	if err != nil {
		return "", l.failed("read", err)
	}
	if now.Metadata.ResourceVersion != l.observed {
		l.observed, l.observedAt = now.Metadata.ResourceVersion, time.Now()
	}
	if other := now.Spec.HolderIdentity; other != "" && other != l.candidate {
		lasts := time.Duration(now.Spec.LeaseDurationSeconds) * time.Second
		if time.Since(l.observedAt) < max(lasts, time.Second) {
			return other, nil
		}
	}
	next := l.next(now.Spec)
	if err := l.write(ctx, now.Metadata.ResourceVersion, next); err != nil {
		return "", l.failed("renew", err)
	}
	return l.candidate, nil
}

// next returns the Lease after this candidate has taken or renewed it.
func (l *Lock) next(now spec) spec {
	at := metav1.NowMicro()
	next := spec{l.candidate, int(duration / time.Second), now.AcquireTime, &at, now.LeaseTransitions}
	if now.HolderIdentity != l.candidate {
		next.AcquireTime = &at
		next.LeaseTransitions++
	}
	return next
}

func (l *Lock) create(ctx context.Context) (holder string, err error) {
	at := metav1.NowMicro()
	body, err := json.Marshal(map[string]any{
		"apiVersion": Leases.APIVersion(), "kind": Leases.Kind,
		"metadata": map[string]any{"namespace": l.query.Namespace, "name": l.query.Name},
		"spec":     spec{l.candidate, int(duration / time.Second), &at, &at, 0},
	})
	if err != nil {
		return "", l.failed("create", err)
	}
	r := client.SetPath(l.client.REST.Post(), Leases, l.query.Namespace, "").SetHeader("Content-Type", "application/json").Body(body)
	raw, err := l.client.Send(ctx, r)
	if apierrors.IsAlreadyExists(err) {
		return "", nil // another candidate was quicker
	}
	if err == nil {
		_, err = client.ReadObject(raw, l.query, false)
	}
	if err != nil {
		return "", l.failed("create", err)
	}
	return l.candidate, nil
}

// write changes the Lease if it still has this resourceVersion.
func (l *Lock) write(ctx context.Context, version string, s spec) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": version}, "spec": s})
	if err != nil {
		return err
	}
	r := client.SetPath(l.client.REST.Patch(types.MergePatchType), Leases, l.query.Namespace, l.query.Name).Body(body)
	raw, err := l.client.Send(ctx, r)
	if err != nil {
		return err
	}
	_, err = client.ReadObject(raw, l.query, false)
	return err
}

// release lets another candidate take the Lease at once. It is best effort: otherwise the Lease
// becomes free when its time is over.
func (l *Lock) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, retryPeriod)
	defer cancel()
	var now record
	if client.GetWhole(ctx, l.client, l.query, &now) != nil || now.Spec.HolderIdentity != l.candidate {
		return
	}
	free := now.Spec
	free.HolderIdentity, free.LeaseDurationSeconds = "", 1
	_ = l.write(ctx, now.Metadata.ResourceVersion, free)
}

func (l *Lock) failed(doing string, err error) error {
	return fmt.Errorf("%s Lease %s/%s: %w", doing, l.query.Namespace, l.query.Name, err)
}
