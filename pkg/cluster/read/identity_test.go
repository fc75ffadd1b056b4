package read

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
)

func TestUID(t *testing.T) {
	object := func(name, uid string) string {
		return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"` + name + `","uid":"` + uid + `","resourceVersion":"1"}}`
	}
	for name, c := range map[string]struct {
		code         int
		answer, want string
		err          string
	}{
		"it is there":             {200, object("kube-system", "u-1"), "u-1", ""},
		"another object":          {200, object("default", "u-1"), "", "it is of another object"},
		"an object without a UID": {200, object("kube-system", ""), "", "it holds no object metadata"},
		"a page":                  {200, "<html>log in</html>", "", "read Namespace kube-system: "},
		"a failure that says 200": {200, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":500}`, "", "read Namespace kube-system: "},
		"forbidden":               {403, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no","code":403}`, "", "read Namespace kube-system: "},
		"not there":               {404, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":{"name":"kube-system","kind":"namespaces"}}`, "", "there is no Namespace kube-system"},
		"a gateway's 404":         {404, "no such path", "", "read Namespace kube-system: "},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != "/api/v1/namespaces/kube-system" {
					t.Errorf("%s %s", r.Method, r.URL)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.code)
				_, _ = w.Write([]byte(c.answer))
			}))
			defer server.Close()
			live, err := client.New(&rest.Config{Host: server.URL}, client.Config{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := UID(t.Context(), live)
			switch {
			case string(got) != c.want:
				t.Errorf("got UID %q, want %q", got, c.want)
			case c.err == "" && err != nil, c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("got error %v, want %q", err, c.err)
			}
		})
	}
}
