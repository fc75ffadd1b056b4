package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// MutatingOptions are the options of every command that changes something.
type MutatingOptions struct {
	Scan         *ScanOptions
	Flags        MutationFlags
	Output       *OutputFlags
	AcceptedGaps snapshot.AcceptedGaps // of --accept-gap

	command       string         // its name
	given         *pflag.FlagSet // the command line, for rerunCommand
	args          []string
	writers       int            // how many writes are in flight; 0: as --concurrency says
	writeDocument DocumentWriter // nil for table and jsonl
}

// jsonLines is the format in which events are written as they happen.
const jsonLines = "jsonl"

func NewMutatingOptions(command string, scan *ScanOptions) *MutatingOptions {
	return &MutatingOptions{Scan: scan, Output: NewOutputFlags("table", jsonLines), command: command}
}

// AddFlags adds the flags of a command that deletes or changes objects.
func (o *MutatingOptions) AddFlags(cmd *cobra.Command) {
	o.AddFlagsWithoutBackup(cmd)
	o.Flags.addBackupFlags(cmd)
}

// AddFlagsWithoutBackup adds the flags of a command that needs no backup.
func (o *MutatingOptions) AddFlagsWithoutBackup(cmd *cobra.Command) {
	o.Scan.AddReadingFlags(cmd)
	o.Flags.addConfirmFlags(cmd)
	o.Output.AddFlags(cmd)
}

// defaultWriters is how many writes are in flight unless --concurrency is given. Upstream's
// garbage collector has 20 workers (--concurrent-gc-syncs). With more, the API server
// spends less on each write (docs/performance-acting.md), and it queues or rejects what is
// too much for it.
const defaultWriters = 64

// Complete takes over and validates the command line, before any request to a cluster.
func (o *MutatingOptions) Complete(cmd *cobra.Command, args []string) error {
	o.given, o.args = cmd.Flags(), args
	if !o.given.Changed("concurrency") {
		o.writers = defaultWriters
	}
	if err := cmp.Or(o.Scan.Validate(), o.Flags.validate()); err != nil {
		return err
	}
	if o.Scan.From != "" && o.Flags.DryRun != dryRunClient {
		return Usagef("--from works only with --dry-run=client")
	}
	o.Output.Complete()
	switch {
	case o.ForPerson():
	case o.Output.Format == jsonLines:
		if o.Flags.DryRun == dryRunClient {
			return Usagef("-o jsonl cannot be combined with --dry-run=client")
		}
	default:
		var err error
		if o.writeDocument, err = o.Output.DocumentWriter(o.Scan.Streams); err != nil {
			return err
		}
	}
	return o.validateAcceptedGaps()
}

// ForPerson reports whether the output is for a person, not for a program.
func (o *MutatingOptions) ForPerson() bool { return o.Output.Format == "table" }

// MutationFlags are the flags by which a mutating command is previewed, confirmed and
// backed up.
type MutationFlags struct {
	DryRun     string
	Yes        bool
	confirm    string
	maxDeletes int
	backupDir  string
	NoBackup   bool
	runTimeout time.Duration
}

// The values of --dry-run.
const (
	DryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

var dryRunChoices = Choices{
	{DryRunNone, "run"},
	{dryRunClient, "show the plan"},
	{dryRunServer, "show the plan, and ask the API server whether it would accept each step"},
}

// addConfirmFlags adds the flags of every mutating command.
func (f *MutationFlags) addConfirmFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.DryRun, "dry-run", DryRunNone, "change nothing: client shows the plan, server also asks the API server whether it would accept each step")
	flags.Lookup("dry-run").NoOptDefVal = dryRunClient
	flags.BoolVarP(&f.Yes, "yes", "y", false, "proceed without asking")
	flags.StringVar(&f.confirm, "confirm", "", "proceed without asking, only if the plan has this digest")
	flags.DurationVar(&f.runTimeout, "timeout", 10*time.Minute, "time limit of the run, including all waiting, and again of the scan after it; 0 means no limit")
	CompleteFlag(cmd, "dry-run", CompleteOne(dryRunChoices.Described()...))
}

// addBackupFlags adds the flags of a command that deletes or changes objects.
func (f *MutationFlags) addBackupFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVar(&f.maxDeletes, "max-deletes", 1000, "refuse to delete more objects than this, unless you typed the number at the prompt")
	flags.StringVar(&f.backupDir, "backup-dir", "", "where to back up what is deleted or changed (default ~/.kube/gc-backup/CONTEXT)")
	flags.BoolVar(&f.NoBackup, "no-backup", false, "do not back up what is deleted or changed")
	CompleteFlag(cmd, "backup-dir", CompleteFolders)
}

var digestFormat = regexp.MustCompile(`^[0-9a-f]{16}$`)

func (f *MutationFlags) validate() error {
	switch {
	case !slices.Contains(dryRunChoices.Values(), f.DryRun):
		return Usagef("--dry-run %s: must be none, client or server", Quote(f.DryRun))
	case f.confirm != "" && !digestFormat.MatchString(f.confirm):
		return Usagef("--confirm %s is not a digest: use the 16 hexadecimal digits that a preview shows", Quote(f.confirm))
	case f.maxDeletes < 0:
		return Usagef("--max-deletes must not be negative")
	case f.runTimeout < 0:
		return Usagef("--timeout must not be negative")
	case f.NoBackup && f.backupDir != "":
		return Usagef("--backup-dir cannot be combined with --no-backup")
	}
	return nil
}

// Mutates reports whether the command changes anything: it is not a dry run.
func (f *MutationFlags) Mutates() bool { return f.DryRun == DryRunNone }

// Prompts reports whether the user is asked before anything is changed.
func (f *MutationFlags) Prompts() bool { return !f.Yes && f.confirm == "" }

// BackupRoot returns the folder of the backups of a context.
func (f *MutationFlags) BackupRoot(context string) (string, error) {
	if f.backupDir != "" {
		return f.backupDir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", WithHint(fmt.Errorf("choose a folder for the backup: %w", err), "choose one with --backup-dir, or use --no-backup")
	}
	return backup.Dir(filepath.Join(home, ".kube", "gc-backup"), context), nil
}
