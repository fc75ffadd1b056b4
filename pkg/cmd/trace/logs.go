package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace/auditlog"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace/managerlog"
)

// logReader adds what logs say to the evidence.
type logReader struct {
	*cli.ScanOptions
	evidence *trace.Evidence
	requests int                  // all, of which the evidence has a part
	latest   map[types.UID]latest // of the objects that were changed

	deletions, metadata int        // requests in the audit logs, and those at level Metadata
	verbosity           int        // the highest one of the controller logs
	manager             bool       // there is a controller log
	audited, managed    trace.Span // the times of the audit logs and of the controller logs
}

// latest is the latest request of those that left an object as it was.
type latest struct {
	at      int  // index in the requests of the evidence
	repeats bool // the request before left the same
}

// add adds a request to the evidence. Of any number that leave an object as it was, most of what a log has,
// it keeps the first one that is read, and the latest: that one tells when the object was still there.
func (l *logReader) add(r trace.Request) {
	l.requests++
	all := &l.evidence.Requests
	changes := (r.Verb == "update" || r.Verb == "patch") && r.Target.UID != "" && r.Target.Subresource == ""
	before, known := l.latest[r.Target.UID]
	same := changes && known && leavesTheSame(&(*all)[before.at], &r)
	if same && before.repeats {
		if r.Answered.After((*all)[before.at].Answered) {
			(*all)[before.at] = r
		}
		return
	}
	if changes {
		l.latest[r.Target.UID] = latest{len(*all), same}
	}
	*all = append(*all, r)
}

// leavesTheSame reports whether two changes of an object say the same of it, and not that it is being deleted.
func leavesTheSame(a, b *trace.Request) bool {
	return a.Target == b.Target && slices.EqualFunc(a.Objects, b.Objects, func(a, b trace.Seen) bool {
		return a.UID == b.UID && !a.Terminating() && !b.Terminating() && (a.Whole == nil) == (b.Whole == nil) &&
			slices.Equal(a.Finalizers, b.Finalizers) && reflect.DeepEqual(a.Owners, b.Owners)
	})
}

// auditLogs reads files and folders.
func (l *logReader) auditLogs(ctx context.Context, names []string) error {
	for _, name := range names {
		if info, err := os.Stat(name); name == "-" || err != nil || !info.IsDir() {
			if err := l.auditLog(ctx, name); err != nil {
				return err
			}
			continue
		}
		if err := l.auditFolder(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// auditFolder reads the regular files of a folder. Those that are no audit logs are warnings, unless there
// are no others.
func (l *logReader) auditFolder(ctx context.Context, folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("read the audit logs in %s: %w", cli.Quote(folder), errors.Unwrap(err))
	}
	var failed []error
	read := 0
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		err := l.auditLog(ctx, filepath.Join(folder, entry.Name()))
		switch {
		case ctx.Err() != nil:
			return err
		case err != nil:
			failed = append(failed, err)
		default:
			read++
		}
	}
	switch {
	case read == 0 && len(failed) > 0:
		return failed[0]
	case read == 0:
		return cli.Usagef("folder %s has no files", cli.Quote(folder))
	}
	for _, err := range failed {
		l.warnf("%s", escape.Sentence(err.Error()))
	}
	return nil
}

func (l *logReader) auditLog(ctx context.Context, name string) error {
	return l.open(name, func(in io.Reader, shown string, _ time.Time) error {
		stats, err := auditlog.Read(ctx, in, shown, l.add)
		if err != nil {
			return err
		}
		l.deletions += stats.Deletions
		l.metadata += stats.Levels["Metadata"]
		l.audited.Cover(stats.First, stats.Last)
		l.warnIf(stats.Lines == 0, "audit log %s is empty", escape.Word(shown))
		l.warnIf(stats.Unreadable > 0, "audit log %s: %s of %s cannot be read. The first: %s", escape.Word(shown),
			wording.Thousands(stats.Unreadable), wording.Count(stats.Lines, "line"), escape.Line(stats.Example))
		return nil
	})
}

func (l *logReader) controllerLogs(ctx context.Context, names []string) error {
	for _, name := range names {
		err := l.open(name, func(in io.Reader, shown string, written time.Time) error {
			stats, err := managerlog.Read(ctx, in, shown, written, func(line trace.Line) { l.evidence.Lines = append(l.evidence.Lines, line) })
			if err != nil {
				return err
			}
			l.manager = true
			l.verbosity = max(l.verbosity, stats.Verbosity)
			l.managed.Cover(stats.First, stats.Last)
			l.warnIf(stats.Lines == 0, "log %s of kube-controller-manager is empty", escape.Word(shown))
			l.warnIf(stats.Unreadable > 0, "log %s of kube-controller-manager: %s of %s cannot be read", escape.Word(shown),
				wording.Thousands(stats.Unreadable), wording.Count(stats.Lines, "line"))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// open calls read with a file or standard input, the name to show, and when the file was last written to.
func (l *logReader) open(name string, read func(in io.Reader, shown string, written time.Time) error) error {
	if name == "-" {
		return read(l.In, "standard input", l.Now())
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read log %s: %w", cli.Quote(name), errors.Unwrap(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read log %s: %w", cli.Quote(name), errors.Unwrap(err))
	}
	in := &progressReader{Reader: f, scan: l.ScanOptions, name: escape.Short(filepath.Base(name), 40), size: info.Size()}
	defer l.Progress("")
	return read(in, name, info.ModTime())
}

// progressReader shows how much of a file was read, unless it is small.
type progressReader struct {
	io.Reader
	scan       *cli.ScanOptions
	name       string
	size, read int64
	shown      time.Time
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.read += int64(n)
	if now := p.scan.Now(); now.Sub(p.shown) > time.Second/4 && p.size>>20 > 0 {
		p.shown = now
		p.scan.Progress("reading %s: %d of %d MiB", p.name, p.read>>20, p.size>>20)
	}
	return n, err
}

// warn warns of what the logs cannot show.
func (l *logReader) warn() {
	l.warnIf(l.metadata*2 > l.deletions, "the audit log has %s of %s at level Metadata only: UIDs and policies of these are not in it, and some may have been dry runs",
		wording.Thousands(l.metadata), wording.Count(l.deletions, "deletion"))
	l.warnIf(l.manager && l.verbosity < 2, "the log of kube-controller-manager has no line about what its garbage collector deletes: it needs -v=2, and -v=5 for the reasons")
	l.warnIf(!l.audited.Last.IsZero() && !l.managed.Last.IsZero() && (l.audited.First.After(l.managed.Last) || l.managed.First.After(l.audited.Last)),
		"the audit log and the log of kube-controller-manager have no time in common: %s to %s, and %s to %s",
		wording.Time(l.audited.First), wording.Time(l.audited.Last), wording.Time(l.managed.First), wording.Time(l.managed.Last))
	all := l.audited
	all.Cover(l.managed.Last)
	l.warnIf(l.evidence.Before != nil && !all.Last.IsZero() && l.evidence.Before.Taken.After(all.Last),
		"the scan of --before was made after the logs end: it has nothing of what they say was deleted")
}

func (l *logReader) warnf(format string, a ...any) { fmt.Fprintf(l.Err, "warning: "+format+"\n", a...) }

func (l *logReader) warnIf(is bool, format string, a ...any) {
	if is {
		l.warnf(format, a...)
	}
}
