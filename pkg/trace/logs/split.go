package logs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
)

// unit is a line of a text, or a JSON object or string that begins on one.
type unit struct {
	text   []byte // valid until the next one is read; nil if it is too long
	indent string // the white space before it on its line
	line   int    // from 1, where it begins
	offset int64  // as in trace.Place
	json   bool
	list   string // the kind of the list of objects of a cluster that it is in: List if that comes later
	within fields // what precedes the array in the object that it is in
}

// splitter cuts a text into units. Objects may be on lines of their own, over many lines, in arrays, and in arrays that
// are in an object. Of the text one unit is in memory.
type splitter struct {
	ctx    context.Context
	in     io.Reader
	store  []byte
	buf    value // a part of store: what was read, from the next unit on
	offset int64 // of buf
	line   int
	err    error  // of in
	open   []byte // the arrays around the next unit: '{' for one in an object, else '['
	list   string // of the next unit
	within fields
	events bool  // there is a list of Events, perhaps an empty one
	broken int64 // before this, a value that begins on a line ends there
	unsure bool  // nothing that is known was found so far: a unit that is too long ends the text
}

// maxUnit limits a unit. kube-apiserver accepts bodies of 3 MiB, and an event has at most two.
const maxUnit = 16 << 20

// These limit the white space before a unit that is remembered, and the brackets around one.
const (
	maxIndent = 64
	maxOpen   = 8
)

var errEndless = errors.New("it has a line or an object without an end")

func newSplitter(ctx context.Context, in io.Reader) (*splitter, error) {
	text, err := input.Gunzip(in)
	if err != nil {
		return nil, err
	}
	return &splitter{ctx: ctx, in: input.DecodeBOM(text), line: 1, unsure: true}, nil
}

// more reads more of the text, and reports whether there was any.
func (s *splitter) more() bool {
	const chunk = 256 << 10
	s.err = cmp.Or(s.err, context.Cause(s.ctx))
	if cap(s.buf)-len(s.buf) < chunk/2 {
		if 2*len(s.buf) >= len(s.store) {
			s.store = make([]byte, 2*len(s.buf)+chunk)
		}
		s.buf = s.store[:copy(s.store, s.buf)]
	}
	for s.err == nil {
		n, err := s.in.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf, s.err = s.buf[:len(s.buf)+n], err
		if n > 0 {
			return true
		}
	}
	return false
}

// drop passes over the first bytes.
func (s *splitter) drop(n int) {
	s.line += bytes.Count(s.buf[:n], []byte("\n"))
	s.buf, s.offset = s.buf[n:], s.offset+int64(n)
}

// next returns the next unit, or an error: io.EOF at the end of the text.
func (s *splitter) next() (unit, error) {
	var indent []byte
	for {
		if len(s.buf) == 0 && !s.more() {
			return unit{}, s.err
		}
		switch b, inside := s.buf[0], len(s.open) > 0; {
		case b == '\n' || b == '\r':
			indent = indent[:0]
		case b == ' ' || b == '\t':
			if len(indent) < maxIndent {
				indent = append(indent, b)
			}
		case b == '[' && len(s.open) < maxOpen && (inside || s.beginsArray()):
			s.open = append(s.open, '[')
		case b == ']' && inside:
			of := s.open[len(s.open)-1]
			if s.open = s.open[:len(s.open)-1]; of == '{' { // go on with the object that the array is in
				if rest := s.after(); rest.begins(',') {
					rest[0] = ' '
				}
				s.buf[0], s.list, s.within = '{', "", nil
				if _, err := s.value(""); err != nil {
					return unit{}, err
				}
				continue
			}
		case b == '{', b == '"' && inside:
			if u, err := s.value(string(indent)); u.json || err != nil {
				return u, err
			}
			continue
		case b == ',', inside && strings.IndexByte("0123456789+-.etrufalsn", b) >= 0:
		default:
			s.open = nil
			return s.rest(unit{indent: string(indent), line: s.line, offset: s.offset, list: s.list})
		}
		s.drop(1)
	}
}

// after returns what follows a bracket, from what is no white space on.
func (s *splitter) after() value {
	for len(s.buf[1:].space()) == 0 && len(s.buf) < maxUnit && s.more() {
	}
	return s.buf[1:].space()
}

// beginsArray reports whether the text goes on as an array of objects, arrays or strings does.
func (s *splitter) beginsArray() bool {
	rest := s.after()
	return len(rest) > 0 && strings.IndexByte(`{["]`, rest[0]) >= 0
}

// rest returns a unit that ends with the line.
func (s *splitter) rest(u unit) (unit, error) {
	tooLong := false
	for searched := 0; ; {
		if i := bytes.IndexByte(s.buf[searched:], '\n'); i >= 0 {
			return s.end(u, searched+i, tooLong), nil
		}
		if searched = len(s.buf); searched > maxUnit {
			if tooLong = true; s.unsure {
				return u, errEndless
			}
			s.drop(searched)
			searched = 0
		}
		if !s.more() {
			if !errors.Is(s.err, io.EOF) {
				return u, s.err
			}
			return s.end(u, len(s.buf), tooLong), nil
		}
	}
}

// end returns a unit that ends at an index of the rest of the text.
func (s *splitter) end(u unit, i int, tooLong bool) unit {
	if !tooLong {
		u.text = bytes.TrimRight(s.buf[:i], " \t\r\n")
	}
	s.drop(i)
	return u
}

// arrays are the names of those in objects of collectors and of clients of logs that hold units.
var arrays = []string{"events", "records", "logEvents", "entries", "results", "tables", "rows"}

// endOfUnit returns where the object or string that the rest of the text begins with ends, or, with errEnter, the array in
// it begins. What is in another object of the API may be the text of anybody.
func (s *splitter) endOfUnit(text value) (int, error) {
	if text.begins('"') || s.list != "" || len(s.open) >= maxOpen {
		return text.end()
	}
	var apiVersion, kind value
	enter := func(key value) bool {
		switch items := key.is("items"); {
		case apiVersion == nil:
			return slices.Contains(arrays, key.text())
		case items && hasEvents(apiVersion):
			s.list = cmp.Or(kind.text(), "List")
			s.events = s.events || kind.is("EventList")
			return true
		default:
			return items && isAudit(apiVersion)
		}
	}
	return text.each('{', enter, func(key, member value) error {
		switch {
		case key.is("apiVersion"):
			apiVersion = member
		case key.is("kind"):
			kind = member
		}
		return nil
	})
}

// value returns the JSON value that the rest of the text begins with, or one that is not json if it is an object whose
// units follow. What follows a value without an end must not be hidden by it: such a value ends with its line.
func (s *splitter) value(indent string) (unit, error) {
	u := unit{indent: indent, line: s.line, offset: s.offset, json: true, list: s.list, within: s.within}
	text := s.buf
	if s.offset < s.broken {
		if i := bytes.IndexByte(s.buf, '\n'); i >= 0 {
			text = s.buf[:i]
		}
	}
	n, err := s.endOfUnit(text)
	for errors.Is(err, errShort) && len(text) == len(s.buf) && len(text) <= maxUnit && s.more() {
		for len(s.buf) < 2*len(text) && s.more() { // so that each byte is seen twice at most
		}
		text = s.buf
		n, err = s.endOfUnit(text)
	}
	switch {
	case err == nil:
		return s.end(u, n, n > maxUnit), nil
	case errors.Is(err, errEnter):
		if before := bytes.LastIndexByte(text[:n], ','); before > 0 && before < maxHead { // the name of the array
			s.within, _ = value(append(bytes.Clone(text[:before]), '}')).object(nil) // nothing else can be before it
		}
		s.open = append(s.open, '{')
		s.drop(n + 1)
		return unit{}, nil
	case s.err != nil && !errors.Is(s.err, io.EOF):
		return u, s.err
	case len(text) > maxUnit && s.unsure:
		return u, errEndless
	}
	s.broken, s.open = s.offset+int64(len(text)), nil
	return s.rest(u)
}
