package script

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
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
	s := apiserver.New([]*apiserver.Type{apiserver.Namespaces, apiserver.ConfigMaps, apiserver.Secrets, apiserver.Deployments, apiserver.CRDs, apiserver.APIServices})
	s.Controllers = true
	system := apiserver.Namespaces.Object("", "kube-system")
	system.UID = types.UID(args[0])
	s.Add(system)
	kinds := map[string]*apiserver.Type{"ConfigMap": apiserver.ConfigMaps, "Secret": apiserver.Secrets, "Deployment": apiserver.Deployments}
	for _, item := range list.Items {
		o, err := apiserver.NewObject(kinds[item.GetKind()], item.Object)
		ts.Check(err)
		s.Add(o)
	}
	for _, forbidden := range args[2:] {
		resource := strings.TrimPrefix(forbidden, "!")
		s.Lie(func(r *http.Request) bool { return slices.Contains(strings.Split(r.URL.Path, "/"), resource) }, func(w http.ResponseWriter, r *http.Request) {
			apiserver.RespondError(w, r, apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", nil))
		})
	}
	server := httptest.NewServer(s)
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
