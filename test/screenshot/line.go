package main

import (
	"strings"
)

// style is how a terminal writes a piece of text; one of the names below, empty for plain.
type style string

const (
	bold   style = "bold"
	dim    style = "dim"
	red    style = "red"
	green  style = "green"
	yellow style = "yellow"
	cyan   style = "cyan"
)

// codes are the SGR parameters that the program uses, by what they begin.
var codes = map[string]style{"0": "", "1": bold, "2": dim, "31": red, "32": green, "33": yellow, "36": cyan, "91": red, "92": green, "93": yellow}

// run is text of one style, and line what stands on a line of a terminal.
type (
	run struct {
		text  string
		style style
	}
	line []run
)

// parse reads a line with SGR escapes. The last one that is known counts.
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
