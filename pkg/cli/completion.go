package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// shim is what kubectl (1.26 and newer) runs to complete the plugin: a
// program of this name in the PATH, given the words typed.
var (
	shimName = strings.Replace(plugin.File(), "-", "_complete-", 1)
	shim     = "#!/bin/sh\n# Lets kubectl complete `" + called + "`.\nexec " + called + " __complete \"$@\"\n"
)

func newCompletion(s Streams) *cobra.Command {
	var directory string
	cmd := &cobra.Command{
		Use:   "completion --install-shim DIR | bash | zsh | fish | powershell",
		Short: "Set up completion",
		Long: `Set up completion. kubectl completes its plugins itself (since 1.26) when it finds
a program called ` + shimName + ` in the PATH: --install-shim writes it.

The name of a shell prints a script for calling ` + plugin.File() + ` directly.`,
		Example: examples(`
# Complete "kubectl gc": write the shim into a directory of the PATH
kubectl gc completion --install-shim ~/.local/bin

# Complete "kubectl-gc" in this bash
source <(kubectl gc completion bash)`),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if directory != "" && len(args) == 0 {
				return installShim(s, directory)
			}
			if len(args) != 1 || directory != "" {
				return &usage{err: errors.New("say --install-shim DIR, or one shell: bash, zsh, fish or powershell"), command: called + " completion"}
			}
			return script(cmd.Root(), args[0], s.Out)
		},
	}
	cmd.Flags().StringVar(&directory, "install-shim", "", "write "+shimName+" into this directory")
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
	return &usage{err: fmt.Errorf("there is no completion for shell %s", quoted(shell)), command: called + " completion"}
}

func installShim(s Streams, directory string) error {
	path := filepath.Join(directory, shimName)
	if err := os.WriteFile(path, []byte(shim), 0o755); err != nil {
		return fmt.Errorf("write the completion shim: %w", err)
	}
	fmt.Fprintf(s.Err, "wrote %s; kubectl finds it when that directory is in the PATH\n", quoted(path))
	return nil
}
