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

// acting are the flags of every command that changes something.
type acting struct {
	dryRun     string
	yes        bool
	confirm    string
	maxDeletes int
	backupDir  string
	noBackup   bool
	patience   time.Duration
}

func (a *acting) addFlags(flags *pflag.FlagSet) {
	a.addAskingFlags(flags)
	flags.IntVar(&a.maxDeletes, "max-deletes", 1000, "refuse to delete more objects than this, unless you typed the number at the prompt")
	flags.StringVar(&a.backupDir, "backup-dir", "", "where to back up what is deleted or changed (default ~/.kube/gc-backup/CONTEXT)")
	flags.BoolVar(&a.noBackup, "no-backup", false, "do not back up what is deleted or changed")
}

// addAskingFlags offers what also a command takes that deletes nothing.
func (a *acting) addAskingFlags(flags *pflag.FlagSet) {
	flags.StringVar(&a.dryRun, "dry-run", dryRunNone, "change nothing: client shows the plan, server also asks the API server whether it would accept each step")
	flags.Lookup("dry-run").NoOptDefVal = dryRunClient
	flags.BoolVarP(&a.yes, "yes", "y", false, "proceed without asking")
	flags.StringVar(&a.confirm, "confirm", "", "proceed without asking, only if the plan has this digest")
	flags.DurationVar(&a.patience, "timeout", 10*time.Minute, "time limit of the run, including all waiting, and again of the scan after it; 0 means no limit")
}

var digests = regexp.MustCompile(`^[0-9a-f]{16}$`)

func (a *acting) validate() error {
	switch {
	case !isDryRun(a.dryRun):
		return usagef("--dry-run %s: must be none, client or server", quoted(a.dryRun))
	case a.confirm != "" && !digests.MatchString(a.confirm):
		return usagef("--confirm %s is not a digest: use the 16 hexadecimal digits that a preview shows", quoted(a.confirm))
	case a.maxDeletes < 0:
		return usagef("--max-deletes must not be negative")
	case a.patience < 0:
		return usagef("--timeout must not be negative")
	case a.noBackup && a.backupDir != "":
		return usagef("--backup-dir cannot be combined with --no-backup")
	}
	return nil
}

// acts says whether the command is to change something.
func (a *acting) acts() bool { return a.dryRun == dryRunNone }

// asks says whether somebody is to be asked before anything is changed.
func (a *acting) asks() bool { return !a.yes && a.confirm == "" }

// backups is where the folders of all runs against a context go.
func (a *acting) backups(context string) (string, error) {
	if a.backupDir != "" {
		return a.backupDir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", withHint(fmt.Errorf("choose a folder for the backup: %w", err), "choose one with --backup-dir, or use --no-backup")
	}
	return backup.Place(filepath.Join(home, ".kube", "gc-backup"), context), nil
}

// dryRuns are the values of --dry-run, with what they mean.
var dryRuns = choices{
	{dryRunNone, "run"},
	{dryRunClient, "show the plan"},
	{dryRunServer, "show the plan, and ask the API server whether it would accept each step"},
}

const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

func isDryRun(word string) bool { return slices.Contains(dryRuns.values(), word) }
