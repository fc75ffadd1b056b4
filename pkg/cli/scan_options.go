package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-gc/kubectl-gc/docs/demo"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/discovery"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/read"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/input"
	"github.com/kubectl-gc/kubectl-gc/pkg/kubeconfig"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// ScanOptions are what a command scans, a cluster or a file, and how.
type ScanOptions struct {
	Streams
	Config        *kubeconfig.Flags
	From          string // a file, or demoFile; empty for a cluster
	AllNamespaces bool
	Strict        bool
	demo          bool // of --demo; From is demoFile then, unless --from is given, too
	complete      bool // all objects of the types in From are in it
	NeedsCluster  bool // --from cannot be used, so no hint names it
	// NamespaceMayBeMissing means that the command does without the namespace of -n or of the
	// context, or requires it by itself.
	NamespaceMayBeMissing bool
	chunkSize             int64
	concurrency           int
	maxMemory             resource.QuantityValue
	context               string         // one of several; else empty
	connected             *client.Client // by Connect, for all scans of the command
	flags                 *pflag.FlagSet
	color                 color.Choice
	scanned               bool               // by Scan
	file                  *snapshot.Snapshot // that Types has read, for the next scan
	discovered            *discovery.Catalog // the same of a cluster
}

// demoFile stands for the embedded demo cluster in ScanOptions.From. It is the flag that selects it.
const demoFile = "--demo"

// NewScanOptions returns the options of a command line with these streams. What it prints on Err is
// for a person, so it is broken into lines that fit the terminal.
func NewScanOptions(s Streams) *ScanOptions {
	s.Err = wrap.NewWriter(s.Err, s.ErrWidth)
	return &ScanOptions{Streams: s, Config: kubeconfig.New("30s"), color: color.Auto, maxMemory: resource.QuantityValue{Quantity: *resource.NewQuantity(client.DefaultMaxMemory, resource.BinarySI)}}
}

// ForContext returns the same options for another context, one of several that are scanned
// at once: it prints no progress.
func (s *ScanOptions) ForContext(context string) *ScanOptions {
	other := *s
	other.Config, other.context = s.Config.ForContext(context), context
	other.connected = nil
	other.ErrTerm = false
	return &other
}

// smallConcurrency is how many requests for one object or one namespace are in flight
// unless --concurrency is given. They cost the server little; most of their time is latency.
const smallConcurrency = 32

// addConnectionFlags adds the flags that all commands have.
func (s *ScanOptions) addConnectionFlags(root *cobra.Command) {
	flags := root.PersistentFlags()
	s.flags = flags
	s.Config.AddFlags(flags)
	flags.Lookup("namespace").Usage = "Namespace to work in."
	flags.Lookup("request-timeout").Usage = "Time limit of one request to the server; 0 means no limit."
	flags.Int64Var(&s.chunkSize, "chunk-size", client.DefaultChunkSize, "Objects per page of a list; 0 means no pages. The default depends on the server.")
	flags.Lookup("chunk-size").DefValue = "0" // shown as no default
	flags.IntVar(&s.concurrency, "concurrency", 8, "Requests in parallel; by default "+strconv.Itoa(smallConcurrency)+" where each is for a single object.")
	flags.Var(&s.maxMemory, "max-memory", "Memory limit for what is read from the server and from files.")
	MarkAdvanced(flags, "cache-dir", "chunk-size", "concurrency", "max-memory")
	flags.Var(&s.color, "color", "Color the output: auto, always or never.")

	CompleteFlag(root, "color", CompleteOne(string(color.Auto)+"\ton a terminal, unless NO_COLOR is set", string(color.Always), string(color.Never)))
	CompleteFlag(root, "namespace", s.CompleteNamespaces)
	CompleteFlag(root, "context", completeFromConfig(func() ([]string, error) { all, _, err := s.Config.Contexts(); return all, err }))
	CompleteFlag(root, "cluster", completeFromConfig(s.Config.Clusters))
	CompleteFlag(root, "user", completeFromConfig(s.Config.Users))
	for _, file := range []string{"kubeconfig", "certificate-authority", "client-certificate", "client-key"} {
		CompleteFlag(root, file, CompleteFiles())
	}
	CompleteFlag(root, "cache-dir", CompleteFolders)
}

// AddReadingFlags adds the flags of every command that can read a file instead of a cluster.
func (s *ScanOptions) AddReadingFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.Var(demoFlag{s}, "demo", "Read a demo cluster that is part of this tool, instead of yours.")
	flags.Lookup("demo").NoOptDefVal = "true"
	flags.StringVar(&s.From, "from", "", "Read a snapshot or kubectl output from a file or folder; - is stdin.")
	flags.BoolVar(&s.complete, "complete", false, "The --from file is complete: an owner that it lacks does not exist.")
	flags.BoolVarP(&s.AllNamespaces, "all-namespaces", "A", false, "Scan all namespaces.")
	flags.BoolVar(&s.Strict, "strict", false, "Exit with 3 if anything could not be read.")
	CompleteFlag(cmd, "from", CompleteDocuments)
}

// demoFlag is the value of --demo.
type demoFlag struct{ scan *ScanOptions }

func (d demoFlag) String() string { return strconv.FormatBool(d.scan != nil && d.scan.demo) }
func (d demoFlag) Type() string   { return "bool" }
func (d demoFlag) Set(given string) (err error) {
	if d.scan.demo, err = strconv.ParseBool(given); d.scan.demo && d.scan.From == "" {
		d.scan.From = demoFile
	}
	return err
}

// minMemory is the least memory with which server responses can be read.
const minMemory = 64 << 20

// Validate returns an error if the flags rule out any scan.
func (s *ScanOptions) Validate() error {
	_, timeoutErr := s.RequestTimeout()
	return cmp.Or(
		UsageIf(s.concurrency < 1, "--concurrency must be at least 1"),
		UsageIf(s.maxMemory.Value() < minMemory, "--max-memory must be at least 64Mi"),
		UsageIf(s.demo && s.From != demoFile, "--demo cannot be combined with --from"),
		UsageIf(s.complete && (s.From == "" || s.demo), "--complete works only with --from"),
		UsageIf(s.AllNamespaces && s.Config.Namespace() != "", "-n cannot be combined with -A"),
		CheckNamespaceName("namespace", s.Config.Namespace()),
		timeoutErr,
	)
}

// RequestTimeout returns the time limit of --request-timeout, as kubectl reads it: a number without a unit is seconds; 0 for none.
func (s *ScanOptions) RequestTimeout() (time.Duration, error) {
	d, err := s.Config.Timeout()
	if err != nil || d < 0 {
		return 0, Usagef("--request-timeout %s: must be a duration such as 30s, or a number of seconds; 0 for no limit", Quote(s.Config.GivenTimeout()))
	}
	return d, nil
}

// Types returns the types that the cluster serves, or that the file of --from has. The next scan
// does not read them again.
func (s *ScanOptions) Types(ctx context.Context) ([]snapshot.Type, error) {
	if s.From != "" {
		seen, err := s.load()
		if err != nil {
			return nil, err
		}
		s.file = seen
		return seen.Types, nil
	}
	live, err := s.Connect()
	if err != nil {
		return nil, err
	}
	if s.discovered, err = discovery.Discover(ctx, live); err != nil {
		return nil, s.withScanHint(err)
	}
	return s.discovered.Types, nil
}

// Scan does what ScanMetadata does, and reads from a cluster what uses the objects that are being deleted.
func (s *ScanOptions) Scan(ctx context.Context, scope scan.Scope) (seen *snapshot.Snapshot, live *client.Client, err error) {
	if seen, live, err = s.ScanMetadata(ctx, scope); err == nil && live != nil {
		seen, err = read.MarkUsers(ctx, live, seen)
	}
	return seen, live, err
}

// ScanMetadata scans the cluster, or reads the file of --from; then live is nil. The first scan of a
// command is an error if the namespace that it is limited to does not exist; it may go during a run.
func (s *ScanOptions) ScanMetadata(ctx context.Context, scope scan.Scope) (seen *snapshot.Snapshot, live *client.Client, err error) {
	if seen, live, err = s.read(ctx, scope); err != nil {
		return nil, nil, err
	}
	if !s.scanned && !s.NamespaceMayBeMissing {
		err = s.requireScanned(ctx, scope, seen, live)
	}
	s.scanned = true
	return seen, live, err
}

// read makes one scan, or reads the file.
func (s *ScanOptions) read(ctx context.Context, scope scan.Scope) (seen *snapshot.Snapshot, live *client.Client, err error) {
	file, discovered := s.file, s.discovered
	s.file, s.discovered = nil, nil
	switch {
	case file != nil:
		return file, nil, nil
	case s.From != "":
		seen, err = s.load()
		return seen, nil, err
	}
	if live, err = s.Connect(); err != nil {
		return nil, nil, err
	}
	seen, err = scan.Cluster(ctx, live, discovered, scope, s.Now)
	s.Progress("")
	return seen, live, s.withScanHint(err)
}

// StrictExit returns the exit code of --strict for an incomplete scan, and nil otherwise.
func (s *ScanOptions) StrictExit(seen *snapshot.Snapshot) error {
	if s.Strict && !seen.Complete() {
		return ExitError(ExitIncomplete)
	}
	return nil
}

// Everything returns the scope of a command that scans the whole cluster, or all of the
// namespace of -n, in addition to the scope more.
func (s *ScanOptions) Everything(more scan.Scope) scan.Scope {
	more.Widen = scan.WidenAll
	if ns := s.Config.Namespace(); ns != "" {
		more.Namespaces = []string{ns}
	}
	return more
}

// InScope returns a filter for the namespace of -n, or nil without -n.
func (s *ScanOptions) InScope(g *graph.Graph) func(graph.Node) bool {
	namespace := s.Config.Namespace()
	if namespace == "" {
		return nil
	}
	in := graph.NewSet(g)
	for n := graph.Node(0); int(n) < g.Len(); n++ {
		if o := g.Object(n); o != nil && o.Namespace == namespace {
			in.Add(n)
		}
	}
	return in.Has
}

// fileCost is how many times its length a file takes while it is read: the bytes, the documents cut from
// them, and the decoded values.
const fileCost = 4

// MaxFileBytes returns how much of a file may be read, unpacked, within --max-memory.
func (s *ScanOptions) MaxFileBytes() int64 { return s.maxMemory.Value() / fileCost }

// WithFileHint adds to an error of reading a file what the user can do about it.
func WithFileHint(err error) error {
	if _, ok := errors.AsType[*input.TooLongError](err); ok {
		return WithHint(err, "if it is the right file, raise --max-memory: a file may have a quarter of that")
	}
	return err
}

func (s *ScanOptions) load() (*snapshot.Snapshot, error) {
	name := s.From
	if name == "-" {
		name = "standard input"
	}
	saved, err := s.open()
	if errors.Is(err, snapshot.ErrKnowsComplete) {
		return nil, Usagef("--complete is for files that kubectl wrote: %w", err)
	}
	if err != nil {
		return nil, WithFileHint(fmt.Errorf("read snapshot %s: %w", name, err))
	}
	if saved.UnknownField != "" {
		fmt.Fprintf(s.Err, "warning: snapshot %s has a field %q that this version does not know and ignores; another version wrote it\n",
			escape.Short(name, 200), escape.Short(saved.UnknownField, 200))
	}
	if saved.LeftOut > 0 {
		fmt.Fprintf(s.Err, "warning: left out %s of %s that kubectl did not read from a cluster. The first: %s\n",
			wording.Count(saved.LeftOut, "part"), escape.Short(name, 200), escape.Short(saved.FirstLeftOut.Error(), 200))
	}
	return saved, nil
}

func loadDemo(now time.Time) (*snapshot.Snapshot, error) {
	return snapshot.Load(bytes.NewReader(demo.Cluster), now, minMemory, false)
}

// open reads the file or the folder of --from.
func (s *ScanOptions) open() (*snapshot.Snapshot, error) {
	switch s.From {
	case "-":
		return snapshot.Load(s.In, s.Now(), s.MaxFileBytes(), s.complete)
	case demoFile:
		return loadDemo(s.Now())
	}
	if info, err := os.Stat(s.From); err == nil && info.IsDir() {
		folder, err := os.OpenRoot(s.From) // no link in it leads out of it
		if err != nil {
			return nil, errors.Unwrap(err) // the caller names the file
		}
		defer folder.Close()
		return snapshot.LoadFolder(folder.FS(), s.Now(), s.MaxFileBytes(), s.complete)
	}
	f, err := os.Open(s.From)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer f.Close()
	return snapshot.Load(f, s.Now(), s.MaxFileBytes(), s.complete)
}

// Connect returns the client of this command, without sending a request. All scans share
// it, so that none reads an older state than an earlier one.
func (s *ScanOptions) Connect() (*client.Client, error) {
	if s.connected != nil {
		return s.connected, nil
	}
	config, err := s.Config.Config()
	if err != nil {
		return nil, s.kubeconfigError(err)
	}
	config.Transport = s.Transport
	timeout, err := s.RequestTimeout()
	if err != nil {
		return nil, err
	}
	options := client.Config{ChunkSize: s.chunkSize, Concurrency: s.concurrency, Timeout: timeout, MaxMemory: s.maxMemory.Value()}
	if !s.flags.Changed("concurrency") {
		options.SmallConcurrency = smallConcurrency
	}
	if !s.flags.Changed("chunk-size") {
		options.ChooseChunkSize = true
	}
	if s.ErrTerm {
		options.Progress = func(p client.ScanProgress) {
			s.Progress("listed %d of %d types, %d objects", p.Done, p.Total, p.Objects)
		}
	}
	if s.connected, err = client.New(config, options); err != nil {
		return nil, WithHint(err, "check the certificates of the kubeconfig, and flags such as --certificate-authority")
	}
	return s.connected, nil
}

// kubeconfigError returns the error of a kubeconfig that gives no cluster.
func (s *ScanOptions) kubeconfigError(err error) error {
	known, context, listErr := s.Config.Contexts()
	if listErr == nil && context != "" && !slices.Contains(known, context) {
		err = fmt.Errorf("it has no context %s%s", Quote(context), DidYouMean(Nearest(context, known)))
	}
	if file, _, typeless := strings.Cut(err.Error(), ": couldn't get version/kind"); typeless { // what follows names types of Go
		err = fmt.Errorf("%s: it has no apiVersion and kind", file)
	}
	return WithHint(fmt.Errorf("read the kubeconfig: %w", err), "choose a cluster with --kubeconfig, --context or KUBECONFIG"+s.orFile())
}

// Source returns what is read, as a noun.
func (s *ScanOptions) Source() string {
	switch s.From {
	case "":
		return "server"
	case demoFile:
		return "demo cluster"
	}
	return "file"
}

// FileName returns how messages name the file, without its folder: "demo" for the demo cluster, and empty for
// a cluster and standard input.
func (s *ScanOptions) FileName() string {
	switch s.From {
	case "", "-":
		return ""
	case demoFile:
		return "demo"
	}
	return filepath.Base(s.From)
}

// fromWords returns the flags of this command line that choose a file; none for a cluster.
func (s *ScanOptions) fromWords() []string {
	switch {
	case s.From == "":
		return nil
	case s.From == demoFile:
		return []string{demoFile}
	case s.complete:
		return []string{"--from", s.From, "--complete"}
	}
	return []string{"--from", s.From}
}

// orFile returns what a hint adds for a command that can read a file.
func (s *ScanOptions) orFile() string {
	if s.NeedsCluster {
		return ""
	}
	return ", read a file with --from, or try --demo"
}

// withScanHint adds to an error of a scan what the user can do about it.
func (s *ScanOptions) withScanHint(err error) error {
	if unreachable, ok := errors.AsType[*discovery.UnreachableError](err); ok {
		context, _, _ := s.Config.Target()
		switch {
		case unreachable.LoggedOut():
			return WithHint(err, "log in as for kubectl: your token or certificate may have expired")
		case unreachable.Refused():
			return WithHint(err, "log in, or check your RBAC permissions: ClusterRole system:discovery permits this to all authenticated users")
		case unreachable.Untrusted():
			return WithHint(err, "check the server's name, and certificate-authority-data of its cluster in the kubeconfig")
		case strings.HasPrefix(unreachable.Server, "http://") && unreachable.Answered():
			return WithHint(err, "use https:// in the address of the server")
		case context == "":
			return WithHint(err, "check the address of the server"+s.orFile())
		}
		return WithHint(err, "check the context"+s.orFile()+"; to see which it is: "+s.SuggestKubectl("config", "current-context"))
	}
	if _, ok := errors.AsType[*client.MemoryError](err); ok {
		return WithHint(err, "raise it with --max-memory, or scan one namespace with -n")
	}
	if _, ok := errors.AsType[*scan.NothingReadableError](err); ok {
		hint := "what you may read: " + s.SuggestKubectl("auth", "can-i", "--list", "-n", s.Config.Namespace())
		if s.Config.Namespace() == "" {
			hint = "if you have permissions in one namespace only, use -n; " + hint
		}
		return WithHint(err, hint)
	}
	return err
}

// Namespace returns the namespace of -n, which is then named, or else of the context. It
// returns "" for -A, and for a file, which has no context.
func (s *ScanOptions) Namespace() (name string, named bool, err error) {
	if s.Config.Namespace() != "" {
		return s.Config.Namespace(), true, nil
	}
	if s.From != "" || s.AllNamespaces {
		return "", false, nil
	}
	name, err = s.Config.CurrentNamespace()
	if err != nil {
		err = s.kubeconfigError(err)
	}
	return name, false, err
}
