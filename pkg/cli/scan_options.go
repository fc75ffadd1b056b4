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

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/kubeconfig"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// ScanOptions is where a command's one look comes from: a cluster, or a file.
type ScanOptions struct {
	Streams
	Config        *kubeconfig.Flags
	From          string
	AllNamespaces bool
	Strict        bool
	chunkSize     int64
	concurrency   int
	maxMemory     resource.QuantityValue
	connected     *client.Client // by connect, for all scans of the command
	said          *pflag.Flag    // --concurrency
	paged         *pflag.Flag    // --chunk-size
	color         color.Mode
	traffic       *client.RequestStats
}

func NewScanOptions(s Streams) *ScanOptions {
	return &ScanOptions{Streams: s, Config: kubeconfig.New("30s"), color: color.Auto, traffic: &client.RequestStats{}, maxMemory: resource.QuantityValue{Quantity: *resource.NewQuantity(client.DefaultMaxMemory, resource.BinarySI)}}
}

// ForContext is the same for another context, as one of several that are asked at once: it draws
// no progress of its own.
func (s *ScanOptions) ForContext(context string) *ScanOptions {
	other := *s
	other.Config = s.Config.In(context)
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

// AddConnectionFlags offers the flags that every command takes.
func (s *ScanOptions) AddConnectionFlags(flags *pflag.FlagSet) {
	s.Config.Add(flags)
	flags.Lookup("namespace").Usage = "the namespace to scan"
	flags.Lookup("request-timeout").Usage = "time limit of one request to the server; 0 means no limit"
	flags.Int64Var(&s.chunkSize, "chunk-size", 5000, "how many objects to request per page; 0 requests all of a type at once; by default up to "+strconv.Itoa(large)+" where the server answers quickly")
	s.paged = flags.Lookup("chunk-size")
	flags.IntVar(&s.concurrency, "concurrency", 8, "how many requests to send in parallel; by default "+strconv.Itoa(small)+" where each request is for one object or one namespace")
	s.said = flags.Lookup("concurrency")
	flags.Var(&s.maxMemory, "max-memory", "memory limit for server responses, of a scan and of a backup")
	flags.Var(&s.color, "color", "colour the output: auto, always or never")
}

// AddReadingFlags offers what every reading command takes.
func (s *ScanOptions) AddReadingFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.From, "from", "", "read this file instead of a cluster: a snapshot, or output of kubectl get -o json|yaml; - is standard input")
	flags.BoolVarP(&s.AllNamespaces, "all-namespaces", "A", false, "scan all namespaces")
	flags.BoolVar(&s.Strict, "strict", false, "exit with 3 if anything could not be read")
}

// leastMemory is how little memory the answers of a server can be read with.
const leastMemory = 64 << 20

// Validate refuses flags that no look can obey.
func (s *ScanOptions) Validate() error {
	switch {
	case s.chunkSize < 0:
		return Usagef("--chunk-size must not be negative")
	case s.concurrency < 1:
		return Usagef("--concurrency must be at least 1")
	case s.maxMemory.Value() < leastMemory:
		return Usagef("--max-memory must be at least 64Mi")
	case s.AllNamespaces && s.Config.Namespace() != "":
		return Usagef("-n cannot be combined with -A")
	}
	_, err := s.requestTimeout()
	return err
}

func (s *ScanOptions) requestTimeout() (time.Duration, error) {
	given := s.Config.Timeout()
	if given == "0" || given == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(given)
	if err != nil || d < 0 {
		return 0, Usagef("--request-timeout %s is not a duration: use for example 30s", Quote(given))
	}
	return d, nil
}

// ScopeFunc says what a look is to see, once the served types are known.
type ScopeFunc func([]snapshot.Type) (scan.Scope, error)

// Scan takes the one look of a command; live is nil when it came from a file.
// scope is called for a file too, so that a word which names no type is refused
// either way.
func (s *ScanOptions) Scan(ctx context.Context, scope ScopeFunc) (seen *snapshot.Snapshot, live *client.Client, err error) {
	if s.From != "" {
		if seen, err = s.load(); err != nil {
			return nil, nil, err
		}
		_, err = scope(seen.Types)
		return seen, nil, err
	}
	if live, err = s.Connect(); err != nil {
		return nil, nil, err
	}
	world, err := discovery.Discover(ctx, live)
	if err != nil {
		return nil, nil, explained(err)
	}
	wanted, err := scope(world.Types)
	if err != nil {
		return nil, nil, err
	}
	seen, err = scan.Run(ctx, live, world, wanted, s.Now)
	s.clearProgress()
	return seen, live, explained(err)
}

// Everything is the scope of what looks at everything, or at all of the namespace
// that -n names; more says what is asked besides.
func (s *ScanOptions) Everything(more scan.Scope) ScopeFunc {
	return func([]snapshot.Type) (scan.Scope, error) {
		scope := more
		scope.Widen = scan.WidenAll
		if ns := s.Config.Namespace(); ns != "" {
			scope.Namespaces = []string{ns}
		}
		return scope, nil
	}
}

// InScope keeps a pass to the namespace that -n names.
func (s *ScanOptions) InScope(g *graph.Graph) func(graph.Node) bool {
	namespace := s.Config.Namespace()
	if namespace == "" {
		return nil
	}
	return func(n graph.Node) bool {
		o := g.Object(n)
		return o != nil && o.Namespace == namespace
	}
}

// ParseSelector reads what -l says.
func ParseSelector(given string) (labels.Selector, error) {
	selector, err := labels.Parse(given)
	if err != nil {
		return nil, Usagef("--selector %s: %w", Quote(given), err)
	}
	return selector, nil
}

func (s *ScanOptions) load() (*snapshot.Snapshot, error) {
	name, in := s.From, s.In
	if s.From == "-" {
		name = "standard input"
	} else {
		f, err := os.Open(s.From)
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

// Connect prepares a client; it asks nothing of the server yet. All scans of a command
// share it: what one of them saw, no later one may be older than.
func (s *ScanOptions) Connect() (*client.Client, error) {
	if s.connected != nil {
		return s.connected, nil
	}
	config, err := s.Config.Config()
	if err != nil {
		return nil, WithHint(fmt.Errorf("read the kubeconfig: %w", err), "choose a cluster with --kubeconfig, --context or KUBECONFIG, or read a file with --from")
	}
	timeout, err := s.requestTimeout()
	if err != nil {
		return nil, err
	}
	options := client.Options{ChunkSize: s.chunkSize, Concurrency: s.concurrency, Timeout: timeout, Stats: s.traffic, MaxMemory: s.maxMemory.Value()}
	if !s.said.Changed {
		options.SmallConcurrency = small
	}
	if !s.paged.Changed {
		options.MaxChunkSize = large
	}
	if s.ErrTerm {
		options.Progress = s.progress
	}
	s.connected, err = client.New(config, options)
	return s.connected, err
}

// explained adds to an error of a look what the user can do about it.
func explained(err error) error {
	if unreachable, ok := errors.AsType[*discovery.UnreachableError](err); ok {
		if unreachable.Refused() {
			return WithHint(err, "log in, or check your RBAC permissions: ClusterRole system:discovery permits this to all authenticated users")
		}
		return WithHint(err, "check the context with kubectl config current-context, or read a file with --from")
	}
	if _, ok := errors.AsType[*client.MemoryError](err); ok {
		return WithHint(err, "raise it with --max-memory, or scan one namespace with -n")
	}
	if _, ok := errors.AsType[*scan.NothingReadableError](err); ok {
		return WithHint(err, "if you have permissions in one namespace only, use -n; kubectl auth can-i --list shows what you may read")
	}
	return err
}

func (s *ScanOptions) progress(p client.Progress) {
	fmt.Fprintf(s.Err, "\r\x1b[Klisted %d of %d types, %d objects", p.Done, p.Total, p.Objects)
}

func (s *ScanOptions) clearProgress() {
	if s.ErrTerm && s.From == "" {
		fmt.Fprint(s.Err, "\r\x1b[K")
	}
}

// Namespace is the one that -n names, else the context's, and whether -n did.
// A file knows no context: without -n, it is looked at whole.
func (s *ScanOptions) Namespace() (name string, named bool, err error) {
	if s.Config.Namespace() != "" {
		return s.Config.Namespace(), true, nil
	}
	if s.From != "" || s.AllNamespaces {
		return "", false, nil
	}
	name, err = s.Config.HomeNamespace()
	if err != nil {
		err = fmt.Errorf("read the kubeconfig: %w", err)
	}
	return name, false, err
}

func Quote(s string) string { return `"` + escape.Short(s, 200) + `"` }
