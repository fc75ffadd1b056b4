// Package completion is the command kubectl gc completion.
package completion

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

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
		Long: `Set up completion. kubectl completes its plugins itself (since 1.26) when it
finds a program called ` + shimName + ` in the PATH: --install-shim writes
it. The completion of kubectl must be set up, too; for that, see
"kubectl completion --help".

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
				return cli.WithHelp(cli.Usagef("specify --install-shim DIR, or one shell: bash, zsh, fish or powershell"), cli.CommandName+" completion")
			}
			return script(cmd.Root(), args[0], scan.Out)
		},
	}
	cmd.Flags().StringVar(&directory, "install-shim", "", "Write "+shimName+" into this directory.")
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
	return cli.WithHelp(cli.Usagef("no completion for shell %s", cli.Quote(shell)), cli.CommandName+" completion")
}

// shimName is the program that kubectl (since 1.26) runs to complete the plugin.
var shimName = strings.Replace(plugin.File(), "-", "_complete-", 1)

// shim returns the name and content of that program for an operating system. It runs the
// plugin directly, to save another start of kubectl, and discards standard error, which
// would disturb the user while typing.
func shim(system string) (name, text string) {
	if system == "windows" {
		return shimName + ".cmd", "@echo off\r\nrem Lets kubectl complete \"" + cli.CommandName + "\".\r\n" + plugin.File() + " __complete %* 2>nul\r\n"
	}
	return shimName, "#!/bin/sh\n# Lets kubectl complete \"" + cli.CommandName + "\".\nexec " + plugin.File() + " __complete \"$@\" 2>/dev/null\n"
}

func installShim(s cli.Streams, directory string) error {
	name, text := shim(runtime.GOOS)
	path := filepath.Join(directory, name)
	err := os.WriteFile(path, []byte(text), 0o755)
	if err == nil {
		err = os.Chmod(path, 0o755) // if it existed already
	}
	if err != nil {
		return fmt.Errorf("write the completion shim: %w", err)
	}
	fmt.Fprintf(s.Err, "wrote %s\n", cli.Quote(path))
	if !inPath(s, directory) {
		fmt.Fprintf(s.Err, "hint: once %s is in your PATH, kubectl finds it\n", cli.Quote(directory))
	}
	return nil
}

// inPath reports whether a directory is in the PATH.
func inPath(s cli.Streams, directory string) bool {
	wanted, err := os.Stat(directory)
	return err == nil && slices.ContainsFunc(filepath.SplitList(s.Getenv("PATH")), func(entry string) bool {
		info, err := os.Stat(entry)
		return err == nil && os.SameFile(info, wanted)
	})
}
