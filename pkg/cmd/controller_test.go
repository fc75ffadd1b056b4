package cmd

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// TestControllerNeedsNoNetwork runs it in a bubble of package synctest, in which ten minutes of its life
// take no time.
func TestControllerNeedsNoNetwork(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	synctest.Test(t, func(t *testing.T) {
		leases := apiserver.Namespaced("coordination.k8s.io", "leases", "Lease")
		server := apiserver.New([]*apiserver.Type{apiserver.Namespaces, apiserver.CRDs, apiserver.APIServices, apiserver.ConfigMaps, leases})
		server.Clock = time.Now
		server.Add(apiserver.Namespaces.Object("", "kube-system"))
		server.Add(apiserver.Namespaces.Object("", "shop"))
		time.AfterFunc(5*time.Minute, func() {
			orphan := apiserver.ConfigMaps.Object("shop", "orphan")
			orphan.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "gone", UID: "7"}}
			server.Add(orphan)
		})
		var out, said bytes.Buffer
		s := streams(&out, &said)
		s.Transport = apiserver.Transport(server)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		code := Main(ctx, []string{"controller", "--yes", "--server=http://memory", "--no-backup"}, s)
		left, err := server.List(apiserver.ConfigMaps.GroupVersionResource, "shop")
		if code != cli.ExitInterrupted || err != nil || len(left) > 0 {
			t.Errorf("it exits with %d and leaves %v (%v): %s%s", code, left, err, &out, &said)
		}
	})
}
