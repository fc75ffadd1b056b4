package main

import (
	"fmt"
	"slices"
	"strings"
)

// setting is a key=value for a flag of a server, without leading dashes.
type setting string

func parseSetting(s string) (setting, error) {
	key, _, ok := strings.Cut(strings.TrimLeft(s, "-"), "=")
	if !ok || key == "" {
		return "", fmt.Errorf("%q is not key=value", s)
	}
	return setting(strings.TrimLeft(s, "-")), nil
}

func (s setting) key() string {
	key, _, _ := strings.Cut(string(s), "=")
	return key
}

// commandLine returns the arguments in ours and theirs; a key in theirs replaces the same key in
// ours. A repeated flag would mean both values for some flags, and the last one for others.
func commandLine(ours, theirs []setting) []string {
	all := slices.DeleteFunc(slices.Clone(ours), func(o setting) bool {
		return slices.ContainsFunc(theirs, func(t setting) bool { return t.key() == o.key() })
	})
	args := []string{}
	for _, s := range append(all, theirs...) {
		args = append(args, "--"+string(s))
	}
	return args
}
