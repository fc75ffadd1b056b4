// Package docs holds the page of the audit rules.
package docs

import (
	_ "embed"
	"strings"
)

//go:embed rules.md
var rules string

// Rule returns the section about a rule as a page of its own in Markdown, and reports whether there is one.
func Rule(id string) (page string, ok bool) {
	_, page, ok = strings.Cut(rules, "\n## "+id+"\n")
	page, _, _ = strings.Cut(page, "\n\n## ")
	return "# " + id + "\n" + strings.ReplaceAll(strings.TrimSuffix(page, "\n")+"\n", "\n###", "\n##"), ok
}

// Rules returns the table of all rules, with their summaries and usual severities; the worst come first.
func Rules() string {
	table := rules[strings.Index(rules, "\n| ")+1:]
	table, _, _ = strings.Cut(table, "\n\n")
	return table + "\n"
}
