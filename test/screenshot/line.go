package main

import (
	"strings"
)

// style is a text style of a terminal: one of the constants below, or empty for plain.
type style string

const (
	bold   style = "bold"
	dim    style = "dim"
	red    style = "red"
	green  style = "green"
	yellow style = "yellow"
	cyan   style = "cyan"
)

// codes are the styles by the SGR parameters that the program uses.
var codes = map[string]style{"0": "", "1": bold, "2": dim, "31": red, "32": green, "33": yellow, "36": cyan, "91": red, "92": green, "93": yellow}

// run is text of one style, and line is a line of a terminal.
type (
	run struct {
		text  string
		style style
	}
	line []run
)

// parse parses a line with SGR escapes. Of several parameters, the last known one counts.
func parse(text string) line {
	var l line
	var now style
	for text != "" {
		plain, rest, found := strings.Cut(text, "\x1b[")
		if plain != "" {
			l = append(l, run{plain, now})
		}
		if !found {
			break
		}
		parameters, after, _ := strings.Cut(rest, "m")
		for p := range strings.SplitSeq(parameters, ";") {
			if s, known := codes[p]; known {
				now = s
			} else {
				now = ""
			}
		}
		text = after
	}
	return l
}
