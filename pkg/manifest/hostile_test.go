package manifest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/manifest"
)

func read(t *testing.T, text string) error {
	t.Helper()
	_, err := manifest.Files{Names: []string{"-"}}.Read(t.Context(), strings.NewReader(text))
	return err
}

func TestReadRejectsAliasBombs(t *testing.T) {
	for name, text := range map[string]string{
		"one long text, many times": configMap("x") + "a: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a,", 100_000) + "]\n",
		"in the second document":    configMap("x") + "---\na: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a,", 100_000) + "]\n",
	} {
		t.Run(name, func(t *testing.T) {
			if err := read(t, text); err == nil || !strings.Contains(err.Error(), "error parsing standard input: its aliases") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDeepManifestsDoNotHang(t *testing.T) {
	const deep = 200_000
	for name, text := range map[string]string{
		"lists in lists":            strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, deep),
		"lists in lists, and ended": strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, deep) + strings.Repeat("]}", deep),
		"brackets":                  strings.Repeat("[", deep),
		"braces of YAML":            strings.Repeat("{a: ", deep),
	} {
		t.Run(name, func(t *testing.T) {
			if err := read(t, text); err == nil {
				t.Error("it was read as a manifest")
			}
		})
	}
}

// A manifest may be a Secret.
func TestErrorsDoNotQuoteManifests(t *testing.T) {
	const secret = "aHVudGVyMg=="
	for name, text := range map[string]string{
		"no kind":                  "apiVersion: v1\nmetadata: {name: a}\ndata: {password: " + secret + "}\n",
		"no kind, in JSON":         `{"apiVersion":"v1","data":{"password":"` + secret + `"}}`,
		"no kind, in a list":       `{"apiVersion":"v1","kind":"List","items":[{"data":{"password":"` + secret + `"}}]}`,
		"a name that is no string": `{"apiVersion":"v1","kind":"Secret","metadata":{"name":{"a":"` + secret + `"}}}`,
		"not even YAML":            "kind: Secret\ndata: {password: " + secret + "\n  x: - y\n",
		"metadata that is text":    "apiVersion: v1\nkind: Secret\nmetadata: " + secret + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			if err := read(t, text); err != nil && strings.Contains(err.Error(), secret) {
				t.Error(err)
			}
		})
	}
}

func TestErrorsContainNoURLCredentials(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	host := strings.TrimPrefix(server.URL, "http://")
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	t.Cleanup(server.Close)
	for name, test := range map[string]struct{ url, want string }{
		"a server that refuses":          {"http://me:hunter2@" + host + "/a.yaml?token=hunter2", `"http://REDACTED@` + host + `/a.yaml?REDACTED"`},
		"a server that is not there":     {"http://me:hunter2@" + strings.TrimPrefix(gone.URL, "http://") + "/a.yaml?token=hunter2", `"http://REDACTED@` + strings.TrimPrefix(gone.URL, "http://") + `/a.yaml?REDACTED"`},
		"a URL that is none":             {"http://me:hunter2@in valid/a.yaml?token=hunter2", `"http://REDACTED@in valid/a.yaml?REDACTED"`},
		"a password that is not a URL's": {"http://me:hunter2%zz@example.com/a.yaml", `"http://REDACTED@example.com/a.yaml"`},
		"another scheme":                 {"HTTP://me:hunter2@example.com/a.yaml", `"HTTP://REDACTED@example.com/a.yaml": only http:// and https:// are read`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := manifest.Files{Names: []string{test.url}}.Read(t.Context(), nil)
			if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
