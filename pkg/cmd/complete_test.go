package cmd

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

// streams returns streams without a terminal and without an environment.
func streams(out, err io.Writer) cli.Streams {
	return cli.Streams{In: strings.NewReader(""), Out: out, Err: err, Getenv: func(string) string { return "" }, Now: time.Now}
}

// TestEveryFlagIsCompleted lists the flags whose values cannot be known. One that only turns something on needs no value.
func TestEveryFlagIsCompleted(t *testing.T) {
	free := []string{
		"accept-gap", "as", "as-group", "as-uid", "as-user-extra", "backup-max-age", "backup-max-size", "chunk-size", "concurrency", "confirm", "depth", "grace-period", "max-deletes",
		"max-memory", "metrics-bind-address", "proxy-url", "reference", "request-timeout", "selector", "server", "settle", "stuck-after", "timeout", "tls-server-name", "token",
		"uid", "year",
	}
	for _, cmd := range allCommands() {
		if cmd.Name() == "help" {
			continue
		}
		check := func(f *pflag.Flag) {
			_, completed := cmd.GetFlagCompletionFunc(f.Name)
			if known := !slices.Contains(free, f.Name) && (f.Value.Type() != "bool" || f.DefValue == "true"); completed != known {
				t.Errorf("%s --%s: completed is %t", cmd.CommandPath(), f.Name, completed)
			}
		}
		cmd.LocalFlags().VisitAll(check)
		cmd.PersistentFlags().VisitAll(check)
	}
}

func TestFlagsAcceptTheValuesThatCompletionOffers(t *testing.T) {
	offered := map[string]bool{}
	for _, cmd := range allCommands() {
		for _, flag := range []string{"cascade", "color", "dry-run", "fail-on", "fix", "rate", "v"} {
			complete, registered := cmd.GetFlagCompletionFunc(flag)
			if cmd.LocalFlags().Lookup(flag) == nil || !registered {
				continue
			}
			offered[flag] = true
			words, _ := complete(cmd, nil, "")
			for _, word := range words {
				word, _, _ = strings.Cut(word, "\t")
				if err := cmd.Flag(flag).Value.Set(word); err != nil {
					t.Errorf("%s --%s=%s: %v", cmd.CommandPath(), flag, word, err)
				}
			}
		}
	}
	if len(offered) != 7 {
		t.Errorf("words are offered for %v", slices.Sorted(maps.Keys(offered)))
	}
}

func TestArgumentsAreCompleted(t *testing.T) {
	const demo = "--from=../../docs/demo/cluster.json"
	for want, line := range map[string][]string{
		"missing-owner\tNo object has the owner's UID, and none has its name.\n:4\n": {"explain", "missing-o"},
		":4\n":                     {"explain", "missing-owner", ""},
		"job/import\n:4\n":         {"stuck", demo, "-n", "shop", "job/"},
		"pvc/import-scratch\n:4\n": {"finalizer", "remove", demo, "-n", "shop", "pvc/"},
		"example.com/hold\n:4\n":   {"finalizer", "remove", demo, "-n", "shop", "pvc/import-scratch", ""},
	} {
		var out, said bytes.Buffer
		if Main(t.Context(), append([]string{"__complete"}, line...), streams(&out, &said)); out.String() != want {
			t.Errorf("%q: %q, want %q", line, &out, want)
		}
	}
}

func TestCompletionDoesNotWaitForAServerThatHangs(t *testing.T) {
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, and never responds
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	var out, said bytes.Buffer
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	ended := make(chan int, 1)
	go func() {
		line := []string{"__complete", "tree", "--server=http://" + deaf.Addr().String(), "--request-timeout=0", ""}
		ended <- Main(context.Background(), line, streams(&out, &said))
	}()
	select {
	case code := <-ended:
		if code != cli.ExitDone || out.String() != ":4\n" {
			t.Errorf("exits with %d and offers %q", code, &out)
		}
	case <-time.After(10 * cli.CompletionTimeout):
		t.Fatal("it hangs")
	}
}
