package trust

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

const managerToken = "hunter2-of-the-kubeconfig"

// controllerManager is a server at the address of --controller-manager. It counts the requests that
// carry the token.
type controllerManager struct {
	*httptest.Server
	ca     string // file
	tokens atomic.Int32
}

func newControllerManager(t *testing.T, answer http.HandlerFunc) *controllerManager {
	t.Helper()
	m := &controllerManager{ca: filepath.Join(t.TempDir(), "ca.crt")}
	m.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Authorization"), managerToken) {
			m.tokens.Add(1)
		}
		answer(w, r)
	}))
	m.Config.ErrorLog = log.New(io.Discard, "", 0)
	m.StartTLS()
	t.Cleanup(m.Close)
	if err := os.WriteFile(m.ca, certificate(m.Certificate()), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

func certificate(c *x509.Certificate) []byte {
	var out bytes.Buffer
	_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}) // never fails in memory
	return out.Bytes()
}

// throughTLS returns the flags of a run that reaches the API server at an https URL with a token: a
// kubeconfig gives credentials and certificate authorities to no other server. All servers of
// httptest have the same certificate.
func (m *controllerManager) throughTLS(t *testing.T, s *Server, more ...string) []string {
	t.Helper()
	api := httptest.NewTLSServer(s)
	t.Cleanup(api.Close)
	return append([]string{"doctor", "--settle", "10ms", "--server", api.URL, "--token", managerToken, "--controller-manager", m.URL}, more...)
}

// metrics answers with the queues of an idle collector.
func metrics(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/metrics" {
		for _, queue := range []string{"attempt_to_delete", "attempt_to_orphan", "graph_changes"} {
			fmt.Fprintf(w, "workqueue_depth{name=\"garbage_collector_%s\"} 0\n", queue)
		}
	}
}

func TestTheURLOfAControllerManagerWithCredentialsIsRefusedUnprinted(t *testing.T) {
	for name, url := range map[string]string{
		"a token as user": "https://hunter2@127.0.0.1:1",
		"a password":      "https://me:hunter2@127.0.0.1:1",
		"a query":         "https://127.0.0.1:1?token=hunter2",
		"a fragment":      "https://127.0.0.1:1/#hunter2",
		"no scheme":       "hunter2@127.0.0.1:1",
		"no URL":          "https://me:hunter2%zz@127.0.0.1:1",
	} {
		for _, format := range []string{"table", "json"} {
			t.Run(name+" "+format, func(t *testing.T) {
				s := NewServer(t)
				r := newUser(t, s).runs("doctor", "--settle", "10ms", "--controller-manager", url, "-o", format).exits(2)
				if strings.Contains(r.stdout+r.stderr, "hunter2") {
					t.Errorf("it prints the credentials: %s%s", r.stdout, r.stderr)
				}
				if n := len(s.Requests()); n > 0 {
					t.Errorf("it sends %d requests", n)
				}
			})
		}
	}
}

func TestTheTokenGoesToNoControllerManagerThatIsNotVerified(t *testing.T) {
	s := NewServer(t)
	m := newControllerManager(t, metrics)
	t.Run("with insecure-skip-tls-verify", func(t *testing.T) {
		r := newUser(t, s).runs(m.throughTLS(t, s, "--insecure-skip-tls-verify")...)
		if n := m.tokens.Load(); n > 0 {
			t.Errorf("it sends the token %d times", n)
		}
		if want := "certificate signed by unknown authority"; !strings.Contains(r.stdout, want) {
			t.Errorf("it does not say %q: %s", want, r.stdout)
		}
	})
	t.Run("by its certificate authority", func(t *testing.T) {
		r := newUser(t, s).runs(m.throughTLS(t, s, "--certificate-authority", m.ca)...)
		if m.tokens.Load() == 0 || !strings.Contains(r.stdout, "Collector work queues       ok") {
			t.Errorf("the verified server got no token: %s", r.stdout)
		}
	})
}

func TestARedirectOfAControllerManagerIsNotFollowed(t *testing.T) {
	s := NewServer(t)
	elsewhere := newControllerManager(t, metrics)
	m := newControllerManager(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusFound)
	})
	newUser(t, s).runs(m.throughTLS(t, s, "--certificate-authority", m.ca)...)
	if m.tokens.Load() == 0 || elsewhere.tokens.Load() > 0 {
		t.Errorf("the server got the token %d times, the one that it redirects to %d times", m.tokens.Load(), elsewhere.tokens.Load())
	}
}
