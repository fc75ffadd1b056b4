package docs

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|href|srcset)="([^"]+)"`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	spanned = regexp.MustCompile("`[^`\n]*`")
)

func TestRelativeLinksAreValid(t *testing.T) {
	all := read(t)
	for file, text := range all {
		text = spanned.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			href := found[1] + found[2]
			if strings.Contains(href, "://") || strings.HasPrefix(href, "mailto:") {
				continue
			}
			href, anchor, _ := strings.Cut(href, "#")
			target := file
			if href != "" {
				target = path.Join(path.Dir(file), href)
			}
			info, err := os.Stat(filepath.Join(root, filepath.FromSlash(target)))
			switch {
			case err != nil:
				t.Errorf("%s: %s: there is no such file", file, href)
			case info.IsDir() && anchor == "":
			case anchor != "" && !slices.Contains(anchors(all[target]), anchor):
				t.Errorf("%s: %s has no heading #%s", file, target, anchor)
			}
		}
	}
}

// TestEveryPageIsLinked requires that links lead from the index of docs to every page.
func TestEveryPageIsLinked(t *testing.T) {
	all := read(t)
	seen := map[string]bool{}
	queue := []string{"docs/README.md"}
	for len(queue) > 0 {
		file := queue[0]
		queue = queue[1:]
		if seen[file] {
			continue
		}
		seen[file] = true
		for _, found := range link.FindAllStringSubmatch(all[file], -1) {
			to, _, _ := strings.Cut(found[1]+found[2], "#")
			if target := path.Join(path.Dir(file), to); strings.HasSuffix(target, ".md") && !strings.Contains(to, "://") {
				queue = append(queue, target)
			}
		}
	}
	for file := range all {
		if strings.HasPrefix(file, "docs/") && !seen[file] {
			t.Errorf("no link leads from docs/README.md to %s", file)
		}
	}
}

// anchors returns the anchors that GitHub gives to the headings of a page.
func anchors(text string) []string {
	var out []string
	times := map[string]int{}
	for _, found := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, found[1])
		times[name]++
		if n := times[name]; n > 1 {
			name = fmt.Sprintf("%s-%d", name, n-1)
		}
		out = append(out, name)
	}
	return out
}
