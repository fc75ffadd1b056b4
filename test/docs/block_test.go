package docs

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// block is a fenced code block of a page.
type block struct {
	language string
	line     int // of its first content line, from 1
	indent   string
	lines    []string
}

// command is a command in a block, with the output that the page shows.
type command struct {
	text   string
	line   int
	shows  bool     // whether the block shows its output
	output []string // in a console block
	from   int      // index in the page of the first output line
	indent string
}

var fence = regexp.MustCompile("^( *)```([a-z]*)$")

// blocks returns the code blocks of a page, in order.
func blocks(page string) []block {
	var out []block
	var open *block
	for i, line := range strings.Split(page, "\n") {
		found := fence.FindStringSubmatch(line)
		switch {
		case found == nil && open != nil:
			open.lines = append(open.lines, strings.TrimPrefix(line, open.indent))
		case found != nil && open == nil:
			open = &block{language: found[2], line: i + 2, indent: found[1]}
		case found != nil:
			out = append(out, *open)
			open = nil
		}
	}
	return out
}

// commands returns the commands in a block. Only sh and console blocks have any. A command may
// have several lines, as in the shell.
func (b block) commands() ([]command, error) {
	if b.language != "sh" && b.language != "console" {
		return nil, nil
	}
	var out []command
	var open *command
	for i, line := range b.lines {
		number := b.line + i
		typed, begins := strings.CutPrefix(line, "$ ")
		switch {
		case open != nil:
			open.text += "\n" + line
		case b.language == "sh" && (strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#")):
			continue
		case b.language == "sh":
			open = &command{text: line, line: number}
		case begins:
			open = &command{text: typed, line: number, shows: true, from: number, indent: b.indent}
		case len(out) == 0:
			return nil, fmt.Errorf("line %d: a console block begins with $ and a command", number)
		default:
			last := &out[len(out)-1]
			last.output = append(last.output, line)
			continue
		}
		if isComplete(open.text) {
			open.from = number
			out, open = append(out, *open), nil
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the shell wants more of this command", open.line)
	}
	return out, nil
}

// isComplete reports whether the shell would run the text as it is, instead of waiting for more.
func isComplete(text string) bool {
	return !strings.HasSuffix(text, "\\") && exec.Command("bash", "-n", "-c", text).Run() == nil
}

func TestBlocks(t *testing.T) {
	const page = "text\n\n```sh\n# a remark\na \\\n  b\n\nc 'd\ne'\ncase x in\n  x) f ;;\nesac\n```\n\n* item\n\n  ```console\n  $ g\n  one\n\n  two\n  $ h\n  ```\n\n```\n$ nothing\n```\n"
	var got [][]command
	for _, b := range blocks(page) {
		commands, err := b.commands()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, commands)
	}
	want := [][]command{
		{
			{text: "a \\\n  b", line: 5, from: 6}, {text: "c 'd\ne'", line: 8, from: 9}, {text: "case x in\n  x) f ;;\nesac", line: 10, from: 12},
		},
		{
			{text: "g", line: 18, from: 18, shows: true, indent: "  ", output: []string{"one", "", "two"}}, {text: "h", line: 22, from: 22, shows: true, indent: "  "},
		},
		nil,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(command{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for name, bad := range map[string]string{
		"an answer before any command": "```console\none\n$ g\n```",
		"a command without an end":     "```sh\na 'b\n```",
	} {
		if _, err := blocks(bad)[0].commands(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
