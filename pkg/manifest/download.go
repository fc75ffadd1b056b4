package manifest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// retries is how a request is repeated after a server error.
var retries = wait.Backoff{Duration: time.Second, Factor: 1, Steps: 3}

// download reads the objects at a URL.
func download(ctx context.Context, address string, into *[]Named) error {
	var lastErr error
	source := redact.URL(address)
	err := wait.ExponentialBackoffWithContext(ctx, retries, func(ctx context.Context) (done bool, err error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return false, fmt.Errorf("the URL %q is not valid", source)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			lastErr = fmt.Errorf("unable to read URL %q: %w", source, withoutURL(err))
			return false, nil
		}
		defer response.Body.Close() // read only
		if response.StatusCode != http.StatusOK {
			lastErr = fmt.Errorf("unable to read URL %q, server reported %s, status code=%d", source, response.Status, response.StatusCode)
			if response.StatusCode < http.StatusInternalServerError {
				return false, lastErr
			}
			return false, nil
		}
		return true, decode(response.Body, source, into)
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return lastErr
	}
	return err
}

// withoutURL removes the URL from an error.
func withoutURL(err error) error {
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		return urlErr.Err
	}
	return err
}
