package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// paged starts a server that answers by continue token, and returns a client that may have two
// requests in flight.
func paged(t *testing.T, answer func(w http.ResponseWriter, at string), change func(*rest.Config, *Options)) *Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		answer(w, r.URL.Query().Get("continue"))
	}))
	t.Cleanup(server.Close)
	config, o := &rest.Config{Host: server.URL}, Options{Timeout: 10 * time.Second, Concurrency: 2}
	change(config, &o)
	c, err := New(config, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func asTheyCome(*rest.Config, *Options) {}

func namesOf(t *testing.T, c *Client) ([]string, error) {
	t.Helper()
	a := c.List(t.Context(), Query{Type: podType}, false)
	var names []string
	for _, o := range a.Objects {
		names = append(names, o.Name)
	}
	return names, a.Err
}

// begin sends a page except for the end of its last object.
func begin(w http.ResponseWriter, page []byte) (rest []byte) {
	enough := len(page) - 4
	_, _ = w.Write(page[:enough])
	w.(http.Flusher).Flush()
	return page[enough:]
}

func TestNextPageIsPrefetched(t *testing.T) {
	asked := make(chan struct{})
	c := paged(t, func(w http.ResponseWriter, at string) {
		if at == "more" {
			close(asked)
			_, _ = w.Write(pageOf(t, "", "c"))
			return
		}
		rest := begin(w, pageOf(t, "more", "a", "b"))
		<-asked
		_, _ = w.Write(rest)
	}, asTheyCome)
	got, err := namesOf(t, c)
	if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// flying counts responses that are open at the same time.
type flying struct {
	http.RoundTripper
	now, most atomic.Int32
}

type landing struct {
	io.ReadCloser
	of *flying
}

func (c *flying) RoundTrip(r *http.Request) (*http.Response, error) {
	n := c.now.Add(1)
	for most := c.most.Load(); n > most && !c.most.CompareAndSwap(most, n); most = c.most.Load() {
	}
	answer, err := c.RoundTripper.RoundTrip(r)
	if err != nil {
		c.now.Add(-1)
		return nil, err
	}
	answer.Body = &landing{answer.Body, c}
	return answer, nil
}

func (c *landing) Close() error {
	c.of.now.Add(-1)
	return c.ReadCloser.Close()
}

func TestRequestsInFlightAreLimited(t *testing.T) {
	next := map[string]string{"": "2", "2": "3", "3": "4"}
	for allowed := 1; allowed <= 4; allowed++ {
		var all *flying
		c := paged(t, func(w http.ResponseWriter, at string) {
			_, _ = w.Write(pageOf(t, next[at], "a"+at, "b"+at))
		}, func(config *rest.Config, o *Options) {
			o.Concurrency = allowed
			config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
				all = &flying{RoundTripper: rt}
				return all
			})
		})
		answers, err := c.ListAll(t.Context(), []Query{{Type: podType}, {Type: podType}, {Type: podType}}, false)
		if err != nil || int(all.most.Load()) > allowed {
			t.Errorf("%d in flight, %d allowed (%v)", all.most.Load(), allowed, err)
		}
		for _, a := range answers {
			if len(a.Objects) != 8 || a.Err != nil {
				t.Errorf("%d objects, %v", len(a.Objects), a.Err)
			}
		}
	}
}

// TestMain checks with goleak that nothing is left behind.
func TestPrefetchEndsWithList(t *testing.T) {
	asked := make(chan struct{})
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	c := paged(t, func(w http.ResponseWriter, at string) {
		if at == "more" {
			close(asked)
			<-ended
			return
		}
		begin(w, pageOf(t, "more", "a"))
		<-asked
		cancel()
		<-ended
	}, asTheyCome)
	at := newListLimits(2)
	err := c.listWithin(ctx, at, Query{Type: podType}, false).Err
	close(ended)
	if err == nil {
		t.Error("a list that was cut off is no error")
	}
	if !at.requests.TryAcquire(2) || !at.longLists.TryAcquire(maxLongLists) {
		t.Error("requests are in flight after the list")
	}
}

func TestExpiredPrefetchStartsListOver(t *testing.T) {
	c := paged(t, func(w http.ResponseWriter, at string) {
		if at == "more" {
			w.WriteHeader(http.StatusGone)
			_, _ = w.Write(proto(t, &metav1.Status{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
				Status:   metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired,
			}))
			return
		}
		_, _ = w.Write(pageOf(t, "more", "a"))
	}, asTheyCome)
	_, err := namesOf(t, c)
	if !apierrors.IsResourceExpired(err) { // including the third page
		t.Errorf("got %v", err)
	}
}

// laterPages calls asked with the context of every request for a page after the first.
type laterPages struct {
	http.RoundTripper
	asked func(context.Context)
}

func (p *laterPages) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("continue") != "" {
		p.asked(r.Context())
	}
	return p.RoundTripper.RoundTrip(r)
}

func TestTimeOfAPageBeginsWhenItIsWaitedFor(t *testing.T) {
	for name, test := range map[string]struct {
		concurrency int
		limited     bool
	}{
		"a prefetched page has no limit yet":             {2, false},
		"a page requested when it is needed has a limit": {1, true},
	} {
		t.Run(name, func(t *testing.T) {
			limited := !test.limited
			c := paged(t, func(w http.ResponseWriter, at string) {
				_, _ = w.Write(pageOf(t, map[string]string{"": "more"}[at], "a"+at))
			}, func(config *rest.Config, o *Options) {
				o.Concurrency, config.Timeout = test.concurrency, o.Timeout
				config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
					return &laterPages{rt, func(ctx context.Context) { _, limited = ctx.Deadline() }}
				})
			})
			got, err := namesOf(t, c)
			if diff := cmp.Diff([]string{"a", "amore"}, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if limited != test.limited {
				t.Errorf("limited: %t", limited)
			}
		})
	}
}

func TestPrefetchedPageThatDoesNotComeEndsTheListInTime(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan struct{})
	defer close(ended)
	c := paged(t, func(w http.ResponseWriter, at string) {
		if at == "more" {
			close(asked)
			<-ended
			return
		}
		rest := begin(w, pageOf(t, "more", "a"))
		<-asked
		_, _ = w.Write(rest)
	}, func(_ *rest.Config, o *Options) { o.Timeout = 200 * time.Millisecond })
	if _, err := namesOf(t, c); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
}
