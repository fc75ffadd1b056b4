package write

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// writeBackoff is the schedule for retrying writes. Retrying is safe: every write is bound to a
// UID and resourceVersion, so repeating one that succeeded returns 404, 409 or 422.
var writeBackoff = wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2.5, Jitter: 0.2, Steps: 5}

// maxWriteRetryAfter limits how often client-go honours a Retry-After header.
const maxWriteRetryAfter = 4

// writeGrace is how long a write in flight may take after its run has ended.
const writeGrace = 10 * time.Second

// withGracePeriod returns a context for a write. It outlives ctx by writeGrace, so that the
// answer to a write in flight is still received. The caller must call the function.
func withGracePeriod(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), runKey{}, ctx.Done()))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(writeGrace, cancel) })
	return out, func() {
		stop()
		cancel()
	}
}

// runKey is the context key of the channel that is closed when the run ends: no new request may
// start then.
type runKey struct{}

// sendWrite sends the request, retries temporary errors within Options.Timeout, and returns the
// answer.
func sendWrite(ctx context.Context, c *client.Client, request func() *rest.Request) ([]byte, error) {
	if c.Options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Options.Timeout)
		defer cancel()
	}
	for pause := writeBackoff; ; {
		raw, err := client.Send(ctx, request().SetHeader("Accept", client.AcceptObject).MaxRetries(maxWriteRetryAfter))
		next := pause.Step()
		if err == nil || ctx.Err() != nil || !isTemporary(err) || pause.Steps == 0 {
			return raw, err
		}
		over, _ := ctx.Value(runKey{}).(<-chan struct{}) // nil, which never ends, if only ctx decides
		select {
		case <-ctx.Done():
			return nil, err
		case <-over:
			return nil, err
		case <-time.After(next):
		}
	}
}

// isTemporary reports whether retrying a write may help. client-go has honoured Retry-After
// headers already.
func isTemporary(err error) bool {
	if seconds, given := apierrors.SuggestsClientDelay(err); given && seconds > 0 {
		return false
	}
	switch client.ClassifyRequest(err) {
	case snapshot.ServerError, snapshot.Unavailable, snapshot.Throttled, snapshot.TimedOut, snapshot.Webhook:
		return true
	default:
		return false
	}
}
