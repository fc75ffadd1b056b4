// Package docgen puts figures into those pages of the documentation that are partly
// written by a command and partly by a person.
package docgen

import (
	"fmt"
	"os"
	"strings"
	"text/template"
)

// Marks are the lines between which a part of a page is a command's.
func Marks(part string) (begins, ends string) {
	return "<!-- " + part + ": written by make soak -->\n", "<!-- end of " + part + " -->\n"
}

// Fill replaces a part of the page at the path by what the template makes of the
// figures. What is outside of the marks stays as it is; they must be there.
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
	begins, ends := Marks(part)
	head, rest, found := strings.Cut(string(content), begins)
	_, tail, ended := strings.Cut(rest, ends)
	if !found || !ended {
		return fmt.Errorf("it lacks the lines between which the figures of %s belong", part)
	}
	form, err := template.New(part).Parse(text)
	if err != nil {
		return err
	}
	var out strings.Builder
	if err := form.Execute(&out, figures); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(head+begins+out.String()+ends+tail), 0o644) // a page for everybody
}
