package proxy

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// behind starts a server that counts its requests, and a proxy before it.
func behind(t *testing.T, behave func(through http.Handler) http.Handler) (url string, client *http.Client, reached *atomic.Int64) {
	t.Helper()
	reached = &atomic.Int64{}
	through := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"kind":"ConfigMap","metadata":{"name":"some"}}`)
	})
	server := httptest.NewUnstartedServer(behave(through))
	server.EnableHTTP2 = true
	server.Config.ConnContext = withConnection
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, server.Client(), reached
}

const some = "/api/v1/namespaces/ns/configmaps/some"

// send sends a request and describes the response: its code and body, or that there was none.
func send(t *testing.T, client *http.Client, method, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		return "no answer"
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return answer.Status + " cut off"
	}
	return answer.Status + " " + string(body)
}

func TestFaultInjectorIsReproducible(t *testing.T) {
	requests := []*http.Request{}
	for i := range 200 {
		for _, method := range []string{"GET", "PATCH"} {
			requests = append(requests, httptest.NewRequestWithContext(t.Context(), method, fmt.Sprintf("%s-%d", some, i%100), http.NoBody))
		}
	}
	course := func(seed uint64) map[string]int {
		m := NewFaultInjector(seed, nil)
		m.odds, m.most = map[requestClass]int{get: 300, write: 500}, nil
		m.Wrap(http.NotFoundHandler())
		out := map[string]int{}
		for _, r := range requests {
			kind, _ := m.choose(r)
			out[fmt.Sprint(r.Method, r.URL, kind)]++
		}
		return out
	}
	one := course(1)
	slices.Reverse(requests)
	if !maps.Equal(one, course(1)) {
		t.Error("the same seed does something else")
	}
	if maps.Equal(one, course(2)) {
		t.Error("another seed does the same")
	}
}

func TestLostResponseIsOfACompletedWrite(t *testing.T) {
	url, client, reached := behind(t, func(through http.Handler) http.Handler { return LoseResponse(through) })
	if got := send(t, client, "PATCH", url+some); got != "no answer" || reached.Load() != 1 {
		t.Errorf("%s; the server was reached %d times", got, reached.Load())
	}
}

func TestRepeatedRequestReachesServerTwice(t *testing.T) {
	url, client, reached := behind(t, func(through http.Handler) http.Handler { return SendTwice(through, true) })
	if got := send(t, client, "DELETE", url+some); !strings.HasPrefix(got, "200") || reached.Load() != 2 {
		t.Errorf("%s; the server was reached %d times", got, reached.Load())
	}
}

func TestDelayedRequestIsOvertaken(t *testing.T) {
	var queue Queue
	passed := func(c chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	c := queue.join(2)
	queue.Done()
	if passed(c) {
		t.Error("it goes on after the first of two")
	}
	queue.Done()
	if !passed(c) {
		t.Error("it does not go on")
	}
	queue.Done() // the queue is empty
}

func TestListFailsAfterFirstPage(t *testing.T) {
	m := NewFaultInjector(1, nil)
	m.odds = nil
	m.bad = &failingType{BadPages, "secrets", fault{answer: unauthorized}}
	url, client, _ := behind(t, m.Wrap)
	for query, want := range map[string]string{"": "200", "?limit=5": "200", "?limit=5&continue=x": "401"} {
		if got := send(t, client, "GET", url+"/api/v1/secrets"+query); !strings.HasPrefix(got, want) {
			t.Errorf("%q answers %s, want %s", query, got, want)
		}
	}
	if got := m.count; got[BadPages] != 1 || len(got) != 1 {
		t.Errorf("it counts %v", got)
	}
}

func TestBodyIsTruncatedOrCorrupted(t *testing.T) {
	url, client, _ := behind(t, func(through http.Handler) http.Handler { return TruncateBody(through) })
	if got := send(t, client, "GET", url+some); got != "200 OK cut off" {
		t.Error(got)
	}
	random := rand.New(rand.NewPCG(1, 1))
	url, client, _ = behind(t, func(through http.Handler) http.Handler { return CorruptBytes(through, random) })
	if got := send(t, client, "GET", url+some); !strings.HasPrefix(got, "200") || strings.Contains(got, `"kind":"ConfigMap","metadata":{"name":"some"}`) {
		t.Error(got)
	}
}
