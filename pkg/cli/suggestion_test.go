package cli

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func TestSuggestionsKeepWhatChoseClusterAndUser(t *testing.T) {
	const given = `--kubeconfig /k/c --as-group a,b --as-group c --as-user-extra k=1,2 --token s3cret --insecure-skip-tls-verify=false --server https://u:p@10.0.0.5 --proxy-url http://u:p@proxy --request-timeout 5s`
	const kept = `--as-group a,b --as-group c --as-user-extra k=1,2 --insecure-skip-tls-verify=false --kubeconfig /k/c `
	const server, proxy = `-s https://REDACTED@10.0.0.5 --token REDACTED`, `--proxy-url http://REDACTED@proxy `
	for name, c := range map[string]struct {
		args, suggested string
		want            string
		onCluster       bool
	}{
		"connection":                        {given, "kubectl gc why a/b -n c", "kubectl gc why a/b -n c " + kept + proxy + server, false},
		"kubectl has no --proxy-url":        {given, "kubectl edit a/b -n c", "kubectl edit a/b -n c " + kept + server, false},
		"nothing given":                     {"", "kubectl gc audit", "kubectl gc audit", false},
		"namespace":                         {"-n shop", "kubectl gc repair --dry-run", "kubectl gc repair --dry-run -n shop", false},
		"all namespaces":                    {"-A", "kubectl gc collect --dry-run", "kubectl gc collect --dry-run -A", false},
		"doctor has no -A":                  {"-A", "kubectl gc doctor", "kubectl gc doctor", false},
		"an object has its own namespace":   {"-n shop", "kubectl gc why node/x", "kubectl gc why node/x", false},
		"its own namespace is kept":         {"-n shop", "kubectl gc collect -n far", "kubectl gc collect -n far", false},
		"an empty namespace is left out":    {"-n shop", "kubectl get node/x -n  -o yaml", "kubectl get node/x -o yaml", false},
		"restore restores all":              {"-n shop", "kubectl gc restore /b", "kubectl gc restore /b", false},
		"a file":                            {"--from f", "kubectl gc why a/b", "kubectl gc why a/b --from f", false},
		"a file is not changed":             {"--from f", "kubectl gc repair a/b", "kubectl gc repair a/b --dry-run --from f", false},
		"a dry run stays one":               {"--from f", "kubectl gc delete a/b --dry-run", "kubectl gc delete a/b --dry-run --from f", false},
		"what reads no file is on cluster":  {"--from f --context c", "kubectl gc restore", "kubectl gc restore --context c", true},
		"kubectl reads no file, is as well": {"--from f", "kubectl edit a/b", "kubectl edit a/b", true},
	} {
		t.Run(name, func(t *testing.T) {
			scan := NewScanOptions(Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }, Now: time.Now})
			root, cmd := &cobra.Command{Use: "gc"}, &cobra.Command{Use: "audit", RunE: func(*cobra.Command, []string) error { return nil }}
			scan.AddReadingFlags(cmd)
			root.AddCommand(cmd)
			SetUpRoot(root, scan)
			if code := Execute(t.Context(), root, scan, append([]string{"audit"}, strings.Fields(c.args)...)); code != 0 {
				t.Fatalf("exit code %d", code)
			}
			words, onCluster := scan.SuggestWords(strings.Split(c.suggested, " ")...)
			if got := strings.Join(words, " "); got != c.want || onCluster != c.onCluster {
				t.Errorf("%s (on the cluster: %t)\nwant\n%s", got, onCluster, c.want)
			}
		})
	}
}

func TestCommandLineNamesASubcommandInTwoWords(t *testing.T) {
	none := pflag.NewFlagSet("", pflag.ContinueOnError)
	if got, want := commandLine("finalizer remove", []string{"pvc/scratch", "example.com/hold"}, none), "kubectl gc finalizer remove pvc/scratch example.com/hold"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
