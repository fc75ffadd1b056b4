package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// page is what one command says of itself.
type page struct {
	path     string // kubectl gc audit
	name     string // audit; empty: the root
	short    string
	usage    string
	text     []paragraph
	exits    []exit
	examples string
	flags    []group
	changes  bool // it may change a cluster
}

// paragraph is some text, or a list of words and what they mean.
type paragraph struct {
	text string
	list []entry
}

type entry struct{ word, meaning string }

type exit = entry

// group are flags that belong together.
type group struct {
	title string
	flags []option
}

// option is a flag as it is typed, with what it does.
type option struct {
	typed, usage, otherwise string // otherwise: the default, where there is one
}

// shared are flags that several commands have, in the order in which they are shown.
// Those that are in no group are a command's own.
var shared = []struct {
	title string
	names []string
}{
	{"What to look at", []string{"namespace", "all-namespaces", "from", "strict"}},
	{"What to ask, and what to save", []string{"dry-run", "yes", "confirm", "max-deletes", "backup-dir", "no-backup", "timeout"}},
	{"How to answer", []string{"output", "template", "allow-missing-template-keys"}},
	{"How to ask the server, and to look", []string{"chunk-size", "concurrency", "max-memory", "request-timeout", "color", "v"}},
	{"Which cluster, and as whom: as in kubectl", []string{
		"kubeconfig", "context", "cluster", "user", "server", "token", "as", "as-group", "as-uid", "as-user-extra",
		"certificate-authority", "client-certificate", "client-key", "insecure-skip-tls-verify", "tls-server-name",
		"proxy-url", "disable-compression", "cache-dir",
	}},
}

// options is the command that lists what every command takes.
const options = "options"

// read makes a page of every command, the root first and the others by name.
func read(root *cobra.Command) []page {
	pages := []page{of(root)}
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() && cmd.Name() != "help" {
			pages = append(pages, of(cmd))
		}
	}
	return pages
}

func of(cmd *cobra.Command) page {
	p := page{path: cmd.CommandPath(), name: cmd.Name(), short: cmd.Short, usage: cmd.UseLine(), examples: dedent(cmd.Example)}
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	for block := range strings.SplitSeq(strings.TrimSpace(long), "\n\n") {
		if after, codes := strings.CutPrefix(block, "Exit codes:"); codes {
			var rest string
			if p.exits, rest = exitsOf(after); rest != "" {
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

// paragraphs divides a block into text and the lists in it, the lines of which are
// indented: a word, and behind some spaces what it means.
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

// exitsOf reads "0 done, 1 a step failed, 2 no answer.", and what follows the full stop.
func exitsOf(said string) (exits []exit, rest string) {
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

// grouped sorts flags into a command's own, by name, and the groups of those that it
// shares with others.
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
		o.otherwise = f.DefValue
	}
	return o
}

// dedent takes the indentation from examples.
func dedent(examples string) string {
	lines := strings.Split(examples, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
