package cluster

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// storing is a server of pods that are sorted by name, as in etcd.
type storing struct {
	names []string
	// place is how it reads a place that was not of its own making; nil: as every
	// server does.
	place func(w http.ResponseWriter, start string) (from int, ok bool)
	asked atomic.Int32
}

func (s *storing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.asked.Add(1)
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	from := 0
	if at := r.URL.Query().Get("continue"); at != "" {
		raw, _ := base64.RawURLEncoding.DecodeString(at)
		var token struct {
			V     string
			RV    int64
			Start string
		}
		if json.Unmarshal(raw, &token) != nil || token.V != "meta.k8s.io/v1" || path.Clean("/"+token.Start) != "/"+token.Start {
			http.Error(w, "no place", http.StatusBadRequest)
			return
		}
		from, _ = slices.BinarySearch(s.names, strings.TrimSuffix(token.Start, "\x00"))
		if strings.HasSuffix(token.Start, "\x00") {
			from++
		} else if s.place != nil {
			var ok bool
			if from, ok = s.place(w, token.Start); !ok {
				return
			}
		}
	}
	to := len(s.names)
	if limit > 0 {
		to = min(to, from+limit)
	}
	next := ""
	if to < len(s.names) {
		next = placeOf(s.names[to-1] + "\x00")
	}
	list := metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"},
		ListMeta: metav1.ListMeta{Continue: next, ResourceVersion: "10"},
	}
	for _, name := range s.names[from:to] {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(r), Name: name, UID: types.UID("uid-" + name), ResourceVersion: "5"}})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}

// namespaceOf is the namespace of which a list is asked for.
func namespaceOf(r *http.Request) string {
	if at := strings.Split(r.URL.Path, "/"); len(at) > 5 {
		return at[4]
	}
	return "ns"
}

// started is a cluster of which that is the server.
func (s *storing) started(t *testing.T) *Cluster {
	t.Helper()
	slices.Sort(s.names)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL}, Options{ChunkSize: 5000, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.rest.(*rest.RESTClient).Client.CloseIdleConnections() })
	return c
}

// alike is how all of the names begin.
func alike(names []string) string {
	r := roll{}
	for _, name := range names {
		r.add([]*object.Object{{Identity: object.Identity{Name: name}}})
	}
	return r.common
}

// numbered are so many names that begin alike.
func numbered(begin string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%05d", begin, i)
	}
	return names
}

func TestNamesAreAskedForWhereTheyBegin(t *testing.T) {
	few := []string{"api-1", "api-2", "web-1", "web-2"}
	refuses := func(w http.ResponseWriter, _ string) (int, bool) {
		http.Error(w, "what place is that?", http.StatusBadRequest)
		return 0, false
	}
	ignores := func(http.ResponseWriter, string) (int, bool) { return 0, true }
	for name, test := range map[string]struct {
		names     []string
		place     func(http.ResponseWriter, string) (int, bool)
		namespace string
		typed     string
		want      int // names; all of those that begin so, if there are no more
		begin     string
		asked     int32
	}{
		"nothing is typed":                         {few, nil, "shop", "", 4, "", 1},
		"a beginning is typed":                     {few, nil, "shop", "web", 2, "web-", 1},
		"nothing begins so":                        {few, nil, "shop", "x", 0, "", 1},
		"no name can begin so":                     {few, nil, "shop", "../..", 0, "", 0},
		"many, and those at the end are meant":     {append(numbered("pod-", 50_000), few...), nil, "shop", "web", 2, "web-", 1},
		"many begin so, and a page shows how":      {append(numbered("a", 300), numbered("b", 50_000)...), nil, "shop", "", 500, "", 1},
		"many begin so, and a page begins longer":  {append(numbered("pod-", 50_000), "pox"), nil, "shop", "po", 503, "po", 4},
		"a page begins longer, again and again":    {append(numbered("aaaa", 600), append(numbered("aab", 600), "b")...), nil, "shop", "", 502, "", 3},
		"all of many begin alike":                  {numbered("pod-", 50_000), nil, "shop", "p", 502, "pod-", 4},
		"in all namespaces, where others may be":   {few, nil, "", "web", 2, "web-", 1},
		"in all namespaces, many":                  {append(numbered("pod-", 12_000), few...), nil, "", "web", 2, "web-", 3},
		"a server that refuses places":             {few, refuses, "shop", "web", 2, "web-", 2},
		"a server that takes no notice of places":  {few, ignores, "shop", "web", 2, "web-", 2},
		"one that refuses, of more than it pages":  {append(numbered("pod-", 12_000), few...), refuses, "shop", "web", 2, "web-", 4},
		"one that refuses, and all there begin so": {numbered("pod-", 12_000), refuses, "shop", "pod-", 502, "pod-", 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := &storing{names: slices.Clone(test.names), place: test.place}
			got, err := s.started(t).Names(t.Context(), pods, test.namespace, test.typed)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != test.want || alike(got) != test.begin || s.asked.Load() != test.asked {
				t.Errorf("%d names that begin with %q, after %d requests; want %d, %q, %d", len(got), alike(got), s.asked.Load(), test.want, test.begin, test.asked)
			}
			if diff := cmp.Diff(len(got), len(slices.Compact(slices.Sorted(slices.Values(got))))); diff != "" {
				t.Errorf("some are answered twice (-names +once): %s", diff)
			}
		})
	}
}

func TestThereAreNoNamesWhereThereIsAnError(t *testing.T) {
	broken := errorsBehind(1)
	s := httptest.NewServer(broken)
	t.Cleanup(s.Close)
	c, err := New(&rest.Config{Host: s.URL}, Options{ChunkSize: 2, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.rest.(*rest.RESTClient).Client.CloseIdleConnections() })
	if got, err := c.Names(t.Context(), pods, "", ""); err == nil || got != nil {
		t.Errorf("names %q and error %v", got, err)
	}
}

// errorsBehind is a server that forbids every page but the first ones.
func errorsBehind(pages int32) http.Handler {
	s := &storing{names: []string{"a", "b", "c", "d"}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.asked.Load() >= pages {
			http.Error(w, "no more", http.StatusForbidden)
			return
		}
		s.ServeHTTP(w, r)
	})
}

// TestAShellIsLedToNoWrongName: whatever the names are, what is answered of them begins
// alike as long as all of them do, and not longer.
func TestAShellIsLedToNoWrongName(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		part := rapid.StringMatching(`[abé.-]{1,4}`)
		var names []string
		for range rapid.IntRange(1, 4).Draw(r, "families") {
			names = append(names, numbered(part.Draw(r, "family"), rapid.SampledFrom([]int{1, 400, 1100}).Draw(r, "of"))...)
		}
		slices.Sort(names)
		names = slices.Compact(names)
		typed := rapid.SampledFrom(names).Draw(r, "typed")
		typed = strings.ToValidUTF8(typed[:rapid.IntRange(0, len(typed)).Draw(r, "letters")], "")
		namespace := rapid.SampledFrom([]string{"", "shop"}).Draw(r, "namespace")
		s := &storing{names: names}
		got, err := s.started(t).Names(t.Context(), pods, namespace, typed)
		if err != nil {
			r.Fatal(err)
		}
		all := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, typed) })
		if alike(got) != alike(all) {
			r.Errorf("%d of %d names begin with %q, all with %q", len(got), len(all), alike(got), alike(all))
		}
		if len(all) <= enough && len(got) != len(all) {
			r.Errorf("%d of %d names", len(got), len(all))
		}
		for _, n := range got {
			if _, there := slices.BinarySearch(all, n); !there {
				r.Errorf("%q is none of them", n)
			}
		}
	})
}
