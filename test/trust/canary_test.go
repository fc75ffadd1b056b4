package trust

import (
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// doctorWithCanary are the arguments of a run that creates two ConfigMaps in namespace shop.
var doctorWithCanary = []string{"doctor", "--canary", "shop", "--settle", "300ms", "--request-timeout", "2s"}

// canaries returns the names of the ConfigMaps of canaries.
func canaries(s *Server) (out []string) {
	all, _ := s.List(ConfigMaps.GroupVersionResource, "shop") // the type is served
	for _, o := range all {
		if strings.HasPrefix(o.Name, "gc-canary-") {
			out = append(out, o.Name)
		}
	}
	return out
}

// losesAnswers does what a request asks, and breaks the connection instead of answering.
func losesAnswers(s *Server) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		s.Honest(discarded{http.Header{}}, r)
		panic(http.ErrAbortHandler)
	}
}

type discarded struct{ header http.Header }

func (d discarded) Header() http.Header            { return d.header }
func (d discarded) Write(text []byte) (int, error) { return len(text), nil }
func (d discarded) WriteHeader(int)                {}

// deniesRight answers the access reviews of a verb with a refusal.
func deniesRight(s *Server, verb string) {
	s.Lie(func(r *http.Request) bool { return r.Method == http.MethodPost && isAbout(r, accessReviews) }, s.Edited(func(review map[string]any) {
		about, _ := review["spec"].(map[string]any)["resourceAttributes"].(map[string]any)
		review["status"] = map[string]any{"allowed": about["verb"] != verb}
	}))
}

func TestACanaryWhoseCreationIsNeverAnsweredIsRemovedOrNamed(t *testing.T) {
	s := NewServer(t)
	s.Lie(Sent(http.MethodPost, ConfigMaps), losesAnswers(s))
	r := newUser(t, s).runsFor(2*runTimeout, doctorWithCanary...)
	if left := canaries(s); len(left) > 0 {
		t.Errorf("it leaves %v\nstderr: %s", left, r.stderr)
	}
}

func TestACanaryThatMayStillBeCreatedIsNamed(t *testing.T) {
	s := NewServer(t)
	s.Lie(Sent(http.MethodPost, ConfigMaps), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	r := newUser(t, s).runsFor(2*runTimeout, doctorWithCanary...).exits(1)
	for _, want := range []string{"error: --canary has left ConfigMap/gc-canary-", "may still be created", "kubectl delete configmap gc-canary-", "-owner -n shop"} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("it does not say %q: %s", want, r.stderr)
		}
	}
}

func TestAnInterruptedCanaryIsRemovedAndSaidToBe(t *testing.T) {
	s := NewServer(t)
	u := newUser(t, s)
	created := make(chan struct{})
	var reads atomic.Int32
	s.Lie(func(r *http.Request) bool {
		return r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "-dependent")
	}, func(w http.ResponseWriter, r *http.Request) {
		if reads.Add(1) == 3 {
			close(created)
		}
		s.Honest(w, r)
	})
	p := u.starts("doctor", "--canary", "shop", "--settle", "20s")
	<-created
	u.must(p.cmd.Process.Signal(syscall.SIGINT))
	r := p.ends(runTimeout).exits(130)
	if left := canaries(s); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
	if strings.Contains(r.stderr, "nothing was changed") || !strings.Contains(r.stderr, "the canary is deleted") {
		t.Errorf("it says %s", r.stderr)
	}
}

func TestAnInterruptedCanaryThatCannotBeRemovedIsNamed(t *testing.T) {
	s := NewServer(t)
	u := newUser(t, s)
	deleting := make(chan struct{})
	var first atomic.Bool
	s.Lie(Sent(http.MethodDelete, ConfigMaps), func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/gc-canary-") && first.CompareAndSwap(false, true) {
			close(deleting)
		}
		Forbid(ConfigMaps)(w, r)
	})
	p := u.starts(doctorWithCanary...)
	<-deleting
	u.must(p.cmd.Process.Signal(syscall.SIGINT))
	r := p.ends(runTimeout)
	left := canaries(s)
	if len(left) != 2 {
		t.Fatalf("%v are left, want both", left)
	}
	for _, name := range left {
		if want := "kubectl delete configmap " + name + " -n shop"; !strings.Contains(r.stderr, want) {
			t.Errorf("it does not say %q: %s", want, r.stderr)
		}
	}
	if strings.Contains(r.stderr, "nothing was changed") || r.code == 0 {
		t.Errorf("it exits with %d and says %s", r.code, r.stderr)
	}
}

func TestACanaryWithoutEachOfItsRightsCreatesNothing(t *testing.T) {
	for _, verb := range []string{"create", "get", "delete"} {
		t.Run(verb, func(t *testing.T) {
			s := NewServer(t)
			deniesRight(s, verb)
			r := newUser(t, s).runs(doctorWithCanary...).exits(1)
			if writes := s.Writes(); len(writes) > 0 {
				t.Errorf("it sends %v", writes)
			}
			if want := "you are not allowed to " + verb + " configmaps in namespace shop"; !strings.Contains(r.stderr, want) {
				t.Errorf("it does not say %q: %s", want, r.stderr)
			}
		})
	}
}

func TestACanaryThatSomebodyHasFilledIsKept(t *testing.T) {
	t.Run("of an earlier run", func(t *testing.T) {
		s := NewServer(t)
		var filled *Object
		for _, name := range []string{"gc-canary-0000filled-owner", "gc-canary-00000empty-owner"} {
			fields := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "shop", "labels": map[string]any{"app.kubernetes.io/managed-by": "kubectl-gc"}}}
			if name == "gc-canary-0000filled-owner" {
				fields["data"] = map[string]any{"key": "value"}
			}
			o, err := s.Create(ConfigMaps.GroupVersionResource, "shop", fields, metav1.CreateOptions{FieldManager: "kubectl-gc-canary"})
			if err != nil {
				t.Fatal(err)
			}
			if fields["data"] != nil {
				filled = o
			}
		}
		stranger := s.Add(ConfigMaps.Object("shop", "gc-canary-config-of-somebody-owner"))
		r := newUser(t, s).runs(doctorWithCanary...)
		requireKept(t, s, filled, stranger)
		if left := canaries(s); len(left) != 2 {
			t.Errorf("%v are left", left)
		}
		if strings.Contains(r.stderr, "filled") || strings.Contains(r.stderr, "somebody") {
			t.Errorf("it speaks of what is somebody else's: %s", r.stderr)
		}
	})
	t.Run("of this run", func(t *testing.T) {
		s := NewServer(t)
		var dependent atomic.Pointer[Object]
		s.Lie(Match(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "-dependent") }).After(1).First(1), func(w http.ResponseWriter, r *http.Request) {
			name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
			o, err := s.Patch(ConfigMaps.GroupVersionResource, "shop", name, "application/merge-patch+json", []byte(`{"data":{"key":"value"}}`))
			if err != nil {
				t.Error(err)
			}
			dependent.Store(o)
			s.Honest(w, r)
		})
		r := newUser(t, s).runs(doctorWithCanary...).exits(1)
		requireKept(t, s, dependent.Load())
		if !strings.Contains(r.stderr, "it has data now") {
			t.Errorf("it says %s", r.stderr)
		}
	})
}
