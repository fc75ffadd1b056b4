// Package wrap breaks lines at blanks, so that text fits a person's terminal. It never
// breaks a word or a command: they can be pasted, and may be wider than the terminal. Time and
// memory are linear in the text.
package wrap

import (
	"regexp"
	"strings"

	"github.com/olekukonko/tablewriter/pkg/twwidth"
)

// Width returns how many columns a text takes on a terminal. Colors take none.
func Width(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return twwidth.WidthWithOptions(text, twwidth.Options{})
		}
	}
	return len(text)
}

// Text returns a line in lines that are at most so many columns wide; 0 is no limit. All but the first
// are indented.
func Text(line string, indent, columns int) string {
	if columns <= 0 {
		return line
	}
	return strings.Join(Lines(line, columns, columns-indent), "\n"+strings.Repeat(" ", indent))
}

// Lines returns a line of text in lines that are at most first columns wide, from the second on
// at most rest, unless a word, a command or code between ` is wider. A command begins with kubectl, at
// the beginning of the text or after a colon, and ends with the text or before two blanks. Colors go on
// after a break.
func Lines(text string, first, rest int) []string {
	if Width(text) <= first {
		return []string{text}
	}
	var out []string
	var line strings.Builder
	used, room, color := 0, first, "" // color is the sequence of the color at the end of the line
	for _, unit := range units(text) {
		word := strings.TrimLeft(unit, " ")
		if columns := Width(unit); used+columns <= room || used == 0 || word == "" {
			line.WriteString(unit)
			used += columns
		} else {
			if color != "" {
				line.WriteString(reset)
			}
			out = append(out, line.String())
			line.Reset()
			line.WriteString(color + word)
			used, room = Width(word), rest
		}
		color = colorAfter(unit, color)
	}
	return append(out, line.String())
}

const reset = "\x1b[0m"

// sequence matches what begins or ends a color.
var sequence = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// colorAfter returns the sequence of the color at the end of a text that begins with one; it is
// empty if there is none.
func colorAfter(text, color string) string {
	if !strings.Contains(text, "\x1b") {
		return color
	}
	for _, color = range sequence.FindAllString(text, -1) {
		if color == reset || color == "\x1b[22m" {
			color = ""
		}
	}
	return color
}

// units returns the parts of a text between which it may be broken: words, commands and code, each
// with the blanks before it.
func units(text string) []string {
	var out []string
	unit, inCommand, introduced := 0, false, true // where the current one begins
	for at := 0; at < len(text); {
		word := at + len(text[at:]) - len(strings.TrimLeft(text[at:], " "))
		if at > 0 && (!inCommand || word-at > 1) {
			out = append(out, text[unit:at])
			unit, inCommand = at, false
		}
		end := endOfWord(text, word)
		plain := sequence.ReplaceAllString(text[word:end], "")
		inCommand = inCommand || introduced && plain == "kubectl"
		introduced = strings.HasSuffix(plain, ":")
		at = end
	}
	return append(out, text[unit:])
}

// endOfWord returns where the word ends that begins at an index. Code between ` is one word, with what is
// written up against it.
func endOfWord(text string, at int) int {
	end := at + blank(text[at:])
	if begin := strings.IndexByte(text[at:end], '`'); begin >= 0 {
		code := at + begin + 1
		if length := strings.IndexByte(text[code:], '`'); length >= 0 && code+length > end {
			end = code + length + blank(text[code+length:])
		}
	}
	return end
}

// blank returns the index of the first blank, or else the length of a text.
func blank(text string) int {
	if i := strings.IndexByte(text, ' '); i >= 0 {
		return i
	}
	return len(text)
}
