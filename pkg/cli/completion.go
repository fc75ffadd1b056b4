package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/print/machine"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// shim is what kubectl (1.26 and newer) runs to complete `kubectl gc …`: a
// program of this name in the PATH, given the words typed.
const (
	shimName = "kubectl_complete-gc"
	shim     = "#!/bin/sh\n# Lets kubectl complete `kubectl gc`.\nexec kubectl gc __complete \"$@\"\n"
)

func newCompletion(s Streams) *cobra.Command {
	var directory string
	cmd := &cobra.Command{
		Use:   "completion --install-shim DIR | bash | zsh | fish | powershell",
		Short: "Set up completion",
		Long: `Set up completion. kubectl completes its plugins itself (since 1.26) when it finds
a program called ` + shimName + ` in the PATH: --install-shim writes it.

The name of a shell prints a script for calling kubectl-gc directly.`,
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
	if err := os.WriteFile(path, []byte(shim), 0o755); err != nil { //nolint:gosec // a program must be executable
		return fmt.Errorf("write the completion shim: %w", err)
	}
	fmt.Fprintf(s.Err, "wrote %s; kubectl finds it when that directory is in the PATH\n", quoted(path))
	return nil
}

// completeFlags offers the values of the flags that a command has.
func (s *source) completeFlags(cmd *cobra.Command) {
	for flag, values := range map[string][]string{
		"output":  slices.Concat(own[cmd.Name()], machine.Formats()),
		"rule":    audit.IDs(),
		"fail-on": {"error", "warning", "never"},
	} {
		if cmd.Flags().Lookup(flag) != nil {
			_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
}

// patience is how long a completion may keep a person waiting.
const patience = 3 * time.Second

// completeTargets offers types, and after a type the names of its objects. It
// stays silent when the cluster does not answer in time.
func (f *treeFlags) completeTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), patience)
	defer cancel()
	word, _, slash := strings.Cut(typed, "/")
	prefix := ""
	switch {
	case slash:
		prefix = word + "/"
	case len(args) > 0 && !strings.Contains(args[0], "/"):
		word = args[0]
	default:
		return f.completeTypes(ctx, typed), cobra.ShellCompDirectiveNoFileComp
	}
	var out []string
	for _, name := range f.namesOf(ctx, word) {
		if candidate := prefix + name; strings.HasPrefix(candidate, typed) && !slices.Contains(args, name) {
			out = append(out, candidate)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func (f *treeFlags) completeTypes(ctx context.Context, typed string) []string {
	types, _ := f.listing(ctx)
	var out []string
	for _, t := range types {
		if t.Monitored() && strings.HasPrefix(t.String(), typed) {
			out = append(out, t.String())
		}
	}
	return out
}

// namesOf are the names of the objects of one type, in the namespace at hand.
func (f *treeFlags) namesOf(ctx context.Context, word string) []string {
	namespace, _, err := f.namespace()
	if err != nil {
		return nil
	}
	types, names := f.listing(ctx)
	found := snapshot.Find(types, word)
	if len(found) == 0 {
		return nil
	}
	out := names(found[0], namespace)
	slices.Sort(out)
	return slices.Compact(out)
}

// listing answers the served types and how to list the names of one; no types
// where nothing answers.
func (f *treeFlags) listing(ctx context.Context) ([]snapshot.Type, func(snapshot.Type, string) []string) {
	if f.from != "" {
		saved, err := f.load()
		if err != nil {
			return nil, nil
		}
		view := snapshot.NewView(saved)
		return saved.Types, func(t snapshot.Type, namespace string) (names []string) {
			for i := range saved.Objects {
				if o := &saved.Objects[i]; (target{of: t}).is(o, view, namespace) {
					names = append(names, o.Name)
				}
			}
			return names
		}
	}
	live, err := f.connect()
	if err != nil {
		return nil, nil
	}
	world, err := live.Discover(ctx)
	if err != nil {
		return nil, nil
	}
	return world.Types, func(t snapshot.Type, namespace string) []string {
		return live.Names(ctx, t, namespace)
	}
}
