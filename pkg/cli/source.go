package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/kubeconfig"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// source is where a command's one look comes from: a cluster, or a file.
type source struct {
	Streams
	config        *kubeconfig.Flags
	from          string
	allNamespaces bool
	strict        bool
	chunkSize     int64
	concurrency   int
	maxMemory     resource.QuantityValue
	connected     *cluster.Cluster // by connect, for all scans of the command
	said          *pflag.Flag      // --concurrency
	paged         *pflag.Flag      // --chunk-size
	color         color.Mode
	traffic       *cluster.Traffic
}

func newSource(s Streams) *source {
	return &source{Streams: s, config: kubeconfig.New("30s"), color: color.Auto, traffic: &cluster.Traffic{}, maxMemory: resource.QuantityValue{Quantity: *resource.NewQuantity(cluster.DefaultMaxMemory, resource.BinarySI)}}
}

// in is the same for another context, as one of several that are asked at once: it draws
// no progress of its own.
func (s *source) in(context string) *source {
	other := *s
	other.config = s.config.In(context)
	other.connected = nil
	other.ErrTerm = false
	return &other
}

// small is how many requests for one object, or in one namespace, are in flight unless
// --concurrency says otherwise: the server has little to do for one, and what they take
// is the way there and back.
const small = 32

// large is up to how many objects are asked for at once, of a type that has many.
const large = 50_000

// addConnectionFlags offers the flags that every command takes.
func (s *source) addConnectionFlags(flags *pflag.FlagSet) {
	s.config.Add(flags)
	flags.Lookup("namespace").Usage = "the namespace to scan"
	flags.Lookup("request-timeout").Usage = "time limit of one request to the server; 0 means no limit"
	flags.Int64Var(&s.chunkSize, "chunk-size", 5000, "how many objects to request per page; 0 requests all of a type at once; by default up to "+strconv.Itoa(large)+" where the server answers quickly")
	s.paged = flags.Lookup("chunk-size")
	flags.IntVar(&s.concurrency, "concurrency", 8, "how many requests to send in parallel; by default "+strconv.Itoa(small)+" where each request is for one object or one namespace")
	s.said = flags.Lookup("concurrency")
	flags.Var(&s.maxMemory, "max-memory", "memory limit for server responses, of a scan and of a backup")
	flags.Var(&s.color, "color", "colour the output: auto, always or never")
}

// addReadingFlags offers what every reading command takes.
func (s *source) addReadingFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.from, "from", "", "read this file instead of a cluster: a snapshot, or output of kubectl get -o json|yaml; - is standard input")
	flags.BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "scan all namespaces")
	flags.BoolVar(&s.strict, "strict", false, "exit with 3 if anything could not be read")
}

// leastMemory is how little memory the answers of a server can be read with.
const leastMemory = 64 << 20

// validate refuses flags that no look can obey.
func (s *source) validate() error {
	switch {
	case s.chunkSize < 0:
		return usagef("--chunk-size must not be negative")
	case s.concurrency < 1:
		return usagef("--concurrency must be at least 1")
	case s.maxMemory.Value() < leastMemory:
		return usagef("--max-memory must be at least 64Mi")
	case s.allNamespaces && s.config.Namespace() != "":
		return usagef("-n cannot be combined with -A")
	}
	_, err := s.timeout()
	return err
}

func (s *source) timeout() (time.Duration, error) {
	given := s.config.Timeout()
	if given == "0" || given == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(given)
	if err != nil || d < 0 {
		return 0, usagef("--request-timeout %s is not a duration: use for example 30s", quoted(given))
	}
	return d, nil
}

// scoped says what a look is to see, once the served types are known.
type scoped func([]snapshot.Type) (cluster.Scope, error)

// look takes the one look of a command; live is nil when it came from a file.
// scope is called for a file too, so that a word which names no type is refused
// either way.
func (s *source) look(ctx context.Context, scope scoped) (seen *snapshot.Snapshot, live *cluster.Cluster, err error) {
	if s.from != "" {
		if seen, err = s.load(); err != nil {
			return nil, nil, err
		}
		_, err = scope(seen.Types)
		return seen, nil, err
	}
	if live, err = s.connect(); err != nil {
		return nil, nil, err
	}
	world, err := live.Discover(ctx)
	if err != nil {
		return nil, nil, explained(err)
	}
	wanted, err := scope(world.Types)
	if err != nil {
		return nil, nil, err
	}
	seen, err = live.Look(ctx, world, wanted, s.Now)
	s.clearProgress()
	return seen, live, explained(err)
}

// whole is the scope of what looks at everything, or at all of the namespace
// that -n names; more says what is asked besides.
func (s *source) whole(more cluster.Scope) scoped {
	return func([]snapshot.Type) (cluster.Scope, error) {
		scope := more
		scope.Widen = cluster.WidenAll
		if ns := s.config.Namespace(); ns != "" {
			scope.Namespaces = []string{ns}
		}
		return scope, nil
	}
}

// inside keeps a pass to the namespace that -n names.
func (s *source) inside(g *graph.Graph) func(graph.Node) bool {
	namespace := s.config.Namespace()
	if namespace == "" {
		return nil
	}
	return func(n graph.Node) bool {
		o := g.Object(n)
		return o != nil && o.Namespace == namespace
	}
}

// selecting reads what -l says.
func selecting(given string) (labels.Selector, error) {
	selector, err := labels.Parse(given)
	if err != nil {
		return nil, usagef("--selector %s: %w", quoted(given), err)
	}
	return selector, nil
}

func (s *source) load() (*snapshot.Snapshot, error) {
	name, in := s.from, s.In
	if s.from == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(s.from)
		if err != nil {
			return nil, fmt.Errorf("read snapshot: %w", err)
		}
		defer f.Close()
		in = f
	}
	saved, err := snapshot.Load(in, s.Now())
	if err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", name, err)
	}
	if saved.UnknownField != "" {
		fmt.Fprintf(s.Err, "warning: snapshot %s has a field %q that this version does not know and ignores; another version wrote it\n",
			escape.Short(name, 200), escape.Short(saved.UnknownField, 200))
	}
	return saved, nil
}

// connect prepares a client; it asks nothing of the server yet. All scans of a command
// share it: what one of them saw, no later one may be older than.
func (s *source) connect() (*cluster.Cluster, error) {
	if s.connected != nil {
		return s.connected, nil
	}
	config, err := s.config.Config()
	if err != nil {
		return nil, withHint(fmt.Errorf("read the kubeconfig: %w", err), "choose a cluster with --kubeconfig, --context or KUBECONFIG, or read a file with --from")
	}
	timeout, err := s.timeout()
	if err != nil {
		return nil, err
	}
	options := cluster.Options{ChunkSize: s.chunkSize, Concurrency: s.concurrency, Timeout: timeout, Traffic: s.traffic, MaxMemory: s.maxMemory.Value()}
	if !s.said.Changed {
		options.Small = small
	}
	if !s.paged.Changed {
		options.Large = large
	}
	if s.ErrTerm {
		options.Progress = s.progress
	}
	s.connected, err = cluster.New(config, options)
	return s.connected, err
}

// explained adds to an error of a look what the user can do about it.
func explained(err error) error {
	if unreachable, ok := errors.AsType[*cluster.Unreachable](err); ok {
		if unreachable.Refused() {
			return withHint(err, "log in, or check your RBAC permissions: ClusterRole system:discovery permits this to all authenticated users")
		}
		return withHint(err, "check the context with kubectl config current-context, or read a file with --from")
	}
	if _, ok := errors.AsType[*cluster.MemoryError](err); ok {
		return withHint(err, "raise it with --max-memory, or scan one namespace with -n")
	}
	if _, ok := errors.AsType[*cluster.Blind](err); ok {
		return withHint(err, "if you have permissions in one namespace only, use -n; kubectl auth can-i --list shows what you may read")
	}
	return err
}

func (s *source) progress(p cluster.Progress) {
	fmt.Fprintf(s.Err, "\r\x1b[Klisted %d of %d types, %d objects", p.Done, p.Total, p.Objects)
}

func (s *source) clearProgress() {
	if s.ErrTerm && s.from == "" {
		fmt.Fprint(s.Err, "\r\x1b[K")
	}
}

// namespace is the one that -n names, else the context's, and whether -n did.
// A file knows no context: without -n, it is looked at whole.
func (s *source) namespace() (name string, named bool, err error) {
	if s.config.Namespace() != "" {
		return s.config.Namespace(), true, nil
	}
	if s.from != "" || s.allNamespaces {
		return "", false, nil
	}
	name, err = s.config.HomeNamespace()
	if err != nil {
		err = fmt.Errorf("read the kubeconfig: %w", err)
	}
	return name, false, err
}

func quoted(s string) string { return `"` + escape.Short(s, 200) + `"` }
