package manifest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/manifest"
)

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

// folder writes files into a new folder and returns its path.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// describe returns a text for each object.
func describe(all []manifest.Named) []string {
	var out []string
	for _, n := range all {
		line := n.APIVersion + " " + n.String()
		if n.Namespace != "" {
			line += " in " + n.Namespace
		}
		if n.UID != "" {
			line += " with UID " + string(n.UID)
		}
		out = append(out, line)
	}
	return out
}

func TestRead(t *testing.T) {
	dir := folder(t, map[string]string{
		"all/b.yaml":        configMap("b"),
		"all/a.json":        `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}`,
		"all/c.yml":         "# nothing yet\n---\n" + configMap("c") + "---\nnull\n---\n" + configMap("d"),
		"all/notes.txt":     "no manifest",
		"all/deeper/e.yaml": configMap("e"),
		"full":              "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop, uid: u1}\n",
		"list":              "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: f}}\n- {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: g}}]}\n",
		"windows":           "\ufeff" + configMap("h"),
		"wide":              utf16LE(configMap("i") + "---\n" + configMap("j")),
	})
	for name, test := range map[string]struct {
		files manifest.Files
		stdin string
		want  []string
	}{
		"a file with a complete object": {files: manifest.Files{Names: []string{dir + "/full"}}, want: []string{"apps/v1 Deployment/web in shop with UID u1"}},
		"a folder, sorted by file name": {files: manifest.Files{Names: []string{dir + "/all"}}, want: []string{"v1 ConfigMap/a", "v1 ConfigMap/b", "v1 ConfigMap/c", "v1 ConfigMap/d"}},
		"a folder, recursively":         {files: manifest.Files{Names: []string{dir + "/all"}, Recursive: true}, want: []string{"v1 ConfigMap/a", "v1 ConfigMap/b", "v1 ConfigMap/c", "v1 ConfigMap/d", "v1 ConfigMap/e"}},
		"a pattern":                     {files: manifest.Files{Names: []string{dir + "/all/*.y*ml"}}, want: []string{"v1 ConfigMap/b", "v1 ConfigMap/c", "v1 ConfigMap/d"}},
		"lists and nested lists":        {files: manifest.Files{Names: []string{dir + "/list"}}, want: []string{"v1 ConfigMap/f", "v1 ConfigMap/g"}},
		"a byte order mark":             {files: manifest.Files{Names: []string{dir + "/windows"}}, want: []string{"v1 ConfigMap/h"}},
		"UTF-16":                        {files: manifest.Files{Names: []string{dir + "/wide"}}, want: []string{"v1 ConfigMap/i", "v1 ConfigMap/j"}},
		"standard input between files":  {files: manifest.Files{Names: []string{dir + "/windows", "-", dir + "/full"}}, stdin: configMap("in"), want: []string{"v1 ConfigMap/h", "v1 ConfigMap/in", "apps/v1 Deployment/web in shop with UID u1"}},
		"nothing":                       {},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.files.Read(t.Context(), strings.NewReader(test.stdin))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, describe(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// utf16LE encodes a text as some Windows programs do.
func utf16LE(text string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}

func TestReadErrors(t *testing.T) {
	dir := folder(t, map[string]string{
		"none/notes.txt": "no manifest",
		"bad.yaml":       "a: b: c",
		"kindless.yaml":  "metadata: {name: a}\n",
		"cut.json":       `{"apiVersion": "v1", "kind": "Con`,
	})
	for name, test := range map[string]struct {
		files manifest.Files
		want  string
	}{
		"no such file":                {manifest.Files{Names: []string{dir + "/x.yaml"}}, `the path "DIR/x.yaml" does not exist`},
		"a pattern that matches none": {manifest.Files{Names: []string{dir + "/*.x"}}, `the path "DIR/*.x" does not exist`},
		"an invalid pattern":          {manifest.Files{Names: []string{dir + "/[.x"}}, `pattern "DIR/[.x" is not valid`},
		"a folder without manifests":  {manifest.Files{Names: []string{dir + "/none"}}, "recognized file extensions are [.json .yaml .yml]"},
		"malformed YAML":              {manifest.Files{Names: []string{dir + "/bad.yaml"}}, "error parsing DIR/bad.yaml"},
		"a file that ends early":      {manifest.Files{Names: []string{dir + "/cut.json"}}, "error parsing DIR/cut.json"},
		"a document without a kind":   {manifest.Files{Names: []string{dir + "/kindless.yaml"}}, `unable to decode "DIR/kindless.yaml": an object in it lacks its kind`},
		"standard input twice":        {manifest.Files{Names: []string{"-", "-"}}, "standard input cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.files.Read(t.Context(), strings.NewReader(""))
			if err == nil {
				t.Fatalf("got %v", got)
			}
			if want := strings.ReplaceAll(test.want, "DIR", dir); !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestURLs(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch requests.Add(1); {
		case r.URL.Path == "/gone":
			http.Error(w, "gone", http.StatusGone)
		case r.URL.Path == "/busy" && requests.Load() == 1:
			http.Error(w, "busy", http.StatusServiceUnavailable)
		default:
			fmt.Fprint(w, configMap("a"))
		}
	}))
	t.Cleanup(server.Close)
	for name, test := range map[string]struct {
		path     string
		want     []string
		wantErr  string
		requests int32
	}{
		"a manifest": {path: "/a.yaml", want: []string{"v1 ConfigMap/a"}, requests: 1},
		"repeats the request after a server error": {path: "/busy", want: []string{"v1 ConfigMap/a"}, requests: 2},
		"does not repeat it after a client error":  {path: "/gone", wantErr: "server reported 410 Gone", requests: 1},
	} {
		t.Run(name, func(t *testing.T) {
			requests.Store(0)
			got, err := manifest.Files{Names: []string{server.URL + test.path}}.Read(t.Context(), nil)
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(test.want, describe(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if requests.Load() != test.requests {
				t.Errorf("%d requests, want %d", requests.Load(), test.requests)
			}
		})
	}
}
