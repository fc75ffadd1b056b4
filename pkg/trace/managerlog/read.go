package managerlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// maxLine limits a line, in bytes. Those that matter name two objects, and few have more than some owners.
const maxLine = 64 << 10

// Stats tell what a log has.
type Stats struct {
	trace.Span // of any line of kube-controller-manager

	Lines      int // that are not empty
	Verbosity  int // the log has lines of this level, so --v was this or more; -1 if none of the collector's is known
	Unreadable int // lines that are longer than 64 KiB, or whose object can't be told from its text
}

// Read reads a log, gzipped or not, and calls yield with what its lines say, in the order of the log.
// Lines may have the prefixes of kubectl logs, of a container runtime, of Docker or of journald.
//
// The time in a line of klog has neither year nor zone. It is read as UTC, as containers have no other
// zone unless someone gave them one, in the latest year in which it is at most a day after the time in the
// prefix or, without one, after latest: the time when the log was last written to.
//
// It fails if it cannot read the log to its end, or if no line of it is one of kube-controller-manager;
// the name is for the error.
func Read(ctx context.Context, in io.Reader, name string, latest time.Time, yield func(trace.Line)) (Stats, error) {
	r := reader{latest: latest, yield: yield, stats: Stats{Verbosity: -1}}
	err := input.EachLine(ctx, in, maxLine, r.line)
	if err == nil && r.stats.Lines > 0 && r.stats.First.IsZero() {
		err = errors.New("no line of it looks like one of kube-controller-manager")
	}
	if err != nil {
		err = fmt.Errorf("read log of kube-controller-manager %s: %w", name, err)
	}
	return r.stats, err
}

type reader struct {
	latest time.Time
	yield  func(trace.Line)
	stats  Stats
}

func (r *reader) line(l input.Line) error {
	if len(l.Text) == 0 && !l.TooLong {
		return nil
	}
	r.stats.Lines++
	if l.TooLong {
		r.stats.Unreadable++
		return nil
	}
	e, ok := parse(l.Text, r.latest)
	if !ok {
		return nil
	}
	r.stats.Cover(e.written)
	if !e.collector {
		return nil
	}
	said, level, err := e.says()
	if err != nil {
		r.stats.Unreadable++
		return nil
	}
	r.stats.Verbosity = max(r.stats.Verbosity, level)
	for _, line := range said {
		line.Time = e.written
		r.yield(line)
	}
	return nil
}
