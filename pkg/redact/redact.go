// Package redact removes credentials from URLs before they are printed or logged.
//
// It errs on the safe side: it may hide more than the credentials of a malformed or
// ambiguous URL. It never fails.
package redact

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Mark replaces what is removed, so that the change is visible.
const Mark = "REDACTED"

// harmless are query parameters of the Kubernetes API, which are not credentials. All others
// are redacted.
var harmless = []string{
	"allowWatchBookmarks", "continue", "dryRun", "fieldManager", "fieldSelector", "fieldValidation", "force",
	"gracePeriodSeconds", "includeObject", "labelSelector", "limit", "pretty", "propagationPolicy", "resourceVersion",
	"resourceVersionMatch", "sendInitialEvents", "timeout", "timeoutSeconds", "watch",
}

// URL returns an address, which need not have a scheme, with Mark instead of the user, the
// password, the fragment, and query parameters that may be tokens. It returns any other
// address unchanged.
func URL(address string) string {
	scheme := withScheme.FindString(address)
	return scheme + redactQuery(redactUser(address[len(scheme):]))
}

// withScheme matches the scheme of an address.
var withScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// redactUser redacts user and password. A password may contain characters that would end
// the authority of a valid URL, so everything before the last @ is removed.
func redactUser(rest string) string {
	begin := len(rest) - len(strings.TrimLeft(rest, "/")) // of an address without a scheme, or with too many slashes
	end := len(rest)
	if i := strings.IndexAny(rest[begin:], "/?#"); i >= 0 {
		end = begin + i
	}
	authority := rest[begin:end]
	last := strings.LastIndexByte(rest, '@')
	switch {
	case last >= 0 && strings.ContainsAny(authority, ":@"):
		return Mark + rest[last:]
	case !validPort(authority): // a user and the start of a password
		return Mark + rest[end:]
	}
	return rest
}

// validPort reports whether what follows the host is empty or a port.
func validPort(authority string) bool {
	_, port, found := strings.Cut(authority[strings.LastIndexByte(authority, ']')+1:], ":")
	return !found || strings.Trim(port, "0123456789") == ""
}

func redactQuery(rest string) string {
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

// inText matches a URL with a scheme.
var inText = regexp.MustCompile("[A-Za-z][A-Za-z0-9+.-]*://[^\\s\"'`<>]+")

// Text returns a text in which every URL with a scheme is redacted.
func Text(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	return inText.ReplaceAllStringFunc(text, func(found string) string {
		address := strings.TrimRight(found, ":;,.)") // punctuation of the sentence
		return URL(address) + found[len(address):]
	})
}

// Error returns an error in whose text these addresses, quoted or not, and all URLs that
// Text finds are redacted. It returns err itself if there is nothing to redact.
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
