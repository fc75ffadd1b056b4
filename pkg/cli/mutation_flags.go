package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

// MutationFlags are the flags of every command that changes something.
type MutationFlags struct {
	DryRun     string
	Yes        bool
	confirm    string
	maxDeletes int
	backupDir  string
	NoBackup   bool
	runTimeout time.Duration
}

func (a *MutationFlags) addFlags(flags *pflag.FlagSet) {
	a.AddConfirmFlags(flags)
	flags.IntVar(&a.maxDeletes, "max-deletes", 1000, "refuse to delete more objects than this, unless you typed the number at the prompt")
	flags.StringVar(&a.backupDir, "backup-dir", "", "where to back up what is deleted or changed (default ~/.kube/gc-backup/CONTEXT)")
	flags.BoolVar(&a.NoBackup, "no-backup", false, "do not back up what is deleted or changed")
}

// AddConfirmFlags offers what also a command takes that deletes nothing.
func (a *MutationFlags) AddConfirmFlags(flags *pflag.FlagSet) {
	flags.StringVar(&a.DryRun, "dry-run", DryRunNone, "change nothing: client shows the plan, server also asks the API server whether it would accept each step")
	flags.Lookup("dry-run").NoOptDefVal = dryRunClient
	flags.BoolVarP(&a.Yes, "yes", "y", false, "proceed without asking")
	flags.StringVar(&a.confirm, "confirm", "", "proceed without asking, only if the plan has this digest")
	flags.DurationVar(&a.runTimeout, "timeout", 10*time.Minute, "time limit of the run, including all waiting, and again of the scan after it; 0 means no limit")
}

var digests = regexp.MustCompile(`^[0-9a-f]{16}$`)

func (a *MutationFlags) validate() error {
	switch {
	case !isDryRun(a.DryRun):
		return Usagef("--dry-run %s: must be none, client or server", Quote(a.DryRun))
	case a.confirm != "" && !digests.MatchString(a.confirm):
		return Usagef("--confirm %s is not a digest: use the 16 hexadecimal digits that a preview shows", Quote(a.confirm))
	case a.maxDeletes < 0:
		return Usagef("--max-deletes must not be negative")
	case a.runTimeout < 0:
		return Usagef("--timeout must not be negative")
	case a.NoBackup && a.backupDir != "":
		return Usagef("--backup-dir cannot be combined with --no-backup")
	}
	return nil
}

// Mutates says whether the command is to change something.
func (a *MutationFlags) Mutates() bool { return a.DryRun == DryRunNone }

// Prompts says whether somebody is to be asked before anything is changed.
func (a *MutationFlags) Prompts() bool { return !a.Yes && a.confirm == "" }

// BackupRoot is where the folders of all runs against a context go.
func (a *MutationFlags) BackupRoot(context string) (string, error) {
	if a.backupDir != "" {
		return a.backupDir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", WithHint(fmt.Errorf("choose a folder for the backup: %w", err), "choose one with --backup-dir, or use --no-backup")
	}
	return backup.Dir(filepath.Join(home, ".kube", "gc-backup"), context), nil
}

// DryRunValues are the values of --dry-run, with what they mean.
var DryRunValues = Choices{
	{DryRunNone, "run"},
	{dryRunClient, "show the plan"},
	{dryRunServer, "show the plan, and ask the API server whether it would accept each step"},
}

const (
	DryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

func isDryRun(word string) bool { return slices.Contains(DryRunValues.Values(), word) }
