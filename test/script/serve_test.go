package script

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"
)

// serve implements the command serve NAME FILE [!RESOURCE…].
//
// It serves the objects of a file, a List of ConfigMaps, Secrets and Deployments, as an API
// server would, and adds a context of that name to the kubeconfig. Resources after ! are
// forbidden.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve NAME FILE [!RESOURCE…]")
	}
	var list unstructured.UnstructuredList
	text, err := yaml.YAMLToJSON([]byte(ts.ReadFile(args[1])))
	ts.Check(err)
	ts.Check(list.UnmarshalJSON(text))
	for _, o := range list.Items {
		if o.GetResourceVersion() == "" {
			o.SetResourceVersion("1")
		}
	}
	server := httptest.NewServer(&api{args[0], list.Items, args[2:]})
	ts.Defer(server.Close)
	addContext(ts, false, []string{args[0], server.URL})
}

// addContext implements the command context NAME SERVER, which adds a context to the kubeconfig.
func addContext(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: context NAME SERVER")
	}
	name, path := args[0], ts.MkAbs("kubeconfig")
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		config = clientcmdapi.NewConfig()
		config.CurrentContext = name
	}
	config.Clusters[name] = &clientcmdapi.Cluster{Server: args[1]}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name}
	ts.Check(clientcmd.WriteToFile(*config, path))
	ts.Setenv("KUBECONFIG", path)
}

// api is an API server with the requests that an audit needs.
type api struct {
	name      string // of the cluster; also the UID of its Namespace kube-system
	objects   []unstructured.Unstructured
	forbidden []string
}

// served are the types, by the paths of their groups.
var served = map[string][]struct{ resource, kind string }{
	"/api/v1":       {{"configmaps", "ConfigMap"}, {"secrets", "Secret"}},
	"/apis/apps/v1": {{"deployments", "Deployment"}},
}

type fields = map[string]any

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	code, answer := a.answer(r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

func (a *api) answer(path string) (int, any) {
	apps := fields{"groupVersion": "apps/v1", "version": "v1"}
	switch path {
	case "/version":
		return http.StatusOK, fields{"gitVersion": "v1.36.3"}
	case "/api":
		return http.StatusOK, fields{"kind": "APIVersions", "versions": []string{"v1"}}
	case "/apis":
		return http.StatusOK, fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": []fields{
			{"name": "apps", "versions": []fields{apps}, "preferredVersion": apps},
		}}
	case "/api/v1/namespaces/kube-system":
		if slices.Contains(a.forbidden, "!namespaces") {
			return refusal(http.StatusForbidden, "Forbidden", "namespaces", "kube-system")
		}
		return http.StatusOK, fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": fields{"name": "kube-system", "uid": a.name, "resourceVersion": "1"}}
	}
	for group, types := range served {
		rest, below := strings.CutPrefix(path, group)
		if !below {
			continue
		}
		if rest == "" {
			return http.StatusOK, resources(group, types)
		}
		words := strings.Split(strings.Trim(rest, "/"), "/")
		namespace := ""
		if words[0] == "namespaces" && len(words) > 2 {
			namespace, words = words[1], words[2:]
		}
		for _, t := range types {
			if t.resource == words[0] {
				return a.read(t.resource, t.kind, namespace, words[1:])
			}
		}
	}
	return refusal(http.StatusNotFound, "NotFound", "", "")
}

func resources(group string, types []struct{ resource, kind string }) fields {
	var out []fields
	for _, t := range types {
		out = append(out, fields{
			"name": t.resource, "kind": t.kind, "singularName": strings.ToLower(t.kind), "namespaced": true,
			"verbs": []string{"delete", "get", "list", "patch", "watch"},
		})
	}
	version := strings.TrimPrefix(strings.TrimPrefix(group, "/apis/"), "/api/")
	return fields{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": out}
}

// read returns a list of a type, or the object of a name.
func (a *api) read(resource, kind, namespace string, name []string) (int, any) {
	if slices.Contains(a.forbidden, "!"+resource) {
		return refusal(http.StatusForbidden, "Forbidden", resource, "")
	}
	items := []any{}
	for _, o := range a.objects {
		if o.GetKind() != kind || namespace != "" && o.GetNamespace() != namespace {
			continue
		}
		if len(name) == 0 {
			items = append(items, o.Object)
		} else if o.GetName() == name[0] {
			return http.StatusOK, fields{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": o.Object["metadata"]}
		}
	}
	if len(name) > 0 {
		return refusal(http.StatusNotFound, "NotFound", resource, name[0])
	}
	return http.StatusOK, fields{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": fields{"resourceVersion": "9"}, "items": items}
}

func refusal(code int, reason, resource, name string) (int, any) {
	return code, fields{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
		"message": fmt.Sprintf("%s: %s %s", reason, resource, name), "details": fields{"name": name, "kind": resource},
	}
}
