package trust

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestManifestFromServerThatDoesNotAnswerIsAnErrorInTime(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	done := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	t.Cleanup(func() { close(done); silent.Close() })
	u := newUser(t, s)
	u.runs("delete", "-f", silent.URL, "--request-timeout", "1s", "--yes").exits(2).warns("unable to read URL", "Client.Timeout exceeded")
}
