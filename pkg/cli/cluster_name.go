package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

// ClusterName returns how messages name the cluster in use: "prod (https://10.0.0.5:6443)",
// or its URL alone without a context. It returns "an unknown cluster" if the kubeconfig is
// not valid; then no command reaches a cluster. It sends no request.
func (s *ScanOptions) ClusterName() string {
	context, server, err := s.Config.Target()
	if err != nil {
		return "an unknown cluster"
	}
	server = escape.Short(server, 200)
	if context == "" {
		return server
	}
	if !plainContext.MatchString(context) { // its name may look like the name of another cluster
		return fmt.Sprintf("%s (%s)", Quote(context), server)
	}
	return fmt.Sprintf("%s (%s)", escape.Short(context, 200), server)
}

// ScanTitle names what was scanned, with the version of its server, if that is known:
// "prod (https://10.0.0.5:6443, v1.37.2)", "cluster.json (v1.37.2), namespace shop".
func (s *ScanOptions) ScanTitle(version string) string {
	title := escape.Short(s.From, 200)
	switch s.From {
	case "":
		title = s.ClusterName()
	case "-":
		title = "standard input"
	case demoFile:
		title = s.FileName()
	}
	if version = escape.Word(version); version != "" {
		if before, inParentheses := strings.CutSuffix(title, ")"); inParentheses && s.From == "" {
			title = before + ", " + version + ")"
		} else {
			title += " (" + version + ")"
		}
	}
	if namespace := s.Config.Namespace(); namespace != "" {
		title += ", namespace " + escape.Word(namespace)
	}
	return title
}

// plainContext matches the name of a context that needs no quotes.
var plainContext = regexp.MustCompile(`^[A-Za-z0-9_.:/@-]+$`)

// Place returns where a command works that is about everything in a namespace or a cluster:
// " in namespace shop on prod (https://10.0.0.5:6443)".
func (o *MutatingOptions) Place() string {
	in := " in all namespaces"
	if namespace := o.Scan.Config.Namespace(); namespace != "" {
		in = " in namespace " + escape.Word(namespace)
	}
	return in + o.Scan.where()
}

// where returns, after the name of a place in a cluster, in which cluster or file that is:
// " on prod (https://10.0.0.5:6443)".
func (s *ScanOptions) where() string {
	switch s.From {
	case "":
		return " on " + s.ClusterName()
	case "-":
		return " (standard input)"
	case demoFile:
		return " on " + s.FileName()
	}
	return " (file " + escape.Short(s.From, 200) + ")"
}
