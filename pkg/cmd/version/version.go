// Package version is the command kubectl gc version.
package version

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

// versionInfo describes the program.
type versionInfo struct {
	Version    string     `json:"version"`
	Commit     string     `json:"commit"` // empty if unknown
	GoVersion  string     `json:"goVersion"`
	Platform   string     `json:"platform"`
	Kubernetes kubernetes `json:"kubernetes"`
}

// kubernetes names the releases whose rules the program knows.
type kubernetes struct {
	Oldest string `json:"oldest"`
	Newest string `json:"newest"`
}

// New returns the command version.
func New(scan *cli.ScanOptions) *cobra.Command {
	output := cli.NewOutputFlags("text")
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Print the version. With -o json or yaml, also the commit, the version of Go,\nthe platform, and the releases of Kubernetes whose rules it knows.",
		Args:  cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if err := output.Complete(&scan.Streams); err != nil {
				return err
			}
			if output.Structured() {
				return output.Write("Version", versionInfo{
					cli.Release(), cli.Commit(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, kubernetes{collector.OldestRelease, collector.NewestRelease},
				})
			}
			_, err := fmt.Fprintf(scan.Out, "kubectl-gc %s\n", cli.Release())
			return err
		},
	}
	output.AddFlags(cmd)
	return cmd
}
