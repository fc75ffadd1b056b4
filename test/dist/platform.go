package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// platform is an operating system and an architecture, as Go calls them.
type platform struct{ os, arch string }

// platforms are those of a release. .goreleaser.yaml and .krew.yaml list the same.
var platforms = []platform{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

func (p platform) String() string { return p.os + "/" + p.arch }

// program is what a file is called that can be run there.
func (p platform) program(file string) string {
	if p.os == "windows" {
		return file + ".exe"
	}
	return file
}

// archive is what the archive for it is called.
func (p platform) archive(file, version string) string {
	ending := ".tar.gz"
	if p.os == "windows" {
		ending = ".zip"
	}
	return fmt.Sprintf("%s_%s_%s_%s%s", file, version, p.os, p.arch, ending)
}

// choose answers those of a list, or all where it is empty.
func choose(list string) ([]platform, error) {
	if list == "" {
		return platforms, nil
	}
	var out []platform
	for word := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == word })
		if i < 0 {
			return nil, fmt.Errorf("%q is none of the platforms %v", word, platforms)
		}
		out = append(out, platforms[i])
	}
	return out, nil
}

// semantic is a version as krew takes it: no +, since it is part of a URL.
var semantic = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

func checkVersion(version string) error {
	if !semantic.MatchString(version) {
		return fmt.Errorf("%q is no version as v1.2.3 or v1.2.3-rc.1: where git knows none, say VERSION=…", version)
	}
	return nil
}
