package cmd_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

// A shell variable that is not set must not widen what a command works on.
func TestEmptyFlagOrArgumentOfAnyCommandIsRefusedBeforeAnyRequest(t *testing.T) {
	s := newAPI(configMap("garbage", "gone"))
	newHome(t)
	server := s.Listen(t)
	// what a command needs, so that nothing but the empty value is wrong
	needed := map[string][]string{"delete": {"configmap/garbage"}, "why": {"configmap/garbage"}, "completion": {"bash"}}
	refused := func(t *testing.T, want string, args ...string) {
		t.Helper()
		before := len(s.Requests())
		got := run(t, args...)
		if got.code != cli.ExitUsage || !strings.Contains(got.errors, want) || len(s.Requests()) > before || got.out != "" {
			t.Errorf("kubectl gc %q exits with %d after %d requests: %s", args, got.code, len(s.Requests())-before, got.errors)
		}
	}
	root := cmd.Commands(cli.Streams{Out: io.Discard, Err: io.Discard})
	for _, c := range append(root.Commands(), root) {
		if c.Name() == "help" || c.Name() == cobra.ShellCompRequestCmd {
			continue
		}
		t.Run(c.Name(), func(t *testing.T) {
			line := []string{"--server", server}
			if c != root {
				line = slices.Concat([]string{c.Name()}, line, needed[c.Name()])
			}
			flags := 0
			check := func(f *pflag.Flag) {
				flags++
				for _, empty := range []string{"", "  "} {
					refused(t, "--"+f.Name, append(slices.Clone(line), "--"+f.Name+"="+empty)...)
				}
				if _, list := f.Value.(pflag.SliceValue); list {
					refused(t, "--"+f.Name, append(slices.Clone(line), "--"+f.Name+"=a,,b", "--"+f.Name+"=")...)
				}
			}
			c.LocalFlags().VisitAll(check)
			c.InheritedFlags().VisitAll(check)
			if flags < 20 {
				t.Errorf("%d flags were tried", flags)
			}
			refused(t, "argument", append(slices.Clone(line), "")...)
			refused(t, "argument", append(slices.Clone(line), " ")...)
		})
	}
	if s.configMaps() != 1 {
		t.Error("an object was deleted")
	}
}
