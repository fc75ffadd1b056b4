package cli

import (
	"cmp"
	"regexp"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MutatingOptions are the options of every command that changes something.
type MutatingOptions struct {
	Scan         *ScanOptions
	Output       *OutputFlags
	DryRun       string
	Yes          bool
	NoBackup     bool
	AcceptedGaps snapshot.AcceptedGaps // of --accept-gap
	confirm      string
	MaxDeletes   int // of a run that asks nobody
	allowInUse   bool
	// askAsControllers asks admission as the controllers of Kubernetes, which needs the right to impersonate them.
	askAsControllers bool
	backupDir        string
	runTimeout       time.Duration
	rate             rate

	command string         // its name
	given   *pflag.FlagSet // the command line, for rerunCommand
	args    []string
	writers int // how many writes are in flight; 0: as --concurrency says
}

// wide is the format for a person who wants to see every line of a plan.
const wide = "wide"

// jsonLines is the format in which events are written as they happen.
const jsonLines = "jsonl"

func NewMutatingOptions(command string, scan *ScanOptions) *MutatingOptions {
	return &MutatingOptions{Scan: scan, Output: NewOutputFlags("table", wide, jsonLines), DryRun: DryRunNone, command: command}
}

// The values of --dry-run.
const (
	DryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

var dryRunChoices = Choices{
	DryRunNone + "\trun",
	dryRunClient + "\tshow the plan",
	dryRunServer + "\tshow the plan, and ask the API server whether it would accept each step",
}

// AddFlags adds the flags of a command that deletes or changes objects.
func (o *MutatingOptions) AddFlags(cmd *cobra.Command) {
	o.AddFlagsWithoutBackup(cmd)
	o.addBackupFlags(cmd)
}

// AddFlagsWithoutBackup adds the flags of a command that needs no backup.
func (o *MutatingOptions) AddFlagsWithoutBackup(cmd *cobra.Command) {
	o.Scan.AddReadingFlags(cmd)
	o.Output.AddFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.DryRun, "dry-run", DryRunNone, "Only preview; server also asks the API server about each request of the run.")
	dryRun := flags.Lookup("dry-run")
	dryRun.NoOptDefVal, dryRun.DefValue = dryRunClient, "" // shown as no default
	flags.StringVar(&o.confirm, "confirm", "", "Proceed without asking, only if the plan has this digest.")
	flags.DurationVar(&o.runTimeout, "timeout", 10*time.Minute, "Time limit of the run, and again of the scan after it; 0 means no limit.")
	CompleteFlag(cmd, "dry-run", CompleteOne(dryRunChoices...))
	o.addRunFlags(cmd)
}

// ServiceFormats are the formats of AddServiceFlags.
var ServiceFormats = Choices{"table", jsonLines}

// AddServiceFlags adds the flags of a command that deletes until it is interrupted, and asks nobody.
func (o *MutatingOptions) AddServiceFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&o.Scan.AllNamespaces, "all-namespaces", "A", false, "Collect in all namespaces, which is the default.")
	flags.StringVarP(&o.Output.Format, "output", "o", ServiceFormats[0], "Format of each step: table or jsonl.")
	CompleteFlag(cmd, "output", CompleteOne(ServiceFormats...))
	o.addRunFlags(cmd)
	o.addBackupFlags(cmd)
}

func (o *MutatingOptions) addRunFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&o.Yes, "yes", "y", false, "Proceed without asking.")
	flags.Var(&o.rate, "rate", "Send at most this many writes per second, such as 50/s.")
	MarkAdvanced(flags, "rate")
	CompleteFlag(cmd, "rate", CompleteOne(rates...))
}

// AddInUseFlag adds the flag without which no run takes away what is in use.
func (o *MutatingOptions) AddInUseFlag(flags *pflag.FlagSet) {
	flags.BoolVar(&o.allowInUse, "allow-in-use", false, "Also take away what something still uses, or may use: its users lose it.")
}

// AddAskFlag adds the flag by which the dry runs about what controllers delete are sent as them.
func (o *MutatingOptions) AddAskFlag(flags *pflag.FlagSet) {
	flags.BoolVar(&o.askAsControllers, "ask-as-controllers", false, "Ask admission as the controllers that do the rest; needs the right to impersonate.")
	MarkAdvanced(flags, "ask-as-controllers")
}

// AddMaxDeletesFlag adds the flag that limits how many objects are deleted without a prompt.
func (o *MutatingOptions) AddMaxDeletesFlag(flags *pflag.FlagSet) {
	flags.IntVar(&o.MaxDeletes, "max-deletes", 1000, "Refuse to delete more objects than this without a prompt; 0 refuses any.")
}

func (o *MutatingOptions) addBackupFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.backupDir, "backup-dir", "", "Folder for backups (default: ~/.kube/gc-backup/CONTEXT).")
	flags.BoolVar(&o.NoBackup, "no-backup", false, "Do not back up what is deleted or changed.")
	MarkAdvanced(flags, "backup-dir")
	CompleteFlag(cmd, "backup-dir", CompleteFolders)
}

// defaultWriters is how many writes are in flight unless --concurrency is given. Upstream's
// garbage collector has 20 workers (--concurrent-gc-syncs). With more, the API server
// spends less on each write (docs/requests.md), and it queues or rejects what is
// too much for it.
const defaultWriters = 64

var digestFormat = regexp.MustCompile(`^[0-9a-f]{16}$`)

// Complete records and validates the command line, before any request to a cluster.
func (o *MutatingOptions) Complete(cmd *cobra.Command, args []string) error {
	o.given, o.args = cmd.Flags(), args
	if !o.given.Changed("concurrency") {
		o.writers = defaultWriters
	}
	return cmp.Or(
		o.Scan.Validate(),
		dryRunChoices.Check("dry-run", o.DryRun),
		UsageIf(o.confirm != "" && !digestFormat.MatchString(o.confirm),
			"--confirm %s is not a digest: use the 16 hexadecimal digits that a preview shows", Quote(o.confirm)),
		UsageIf(o.NoBackup && o.backupDir != "", "--backup-dir cannot be combined with --no-backup"),
		UsageIf(o.Scan.From != "" && o.DryRun == dryRunServer, "--dry-run=server needs a cluster: use --dry-run"),
		UsageIf(o.Scan.demo && o.DryRun != dryRunClient, "the demo cluster can only be previewed: add --dry-run"),
		UsageIf(o.Scan.From != "" && o.DryRun != dryRunClient, "a snapshot can only be previewed: add --dry-run"),
		o.Output.Complete(&o.Scan.Streams),
		UsageIf(o.Output.Format == jsonLines && o.DryRun == dryRunClient, "-o jsonl cannot be combined with --dry-run=client"),
		o.validateAcceptedGaps(),
	)
}

// ForPerson reports whether the output is for a person, not for a program.
func (o *MutatingOptions) ForPerson() bool {
	return o.Output.Format == "table" || o.Output.Format == wide
}

// JSONLines reports whether events are written as lines of JSON.
func (o *MutatingOptions) JSONLines() bool { return o.Output.Format == jsonLines }

// ExecuteOptions returns how many writes may be in flight, and how fast they may follow each other.
func (o *MutatingOptions) ExecuteOptions() execute.Tuning {
	out := execute.Tuning{Concurrency: cmp.Or(o.writers, o.Scan.concurrency), Pace: o.rate.pace()}
	if out.Pace != nil { // a step that is ready to write waits for a second at most
		out.Concurrency = min(out.Concurrency, int(o.rate))
	}
	return out
}

// Mutates reports whether the command changes anything: it is not a dry run.
func (o *MutatingOptions) Mutates() bool { return o.DryRun == DryRunNone }

// Prompts reports whether the user is asked before anything is changed.
func (o *MutatingOptions) Prompts() bool { return !o.Yes && o.confirm == "" }

// BackupRoot returns the folder of the backups of the context in use.
func (o *MutatingOptions) BackupRoot() (string, error) {
	if o.backupDir != "" {
		return o.backupDir, nil
	}
	context, _, err := o.Scan.ContextAndServer()
	if err != nil {
		return "", err
	}
	home, err := backupHome()
	return backup.Dir(home, context), err
}
