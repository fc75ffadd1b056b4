// Command dist creates the two parts of a release that goreleaser does not: the SBOM of each
// program, for which .goreleaser.yaml runs this command, and the manifest for krew.
//
//	dist sbom       writes the SBOM of one program
//	dist manifest   writes krew's manifest from its template and the archives
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "sbom":
			return runSBOM(args[1:])
		case "manifest":
			return runManifest(args[1:])
		}
	}
	return errors.New("usage: dist sbom|manifest FLAGS")
}

func runSBOM(args []string) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	var (
		version = flags.String("version", "", "the version, for example v1.2.3")
		epoch   = flags.Int64("time", 0, "the time of the commit, in seconds since 1970")
		out     = flags.String("o", "", "the file to write: a name for the document, and "+sbomSuffix)
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *out == "" {
		return errors.New("usage: dist sbom -version VERSION -time SECONDS -o FILE PROGRAM")
	}
	if err := checkVersion(*version); err != nil {
		return err
	}
	return writeSBOM(flags.Arg(0), *version, time.Unix(*epoch, 0), *out)
}

func runManifest(args []string) error {
	flags := flag.NewFlagSet("manifest", flag.ContinueOnError)
	var (
		template = flags.String("template", ".krew.yaml", "the template that krew-release-bot renders")
		out      = flags.String("o", "", "the file to write: the name of the plugin, and .yaml")
		m        manifest
	)
	flags.StringVar(&m.name, "name", "gc", "the name of the plugin")
	flags.StringVar(&m.file, "file", "kubectl-gc", "the file name of the program")
	flags.StringVar(&m.version, "version", "", "the version, for example v1.2.3")
	flags.StringVar(&m.archives, "from", "dist", "the folder of the archives")
	flags.BoolVar(&m.partial, "partial", false, "give a missing archive a checksum that no file has")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if filepath.Base(*out) != m.name+".yaml" {
		return fmt.Errorf("write manifest to %q: krew requires the file name %s.yaml", *out, m.name)
	}
	if err := checkVersion(m.version); err != nil {
		return err
	}
	return m.write(*template, *out)
}

// semantic matches the versions that krew accepts, without a +, because the version becomes part
// of a URL.
var semantic = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`)

func checkVersion(version string) error {
	if !semantic.MatchString(version) {
		return fmt.Errorf("%q is not a version like v1.2.3 or v1.2.3-rc.1: without git, set VERSION", version)
	}
	return nil
}
