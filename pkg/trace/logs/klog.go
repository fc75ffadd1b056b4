package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// maxKlog limits a line of klog, in bytes. Those that matter name two objects, and few have more than some owners.
const maxKlog = 64 << 10

// stamp is the time in a line of klog, which has neither year nor zone.
const stamp = "0102 15:04:05.000000"

// isHeader reports whether a line begins as one of klog does: severity, month and day, time, thread.
func isHeader(line []byte) bool {
	begins := len(line) > len("I")+len(stamp) && strings.IndexByte("IWEF", line[0]) >= 0
	return begins && line[5] == ' ' && line[8] == ':' && line[11] == ':' && line[14] == '.' && line[1+len(stamp)] == ' '
}

// klogText reads a line of klog with its header.
func (r *reader) klogText(line []byte, in *around) error {
	thread, message, ok := bytes.Cut(line[1+len(stamp):], []byte("] "))
	file, _, hasLine := bytes.Cut(thread[bytes.LastIndexByte(thread, ' ')+1:], []byte(":"))
	t, valid := r.withYear(line[1:1+len(stamp)], in.at)
	if !ok || !hasLine || !valid {
		return errNothing
	}
	r.headed = true
	err := r.klogLine(t, file, message, in)
	if in.at.IsZero() && !errors.Is(err, errNothing) {
		r.last = t
		r.source.Yearless = r.source.Yearless || r.year == 0
	}
	return err
}

// klogLine reads the message of a line that a source file wrote.
func (r *reader) klogLine(t time.Time, file, message []byte, in *around) error {
	says, err := r.formsOf(t, file, in)
	switch {
	case says == nil:
		return err
	case len(message) > maxKlog:
		return errUnclear
	}
	return r.says(t, says, structured(string(message)), in)
}

// klogJSON reads a line of klog as --logging-format=json writes it.
func (r *reader) klogJSON(o fields, in *around) error {
	t, ok := ofEpoch(string(o.get("ts")))
	file, _, hasLine := bytes.Cut(o.get("caller").bytes(), []byte(":"))
	if !ok || !hasLine {
		return errNothing
	}
	says, err := r.formsOf(t, file, in)
	if says == nil {
		return err
	}
	e := entry{message: strings.TrimSpace(o.get("msg").text()), values: make(map[string]string, len(o))}
	for _, f := range o {
		e.values[string(f.key)] = f.value.text()
	}
	return r.says(t, says, e, in)
}

// formsOf counts a line of klog, and returns the forms of the source file that wrote it: nil if what that file writes
// is of no interest.
func (r *reader) formsOf(t time.Time, file []byte, in *around) (*fileForms, error) {
	if !r.inMargin(in.indent) {
		return nil, errNothing
	}
	says, known := byFile[string(file[bytes.LastIndexByte(file, '/')+1:])]
	decides := known && !says.shared || in.stream == trace.FormManagerLog || r.source.Form != ""
	if decides && !r.is(trace.FormManagerLog, in) {
		return nil, errNothing
	}
	r.written.Cover(t)
	switch {
	case r.source.Form == "" && !known:
		r.component = true
		return nil, errNothing
	case known && len(says.messages)+len(says.sentences) == 0:
		return nil, nil
	}
	return says, nil
}

// withYear returns the time that a line has, in the latest year in which it exists and that can be: not more than a day after the
// time around it or, without one, eleven months after the line before. The text has the form of stamp.
func (r *reader) withYear(text []byte, around time.Time) (time.Time, bool) {
	t, err := time.Parse(stamp, string(text)) // in the year 0, which has a leap day
	if err != nil {
		return t, false
	}
	const leap = 8 // the most years between two leap years
	latest, earliest := around.UTC().AddDate(0, 0, 1), around.Year()-leap
	if around.IsZero() {
		latest, earliest = r.last.AddDate(0, 11, 0), r.year
	}
	for year := latest.Year(); year >= earliest; year-- {
		if in := t.AddDate(year, 0, 0); in.Day() == t.Day() && !in.After(latest) {
			return in, true
		}
	}
	return t, false
}

// entry is what a line says.
type entry struct {
	message string
	values  map[string]string // text without quotes, or else JSON; empty of a line that is not structured
}

// structured splits the message of a structured line from its values.
func structured(line string) entry {
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return entry{strings.TrimSpace(line), map[string]string{}}
	}
	e := entry{values: map[string]string{}}
	e.message, _ = strconv.Unquote(quoted)
	for rest := line[len(quoted):]; ; {
		key, after, ok := strings.Cut(strings.TrimLeft(rest, " "), "=")
		if !ok || after == "" {
			return e
		}
		var text string
		switch after[0] {
		case '"':
			if quoted, err = strconv.QuotedPrefix(after); err != nil {
				return e
			}
			text, _ = strconv.Unquote(quoted)
			rest = after[len(quoted):]
		case '{', '[':
			text = after // 1.27 writes Go's notation; no value that matters follows it
			if n, err := value(after).end(); err == nil && json.Valid([]byte(after[:n])) {
				text = after[:n]
			}
			rest = after[len(text):]
		default:
			text, rest, _ = strings.Cut(after, " ")
		}
		if _, twice := e.values[key]; !twice {
			e.values[key] = text
		}
	}
}

var errUnclear = errors.New("the object of the line is not clear")
