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

// writeBackoff is how a write that failed for a while is sent again. That is safe, as
// every write is bound to a UID and a resourceVersion: one that was done although
// its answer was lost is answered by 404, 409 or 422 the second time.
var writeBackoff = wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2.5, Jitter: 0.2, Steps: 5}

// maxWriteRetryAfter bounds how often client-go itself honours a Retry-After.
const maxWriteRetryAfter = 4

// writeGrace is how long a write may go on that is under way when its run ends.
const writeGrace = 10 * time.Second

// withGracePeriod is a context for a write that is about to begin. It outlives ctx for some
// seconds, so that the answer to a write that was sent is heard, and not for ever, since a
// server may never answer. The caller must call the function that comes with it.
func withGracePeriod(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), runKey{}, ctx.Done()))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(writeGrace, cancel) })
	return out, func() {
		stop()
		cancel()
	}
}

// runKey is the key of what is closed when the run ends for which a write is sent.
type runKey struct{}

// runOver is closed when no request may begin any more; nil where ctx alone decides.
func runOver(ctx context.Context) <-chan struct{} {
	over, _ := ctx.Value(runKey{}).(<-chan struct{})
	return over
}

// sendWrite sends the request, again where that may help, within the time of one request.
func sendWrite(ctx context.Context, c *client.Client, request func() *rest.Request) (rest.Result, error) {
	if c.Options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Options.Timeout)
		defer cancel()
	}
	for pause := writeBackoff; ; {
		result := request().SetHeader("Accept", client.AcceptObject).MaxRetries(maxWriteRetryAfter).Do(ctx)
		err := result.Error()
		next := pause.Step()
		if err == nil || ctx.Err() != nil || !isTemporary(err) || pause.Steps == 0 {
			return result, err
		}
		select {
		case <-ctx.Done():
			return result, err
		case <-runOver(ctx):
			return result, err
		case <-time.After(next):
		}
	}
}

// isTemporary says whether sending a write again may help. A Retry-After was
// honoured by client-go already, as often as it may be.
func isTemporary(err error) bool {
	if seconds, told := apierrors.SuggestsClientDelay(err); told && seconds > 0 {
		return false
	}
	switch client.ClassifyRequest(err) {
	case snapshot.ServerError, snapshot.Unavailable, snapshot.Throttled, snapshot.TimedOut, snapshot.Webhook:
		return true
	default:
		return false
	}
}
