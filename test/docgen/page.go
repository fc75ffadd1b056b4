// Package docgen writes figures into pages of the documentation. Commands write some parts of
// these pages, and people the rest.
package docgen

import (
	"fmt"
	"os"
	"strings"
	"text/template"
)

// Marks returns the lines before and after a part of a page that make soak writes. Another target
// may write a part as well: then the first line names that.
func Marks(part string) (begins, ends string) {
	return "<!-- " + part + ": written by make soak -->\n", "<!-- end of " + part + " -->\n"
}

// Fill replaces a part of the page at path with the template, applied to figures. It changes
// nothing outside of the marks, and returns an error if they are missing.
func Fill(path, part, text string, figures any) error {
	if err := fill(path, part, text, figures); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func fill(path, part, text string, figures any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, ends := Marks(part)
	head, rest, found := strings.Cut(string(content), "<!-- "+part+": written by ")
	target, rest, marked := strings.Cut(rest, " -->\n") // the target that writes the part
	_, tail, ended := strings.Cut(rest, ends)
	if !found || !marked || !ended {
		return fmt.Errorf("it lacks the lines between which the figures of %s belong", part)
	}
	form, err := template.New(part).Parse(text)
	if err != nil {
		return err
	}
	begins := "<!-- " + part + ": written by " + target + " -->\n"
	var out strings.Builder
	if err := form.Execute(&out, figures); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(head+begins+out.String()+ends+tail), 0o644) // readable by everybody
}
