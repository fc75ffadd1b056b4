package docs

import (
	"regexp"
	"strings"
	"testing"
)

// kind is something that differs from run to run. Of a kind that names things a later
// command can speak of what was shown.
type kind struct {
	pattern string
	names   bool
}

// kinds, the longest first.
var kinds = []kind{
	{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, true},            // UIDs
	{`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}[:-][0-9]{2}[:-][0-9]{2}Z(?:-[0-9])?`, true}, // times, and backups that are called by them
	{`[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}`, false},                  // times as people write them
	{`\b[0-9a-f]{16}\b`, true},                                 // digests
	{`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`, true},              // ends of generated names
	{`\b(?:[0-9]+(?:\.[0-9]+)?(?:ms|µs|s|m|h|d|y))+\b`, false}, // ages
}

var differing = func() *regexp.Regexp {
	var all []string
	for _, k := range kinds {
		all = append(all, "("+k.pattern+")")
	}
	return regexp.MustCompile(strings.Join(all, "|"))
}()

var blanks = regexp.MustCompile(` +`)

// even is a line without what differs from run to run.
func even(line string) string {
	line = differing.ReplaceAllStringFunc(line, func(found string) string {
		groups := differing.FindStringSubmatch(found)
		for i, g := range groups[1:] {
			if g != "" {
				return "‹" + string(rune('0'+i)) + "›"
			}
		}
		return found
	})
	return strings.TrimSpace(blanks.ReplaceAllString(line, " "))
}

const anything = "…"

// like tells if a line that is shown can stand for one that was said.
func like(shown, said string) bool {
	pieces := strings.Split(even(shown), anything)
	if len(pieces) == 1 {
		return even(shown) == even(said)
	}
	for i, p := range pieces {
		pieces[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("^" + strings.Join(pieces, ".*") + "$").MatchString(even(said))
}

// paired is the line that was said for each line that is shown, -1 for a line of …; nil
// if they do not fit.
func paired(shown, said []string) []int {
	shown, said = trimmed(shown), trimmed(said)
	switch {
	case len(shown) == 0:
		if len(said) == 0 {
			return []int{}
		}
		return nil
	case strings.TrimSpace(shown[0]) == anything:
		for skip := 0; skip <= len(said); skip++ {
			if rest := paired(shown[1:], said[skip:]); rest != nil {
				return append([]int{-1}, shifted(rest, skip)...)
			}
		}
		return nil
	case len(said) == 0 || !like(shown[0], said[0]):
		return nil
	}
	if rest := paired(shown[1:], said[1:]); rest != nil {
		return append([]int{0}, shifted(rest, 1)...)
	}
	return nil
}

func shifted(indices []int, by int) []int {
	for i := range indices {
		if indices[i] >= 0 {
			indices[i] += by
		}
	}
	return indices
}

// trimmed has no empty lines at its end.
func trimmed(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// meant adds what the page calls by another name than the run: shown, then said.
func meant(names map[string]string, shown, said []string, pairs []int) {
	for i, j := range pairs {
		if j < 0 || strings.Contains(shown[i], anything) {
			continue
		}
		a, b := differing.FindAllStringSubmatch(shown[i], -1), differing.FindAllStringSubmatch(said[j], -1)
		for n := range min(len(a), len(b)) {
			for k := range kinds {
				if kinds[k].names && a[n][k+1] != "" && b[n][k+1] != "" {
					names[a[n][0]] = b[n][0]
				}
			}
		}
	}
}

func TestWhatAPageShowsIsComparedWithWhatWasSaid(t *testing.T) {
	for name, c := range map[string]struct {
		shown, said string
		fits        bool
	}{
		"the same":                     {"a b", "a b", true},
		"another word":                 {"a b", "a c", false},
		"more blanks":                  {"a  b", "a      b", true},
		"an age":                       {"held for 3d2h", "held for 4s", true},
		"an age and a word":            {"held for 3d2h", "held for ever", false},
		"a digest":                     {"digest 3ecc862154d2191b.", "digest 0123456789abcdef.", true},
		"a digest and a UID":           {"3ecc862154d2191b", "7b0c5a3e-58b1-4f0e-9d3a-6a8c1e4f2b90", false},
		"a Pod of a ReplicaSet":        {"Pod/web-5f6d8c9b7-2ftpd", "Pod/web-5f6d8c9b7-x4c7z", true},
		"a Pod of another":             {"Pod/web-5f6d8c9b7-2ftpd", "Pod/web-84cd44fcbb-x4c7z", false},
		"a number that is no age":      {"delete 4", "delete 5", false},
		"the rest of a line":           {"a …", "a b c", true},
		"the middle of a line":         {"a … c", "a b d", false},
		"lines left out":               {"a\n…\nd", "a\nb\nc\nd", true},
		"no line left out":             {"a\n…\nd", "a\nd", true},
		"lines left out at the end":    {"a\n…", "a\nb\nc", true},
		"lines left out before a lack": {"a\n…\ne", "a\nb\nc\nd", false},
		"a line too few":               {"a", "a\nb", false},
		"a line too many":              {"a\nb", "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			if pairs := paired(strings.Split(c.shown, "\n"), strings.Split(c.said, "\n")); (pairs != nil) != c.fits {
				t.Errorf("got %v", pairs)
			}
		})
	}
}

func TestWhatAPageShowsStandsForWhatWasSaid(t *testing.T) {
	shown := []string{"…", "digest 3ecc862154d2191b after 3s"}
	said := []string{"one", "two", "digest 0123456789abcdef after 45s"}
	names := map[string]string{}
	meant(names, shown, said, paired(shown, said))
	if len(names) != 1 || names["3ecc862154d2191b"] != "0123456789abcdef" {
		t.Errorf("got %v", names)
	}
}
