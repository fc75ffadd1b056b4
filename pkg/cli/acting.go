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
	flags.IntVar(&a.maxDeletes, "max-deletes", 1000, "refuse to delete more objects than this, unless the number was typed at the prompt")
	flags.StringVar(&a.backupDir, "backup-dir", "", "where to save what is deleted or mended (default ~/.kube/gc-backup/CONTEXT)")
	flags.BoolVar(&a.noBackup, "no-backup", false, "save nothing before it is deleted or mended")
}

// addAskingFlags offers what also a command takes that deletes nothing.
func (a *acting) addAskingFlags(flags *pflag.FlagSet) {
	flags.StringVar(&a.dryRun, "dry-run", dryRunNone, "change nothing: client shows the plan, server also asks the API server whether it would allow each step")
	flags.Lookup("dry-run").NoOptDefVal = dryRunClient
	flags.BoolVarP(&a.yes, "yes", "y", false, "do not ask")
	flags.StringVar(&a.confirm, "confirm", "", "do not ask if the plan has this digest, and do nothing if it has another")
	flags.DurationVar(&a.patience, "timeout", 10*time.Minute, "how long the run may take, all waiting included, and once more the scan after it; 0 is for ever")
}

var digests = regexp.MustCompile(`^[0-9a-f]{16}$`)

func (a *acting) validate() error {
	switch {
	case !isDryRun(a.dryRun):
		return usagef("--dry-run %s: say none, client or server", quoted(a.dryRun))
	case a.confirm != "" && !digests.MatchString(a.confirm):
		return usagef("--confirm %s is no digest: a preview shows it, 16 digits and letters", quoted(a.confirm))
	case a.maxDeletes < 0:
		return usagef("--max-deletes must not be negative")
	case a.patience < 0:
		return usagef("--timeout must not be negative")
	case a.noBackup && a.backupDir != "":
		return usagef("--backup-dir and --no-backup exclude each other")
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
		return "", &hinted{fmt.Errorf("choose a folder for the backup: %w", err), "name one with --backup-dir, or say --no-backup"}
	}
	return backup.Place(filepath.Join(home, ".kube", "gc-backup"), context), nil
}

// dryRuns are the values of --dry-run.
var dryRuns = []string{dryRunNone, dryRunClient, dryRunServer}

const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

func isDryRun(word string) bool { return slices.Contains(dryRuns, word) }
