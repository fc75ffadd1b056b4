package health

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Manager is the own server of a kube-controller-manager, where it serves metrics and the
// collector's graph.
type Manager struct {
	http *http.Client
	base string // URL without a slash at the end
}

// managerPort is the port of that server (--secure-port).
const managerPort = "10257"

// NewManager returns the server at an https URL. It authenticates with the credentials of the
// config, and trusts its certificate authority.
func NewManager(config *rest.Config, at string) (*Manager, error) {
	config = rest.CopyConfig(config)
	config.Host, config.ServerName = at, ""
	return newManager(config, at)
}

// ManagerBehindAPIServer returns the server of the Pod of a kube-controller-manager that holds the
// lease, reached through the API server's proxy. The error says why there is none.
func ManagerBehindAPIServer(ctx context.Context, config *rest.Config, c *client.Client, holder string) (*Manager, error) {
	if holder == "" {
		return nil, errors.New("nothing holds the lease of kube-controller-manager: --controller-manager names its server")
	}
	pods := snapshot.Type{Version: "v1", Resource: "pods", Kind: "Pod", Namespaced: true}
	type pod struct {
		Metadata metav1.ObjectMeta
		Spec     struct{ NodeName string }
	}
	found, err := client.ListWhole[pod](ctx, c, client.Query{Type: pods, Namespace: leaseNamespace}, metav1.ListOptions{LabelSelector: "component=kube-controller-manager"})
	if err != nil {
		return nil, err
	}
	at, path, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		// The holder of the lease is the name of the node, followed by a random UID.
		if node, _, _ := strings.Cut(holder, "_"); p.Spec.NodeName == node && snapshot.ValidName(p.Metadata.Name) {
			base := *at
			base.Path = strings.TrimSuffix(strings.TrimSuffix(at.Path, path), "/") + "/api/v1/namespaces/" + leaseNamespace + "/pods/https:" + p.Metadata.Name + ":" + managerPort + "/proxy"
			return newManager(config, base.String())
		}
	}
	return nil, fmt.Errorf("no Pod in namespace %s is the kube-controller-manager that holds the lease: --controller-manager names its server", leaseNamespace)
}

func newManager(config *rest.Config, base string) (*Manager, error) {
	if at, err := url.Parse(base); err != nil || at.Host == "" {
		return nil, fmt.Errorf("%q is not a URL", base)
	}
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	// Following a redirect would send the credentials to another server.
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Manager{h, strings.TrimSuffix(base, "/")}, nil
}

// maxManagerBytes limits an answer. The graph of a million objects has less than half of that.
const maxManagerBytes = 1 << 30

// lines calls each for every line of an answer.
func (m *Manager) lines(ctx context.Context, path string, each func(line string)) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.base+path, nil)
	if err != nil {
		return err
	}
	answer, err := m.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s of kube-controller-manager: %s", path, answer.Status)
	}
	limited := &io.LimitedReader{R: answer.Body, N: maxManagerBytes}
	in := bufio.NewScanner(limited)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		each(in.Text())
	}
	if limited.N <= 0 {
		return fmt.Errorf("GET %s of kube-controller-manager: the answer is longer than %d MiB", path, maxManagerBytes>>20)
	}
	return in.Err()
}

// Queue is a work queue of the garbage collector.
type Queue struct {
	Name  string
	Depth int // how many items wait
	// LongestSeconds is for how long the collector has worked on one item.
	LongestSeconds float64
}

// The queues of the garbage collector.
var queueNames = []string{"garbage_collector_attempt_to_delete", "garbage_collector_attempt_to_orphan", "garbage_collector_graph_changes"}

// Queues returns the collector's work queues, none if the kube-controller-manager has not started
// it.
func (m *Manager) Queues(ctx context.Context) ([]Queue, error) {
	metrics := map[string]float64{}
	err := m.lines(ctx, "/metrics", func(line string) {
		name, value, ok := strings.Cut(line, " ")
		if n, err := strconv.ParseFloat(value, 64); ok && err == nil {
			metrics[name] = n
		}
	})
	switch {
	case err != nil:
		return nil, err
	case len(metrics) == 0:
		return nil, errors.New("GET /metrics of kube-controller-manager: the answer has no metrics")
	}
	var out []Queue
	for _, name := range queueNames {
		label := `{name="` + name + `"}`
		if depth, known := metrics["workqueue_depth"+label]; known {
			out = append(out, Queue{name, int(depth), metrics["workqueue_longest_running_processor_seconds"+label]})
		}
	}
	return out, nil
}

// Graph returns the UIDs of the objects that the collector watches and that have owners or
// dependents. legacy is true for servers before 1.28, where the path was another.
func (m *Manager) Graph(ctx context.Context, legacy bool) (map[types.UID]bool, error) {
	path := "/debug/controllers/garbage-collector-controller/graph"
	if legacy {
		path = "/debug/controllers/garbagecollector/graph"
	}
	out, isGraph, missing := map[types.UID]bool{}, false, false
	var uid types.UID
	err := m.lines(ctx, path, func(line string) {
		isGraph = isGraph || strings.HasPrefix(line, "strict digraph")
		if quoted, ok := strings.CutPrefix(line, "    uid="); ok {
			name, _ := strconv.Unquote(quoted)
			uid = types.UID(name)
		}
		switch line { // the attributes of an object, in this order
		case `    missing="true"`, `    missing="false"`:
			missing = line == `    missing="true"`
		case `    virtual="false"`:
			if !missing {
				out[uid] = true
			}
		}
	})
	if err == nil && !isGraph {
		err = fmt.Errorf("GET %s of kube-controller-manager: the answer is not a graph", path)
	}
	return out, err
}
