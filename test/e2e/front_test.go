package e2e

import (
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-gc/kubectl-gc/test/plane"
)

// front stands before the real API server: it remembers every request, and
// answers some of them in its own way. It is admin to the server behind it, and
// lets nobody do anything but read, unless it is an acting one.
type front struct {
	tool
	acts     bool
	mu       sync.Mutex
	requests []*http.Request
	writes   []written // in the order of their coming
	faults   []fault
}

// fault answers those requests that it is about.
type fault struct {
	about  func(*http.Request) bool
	answer http.HandlerFunc
}

// behind sets up a front. The first fault that is about a request answers it;
// through hands it on to the server.
func (s *scene) behind(faults func(through http.Handler) []fault) *front {
	s.Helper()
	s.must(plane.RequireOurs(s.plane.Kubeconfig))
	server, err := url.Parse(s.plane.Server)
	s.must(err)
	transport, err := rest.TransportFor(s.config)
	s.must(err)
	f := &front{tool: s.tool()}
	through := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Header.Del("Authorization") // the front itself is who asks
		},
		// What the tests break on purpose is not worth a log.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	if faults != nil {
		f.faults = faults(through)
	}
	listening := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.serve(w, r, through) }))
	listening.EnableHTTP2 = true
	listening.StartTLS()
	s.Cleanup(listening.Close)
	// The kubeconfig carries no secret, and leads nowhere but here.
	f.env = append(f.env, "KUBECONFIG="+s.kubeconfig(listening))
	return f
}

func (f *front) serve(w http.ResponseWriter, r *http.Request, through http.Handler) {
	f.mu.Lock()
	f.requests = append(f.requests, r)
	f.mu.Unlock()
	if r.Method != http.MethodGet {
		if !f.acts {
			http.Error(w, "only reading is allowed here", http.StatusMethodNotAllowed)
			return
		}
		f.note(r)
	}
	for _, fault := range f.faults {
		if fault.about(r) {
			fault.answer(w, r)
			return
		}
	}
	through.ServeHTTP(w, r)
}

func (s *scene) kubeconfig(server *httptest.Server) string {
	s.Helper()
	u, err := url.Parse(server.URL)
	s.must(err)
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
		s.Fatalf("%s is not on loopback", server.URL)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["front"] = &clientcmdapi.Cluster{Server: server.URL, CertificateAuthorityData: pemOf(server)}
	config.Contexts["front"] = &clientcmdapi.Context{Cluster: "front"}
	config.CurrentContext = "front"
	path := filepath.Join(s.TempDir(), "kubeconfig")
	s.must(clientcmd.WriteToFile(*config, path))
	return path
}

// asked are the requests so far that match: all of them were reading, unless the
// front is an acting one.
func (f *front) asked(about func(*http.Request) bool) []*http.Request {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*http.Request
	for _, r := range f.requests {
		if r.Method != http.MethodGet && !f.acts {
			f.Errorf("the program sends %s %s", r.Method, r.URL)
		}
		if about(r) {
			out = append(out, r)
		}
	}
	return out
}

// pemOf is the certificate of a server, which signed it itself.
func pemOf(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func anything(*http.Request) bool { return true }

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

// says answers with a Status, as an API server does.
func says(code int, reason, message string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for pair := range slices.Chunk(header, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"code":%d}`, message, reason, code)
	}
}

// notAPath answers as a server that does not know the path.
func notAPath(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "404 page not found", http.StatusNotFound)
}

// stalls answers nothing until the client goes away.
func stalls(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// cuts answers half of what the server says.
func cuts(through http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		through.ServeHTTP(whole, r)
		for name, values := range whole.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
		w.WriteHeader(whole.Code)
		_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
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
