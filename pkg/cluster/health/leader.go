package health

import (
	"context"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/lease"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// The lease of kube-controller-manager (--leader-elect-resource-name and -namespace).
const (
	leaseNamespace = "kube-system"
	leaseName      = "kube-controller-manager"
)

// A holder renews its lease every two seconds, and loses it after 15, unless its flags say
// otherwise (component-base/config/options, BindLeaderElectionFlags).
const (
	leasePoll    = 500 * time.Millisecond
	defaultLease = 15 * time.Second
	maxLease     = time.Minute
)

// ReadLeader reads the lease of kube-controller-manager once.
func ReadLeader(ctx context.Context, c *client.Client) (reason.Leader, error) {
	now, err := lease.Read(ctx, c, leaseNamespace, leaseName)
	if now == nil {
		return reason.Leader{}, err
	}
	return reason.Leader{Exists: true, Holder: now.HolderIdentity, Renewed: now.RenewTime.Time}, nil
}

// WatchLeader reads the lease of kube-controller-manager until somebody renews or takes it, or until
// the time is over in which its holder, or after that another candidate, would have done so. That time
// begins again when the lease is released meanwhile. It compares no clocks.
func WatchLeader(ctx context.Context, c *client.Client) (reason.Leader, error) {
	first, err := lease.Read(ctx, c, leaseNamespace, leaseName)
	if first == nil {
		return reason.Leader{}, err
	}
	lasts := min(first.Duration(), maxLease)
	if lasts <= 0 || first.HolderIdentity == "" { // a released lease lasts for a second, and candidates try again later
		lasts = defaultLease
	}
	patience := lasts * 3 / 2 // a candidate takes the lease over soon after it has expired
	begun := time.Now()
	waiting := begun
	for now := first; ; {
		out := reason.Leader{Exists: true, Holder: now.HolderIdentity, Renewed: now.RenewTime.Time, Watched: time.Since(begun)}
		out.Renews = out.Holder != "" && !now.RenewTime.Time.Equal(first.RenewTime.Time)
		if out.Renews || time.Since(waiting) >= patience {
			return out, nil
		}
		if err := client.Wait(ctx, leasePoll); err != nil {
			return reason.Leader{}, err
		}
		held := out.Holder != ""
		if now, err = lease.Read(ctx, c, leaseNamespace, leaseName); now == nil {
			return reason.Leader{}, err
		}
		if held && now.HolderIdentity == "" {
			waiting = time.Now()
		}
	}
}
