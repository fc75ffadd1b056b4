package cli

import (
	"bytes"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
)

// The control sequences of a terminal.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l" // the alternate screen, without a cursor; it cuts long lines
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	cursorHome  = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// screen shows one text at a time on a terminal, on the alternate screen.
type screen struct {
	out    io.Writer
	height func() int // lines of the terminal; 0: unknown
	open   bool
	text   string
}

// draw replaces the text on the screen in one write, so that nothing flickers. What does not fit
// is left out.
func (s *screen) draw(text string) error {
	s.text = text
	var out bytes.Buffer
	if !s.open {
		s.open = true
		out.WriteString(enterScreen)
	}
	out.WriteString(cursorHome)
	for _, line := range fit(text, s.height()) {
		out.WriteString(clearLine + line + "\r\n")
	}
	out.WriteString(clearBelow)
	_, err := s.out.Write(out.Bytes())
	return err
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

// fit returns the lines of a text as a terminal of so many lines shows them, without the last one, where the cursor
// is. If there are too many, the last one says how many are missing. 0 is no limit.
func fit(text string, height int) []string {
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if height <= 1 || len(all) < height {
		return all
	}
	return append(all[:height-2:height-2], "… "+wording.Thousands(len(all)-(height-2))+" lines do not fit")
}
