package read

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/clustertest"
)

// A Pod has a log where a kubelet runs it, which no control plane of the tests has.
func TestManagerLogsReadsThePodsThatKubeadmMakes(t *testing.T) {
	c := clustertest.Connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.RequestURI() {
		case "/api/v1/namespaces/kube-system/pods?labelSelector=component%3Dkube-controller-manager":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"manager-1"}},{"metadata":{"name":"manager-2"}},{"metadata":{"name":"manager-3"}}]}`)
		case "/api/v1/namespaces/kube-system/pods/manager-2/log?timestamps=true":
			http.Error(w, "not yet", http.StatusForbidden)
		case "/api/v1/namespaces/kube-system/pods/manager-1/log?timestamps=true", "/api/v1/namespaces/kube-system/pods/manager-3/log?timestamps=true":
			fmt.Fprint(w, "2026-11-20T08:00:00Z I1120 ...")
		default:
			t.Errorf("asked for %s", r.URL.RequestURI())
		}
	}), client.Config{Timeout: time.Minute})
	var got []string
	err := ManagerLogs(t.Context(), c, func(pod string, log io.Reader) error {
		text, err := io.ReadAll(log)
		got = append(got, pod+": "+string(text))
		return err
	})
	if want := []string{"manager-1: 2026-11-20T08:00:00Z I1120 ...", "manager-3: 2026-11-20T08:00:00Z I1120 ..."}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if err == nil || !strings.HasPrefix(err.Error(), `read the log of Pod "manager-2" in kube-system: `) {
		t.Errorf("got %v", err)
	}
}
