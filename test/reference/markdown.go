package main

import (
	"fmt"
	"regexp"
	"strings"
)

// more are the pages of the documentation about a command, relative to docs/commands.
var more = map[string][]link{
	"audit":      {{"the rules", "../rules/README.md"}, {"output formats", "../output.md"}},
	"collect":    {{"how to collect", "../collect.md"}, {"backups", "../backup.md"}, {"where it differs from the cluster's own collector", "../differences.md"}, {"output formats", "../output.md"}},
	"completion": {{"how to set it up, and which requests it sends", "../completion.md"}},
	"delete":     {{"what a deletion deletes with it", "../delete.md"}, {"backups", "../backup.md"}, {"output formats", "../output.md"}},
	"repair":     {{"how to repair references", "../repair.md"}, {"backups", "../backup.md"}, {"output formats", "../output.md"}},
	"restore":    {{"how to restore", "../restore.md"}, {"backups", "../backup.md"}, {"output formats", "../output.md"}},
	"tree":       {{"output formats", "../output.md"}},
	"why":        {{"how to read the explanation", "../why.md"}, {"output formats", "../output.md"}},
}

// always are the pages about every command that uses a cluster.
var always = []link{{"rights", "../rbac.md"}, {"which requests are sent", "../requests.md"}}

type link struct{ text, to string }

const exitCodes = "../exit-codes.md"

// written is the comment for people who want to edit the page.
const written = "<!-- Written by \"make docs\" from the commands themselves: change those. -->\n\n"

// asMarkdown returns the files of the command reference.
func asMarkdown(pages []page) map[string]string {
	files := map[string]string{"README.md": index(pages)}
	for _, p := range pages[1:] {
		files[p.name+".md"] = markdown(p)
	}
	return files
}

func index(pages []page) string {
	root := pages[0]
	var b strings.Builder
	fmt.Fprintf(&b, "%s# The commands of %s\n\n", written, root.path)
	texts(&b, root.text)
	for _, half := range []struct {
		title   string
		changes bool
	}{{"Commands that only read", false}, {"Commands that may change the cluster", true}} {
		fmt.Fprintf(&b, "## %s\n\n| command | what it does |\n| --- | --- |\n", half.title)
		for _, p := range pages[1:] {
			if p.changes == half.changes {
				fmt.Fprintf(&b, "| [`%s`](%s.md) | %s |\n", p.path, p.name, cell(p.short))
			}
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "## Examples\n\n```sh\n%s\n```\n\n", root.examples)
	fmt.Fprintf(&b, "[Options of every command](%s.md), and [exit codes](%s).\n", options, exitCodes)
	return b.String()
}

func markdown(p page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n", written, p.path)
	if p.name != options {
		fmt.Fprintf(&b, "`%s`\n\n", p.usage)
	}
	texts(&b, p.text)
	if p.examples != "" {
		fmt.Fprintf(&b, "## Examples\n\n```sh\n%s\n```\n\n", p.examples)
	}
	for _, g := range p.flags {
		fmt.Fprintf(&b, "## %s\n\n| flag | what it does |\n| --- | --- |\n", g.title)
		for _, o := range g.flags {
			usage := cell(o.usage)
			if o.byDefault != "" {
				usage += " (default `" + o.byDefault + "`)"
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", o.typed, usage)
		}
		b.WriteString("\n")
	}
	if p.name == options {
		b.WriteString("[All commands](README.md)\n")
		return b.String()
	}
	if len(p.exits) > 0 {
		b.WriteString("## Exit codes\n\n| code | meaning |\n| --- | --- |\n")
		for _, e := range p.exits {
			fmt.Fprintf(&b, "| %s | %s |\n", e.word, cell(e.meaning))
		}
		b.WriteString("\n")
	}
	b.WriteString("## See also\n\n")
	links := []link{{"all commands", "README.md"}, {"what every command takes", options + ".md"}, {"exit codes", exitCodes}}
	links = append(more[p.name], links...)
	if len(p.flags) > 0 && p.name != "completion" {
		links = append(links, always...)
	}
	for _, l := range links {
		fmt.Fprintf(&b, "* [%s](%s)\n", l.text, l.to)
	}
	return b.String()
}

func texts(b *strings.Builder, text []paragraph) {
	for _, t := range text {
		for _, e := range t.list {
			fmt.Fprintf(b, "* `%s`: %s\n", e.word, inline(e.meaning))
		}
		if t.list == nil {
			b.WriteString(wrap(inline(t.text), 120) + "\n")
		}
		b.WriteString("\n")
	}
}

// cell returns text for a table cell.
func cell(text string) string { return strings.ReplaceAll(inline(text), "|", `\|`) }

var (
	special = regexp.MustCompile(`[\\*<>~` + "`" + `]`)
	quoted  = regexp.MustCompile(`"(kubectl[^"]*)"`)
	flagged = regexp.MustCompile(`(^|[\s(])(--?[a-zA-Z][a-z-]*(?:=[a-z-]+)?)`)
)

// inline returns text with flags and commands in code style.
func inline(text string) string {
	text = special.ReplaceAllString(text, `\$0`)
	text = flagged.ReplaceAllString(text, "$1`$2`")
	return quoted.ReplaceAllStringFunc(text, func(q string) string {
		return "`" + strings.ReplaceAll(strings.Trim(q, `"`), "`", "") + "`"
	})
}

// wrap breaks lines at spaces outside of code.
func wrap(text string, width int) string {
	var b strings.Builder
	at, inCode := 0, false
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
		case at+1+len(word) > width && !inCode:
			b.WriteString("\n")
			at = 0
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += len(word)
		inCode = inCode != (strings.Count(word, "`")%2 == 1)
	}
	return b.String()
}
