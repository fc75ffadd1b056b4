package health

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
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

// CheckManagerURL returns an error, which does not quote the URL, unless the URL can be that of a
// server: credentials in it would be printed and sent.
func CheckManagerURL(at string) error {
	u, err := url.Parse(at)
	switch {
	case err != nil || u.Host == "":
		return errors.New("is not a URL")
	case u.Scheme != "https":
		return errors.New("must begin with https://")
	case u.User != nil:
		return errors.New("must not contain a user or password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("must not contain a query or fragment")
	}
	return nil
}

// NewManager returns the server at a URL that CheckManagerURL accepts. It authenticates with the
// credentials of the config, after it has verified the server's certificate against the config's
// certificate authority, or if there is none, against those of the system. That the config does not
// verify the certificate of the API server does not matter: it says nothing about another server.
func NewManager(config *rest.Config, at string) (*Manager, error) {
	config = rest.CopyConfig(config)
	config.Host, config.ServerName, config.Insecure = at, "", false
	return newManager(config, at)
}

// ManagerBehindAPIServer returns the server of the Pod of a kube-controller-manager that holds the
// lease, reached through the API server's proxy. The error says why there is none.
func ManagerBehindAPIServer(ctx context.Context, config *rest.Config, c *client.Client, holder string) (*Manager, error) {
	if holder == "" {
		return nil, errors.New("no kube-controller-manager holds the lease: name its URL with --controller-manager")
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
	return nil, fmt.Errorf("no Pod in namespace %s is the kube-controller-manager that holds the lease: name its URL with --controller-manager", leaseNamespace)
}

func newManager(config *rest.Config, base string) (*Manager, error) {
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	// Following a redirect would send the credentials to another server.
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Manager{h, strings.TrimSuffix(base, "/")}, nil
}

// Limits of an answer. Metrics have a few MiB, the graph of a million objects less than half of its
// limit.
const (
	maxMetricsBytes = 64 << 20
	maxGraphBytes   = 1 << 30
	managerTimeout  = time.Minute
)

// lines calls each for every line of an answer, which must not be longer than most bytes. The line
// is only valid during the call.
func (m *Manager) lines(ctx context.Context, path string, most int64, each func(line []byte)) error {
	ctx, cancel := context.WithTimeout(ctx, managerTimeout)
	defer cancel()
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
	limited := &io.LimitedReader{R: answer.Body, N: most}
	in := bufio.NewScanner(limited)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		each(in.Bytes())
	}
	if limited.N <= 0 {
		return fmt.Errorf("GET %s of kube-controller-manager: the answer is longer than %d MiB", path, most>>20)
	}
	return in.Err()
}

// The queues of the garbage collector.
var queueNames = []string{"garbage_collector_attempt_to_delete", "garbage_collector_attempt_to_orphan", "garbage_collector_graph_changes"}

// Queues returns the collector's work queues, none if the kube-controller-manager has not started
// it.
func (m *Manager) Queues(ctx context.Context) ([]reason.Queue, error) {
	wanted := map[string]float64{}
	for _, name := range queueNames {
		wanted[depthOf(name)], wanted[longestOf(name)] = math.NaN(), math.NaN()
	}
	found := false
	err := m.lines(ctx, "/metrics", maxMetricsBytes, func(line []byte) {
		name, text, ok := bytes.Cut(line, []byte(" "))
		value, err := strconv.ParseFloat(string(text), 64)
		if !ok || err != nil {
			return
		}
		found = true
		if _, ok := wanted[string(name)]; ok {
			wanted[string(name)] = value
		}
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, errors.New("GET /metrics of kube-controller-manager: the answer has no metrics")
	}
	var out []reason.Queue
	for _, name := range queueNames {
		if depth := wanted[depthOf(name)]; !math.IsNaN(depth) {
			longest := wanted[longestOf(name)]
			if math.IsNaN(longest) {
				longest = 0
			}
			out = append(out, reason.Queue{Name: name, Depth: int(depth), LongestSeconds: longest})
		}
	}
	return out, nil
}

func depthOf(queue string) string { return `workqueue_depth{name="` + queue + `"}` }

func longestOf(queue string) string {
	return `workqueue_longest_running_processor_seconds{name="` + queue + `"}`
}

// Graph returns which of the wanted UIDs are those of objects that the collector watches and that
// have owners or dependents.
func (m *Manager) Graph(ctx context.Context, wanted func(types.UID) bool) (map[types.UID]bool, error) {
	const path = "/debug/controllers/garbage-collector-controller/graph"
	out, isGraph, missing := map[types.UID]bool{}, false, false
	var uid types.UID
	err := m.lines(ctx, path, maxGraphBytes, func(line []byte) {
		isGraph = isGraph || bytes.HasPrefix(line, []byte("strict digraph"))
		if quoted, ok := bytes.CutPrefix(line, []byte("    uid=")); ok {
			name, _ := strconv.Unquote(string(quoted))
			uid = types.UID(name)
		}
		switch string(line) { // the attributes of an object, in this order
		case `    missing="true"`, `    missing="false"`:
			missing = string(line) == `    missing="true"`
		case `    virtual="false"`:
			if !missing && wanted(uid) {
				out[uid] = true
			}
		}
	})
	if err == nil && !isGraph {
		err = fmt.Errorf("GET %s of kube-controller-manager: the answer is not a graph", path)
	}
	return out, err
}
