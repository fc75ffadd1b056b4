package client

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// FuzzPath checks that the path of a request stays below the version of its group, whatever the
// names.
func FuzzPath(f *testing.F) {
	f.Add("g", "v1", "things", "ns", "a")
	f.Add("", "v1", "pods", "ns", "a%2f..")
	f.Add("g", "v1", "..", "..", "..")
	f.Add("g", "v1", "a/b", "c/d", "e/f")
	f.Add("g", "v1", "a?watch=1", "ns#", "?x=y")
	f.Add("..", "..", "a", "", "")
	c, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, Config{}) // no request is sent
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, group, version, resource, namespace, name string) {
		if !snapshot.ValidName(name) && name != "" {
			return // callers check names first
		}
		at := snapshot.Type{Group: group, Version: version, Resource: resource, Namespaced: true}
		request := c.get(Query{Type: at, Namespace: namespace, Name: name}, AcceptObject)
		if request.Error() != nil {
			return
		}
		want := []string{"", "apis", group, version}
		if group == "" {
			want = []string{"", "api", version}
		}
		if namespace != "" {
			want = append(want, "namespaces", namespace)
		}
		want = append(want, strings.ToLower(resource)) // as client-go does
		if name != "" {
			want = append(want, name)
		}
		got, err := url.Parse(request.URL().String())
		if err != nil || !slices.Equal(want, strings.Split(got.Path, "/")) || got.RawQuery != "" || got.Fragment != "" {
			t.Errorf("it asks for %s of %q", request.URL(), want)
		}
	})
}
