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

// recordingProxy stands before the real API server: it remembers every request, and
// answers some of them in its own way. It is admin to the server behind it, and
// lets nobody do anything but read, unless it is an acting one.
type recordingProxy struct {
	tool
	acts     bool
	mu       sync.Mutex
	requests []*http.Request
	writes   []written // in the order of their coming
}

// fault answers those requests that it is about.
type fault struct {
	about  func(*http.Request) bool
	answer http.HandlerFunc
}

// How a front answers in its own way.
var says, notAPath, stalls, cuts = proxy.RespondStatus, proxy.RespondUnknownPath, proxy.Stall, proxy.TruncateBody

// throughProxy sets up a front. The first fault that is about a request answers it;
// through hands it on to the server.
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

// by is the tool whose way to the server leads by a proxy. The kubeconfig leads
// nowhere but there, and carries no secret: the token, which may be empty, opens
// nothing.
func (s *scene) by(token string, behave func(through http.Handler) http.Handler) tool {
	s.Helper()
	p, err := proxy.Start(s.plane.Kubeconfig, behave)
	s.must(err)
	s.Cleanup(p.Close)
	path := filepath.Join(s.TempDir(), "kubeconfig")
	s.must(p.WriteKubeconfig(path, token))
	t := s.tool()
	t.env = append(t.env, "KUBECONFIG="+path)
	return t
}

// before takes note of what comes before it is answered.
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

// asked are the requests so far that match: all of them were reading, unless the
// front is an acting one.
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

// changing is about what is to change something. To ask what one may do is a POST, too.
func changing(r *http.Request) bool { return r.Method != http.MethodGet && !reviewing(r) }

// reviewing is about questions of what one may do.
func reviewing(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/apis/authorization.k8s.io/")
}

// listOf is about the lists of a type, wherever.
func listOf(plural string) func(*http.Request) bool {
	return func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/"+plural) }
}

// getOf is about single objects of a type.
func getOf(plural string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		parts := strings.Split(r.URL.Path, "/")
		return len(parts) > 2 && parts[len(parts)-2] == plural
	}
}

// continued is about every page but the first.
func continued(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return about(r) && r.URL.Query().Get("continue") != "" }
}

// once is about the first request only.
func once(about func(*http.Request) bool) func(*http.Request) bool {
	var done sync.Once
	return func(r *http.Request) (first bool) {
		if about(r) {
			done.Do(func() { first = true })
		}
		return first
	}
}

// unusedPort is one on loopback where nothing listens.
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
