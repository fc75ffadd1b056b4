package main

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// theme has the colours of a picture: of the background, of the frame, and of each style.
type theme struct {
	background, frame string
	styles            map[style]string
}

var themes = map[string]theme{
	"light": {"#ffffff", "#d0d7de", map[style]string{
		"": "#1f2328", bold: "#1f2328", dim: "#6e7781", red: "#cf222e", green: "#1a7f37", yellow: "#9a6700", cyan: "#0969da",
	}},
	"dark": {"#0d1117", "#30363d", map[style]string{
		"": "#e6edf3", bold: "#ffffff", dim: "#7d8590", red: "#ff7b72", green: "#3fb950", yellow: "#d29922", cyan: "#79c0ff",
	}},
}

// The sizes of a character cell and of the margin, in pixels.
const (
	cellWidth, cellHeight = 7.8, 19
	edge                  = 16
	baseline              = 14
)

// render draws lines. Every piece of text has an explicit position and length, so that columns
// are aligned in any font.
func render(lines []line, t theme) []byte {
	columns := 0
	for _, l := range lines {
		columns = max(columns, l.width())
	}
	width, height := float64(columns)*cellWidth+2*edge, len(lines)*cellHeight+2*edge
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %d" width="%.1f" height="%d" role="img">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(strings.Join(shown, ", then ")))
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%.1f" height="%d" rx="8" fill="%s" stroke="%s"/>`+"\n", width-1, height-1, t.background, t.frame)
	fmt.Fprintln(&b, `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13">`)
	for i, l := range lines {
		at := 0
		for _, r := range l {
			for _, p := range r.pieces() {
				weight := ""
				if r.style == bold {
					weight = ` font-weight="600"`
				}
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f" lengthAdjust="spacingAndGlyphs">%s</text>`+"\n",
					edge+float64(at+p.at)*cellWidth, edge+i*cellHeight+baseline, t.styles[r.style], weight,
					float64(utf8.RuneCountInString(p.text))*cellWidth, html.EscapeString(p.text))
			}
			at += utf8.RuneCountInString(r.text)
		}
	}
	fmt.Fprintln(&b, "</g>\n</svg>")
	return b.Bytes()
}

// piece is text without spaces at its ends and without consecutive spaces, and the position in
// its run at which it begins. Some renderers collapse consecutive spaces.
type piece struct {
	text string
	at   int
}

var solid = regexp.MustCompile(`[^ ]+(?: [^ ]+)*`)

func (r run) pieces() []piece {
	var out []piece
	for _, at := range solid.FindAllStringIndex(r.text, -1) {
		out = append(out, piece{r.text[at[0]:at[1]], utf8.RuneCountInString(r.text[:at[0]])})
	}
	return out
}

func (l line) width() int {
	n := 0
	for _, r := range l {
		n += utf8.RuneCountInString(r.text)
	}
	return n
}
