package gctest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/gctest"
	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

func TestStartRefusesServersElsewhere(t *testing.T) {
	for _, host := range []string{
		"https://10.0.0.1:6443", "https://api.example.com", "https://localhost.example.com", "https://[2001:db8::1]:6443", "https://0.0.0.0:6443",
		"http://localhost:6443", // a name, which may lead anywhere
	} {
		at, _ := url.Parse(host)
		if _, err := gctest.Start(t.Context(), &rest.Config{Host: host}, gctest.Options{DeletesEverythingOn: at.Host}); !errors.Is(err, gctest.ErrNotLocal) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func TestStartRefusesLoopbackAddressesThatLeadElsewhere(t *testing.T) {
	for name, config := range map[string]rest.Config{
		"Proxy":         {Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.example.com"})},
		"Dial":          {Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("unexpected") }},
		"Transport":     {Transport: http.DefaultTransport},
		"WrapTransport": {WrapTransport: func(r http.RoundTripper) http.RoundTripper { return r }},
	} {
		config.Host = "http://127.0.0.1:1"
		if _, err := gctest.Start(t.Context(), &config, gctest.Options{DeletesEverythingOn: "127.0.0.1:1"}); !errors.Is(err, gctest.ErrNotLocal) {
			t.Errorf("with %s: %v", name, err)
		}
	}
}

func TestStartRefusesAServerThatTheTestDidNotStart(t *testing.T) {
	s := apiserver.New([]*apiserver.Type{apiserver.Namespaces, apiserver.ConfigMaps})
	at := s.Listen(t)
	for _, started := range []string{"", ":", "127.0.0.1:1"} { // ":" is that of an environment that uses an existing cluster
		if _, err := gctest.Start(t.Context(), &rest.Config{Host: at}, gctest.Options{DeletesEverythingOn: started}); !errors.Is(err, gctest.ErrNotStarted) {
			t.Errorf("%q: %v", started, err)
		}
	}
	if n := len(s.Requests()); n > 0 {
		t.Errorf("it sends %d requests", n)
	}
}

func TestACollectorDeletesNoMoreThanItMay(t *testing.T) {
	const most = 20
	newServer := func(t *testing.T, garbage int) (s *apiserver.Server, add func(int), config *rest.Config, o gctest.Options) {
		s = apiserver.New([]*apiserver.Type{apiserver.Namespaces, apiserver.ConfigMaps, apiserver.CRDs, apiserver.APIServices, apiserver.Namespaced("coordination.k8s.io", "leases", "Lease")})
		s.Controllers = true
		s.Add(apiserver.Namespaces.Object("", "shop"))
		total := 0
		add = func(n int) {
			for range n {
				o := apiserver.ConfigMaps.Object("shop", fmt.Sprintf("garbage-%04d", total))
				o.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "absent", UID: "absent"}}
				s.Add(o)
				total++
			}
		}
		add(garbage)
		at := s.Listen(t)
		return s, add, &rest.Config{Host: at}, gctest.Options{DeletesEverythingOn: strings.TrimPrefix(at, "http://"), MaxDeletes: most}
	}
	deletes := func(s *apiserver.Server) (n int) {
		for _, r := range s.Writes() {
			if r.Method == http.MethodDelete {
				n++
			}
		}
		return n
	}
	t.Run("at the start", func(t *testing.T) {
		s, _, config, o := newServer(t, most+1)
		if _, err := gctest.Start(t.Context(), config, o); !errors.Is(err, gctest.ErrTooManyDeletes) {
			t.Errorf("it starts: %v", err)
		}
		if n := len(s.Writes()); n > 0 {
			t.Errorf("it sends %d writes", n)
		}
	})
	t.Run("later", func(t *testing.T) {
		s, add, config, o := newServer(t, most/2)
		gc, err := gctest.Start(t.Context(), config, o)
		if err != nil {
			t.Fatal(err)
		}
		defer gc.Stop()
		if err := gc.WaitForIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		add(10 * most)
		if err := gc.WaitForIdle(t.Context()); !errors.Is(err, gctest.ErrTooManyDeletes) {
			t.Errorf("it goes on: %v", err)
		}
		const inFlight = 8
		if n := deletes(s); n < most || n > most+inFlight {
			t.Errorf("it sends %d deletions, at most %d and those in flight are expected", n, most)
		}
	})
}
