package health

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

var leases = snapshot.Type{Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Kind: "Lease", Namespaced: true}

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

// Leader is the lease of kube-controller-manager, watched for some time.
type Leader struct {
	Exists  bool
	Holder  string        // empty if nothing holds it
	Renewed time.Time     // the last time, by the clock of the holder
	Renews  bool          // it was renewed while it was watched
	Watched time.Duration // for how long it was watched
}

type lease struct {
	Spec struct {
		HolderIdentity       string
		LeaseDurationSeconds int
		RenewTime            metav1.MicroTime
	}
}

// WatchLeader reads the lease of kube-controller-manager until it is renewed, or until the time is
// over in which its holder, or after that another candidate, would have renewed it. It compares no
// clocks.
func WatchLeader(ctx context.Context, c *client.Client) (Leader, error) {
	var first, now lease
	q := client.Query{Type: leases, Namespace: leaseNamespace, Name: leaseName}
	err := client.GetWhole(ctx, c, q, &first)
	if client.IsNotFound(err, leases.GroupResource(), leaseName) {
		return Leader{}, nil
	}
	if err != nil {
		return Leader{}, err
	}
	duration := defaultLease
	if s := time.Duration(first.Spec.LeaseDurationSeconds) * time.Second; s > 0 {
		duration = min(s, maxLease)
	}
	patience := duration * 3 / 2 // a candidate takes the lease over soon after it has expired
	begun := time.Now()
	for now = first; ; {
		out := Leader{Exists: true, Holder: now.Spec.HolderIdentity, Renewed: now.Spec.RenewTime.Time, Watched: time.Since(begun)}
		out.Renews = out.Holder != "" && !now.Spec.RenewTime.Equal(&first.Spec.RenewTime)
		if out.Renews || out.Watched >= patience {
			return out, nil
		}
		if err := client.Wait(ctx, leasePoll); err != nil {
			return Leader{}, err
		}
		now = lease{}
		if err := client.GetWhole(ctx, c, q, &now); err != nil {
			return Leader{}, err
		}
	}
}
