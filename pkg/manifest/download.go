package manifest

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// again is how a URL is asked for again whose server fails.
var again = wait.Backoff{Duration: time.Second, Factor: 1, Steps: 3}

// download reads what a URL leads to.
func download(ctx context.Context, url string, into *[]Named) error {
	var failed error
	err := wait.ExponentialBackoffWithContext(ctx, again, func(ctx context.Context) (done bool, err error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, fmt.Errorf("the URL %q is not valid: %w", url, err)
		}
		response, err := http.DefaultClient.Do(request)
		if failed = err; err != nil {
			return false, nil
		}
		defer response.Body.Close() // read only
		if response.StatusCode != http.StatusOK {
			failed = fmt.Errorf("unable to read URL %q, server reported %s, status code=%d", url, response.Status, response.StatusCode)
			if response.StatusCode < http.StatusInternalServerError {
				return false, failed
			}
			return false, nil
		}
		return true, decode(response.Body, url, into)
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return failed
	}
	return err
}
