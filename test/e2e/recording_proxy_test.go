package e2e

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

// recordingProxy forwards requests to the API server as admin, records them, and can
// respond to some itself. Unless it is acting, it forwards only reads.
type recordingProxy struct {
	tool
	acts     bool
	mu       sync.Mutex
	requests []*http.Request
	writes   []written // in the order of their coming
}

// fault responds to the requests that match.
type fault struct {
	about  func(*http.Request) bool
	answer http.HandlerFunc
}

// Responses of the proxy itself.
var says, notAPath, stalls, cuts = proxy.RespondStatus, proxy.RespondUnknownPath, proxy.Stall, proxy.TruncateBody

// throughProxy starts a proxy. The first fault that matches a request responds to it;
// through forwards the request to the server.
func (s *scene) throughProxy(faults func(through http.Handler) []fault) *recordingProxy {
	s.Helper()
	f := &recordingProxy{}
	f.tool = s.by("", func(through http.Handler) http.Handler {
		if faults == nil {
			return f.before(through)
		}
		var rules []proxy.Rule
		for _, fault := range faults(through) {
			rules = append(rules, proxy.Rule{Matches: fault.about, Answer: fault.answer})
		}
		return f.before(proxy.FirstMatch(rules, through))
	})
	return f
}

// by returns a tool that uses a proxy. Its kubeconfig has only the proxy, and no secret:
// the token, which may be empty, is invalid.
func (s *scene) by(token string, behave func(through http.Handler) http.Handler) tool {
	s.Helper()
	p, err := proxy.Start(s.controlPlane.Kubeconfig, behave)
	s.must(err)
	s.Cleanup(p.Close)
	path := filepath.Join(s.TempDir(), "kubeconfig")
	s.must(p.WriteKubeconfig(path, token))
	t := s.tool()
	t.env = append(t.env, "KUBECONFIG="+path)
	return t
}

// before records a request.
func (f *recordingProxy) before(answer http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r)
		f.mu.Unlock()
		if changing(r) {
			if !f.acts {
				http.Error(w, "only reading is allowed here", http.StatusMethodNotAllowed)
				return
			}
			f.note(r)
		}
		answer.ServeHTTP(w, r)
	})
}

// asked returns the matching requests so far. Unless the proxy is acting, all must be
// reads.
func (f *recordingProxy) asked(about func(*http.Request) bool) []*http.Request {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*http.Request
	for _, r := range f.requests {
		if changing(r) && !f.acts {
			f.Errorf("the program sends %s %s", r.Method, r.URL)
		}
		if about(r) {
			out = append(out, r)
		}
	}
	return out
}

func anything(*http.Request) bool { return true }

// changing matches writes. An access review is a POST, too, but no write.
func changing(r *http.Request) bool { return r.Method != http.MethodGet && !reviewing(r) }

// reviewing matches access reviews.
func reviewing(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/apis/authorization.k8s.io/")
}

// listOf matches lists of a type, in any namespace.
func listOf(plural string) func(*http.Request) bool {
	return func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/"+plural) }
}

// getOf matches GETs of single objects of a type.
func getOf(plural string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		parts := strings.Split(r.URL.Path, "/")
		return len(parts) > 2 && parts[len(parts)-2] == plural
	}
}

// continued matches all pages but the first.
func continued(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return about(r) && r.URL.Query().Get("continue") != "" }
}

// once matches the first request only.
func once(about func(*http.Request) bool) func(*http.Request) bool {
	var done sync.Once
	return func(r *http.Request) (first bool) {
		if about(r) {
			done.Do(func() { first = true })
		}
		return first
	}
}

// unusedPort returns a port on loopback on which nothing listens.
func (s *scene) unusedPort() int {
	s.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	s.must(l.Close())
	return l.Addr().(*net.TCPAddr).Port
}

func (s *scene) file(name, content string) string {
	s.Helper()
	path := filepath.Join(s.TempDir(), name)
	s.must(os.WriteFile(path, []byte(content), 0o600))
	return path
}
