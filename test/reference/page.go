package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// page is the reference of one command.
type page struct {
	path     string // kubectl gc audit
	name     string // audit; empty: the root
	short    string
	usage    string
	text     []paragraph
	exits    []exit
	examples string
	flags    []group
	changes  bool // whether it may change a cluster
}

// paragraph is text, or a list of words and their meanings.
type paragraph struct {
	text string
	list []entry
}

type entry struct{ word, meaning string }

type exit = entry

// group is a group of related flags.
type group struct {
	title string
	flags []option
}

// option is a flag as the user types it, and its description.
type option struct {
	typed, usage, byDefault string // byDefault: the default, if there is one
}

// shared are the groups of flags that several commands have, in their order on a page. A flag in
// none of them is a command's own.
var shared = []struct {
	title string
	names []string
}{
	{"Scope", []string{"namespace", "all-namespaces", "from", "strict"}},
	{"Confirmation and backup", []string{"dry-run", "yes", "confirm", "max-deletes", "backup-dir", "no-backup", "timeout", "rate"}},
	{"Output", []string{"output", "template", "allow-missing-template-keys"}},
	{"Requests and display", []string{"chunk-size", "concurrency", "max-memory", "request-timeout", "color", "v"}},
	{"Connection, as in kubectl", []string{
		"kubeconfig", "context", "cluster", "user", "server", "token", "as", "as-group", "as-uid", "as-user-extra",
		"certificate-authority", "client-certificate", "client-key", "insecure-skip-tls-verify", "tls-server-name",
		"proxy-url", "disable-compression", "cache-dir",
	}},
}

// options is the name of the command that lists the global flags.
const options = "options"

// read returns a page for every command, the root first and the others by name.
func read(root *cobra.Command) []page {
	pages := []page{pageOf(root)}
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() && cmd.Name() != "help" {
			pages = append(pages, pageOf(cmd))
		}
	}
	return pages
}

func pageOf(cmd *cobra.Command) page {
	p := page{path: cmd.CommandPath(), name: cmd.Name(), short: cmd.Short, usage: cmd.UseLine(), examples: dedent(cmd.Example)}
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	for block := range strings.SplitSeq(strings.TrimSpace(long), "\n\n") {
		if after, codes := strings.CutPrefix(block, "Exit codes:"); codes {
			var rest string
			if p.exits, rest = parseExitCodes(after); rest != "" {
				p.text = append(p.text, paragraph{text: rest})
			}
			continue
		}
		p.text = append(p.text, paragraphs(block)...)
	}
	if !cmd.HasParent() {
		p.name, p.usage = "", cmd.CommandPath()+" COMMAND"
		return p
	}
	if cmd.Name() == options {
		p.flags = grouped(cmd.InheritedFlags())
		return p
	}
	own := cmd.LocalFlags()
	if own.Lookup("all-namespaces") != nil {
		own.AddFlag(cmd.InheritedFlags().Lookup("namespace"))
	}
	p.flags, p.changes = grouped(own), own.Lookup("dry-run") != nil
	return p
}

// paragraphs splits a block into text and lists. The lines of a list are indented, and have a
// word, at least two spaces, and its meaning.
func paragraphs(block string) []paragraph {
	var out []paragraph
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, "\n")
		last := len(out) - 1
		item := listed.FindStringSubmatch(line)
		switch {
		case item != nil && last >= 0 && out[last].list != nil:
			out[last].list = append(out[last].list, entry{item[1], item[2]})
		case item != nil:
			out = append(out, paragraph{list: []entry{{item[1], item[2]}}})
		case last >= 0 && out[last].list == nil:
			out[last].text += " " + line
		default:
			out = append(out, paragraph{text: line})
		}
	}
	return out
}

var listed = regexp.MustCompile(`^  (\S+)\s{2,}(\S.*)$`)

// parseExitCodes parses "0 done, 1 a step failed, 2 no answer.", and returns the text after the
// full stop as well.
func parseExitCodes(said string) (exits []exit, rest string) {
	codes, rest, _ := strings.Cut(strings.Join(strings.Fields(said), " ")+" ", ". ")
	for _, part := range code.Split(", "+codes, -1)[1:] {
		exits = append(exits, exit{meaning: part})
	}
	for i, number := range code.FindAllStringSubmatch(", "+codes, -1) {
		exits[i].word = number[1]
	}
	return exits, strings.TrimSpace(rest)
}

var code = regexp.MustCompile(`, (\d+) `)

// grouped returns the command's own flags by name, and after them the groups of shared flags.
func grouped(flags *pflag.FlagSet) []group {
	var out []group
	var own group
	grouped := func(name string) bool {
		for _, g := range shared {
			if slices.Contains(g.names, name) {
				return true
			}
		}
		return false
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && !grouped(f.Name) {
			own.flags = append(own.flags, optionOf(f))
		}
	})
	if own.title = "Flags"; len(own.flags) > 0 {
		out = append(out, own)
	}
	for _, g := range shared {
		in := group{title: g.title}
		for _, name := range g.names {
			if f := flags.Lookup(name); f != nil && !f.Hidden {
				in.flags = append(in.flags, optionOf(f))
			}
		}
		if len(in.flags) > 0 {
			out = append(out, in)
		}
	}
	return out
}

func optionOf(f *pflag.Flag) option {
	kind, usage := pflag.UnquoteUsage(f)
	o := option{typed: "--" + f.Name, usage: usage}
	if f.Shorthand != "" && f.Shorthand != f.Name {
		o.typed = "-" + f.Shorthand + ", " + o.typed
	} else if f.Shorthand != "" {
		o.typed = "-" + f.Shorthand
	}
	switch {
	case kind == "":
	case f.NoOptDefVal != "":
		o.typed += "[=" + kind + "]"
	default:
		o.typed += " " + kind
	}
	if !slices.Contains([]string{"", "false", "0", "0s", "[]"}, f.DefValue) {
		o.byDefault = f.DefValue
	}
	return o
}

// dedent removes the indentation of examples.
func dedent(examples string) string {
	lines := strings.Split(examples, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
