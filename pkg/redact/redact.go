// Package redact takes credentials out of addresses before anybody sees them.
//
// It errs on the safe side: of an address that is malformed, or that can be read in two
// ways, it may hide more than the credentials. It never fails.
package redact

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Mark stands in the place of what was taken out. An address with it is visibly not the
// one that was given.
const Mark = "REDACTED"

// harmless are the parameters of a query that prove nothing: those of the Kubernetes API,
// and those by which a kustomization names a version. The values of all others go.
var harmless = []string{
	"allowWatchBookmarks", "continue", "dryRun", "fieldManager", "fieldSelector", "fieldValidation", "force",
	"gracePeriodSeconds", "includeObject", "labelSelector", "limit", "pretty", "propagationPolicy", "resourceVersion",
	"resourceVersionMatch", "sendInitialEvents", "timeout", "timeoutSeconds", "watch",
	"ref", "submodules", "version",
}

// URL returns an address, which need not have a scheme, with Mark in the place of the
// user, the password, the fragment, and whatever in the query may be a token. An address
// without these is returned as it is.
func URL(address string) string {
	scheme := withScheme.FindString(address)
	return scheme + query(user(address[len(scheme):]))
}

// withScheme is how an address begins that has a scheme; of kustomize's, some have two.
var withScheme = regexp.MustCompile(`^([A-Za-z]+::)?[A-Za-z][A-Za-z0-9+.-]*://`)

// user redacts user and password. A password may hold what would end the authority of a
// valid URL, so where there may be one, all goes that stands before the last @.
func user(rest string) string {
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	last := strings.LastIndexByte(rest, '@')
	switch {
	case last >= 0 && strings.ContainsAny(authority, ":@"):
		return Mark + rest[last:]
	case !validPort(authority): // a user and the beginning of a password
		return Mark + rest[len(authority):]
	}
	return rest
}

// validPort reports whether what follows the host is empty or a port.
func validPort(authority string) bool {
	_, port, found := strings.Cut(authority[strings.LastIndexByte(authority, ']')+1:], ":")
	return !found || strings.Trim(port, "0123456789") == ""
}

func query(rest string) string {
	rest, fragment, found := strings.Cut(rest, "#")
	if found {
		fragment = "#" + Mark
	}
	path, query, found := strings.Cut(rest, "?")
	if !found {
		return rest + fragment
	}
	parameters := strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' })
	changed := false
	for i, p := range parameters {
		if name, _, _ := strings.Cut(p, "="); !slices.Contains(harmless, name) {
			parameters[i], changed = Mark, true
		}
	}
	if changed {
		query = strings.Join(parameters, "&")
	}
	return path + "?" + query + fragment
}

// inText is a URL with a scheme, up to what cannot be in one.
var inText = regexp.MustCompile("[A-Za-z][A-Za-z0-9+.-]*://[^\\s\"'`<>]+")

// Text returns a text with every URL in it redacted that has a scheme and no blanks.
func Text(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	return inText.ReplaceAllStringFunc(text, func(found string) string {
		address := strings.TrimRight(found, ":;,.)") // of the sentence around it
		return URL(address) + found[len(address):]
	})
}

// Error returns an error whose text has these addresses redacted, whether it quotes them
// or not, and any other URL that Text finds. It is err itself if there is nothing to hide.
func Error(err error, addresses ...string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, address := range addresses {
		safe := URL(address)
		if safe == address {
			continue
		}
		quoted := strconv.Quote(address)
		text = strings.ReplaceAll(text, quoted[1:len(quoted)-1], safe)
		text = strings.ReplaceAll(text, address, safe)
	}
	if text = Text(text); text == err.Error() {
		return err
	}
	return errors.New(text)
}
