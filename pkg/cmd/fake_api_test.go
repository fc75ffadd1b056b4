package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

type fields = map[string]any

// api is a fake API server with ConfigMaps in Namespace shop.
type api struct {
	mu      sync.Mutex
	objects map[string]fields // metadata by name
	made    int
	// refuse is called before each write; it may be nil.
	refuse func(method, name string) (message string, refused bool)
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	code, answer := a.answer(w, r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(answer)
}

func (a *api) answer(_ http.ResponseWriter, r *http.Request) (int, any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	const configMaps = "/api/v1/namespaces/shop/configmaps"
	switch r.URL.Path {
	case "/version":
		return 200, fields{"gitVersion": "v1.36.3"}
	case "/api":
		return 200, fields{"kind": "APIVersions", "versions": []string{"v1"}}
	case "/apis":
		return 200, fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": []fields{
			{"name": "example.com", "versions": []fields{{"groupVersion": "example.com/v1", "version": "v1"}}, "preferredVersion": fields{"groupVersion": "example.com/v1", "version": "v1"}},
		}}
	case "/apis/example.com/v1":
		return 200, fields{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "example.com/v1", "resources": []fields{}}
	case "/api/v1":
		return 200, fields{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1", "resources": []fields{
			{"name": "configmaps", "kind": "ConfigMap", "singularName": "configmap", "namespaced": true, "verbs": []string{"create", "delete", "get", "list", "patch", "watch"}},
		}}
	case "/api/v1/namespaces/kube-system":
		return 200, partial(fields{"name": "kube-system", "uid": "u-cluster", "resourceVersion": "1"})
	case "/api/v1/configmaps", configMaps:
		if r.Method == http.MethodPost {
			return a.create(r)
		}
		items := []fields{}
		whole := !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata")
		for _, name := range slices.Sorted(maps.Keys(a.objects)) {
			if whole {
				items = append(items, fields{"metadata": a.objects[name]})
			} else {
				items = append(items, partial(a.objects[name]))
			}
		}
		if whole {
			return 200, fields{"kind": "ConfigMapList", "apiVersion": "v1", "metadata": fields{"resourceVersion": "9"}, "items": items}
		}
		return 200, fields{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": fields{"resourceVersion": "9"}, "items": items}
	}
	name, ok := strings.CutPrefix(r.URL.Path, configMaps+"/")
	if !ok {
		return failure(404, "NotFound", "no such path", "")
	}
	object := a.objects[name]
	if object == nil {
		return failure(404, "NotFound", "not found", name)
	}
	if r.Method == http.MethodDelete {
		if code, answer := a.refused(r.Method, name); code != 0 {
			return code, answer
		}
		var o struct{ DryRun []string }
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			return failure(400, "BadRequest", err.Error(), "")
		}
		if len(o.DryRun) == 0 {
			delete(a.objects, name)
		}
	}
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
		return 200, partial(object)
	}
	return 200, fields{"kind": "ConfigMap", "apiVersion": "v1", "metadata": object}
}

func (a *api) create(r *http.Request) (int, any) {
	var o struct{ Metadata fields }
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		return failure(400, "BadRequest", err.Error(), "")
	}
	name := fmt.Sprint(o.Metadata["name"])
	if code, answer := a.refused(r.Method, name); code != 0 {
		return code, answer
	}
	if a.objects[name] != nil {
		return failure(409, "AlreadyExists", "it exists", name)
	}
	a.made++
	o.Metadata["uid"], o.Metadata["resourceVersion"] = fmt.Sprintf("made-%d", a.made), "2"
	o.Metadata["managedFields"] = []fields{{"manager": r.URL.Query().Get("fieldManager"), "operation": "Update"}}
	if !r.URL.Query().Has("dryRun") {
		a.objects[name] = o.Metadata
	}
	return 201, fields{"kind": "ConfigMap", "apiVersion": "v1", "metadata": o.Metadata}
}

func (a *api) refused(method, name string) (int, any) {
	if a.refuse != nil {
		if message, refused := a.refuse(method, name); refused {
			return failure(403, "Forbidden", message, name)
		}
	}
	return 0, nil
}

func partial(metadata fields) fields {
	return fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": metadata}
}

func failure(code int, reason, message, name string) (int, any) {
	return code, fields{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message, "details": fields{"name": name, "kind": "configmaps"}}
}

// configMap returns the metadata of a ConfigMap with these owners, which do not exist.
func configMap(name string, owners ...string) fields {
	var refs []fields
	for _, uid := range owners {
		refs = append(refs, fields{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": uid})
	}
	return fields{"name": name, "namespace": "shop", "uid": "u-" + name, "resourceVersion": "1", "ownerReferences": refs}
}

func (a *api) serve(t testing.TB) (url string) {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return server.URL
}

type answer struct {
	code        int
	out, errors string
}

// run runs a command line without terminals.
func run(t testing.TB, args ...string) answer {
	t.Helper()
	var out, errs bytes.Buffer
	code := cmd.Main(t.Context(), args, cli.Streams{
		In: strings.NewReader(""), Out: &out, Err: &errs, ErrWidth: func() int { return 0 },
		Getenv: func(string) string { return "" }, Now: time.Now,
	})
	return answer{code, out.String(), errs.String()}
}

// newHome gives a test an empty home folder and no kubeconfig.
func newHome(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", filepath.Join(home, "none"))
	return home
}

// files returns the contents of all files below a folder, by their paths.
func files(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		out[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
