package wording

import "strings"

// List names at most so many, and says how many more there are.
func List(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + " and " + Thousands(more) + " more"
	}
	return strings.Join(names, ", ")
}
