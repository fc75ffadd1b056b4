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

// again is how a URL is asked for again whose server fails.
var again = wait.Backoff{Duration: time.Second, Factor: 1, Steps: 3}

// download reads what a URL leads to.
func download(ctx context.Context, address string, into *[]Named) error {
	var failed error
	source := redact.URL(address)
	err := wait.ExponentialBackoffWithContext(ctx, again, func(ctx context.Context) (done bool, err error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return false, fmt.Errorf("the URL %q is not valid", source)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			failed = fmt.Errorf("unable to read URL %q: %w", source, cause(err))
			return false, nil
		}
		defer response.Body.Close() // read only
		if response.StatusCode != http.StatusOK {
			failed = fmt.Errorf("unable to read URL %q, server reported %s, status code=%d", source, response.Status, response.StatusCode)
			if response.StatusCode < http.StatusInternalServerError {
				return false, failed
			}
			return false, nil
		}
		return true, decode(response.Body, source, into)
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return failed
	}
	return err
}

// cause leaves the URL out of an error.
func cause(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
