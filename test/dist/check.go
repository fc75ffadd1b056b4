package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// manifest is what is looked at of a krew manifest.
type manifest struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string `json:"version"`
		ShortDescription string `json:"shortDescription"`
		Platforms        []struct {
			Selector struct {
				MatchLabels struct {
					OS   string `json:"os"`
					Arch string `json:"arch"`
				} `json:"matchLabels"`
			} `json:"selector"`
			URI    string `json:"uri"`
			SHA256 string `json:"sha256"`
			Bin    string `json:"bin"`
		} `json:"platforms"`
	} `json:"spec"`
}

// generic are words that say nothing in a list of kubectl plugins; those who look after
// krew's index ask for them to be left out.
var generic = []string{"kubectl", "kubernetes", "k8s", "krew", "plugin", "plugins", "tool", "utility", "cli", "command"}

// longest is how much of a short description krew search shows on a usual terminal.
const longest = 60

// check says what is wrong with a rendered manifest of ours beyond the rules that krew's
// own validator knows: those are asked of it, in test/krew.
func check(rendered []byte, r rendering) error {
	var m manifest
	if err := yaml.Unmarshal(rendered, &m); err != nil {
		return err
	}
	errs := []error{checkWords(m.Spec.ShortDescription)}
	if m.Metadata.Name != r.name || m.Spec.Version != r.version {
		errs = append(errs, fmt.Errorf("it is of %s %s, want %s %s", m.Metadata.Name, m.Spec.Version, r.name, r.version))
	}
	var have []platform
	for _, p := range m.Spec.Platforms {
		is := platform{p.Selector.MatchLabels.OS, p.Selector.MatchLabels.Arch}
		have = append(have, is)
		if want := is.archive(r.file, r.version); path.Base(p.URI) != want {
			errs = append(errs, fmt.Errorf("%s is to fetch %s, want %s", is, path.Base(p.URI), want))
		}
		if want := is.program(r.file); p.Bin != want {
			errs = append(errs, fmt.Errorf("%s is to run %q, want %q", is, p.Bin, want))
		}
	}
	if !slices.Equal(have, platforms) {
		errs = append(errs, fmt.Errorf("it is for %v, want %v", have, platforms))
	}
	return errors.Join(errs...)
}

func checkWords(short string) error {
	for word := range strings.FieldsSeq(strings.ToLower(short)) {
		if slices.Contains(generic, strings.Trim(word, ".,;:")) {
			return fmt.Errorf("the short description %q says %q, which every entry of the list could", short, word)
		}
	}
	if len(short) > longest || strings.ContainsAny(short, "\r\n") {
		return fmt.Errorf("the short description %q is no line of %d characters", short, longest)
	}
	return nil
}
