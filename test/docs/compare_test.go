package docs

import (
	"regexp"
	"strings"
	"testing"
)

// kind is a kind of value that differs from run to run. If names is set, later commands may
// contain the value that the page shows, in place of the actual one.
type kind struct {
	pattern string
	names   bool
}

// kinds has the longest patterns first.
var kinds = []kind{
	{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, true},            // UIDs
	{`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}[:-][0-9]{2}[:-][0-9]{2}Z(?:-[0-9])?`, true}, // times, and backups named after them
	{`[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}`, false},                  // times in the format for people
	// the API server
	{`https://(?:127\.0\.0\.1|10\.0\.0\.5):[0-9]+`, false},
	{`\b[0-9a-f]{16}\b`, true},                                 // digests
	{`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`, true},              // random suffixes of generated names
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

// normalize replaces values that differ from run to run, and consecutive spaces.
func normalize(line string) string {
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

// matches reports whether a line on the page matches a line of the output.
func matches(shown, output string) bool {
	pieces := strings.Split(normalize(shown), anything)
	if len(pieces) == 1 {
		return normalize(shown) == normalize(output)
	}
	for i, p := range pieces {
		pieces[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("^" + strings.Join(pieces, ".*") + "$").MatchString(normalize(output))
}

// match returns, for each line on the page, the index of the matching output line, or -1 for a
// line with only …; nil if page and output do not match.
func match(shown, output []string) []int {
	shown, output = trimmed(shown), trimmed(output)
	switch {
	case len(shown) == 0:
		if len(output) == 0 {
			return []int{}
		}
		return nil
	case strings.TrimSpace(shown[0]) == anything:
		for skip := 0; skip <= len(output); skip++ {
			if rest := match(shown[1:], output[skip:]); rest != nil {
				return append([]int{-1}, shifted(rest, skip)...)
			}
		}
		return nil
	case len(output) == 0 || !matches(shown[0], output[0]):
		return nil
	}
	if rest := match(shown[1:], output[1:]); rest != nil {
		return append([]int{0}, shifted(rest, 1)...)
	}
	return nil
}

func shifted(indices []int, offset int) []int {
	for i := range indices {
		if indices[i] >= 0 {
			indices[i] += offset
		}
	}
	return indices
}

// trimmed returns the lines without empty ones at the end.
func trimmed(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// recordNames adds the values on the page, with the matching values of the output.
func recordNames(names map[string]string, shown, output []string, pairs []int) {
	for i, j := range pairs {
		if j < 0 || strings.Contains(shown[i], anything) {
			continue
		}
		a, b := differing.FindAllStringSubmatch(shown[i], -1), differing.FindAllStringSubmatch(output[j], -1)
		for n := range min(len(a), len(b)) {
			for k := range kinds {
				if kinds[k].names && a[n][k+1] != "" && b[n][k+1] != "" {
					names[a[n][0]] = b[n][0]
				}
			}
		}
	}
}

func TestMatch(t *testing.T) {
	for name, c := range map[string]struct {
		shown, said string
		fits        bool
	}{
		"the same":                             {"a b", "a b", true},
		"another word":                         {"a b", "a c", false},
		"more spaces":                          {"a  b", "a      b", true},
		"an age":                               {"held for 3d2h", "held for 4s", true},
		"an age and a word":                    {"held for 3d2h", "held for ever", false},
		"a digest":                             {"digest 3ecc862154d2191b.", "digest 0123456789abcdef.", true},
		"a digest and a UID":                   {"3ecc862154d2191b", "7b0c5a3e-58b1-4f0e-9d3a-6a8c1e4f2b90", false},
		"a Pod of a ReplicaSet":                {"Pod/web-5f6d8c9b7-2ftpd", "Pod/web-5f6d8c9b7-x4c7z", true},
		"a Pod of another ReplicaSet":          {"Pod/web-5f6d8c9b7-2ftpd", "Pod/web-84cd44fcbb-x4c7z", false},
		"a number that is not an age":          {"delete 4", "delete 5", false},
		"the rest of a line":                   {"a …", "a b c", true},
		"the middle of a line":                 {"a … c", "a b d", false},
		"lines left out":                       {"a\n…\nd", "a\nb\nc\nd", true},
		"no line left out":                     {"a\n…\nd", "a\nd", true},
		"lines left out at the end":            {"a\n…", "a\nb\nc", true},
		"lines left out before a missing line": {"a\n…\ne", "a\nb\nc\nd", false},
		"a missing line":                       {"a", "a\nb", false},
		"an additional line":                   {"a\nb", "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			if pairs := match(strings.Split(c.shown, "\n"), strings.Split(c.said, "\n")); (pairs != nil) != c.fits {
				t.Errorf("got %v", pairs)
			}
		})
	}
}

func TestRecordNames(t *testing.T) {
	shown := []string{"…", "digest 3ecc862154d2191b after 3s"}
	said := []string{"one", "two", "digest 0123456789abcdef after 45s"}
	names := map[string]string{}
	recordNames(names, shown, said, match(shown, said))
	if len(names) != 1 || names["3ecc862154d2191b"] != "0123456789abcdef" {
		t.Errorf("got %v", names)
	}
}
