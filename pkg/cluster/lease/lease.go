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
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

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

// ErrLost reports that the Lease could not be renewed in time, or that this candidate holds it no
// longer.
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
	renewed    time.Time // when the latest write of this candidate that succeeded was begun
}

// New returns the Lock of a candidate, whose name must be unique.
func New(c *client.Client, namespace, name, candidate string) *Lock {
	return &Lock{client: c, query: client.Query{Type: Leases, Namespace: namespace, Name: name}, candidate: candidate}
}

// Object returns the Lease, without a UID.
func (l *Lock) Object() object.Identity {
	return object.Identity{APIVersion: Leases.APIVersion(), Kind: Leases.Kind, Namespace: l.query.Namespace, Name: l.query.Name}
}

// Lease is the spec of a Lease object.
type Lease struct {
	HolderIdentity       string           `json:"holderIdentity"` // empty if nothing holds it
	LeaseDurationSeconds int              `json:"leaseDurationSeconds"`
	AcquireTime          metav1.MicroTime `json:"acquireTime,omitzero"`
	RenewTime            metav1.MicroTime `json:"renewTime,omitzero"` // by the clock of the holder
	LeaseTransitions     int              `json:"leaseTransitions"`

	version string // resourceVersion; empty for a Lease to create
}

// Duration returns how long the Lease stays held without a renewal.
func (l *Lease) Duration() time.Duration { return time.Duration(l.LeaseDurationSeconds) * time.Second }

// Read returns a Lease, nil if it does not exist.
func Read(ctx context.Context, c *client.Client, namespace, name string) (*Lease, error) {
	var whole struct {
		Metadata struct{ ResourceVersion string }
		Spec     Lease
	}
	err := client.GetWhole(ctx, c, client.Query{Type: Leases, Namespace: namespace, Name: name}, &whole)
	switch {
	case client.IsNotFound(err, Leases.GroupResource(), name):
		return nil, nil
	case err != nil:
		return nil, err
	}
	whole.Spec.version = whole.Metadata.ResourceVersion
	return &whole.Spec, nil
}

// Acquire waits until this candidate holds the Lease. It calls waiting, if not nil, when another
// candidate holds it or an attempt fails, once per holder or error.
func (l *Lock) Acquire(ctx context.Context, waiting func(holder string, err error)) error {
	said := ""
	for {
		// An answer that comes later is worth nothing: another candidate may have the Lease by then.
		attempt, cancel := context.WithTimeout(ctx, renewDeadline)
		holder, err := l.try(attempt, false)
		cancel()
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

// Hold renews the Lease until the context ends, and then releases it. The error wraps ErrLost or is
// the context's.
func (l *Lock) Hold(ctx context.Context) error {
	for pause := time.Until(l.renewed.Add(retryPeriod)); ; pause = retryPeriod {
		if err := client.Wait(ctx, pause); err != nil {
			l.release(context.WithoutCancel(ctx))
			return err
		}
		attempt, cancel := context.WithDeadline(ctx, l.renewed.Add(renewDeadline))
		holder, err := l.try(attempt, true)
		cancel()
		switch {
		case ctx.Err() != nil:
		case err == nil && holder == l.candidate:
		case err == nil && holder == "":
			return fmt.Errorf("%w: it was released or deleted", ErrLost)
		case err == nil:
			return fmt.Errorf("%w: %q holds it", ErrLost, holder)
		case time.Since(l.renewed) >= renewDeadline:
			return fmt.Errorf("%w: %w", ErrLost, err)
		}
	}
}

// try renews the Lease, or takes it if it is free, and returns its holder. If this candidate has to
// hold it already, it takes nothing: another one may have held it, and acted, in between.
func (l *Lock) try(ctx context.Context, held bool) (holder string, err error) {
	begun := time.Now()
	now, err := Read(ctx, l.client, l.query.Namespace, l.query.Name)
	if err != nil {
		return "", l.failed("read", err)
	}
	at := metav1.NowMicro()
	next := Lease{HolderIdentity: l.candidate, LeaseDurationSeconds: int(duration / time.Second), AcquireTime: at, RenewTime: at}
	if now == nil && held {
		return "", nil
	}
	if now == nil {
		all := client.Query{Type: Leases, Namespace: l.query.Namespace}
		if err := l.write(ctx, l.client.REST.Post().SetHeader("Content-Type", runtime.ContentTypeJSON), all, next); err != nil {
			return "", l.failed("create", err)
		}
		l.renewed = begun
		return l.candidate, nil
	}
	if now.version != l.observed {
		l.observed, l.observedAt = now.version, time.Now()
	}
	switch other := now.HolderIdentity; {
	case other == l.candidate:
		next.AcquireTime, next.LeaseTransitions = now.AcquireTime, now.LeaseTransitions
	case held, other != "" && time.Since(l.observedAt) < max(now.Duration(), time.Second):
		return other, nil
	default:
		next.LeaseTransitions = now.LeaseTransitions + 1
	}
	next.version = now.version
	if err := l.change(ctx, next); err != nil {
		return "", l.failed("renew", err)
	}
	l.renewed = begun
	return l.candidate, nil
}

// change changes the Lease if it still has this version.
func (l *Lock) change(ctx context.Context, next Lease) error {
	return l.write(ctx, l.client.REST.Patch(types.MergePatchType), l.query, next)
}

func (l *Lock) write(ctx context.Context, r *rest.Request, at client.Query, next Lease) error {
	body, err := json.Marshal(map[string]any{
		"apiVersion": Leases.APIVersion(), "kind": Leases.Kind, "spec": next,
		"metadata": metav1.ObjectMeta{Namespace: l.query.Namespace, Name: l.query.Name, ResourceVersion: next.version},
	})
	if err != nil {
		return err
	}
	raw, err := l.client.Send(ctx, client.SetPath(r, at).Body(body))
	if err == nil {
		_, err = client.ReadObject(raw, l.query, false)
	}
	return err
}

// release lets another candidate take the Lease at once. It is best effort: otherwise the Lease
// becomes free when its time is over.
func (l *Lock) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, retryPeriod)
	defer cancel()
	for {
		now, err := Read(ctx, l.client, l.query.Namespace, l.query.Name)
		if err != nil || now == nil || now.HolderIdentity != l.candidate {
			return
		}
		now.HolderIdentity, now.LeaseDurationSeconds = "", 1
		if err := l.change(ctx, *now); !apierrors.IsConflict(err) { // with the last renewal, if that was under way
			return
		}
	}
}

func (l *Lock) failed(doing string, err error) error {
	return fmt.Errorf("%s Lease %s/%s: %w", doing, l.query.Namespace, l.query.Name, err)
}
