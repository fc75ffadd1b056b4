package cmd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// api is an API server in memory.
type api struct{ *apiserver.Server }

// newAPI returns an API server with ConfigMaps in Namespace shop.
func newAPI(configMaps ...*apiserver.Object) api {
	s := api{apiserver.New([]*apiserver.Type{apiserver.Namespaces, apiserver.ConfigMaps, apiserver.CRDs, apiserver.APIServices, apiserver.AccessReviews})}
	s.Controllers = true
	s.Add(apiserver.Namespaces.Object("", "kube-system"))
	s.Add(apiserver.Namespaces.Object("", "shop"))
	for _, o := range configMaps {
		s.Add(o)
	}
	return s
}

// configMaps returns the number of ConfigMaps.
func (s api) configMaps() int {
	all, _ := s.List(apiserver.ConfigMaps.GroupVersionResource, "") // of a type that is served
	return len(all)
}

// configMap returns a ConfigMap with these owners, which do not exist.
func configMap(name string, owners ...string) *apiserver.Object {
	o := apiserver.ConfigMaps.Object("shop", name)
	for _, uid := range owners {
		o.OwnerReferences = append(o.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: types.UID(uid)})
	}
	return o
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
