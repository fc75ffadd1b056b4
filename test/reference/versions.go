package main

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

// versionsPage is the page about differences between releases of Kubernetes.
const versionsPage = "versions.md"

// asVersions returns the page about differences between releases of Kubernetes.
func asVersions() string {
	var out strings.Builder
	fmt.Fprintf(&out, versionsHead, collector.NewestRelease)
	for _, c := range collector.Changes {
		fmt.Fprintf(&out, "\n## %s\n\n| | |\n| --- | --- |\n", c.Since)
		for _, row := range [][2]string{
			{"since then", c.Change}, {"before", c.Before}, {"it concerns", c.Concerns}, {"this program", c.Modeled}, {"upstream", c.Upstream},
		} {
			fmt.Fprintf(&out, "| %s | %s |\n", row[0], row[1])
		}
	}
	return out.String()
}

const versionsHead = `<!-- Written by "make docs" from pkg/collector/version.go: change that. -->

# Versions of Kubernetes

The garbage collector, the namespace controller and the API server behave differently in some releases. This page lists what
is known to differ, newest last. [The rules](gc-semantics.md) describe the newest release.

This program knows the garbage collector up to Kubernetes %[1]s. If a server is newer, or if its version is unknown, it predicts
the server as if it were %[1]s and says so: in a warning, and in the caveats of ` + "`why`" + `. A scan records the version of the
server; a file from ` + "`kubectl get`" + ` does not.
`
