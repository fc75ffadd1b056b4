package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace/logs"
)

// logReader adds what files say to the facts.
type logReader struct {
	scan        *cli.ScanOptions
	facts       *trace.Facts
	year        int    // see logs.Read
	clusterName string // as a cloud names it; empty if none has
}

// read reads files, and what is a log in folders.
func (l *logReader) read(ctx context.Context, names []string) error {
	for _, name := range names {
		info, err := os.Stat(name)
		switch {
		case name == "-" || err == nil && !info.IsDir():
			err = l.file(ctx, name)
		case err != nil:
			err = fmt.Errorf("read log %s: %w", cli.Quote(name), errors.Unwrap(err))
		default:
			err = l.folder(ctx, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// folder reads the logs in a folder and in those below.
func (l *logReader) folder(ctx context.Context, folder string) error {
	var foreign []string
	read := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read the logs in %s: %w", cli.Quote(folder), err)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		var other *logs.ForeignError
		if err = l.file(ctx, path); errors.As(err, &other) {
			foreign = append(foreign, escape.Line(entry.Name()))
			return nil
		}
		read++
		return err
	})
	switch {
	case err != nil:
		return err
	case read == 0 && len(foreign) == 0:
		return cli.Usagef("folder %s has no files", cli.Quote(folder))
	case read == 0:
		return cli.Usagef("folder %s has no audit log and no log of kube-controller-manager, only %s", cli.Quote(folder), wording.List(foreign, 3))
	}
	l.warnIf(len(foreign) > 0, "%s of %s in %s are no logs of this kind: %s", wording.Thousands(len(foreign)), wording.Count(read+len(foreign), "file"),
		escape.Word(folder), wording.List(foreign, 3))
	return nil
}

func (l *logReader) file(ctx context.Context, name string) error {
	return l.open(name, func(in io.Reader, shown string) error {
		source, err := l.text(ctx, in, shown)
		if err != nil {
			return err
		}
		l.warnIf(source.Lines == 0, "%s is empty", escape.Word(shown))
		l.warnIf(source.Unreadable > 0, "%s: %s of %s cannot be read. The first: %s", escape.Word(shown),
			wording.Thousands(source.Unreadable), wording.Count(source.Lines, "line"), escape.Line(source.Example))
		return nil
	})
}

// text reads one text.
func (l *logReader) text(ctx context.Context, in io.Reader, name string) (trace.Source, error) {
	source, err := logs.Read(ctx, in, name, l.year, l.facts)
	if err != nil {
		return source, err
	}
	if l.clusterName = cmp.Or(l.clusterName, source.Cluster); source.Cluster != "" && source.Cluster != l.clusterName {
		return source, cli.Usagef("%s is of cluster %s, and what was read before of %s: objects of two clusters may have one name", cli.Quote(name), cli.Quote(source.Cluster), cli.Quote(l.clusterName))
	}
	l.facts.Source(&source)
	return source, nil
}

// open calls read with a file or standard input, and the name to show.
func (l *logReader) open(name string, read func(in io.Reader, shown string) error) error {
	in := &progressReader{Reader: l.scan.In, scan: l.scan, name: "standard input"}
	if name == "-" {
		defer l.scan.Progress("")
		return read(in, in.name)
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read log %s: %w", cli.Quote(name), errors.Unwrap(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		in.size = info.Size()
	}
	in.Reader, in.name = f, escape.Short(filepath.Base(name), 40)
	defer l.scan.Progress("")
	return read(in, name)
}

// progressReader shows how much of a text was read, once that is more than a MiB.
type progressReader struct {
	io.Reader
	scan       *cli.ScanOptions
	name       string
	size, read int64 // size is 0 if it is unknown
	shown      time.Time
}

func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	p.read += int64(n)
	if now := p.scan.Now(); now.Sub(p.shown) > time.Second/4 && p.read>>20 > 0 {
		p.shown = now
		of := ""
		if p.size > 0 {
			of = fmt.Sprintf(" of %d", p.size>>20)
		}
		p.scan.Progress("reading %s: %d%s MiB", p.name, p.read>>20, of)
	}
	return n, err
}

func (l *logReader) warnIf(is bool, format string, a ...any) {
	if is {
		fmt.Fprintf(l.scan.Err, "warning: "+format+"\n", a...)
	}
}
