package e2e

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// recordingProxy forwards requests to the API server as admin, records them, and can respond to
// some itself. It forwards only reads unless writes are allowed.
type recordingProxy struct {
	tool
	writesAllowed bool
	mu            sync.Mutex
	requests      []*http.Request
	writes        []recordedWrite // in the order of their arrival
}

// fault responds to matching requests in place of the server.
type fault struct {
	matches func(*http.Request) bool
	answer  http.HandlerFunc
}

// throughProxy starts a proxy that forwards requests to the control plane as admin. The first fault that matches a request
// responds to it; through forwards the request to the server. The kubeconfig of the tool has only the proxy and no credentials.
func (s *scene) throughProxy(faults func(through http.Handler) []fault) *recordingProxy {
	s.Helper()
	f := &recordingProxy{tool: s.tool()}
	server, err := url.Parse(s.config.Host)
	s.must(err)
	transport, err := rest.TransportFor(s.config)
	s.must(err)
	through := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Header.Del("Authorization")
		},
		// Do not log injected errors.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	var rules []fault
	if faults != nil {
		rules = faults(through)
	}
	front := httptest.NewUnstartedServer(f.recording(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, rule := range rules {
			if rule.matches(r) {
				rule.answer(w, r)
				return
			}
		}
		through.ServeHTTP(w, r)
	})))
	front.EnableHTTP2 = true
	front.StartTLS()
	s.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})

	config := clientcmdapi.NewConfig()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})
	config.Clusters["front"] = &clientcmdapi.Cluster{Server: front.URL, CertificateAuthorityData: authority}
	config.Contexts["front"] = &clientcmdapi.Context{Cluster: "front"}
	config.CurrentContext = "front"
	path := filepath.Join(s.TempDir(), "kubeconfig")
	s.must(clientcmd.WriteToFile(*config, path))
	f.env = append(f.env, "KUBECONFIG="+path)
	return f
}

// respondStatus returns a handler that responds with a Status, as an API server does.
func respondStatus(code int, reason metav1.StatusReason, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{ // fails if the client has disconnected
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Message: message, Reason: reason, Code: int32(code),
		})
	}
}

// respondUnknownPath responds like a server that does not know the path.
func respondUnknownPath(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "404 page not found", http.StatusNotFound)
}

// stall sends no response until the client gives up.
func stall(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// recording returns a handler that records each request.
func (f *recordingProxy) recording(answer http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r)
		f.mu.Unlock()
		if isWrite(r) {
			if !f.writesAllowed {
				http.Error(w, "only reading is allowed here", http.StatusMethodNotAllowed)
				return
			}
			f.recordWrite(r)
		}
		answer.ServeHTTP(w, r)
	})
}

// matching returns the matching requests so far. Unless writes are allowed, all requests must be
// reads.
func (f *recordingProxy) matching(about func(*http.Request) bool) []*http.Request {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*http.Request
	for _, r := range f.requests {
		if isWrite(r) && !f.writesAllowed {
			f.Errorf("the program sends %s %s", r.Method, r.URL)
		}
		if about(r) {
			out = append(out, r)
		}
	}
	return out
}

func anyRequest(*http.Request) bool { return true }

// isWrite reports whether a request is a write. An access review is a POST, but not a write.
func isWrite(r *http.Request) bool { return r.Method != http.MethodGet && !isAccessReview(r) }

// isAccessReview reports whether a request is an access review.
func isAccessReview(r *http.Request) bool {
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

// laterPages matches all pages but the first.
func laterPages(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return about(r) && r.URL.Query().Get("continue") != "" }
}

// firstOnly matches the first matching request only.
func firstOnly(about func(*http.Request) bool) func(*http.Request) bool {
	return firstTimes(1, about)
}

// firstTimes matches the first n matching requests.
func firstTimes(n int64, about func(*http.Request) bool) func(*http.Request) bool {
	var matched atomic.Int64
	return func(r *http.Request) bool { return about(r) && matched.Add(1) <= n }
}

// unusedPort returns a port on the loopback interface on which nothing listens.
func (s *scene) unusedPort() int {
	s.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	s.must(l.Close())
	return l.Addr().(*net.TCPAddr).Port
}

func (s *scene) writeFile(name, content string) string {
	s.Helper()
	path := filepath.Join(s.TempDir(), name)
	s.must(os.WriteFile(path, []byte(content), 0o600))
	return path
}

// recordedWrite is a recorded write.
type recordedWrite struct {
	Method, Path, Type string
	Query              url.Values
	Body               string
}

// name is the last part of the path.
func (w recordedWrite) name() string { return w.Path[strings.LastIndex(w.Path, "/")+1:] }

// allowWrites makes the proxy forward writes as well.
func (f *recordingProxy) allowWrites() *recordingProxy {
	f.writesAllowed = true
	return f
}

// recordWrite records a write with its body. It does not forward an incomplete body, such as that
// of a killed program: half a DELETE has no UID.
func (f *recordingProxy) recordWrite(r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes = append(f.writes, recordedWrite{r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.URL.Query(), string(body)})
}

// recordedWrites returns the writes so far.
func (f *recordingProxy) recordedWrites() []recordedWrite {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]recordedWrite{}, f.writes...)
}

// reading matches reads.
func reading(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == http.MethodGet && about(r) }
}

// deleting matches DELETEs.
func deleting(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == http.MethodDelete && about(r) }
}

// writing matches all matching writes.
func writing(about func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return isWrite(r) && about(r) }
}

// single matches requests about single objects of a type.
func single(plural, name string) func(*http.Request) bool {
	return func(r *http.Request) bool { return getOf(plural)(r) && strings.HasSuffix(r.URL.Path, "/"+name) }
}

// beforeResponse returns a handler that calls do before the server responds.
func beforeResponse(through http.Handler, do func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		do()
		through.ServeHTTP(w, r)
	}
}
