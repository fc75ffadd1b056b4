package cli

import (
	"flag"
	"io"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// logsHeaders is the highest level of -v. client-go names requests from 6 on, and shows their
// headers from 7 on, in which it masks credentials. From 8 on it would log bodies, which contain
// Secrets in a backup and a restoration.
const logsHeaders = 7

// addVerbosity adds klog's flag -v, by which client-go logs its requests.
func addVerbosity(root *cobra.Command, s Streams) {
	set := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(set)
	klog.LogToStderr(false)
	klog.SetOutput(verboseWriter{s.Err})
	_ = set.Set("stderrthreshold", "FATAL") // otherwise errors are written twice
	_ = set.Set("one_output", "true")       // and again for each lower severity
	level := set.Lookup("v")
	_ = level.Value.Set("0") // klog keeps the level between two command lines of a process
	level.Value = Level{level.Value}
	level.Usage = "Log requests: 6 names them, 7 shows headers. Bodies are never shown."
	root.PersistentFlags().AddGoFlag(level)
	CompleteFlag(root, "v", CompleteOne("6\tname requests", "7\tshow their headers, too"))
}

// Level is a klog level that logs no bodies. Its name is what help shows as the value of -v.
type Level struct{ flag.Value }

// Set limits the level to logsHeaders.
func (l Level) Set(given string) error {
	if n, err := strconv.Atoi(given); err == nil && n > logsHeaders {
		given = strconv.Itoa(logsHeaders)
	}
	return l.Value.Set(given)
}

// verboseWriter discards the log unless -v is given. What client-go logs without it, an
// error or the message of a gap already says.
type verboseWriter struct{ io.Writer }

func (v verboseWriter) Write(p []byte) (int, error) {
	if !klog.V(1).Enabled() {
		return len(p), nil
	}
	if _, err := io.WriteString(v.Writer, redact.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
