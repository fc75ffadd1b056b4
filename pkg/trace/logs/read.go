package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// Forms of sources; see also trace.FormManagerLog.
const (
	auditLog       = "audit log"
	googleAuditLog = "Google Cloud audit log"
	bothLogs       = auditLog + " and " + trace.FormManagerLog
	events         = "Events"
)

// Read reads a text, packed with gzip or not, and gives what it finds to the sink, in the order of the text. Which form
// it has it sees: what comes first decides, and what is of another form is passed over, as an object could be named
// like a line. name names the text in errors and places. year is that of the first line of klog, if its lines have none,
// in no prefix either; 0 if it is unknown: such times begin in the year 0.
//
// Parts that cannot be read are counted. A text of another form is a *ForeignError.
func Read(ctx context.Context, in io.Reader, name string, year int, to trace.Sink) (trace.Source, error) {
	r := newReader(name, year, to)
	err := r.read(ctx, in)
	if err != nil {
		err = fmt.Errorf("read log %s: %w", name, err)
	}
	return r.source, err
}

// Whole names an object that a log has whole: where it is, and its UID.
type Whole struct {
	Offset int64
	UID    types.UID
}

// ReadObjects reads a log again, and calls yield with these objects, in the order of the log. It fails if one
// of them is not there, since the file is another one by now.
func ReadObjects(ctx context.Context, in io.Reader, name string, of []Whole, yield func(Whole, *unstructured.Unstructured)) error {
	missing := map[Whole]bool{}
	for _, w := range of {
		missing[w] = true
	}
	r := newReader(name, 0, nobody{})
	r.object = func(uid types.UID, b *body) error {
		w := Whole{r.place.Offset, uid}
		if !missing[w] {
			return nil
		}
		o := &unstructured.Unstructured{}
		if err := b.raw.decode(&o.Object); err != nil {
			return err
		}
		delete(o.Object, "@type") // of Google
		o.SetAPIVersion(b.apiVersion)
		o.SetKind(b.kind)
		delete(missing, w)
		yield(w, o)
		return nil
	}
	if err := r.read(ctx, in); err != nil {
		return fmt.Errorf("read objects from log %s: %w", name, err)
	}
	for w := range missing {
		return fmt.Errorf("read objects from log %s: the one with UID %q is not at byte %d any more", name, w.UID, w.Offset)
	}
	return nil
}

// nobody wants nothing.
type nobody struct{}

func (nobody) Request(*trace.Request) {}
func (nobody) Line(*trace.Line)       {}

type reader struct {
	year   int
	to     trace.Sink
	source trace.Source
	place  trace.Place                        // of the unit that is read
	object func(uid types.UID, b *body) error // what is whole

	unknown   int        // units before the form was known
	component bool       // there are lines of klog that others than kube-controller-manager write, too
	klog      bool       // there are lines of klog
	written   trace.Span // of the lines of klog
	margin    string
	last      time.Time // of a line of klog that has no year; at first such that any day of the first year can follow
	scratch   [maxWraps + 1]fields
	headed    bool // there are lines of klog with a whole header
	named     bool // what is around the first event or line names its stream
	answered  bool // there is an event of an answer
}

func newReader(name string, year int, to trace.Sink) *reader {
	return &reader{
		year: year, last: time.Date(year, time.February, 1, 0, 0, 0, 0, time.UTC), to: to, place: trace.Place{File: name},
		source: trace.Source{File: name, Levels: map[string]int{}, Resources: map[string]int{}, Verbosity: -1},
	}
}

// undecided is how much of a text is read before it is known what it is.
const undecided = 1 << 20

func (r *reader) read(ctx context.Context, in io.Reader) error {
	s, err := newSplitter(ctx, in)
	if err != nil {
		return err
	}
	for len(s.buf) < maxHead && s.more() {
	}
	head := bytes.Clone(s.buf[:min(len(s.buf), maxHead)])
	if manifest.Match(head) {
		return foreign(head, false)
	}
	for {
		u, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch endless := r.source.Form == "" && !r.component && u.offset > undecided; {
		case endless, errors.Is(err, errEndless):
			return foreign(head, false)
		case err != nil:
			return err
		}
		r.unit(&u)
		s.unsure = r.source.Form == ""
	}
	if s.events {
		r.is(events, &around{})
	}
	switch r.source.Form {
	case "":
		if r.source.Lines > 0 {
			return foreign(head, r.component)
		}
	case auditLog, googleAuditLog:
		r.source.Unreadable += r.unknown
		if !r.answered {
			r.source.Unanswered = r.source.Events
		}
	default:
		r.source.Cover(r.written.First, r.written.Last)
	}
	return nil
}

// The errors of units. A log of klog has lines of any kind: few of them are unreadable.
var (
	errTooLong = fmt.Errorf("it is longer than %d MiB", maxUnit>>20)
	errNothing = errors.New("it holds no event and no line of these logs")
)

// unit reads a unit, and counts it.
func (r *reader) unit(u *unit) {
	r.place.Offset = u.offset
	r.source.Lines++
	in := around{indent: u.indent, depth: maxWraps}
	var err error
	if u.within != nil {
		err = r.enclosed(u.within, &in)
	}
	switch {
	case err != nil:
	case u.text == nil:
		err = errTooLong
	case u.list != "":
		err = r.listed(u.text, u.list)
	case u.json && strings.Contains(u.indent, "\t") && r.klog: // a text of several lines in a log of klog
		err = errNothing
	case u.json:
		err = r.value(u.text, in)
	default:
		err = r.line(u.text, in)
	}
	switch logged := r.source.Form == trace.FormManagerLog || r.source.Form == bothLogs || r.source.Form == events; {
	case err == nil, logged && !errors.Is(err, errUnclear) && !errors.Is(err, errTooLong):
		return
	case r.source.Form == "":
		r.unknown++
	default:
		r.source.Unreadable++
	}
	if r.source.Example == "" {
		r.source.Example = fmt.Sprintf("line %d cannot be read: %v: %.80q", u.line, err, u.text)
	}
}

// is reports whether the text has a form, which the first that is found decides. If what is around that names the log that it
// is from, so must what is around the others, and the text may have two forms.
func (r *reader) is(form string, in *around) bool {
	named := in.stream == form
	if r.source.Form == "" {
		r.source.Form, r.named = form, named
	}
	if r.named && named && r.source.Form != form {
		r.source.Form = bothLogs
	}
	return named && r.named || !r.named && r.source.Form == form
}

// inMargin reports whether a line of klog begins where lines do: a log that was pasted has a margin. A tab or more
// white space continues the line before, and may be the text of anybody.
func (r *reader) inMargin(indent string) bool {
	if strings.Contains(indent, "\t") {
		return false
	}
	if !r.klog || len(indent) < len(r.margin) {
		r.klog, r.margin = true, indent
	}
	return indent == r.margin
}
