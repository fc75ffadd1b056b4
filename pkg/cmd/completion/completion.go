// Package completion is the command kubectl gc completion.
package completion

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// New returns the command completion.
func New(scan *cli.ScanOptions) *cobra.Command {
	var directory string
	cmd := &cobra.Command{
		Use:   "completion --install-shim DIR | bash | zsh | fish | powershell",
		Short: "Set up completion",
		Long: `Set up completion. kubectl completes its plugins itself (since 1.26) when it finds
a program called ` + shimName + ` in the PATH: --install-shim writes it. The
completion of kubectl must be set up, too: see "kubectl completion --help".

The name of a shell prints a script for calling ` + plugin.File() + ` directly.`,
		Example: cli.Examples(`
# Complete "` + cli.CommandName + `": write the shim into a directory of the PATH
` + cli.CommandName + ` completion --install-shim ~/.local/bin

# Complete "` + plugin.File() + `" in this bash
source <(` + cli.CommandName + ` completion bash)`),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if directory != "" && len(args) == 0 {
				return installShim(scan.Streams, directory)
			}
			if len(args) != 1 || directory != "" {
				return &cli.UsageError{Err: errors.New("specify --install-shim DIR, or one shell: bash, zsh, fish or powershell"), Command: cli.CommandName + " completion"}
			}
			return script(cmd.Root(), args[0], scan.Out)
		},
	}
	cmd.Flags().StringVar(&directory, "install-shim", "", "write "+shimName+" into this directory")
	cli.CompleteFlag(cmd, "install-shim", cli.CompleteFolders)
	return cmd
}

func script(root *cobra.Command, shell string, w io.Writer) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	case "powershell":
		return root.GenPowerShellCompletionWithDesc(w)
	}
	return &cli.UsageError{Err: fmt.Errorf("no completion for shell %s", cli.Quote(shell)), Command: cli.CommandName + " completion"}
}
