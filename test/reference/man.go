package main

import (
	"fmt"
	"strings"
)

// asMan returns the man pages, in section 1.
func asMan(pages []page) map[string]string {
	files := map[string]string{}
	var names []string
	for _, p := range pages {
		names = append(names, title(p))
	}
	for _, p := range pages {
		files[title(p)+".1"] = man(p, pages[1:], names)
	}
	return files
}

// title returns the name under which man finds a page.
func title(p page) string { return strings.ReplaceAll(p.path, " ", "-") }

func man(p page, commands []page, names []string) string {
	m := &roff{}
	m.macro("TH", strings.ToUpper(title(p)), "1", "", names[0], p.path) // without a date, so that equal commands give equal pages
	m.macro("SH", "NAME")
	m.text(title(p) + " - " + strings.ToLower(p.short[:1]) + p.short[1:])
	if p.name != options {
		m.macro("SH", "SYNOPSIS")
		m.macro("B", p.usage)
	}
	m.macro("SH", "DESCRIPTION")
	for _, t := range p.text {
		if t.list == nil {
			m.macro("PP")
			m.text(t.text)
		}
		for _, e := range t.list {
			m.tagged(e.word, e.meaning)
		}
	}
	if p.name == "" {
		m.macro("SH", "COMMANDS")
		for _, c := range commands {
			m.tagged(c.path, c.short)
		}
	}
	for _, g := range p.flags {
		m.macro("SH", strings.ToUpper(g.title))
		for _, o := range g.flags {
			usage := o.usage
			if o.byDefault != "" {
				usage += " (default " + o.byDefault + ")"
			}
			m.tagged(o.typed, usage)
		}
	}
	if p.examples != "" {
		m.macro("SH", "EXAMPLES")
		m.verbatim(p.examples)
	}
	if len(p.exits) > 0 {
		m.macro("SH", "EXIT STATUS")
		for _, e := range p.exits {
			m.tagged(e.word, e.meaning)
		}
	}
	m.macro("SH", "SEE ALSO")
	var others []string
	for _, name := range names {
		if name != title(p) {
			others = append(others, name+"(1)")
		}
	}
	m.text(strings.Join(others, ", "))
	return m.String()
}

// roff is a page that is being written.
type roff struct{ strings.Builder }

func (r *roff) macro(name string, args ...string) {
	r.WriteString("." + name)
	for _, arg := range args {
		fmt.Fprintf(r, ` "%s"`, strings.ReplaceAll(escape(arg), `"`, `\(dq`))
	}
	r.WriteString("\n")
}

func (r *roff) text(text string) { r.WriteString(guard(escape(text)) + "\n") }

// tagged writes a word, and its meaning below it.
func (r *roff) tagged(word, meaning string) {
	r.macro("TP")
	r.macro("B", word)
	r.text(meaning)
}

// verbatim writes lines without filling them.
func (r *roff) verbatim(text string) {
	r.macro("PP")
	r.macro("nf")
	for line := range strings.SplitSeq(text, "\n") {
		r.text(line)
	}
	r.macro("fi")
}

// escape returns text in which characters have no special meaning. That includes the hyphen: roff
// prints it as a typographic one, which does not work in a copied command.
func escape(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '\\':
			b.WriteString(`\e`)
		case c == '-':
			b.WriteString(`\-`)
		case c == '~':
			b.WriteString(`\(ti`)
		case c == '^':
			b.WriteString(`\(ha`)
		case c == '\'':
			b.WriteString(`\(aq`)
		case c == '`':
			b.WriteString(`\(ga`)
		case c > 126:
			fmt.Fprintf(&b, `\[u%04X]`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// guard keeps a line from being read as a macro.
func guard(line string) string {
	if strings.HasPrefix(line, ".") { // a line cannot start with an apostrophe, which escape has replaced
		return `\&` + line
	}
	return line
}
