package cli

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

// The control sequences of a terminal.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the alternate screen, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	cursorHome  = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// screen shows one text at a time on a terminal, on the alternate screen.
type screen struct {
	out  io.Writer
	size func() (columns, lines int) // 0: unknown

	open           bool
	text           string
	columns, lines int // for which the text was drawn
}

// draw replaces the text on the screen in one write, so that nothing flickers. What does not fit
// is left out.
func (s *screen) draw(text string) error {
	s.columns, s.lines = s.size()
	s.text = text
	var out bytes.Buffer
	if !s.open {
		s.open = true
		out.WriteString(enterScreen)
	}
	out.WriteString(cursorHome)
	for i, line := range fit(text, s.columns, s.lines) {
		if i > 0 {
			out.WriteString("\r\n")
		}
		out.WriteString(clearLine + line)
	}
	// after a full line, to clear from the cursor would erase its last character
	out.WriteString("\r\n" + clearBelow)
	_, err := s.out.Write(out.Bytes())
	return err
}

// resized reports whether the terminal has another size than the one that the text was drawn for.
func (s *screen) resized() bool {
	columns, lines := s.size()
	return s.open && (columns != s.columns || lines != s.lines)
}

// close restores what the terminal showed before, and leaves the whole last text below it.
func (s *screen) close() error {
	if !s.open {
		return nil
	}
	s.open = false
	_, err := io.WriteString(s.out, leaveScreen+s.text)
	return err
}

// fit returns the lines of a text as a terminal of this size shows them, without the last line of
// the terminal, where the cursor is. Long lines are continued on the next one. If there are too
// many, the last one says how many are missing. A size of 0 is no limit.
func fit(text string, columns, lines int) []string {
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var out []string
	whole, rows := 0, 0 // how many lines, and their rows, leave a row for the notice
	for i, line := range all {
		out = append(out, split(line, columns)...)
		switch {
		case lines <= 0 || len(out) < lines-1:
			whole, rows = i+1, len(out)
		case len(out) > lines-1:
			return append(out[:rows], hiddenLines(len(all)-whole))
		}
	}
	return out
}

func hiddenLines(n int) string {
	if n == 1 {
		return "… 1 line does not fit"
	}
	return "… " + wording.Thousands(n) + " lines do not fit"
}

// split returns a line in parts of at most so many columns. It does not split control sequences.
func split(line string, columns int) []string {
	if columns <= 0 {
		return []string{line}
	}
	var out []string
	begin, used := 0, 0
	for i := 0; i < len(line); {
		if size := sequence(line[i:]); size > 0 {
			i += size
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		wide := wrap.Width(string(r))
		if used+wide > columns && used > 0 {
			out = append(out, line[begin:i])
			begin, used = i, 0
		}
		used += wide
		i += size
	}
	return append(out, line[begin:])
}

// sequence returns the length of the control sequence that a text begins with, or 0.
func sequence(text string) int {
	if !strings.HasPrefix(text, "\x1b[") {
		return 0
	}
	for i := 2; i < len(text); i++ {
		if text[i] >= 0x40 && text[i] <= 0x7e {
			return i + 1
		}
	}
	return len(text)
}
