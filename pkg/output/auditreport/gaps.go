package auditreport

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Gaps returns a warning in one line, without its line break, about what could not be
// read, or an empty string if everything was. types is the number of types to read. At
// most limit gaps are named, and none of more that are all forbidden; zero is no limit.
// cluster is the name of one of several clusters, else empty. A type that could not be
// read in several namespaces for one reason is named once.
func Gaps(cluster string, gaps []snapshot.Gap, types, limit int) string {
	sentence := Unread(gaps, types, limit)
	if sentence == "" {
		return ""
	}
	prefix := "warning: "
	if cluster != "" {
		prefix += "cluster " + escape.Word(cluster) + ": "
	}
	return prefix + sentence
}

// Unread is Gaps without the words before the sentence.
func Unread(gaps []snapshot.Gap, types, limit int) string {
	if len(gaps) == 0 {
		return ""
	}
	search := func(g snapshot.Gap) bool { return g.Namespace == snapshot.All }
	unread := merge(slices.DeleteFunc(slices.Clone(gaps), search))
	switch {
	case len(unread) == 0:
		return wording.Count(len(gaps), "type") + " could not be searched in other namespaces, so an owner reported missing may exist there."
	case len(unread) == 1 && unread[0].Group == snapshot.All && unread[0].Reason == snapshot.NotInFile:
		return escape.Sentence(unread[0].Message + ".")
	}
	common, name := "", unreadable.String
	if sameNamespace(unread) {
		common, name = fmt.Sprintf(" in namespace %s (%s)", escape.Word(unread[0].Namespace), unread[0].Reason), unreadable.bare
	}
	if limit > 0 && len(unread) > limit && !slices.ContainsFunc(unread, func(u unreadable) bool { return u.Reason != snapshot.Forbidden }) {
		return fmt.Sprintf("could not read %s%s. Objects that they own were not checked.", countTypes(unread, types), cmp.Or(common, " (forbidden)"))
	}
	shown := unread
	if limit > 0 {
		shown = unread[:min(limit, len(unread))]
	}
	var named []string
	for _, u := range shown {
		named = append(named, name(u))
	}
	if more := len(unread) - len(named); more > 0 {
		named = append(named, fmt.Sprintf("and %s more", wording.Thousands(more)))
	}
	return fmt.Sprintf("could not read %s%s: %s. Objects that they own were not checked.", countTypes(unread, types), common, strings.Join(named, ", "))
}

// sameNamespace reports whether several types could not be read, all in one namespace and
// for one reason.
func sameNamespace(unread []unreadable) bool {
	first := unread[0]
	return len(unread) > 1 && first.Namespace != "" && !slices.ContainsFunc(unread, func(u unreadable) bool {
		return u.Namespace != first.Namespace || u.Reason != first.Reason || u.namespaces > 1
	})
}

// Causes returns what the server said about gaps, in at most limit lines. Refusals, and
// types that a file does not contain, need no explanation.
func Causes(gaps []snapshot.Gap, limit int) []string {
	var out []string
	for _, u := range merge(gaps) {
		if len(out) == limit {
			break
		}
		if u.Namespace != snapshot.All && u.Reason != snapshot.Forbidden && u.Reason != snapshot.NotInFile && u.Message != "" {
			out = append(out, escape.Word(u.Gap.String())+": "+escape.Line(u.Message))
		}
	}
	return out
}

// unreadable is a gap, or several gaps that differ only in their namespace.
type unreadable struct {
	snapshot.Gap
	namespaces int
}

func merge(gaps []snapshot.Gap) []unreadable {
	type key struct {
		group, resource string
		single          bool
		reason          snapshot.ErrorClass
	}
	index := map[key]int{}
	var out []unreadable
	for _, g := range gaps {
		k := key{g.Group, g.Resource, g.Name != "", g.Reason}
		i, seen := index[k]
		if !seen {
			i = len(out)
			index[k] = i
			out = append(out, unreadable{Gap: g})
		}
		if g.Namespace == "" {
			out[i].Gap = g // a gap of all namespaces includes the others
		}
		out[i].namespaces++
	}
	return out
}

// bare returns the type alone.
func (u unreadable) bare() string {
	everywhere := u.Gap
	everywhere.Namespace = ""
	return escape.Word(everywhere.String())
}

func (u unreadable) String() string {
	what := u.Gap.String()
	if u.Namespace != "" && u.namespaces > 1 {
		what = fmt.Sprintf("%s in %s", u.bare(), wording.Count(u.namespaces, "namespace"))
	}
	return fmt.Sprintf("%s (%s)", escape.Word(what), escape.Sentence(u.Why()))
}

// countTypes returns how many types could not be read, how many API groups could not be
// discovered, and for how many types single owners could not be read.
func countTypes(unread []unreadable, types int) string {
	known, single, groups := map[[2]string]bool{}, map[[2]string]bool{}, map[string]bool{}
	for _, u := range unread {
		switch {
		case u.Group == snapshot.All:
			return "some types"
		case u.Resource == snapshot.All:
			groups[u.Group] = true
		case u.Name != "":
			single[[2]string{u.Group, u.Resource}] = true
		default:
			known[[2]string{u.Group, u.Resource}] = true
		}
	}
	var parts []string
	if len(known) > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s", wording.Thousands(len(known)), wording.Count(types, "type")))
	}
	if len(groups) > 0 {
		parts = append(parts, wording.Count(len(groups), "API group"))
	}
	if len(single) > 0 {
		parts = append(parts, "single owners of "+wording.Count(len(single), "type"))
	}
	return strings.Join(parts, " and ")
}
