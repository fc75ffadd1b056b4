// Package rules holds the pages of the audit rules.
package rules

import (
	"embed"
	"strings"
)

//go:embed *.md
var pages embed.FS

// Page returns the page of a rule in Markdown, and reports whether there is one.
func Page(rule string) (page string, ok bool) {
	text, err := pages.ReadFile(rule + ".md")
	return string(text), err == nil
}

// List returns the table of all rules, with their summaries and usual severities; the worst come first.
func List() string {
	page, _ := Page("README")
	table := page[strings.Index(page, "\n| ")+1:]
	table, _, _ = strings.Cut(table, "\n\n")
	return table + "\n"
}
