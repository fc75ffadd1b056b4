package cli

import (
	"flag"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/kubectl-gc/kubectl-gc/pkg/redact"
)

// The levels of -v. From 8 on client-go logs bodies as well, and those of Secrets with
// them: what is read to be saved, and what is written to be restored. So no level is
// beyond that of headers, in which it hides what proves who asks.
const (
	namesRequests = 6
	showsHeaders  = 7
)

// AddVerbosity offers klog's level, with which client-go logs its requests.
func AddVerbosity(flags *pflag.FlagSet, s Streams) {
	set := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(set)
	klog.LogToStderr(false)
	klog.SetOutput(verbose{s.Err})
	_ = set.Set("stderrthreshold", "FATAL") // else errors are written twice
	_ = set.Set("one_output", "true")       // and once more for each severity below
	level := set.Lookup("v")
	_ = level.Value.Set("0") // klog keeps it from one command line of a process to the next
	level.Value = Level{level.Value}
	level.Usage = "log requests: 6 names and counts them, 7 shows their headers; bodies are never shown, as they may contain Secrets"
	flags.AddGoFlag(level)
}

// Level is one of klog's that shows no bodies. Its name is what help says that -v takes.
type Level struct{ flag.Value }

// Set takes what is beyond for the last level there is.
func (l Level) Set(given string) error {
	if n, err := strconv.Atoi(given); err == nil && n > showsHeaders {
		given = strconv.Itoa(showsHeaders)
	}
	return l.Value.Set(given)
}

// verbose passes a log on when the user asked for one. What client-go has to say
// of its own accord, ours or a gap's message says better.
type verbose struct{ io.Writer }

func (v verbose) Write(p []byte) (int, error) {
	if !klog.V(1).Enabled() {
		return len(p), nil
	}
	if _, err := io.WriteString(v.Writer, redact.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// PrintRequestStats says on a last line what was asked of the server, where requests are logged.
func (s *ScanOptions) PrintRequestStats() {
	if klog.V(namesRequests).Enabled() {
		fmt.Fprintln(s.Err, s.traffic.String())
	}
}
