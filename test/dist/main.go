// Command dist makes what a release consists of, the same bytes every time: an archive for
// each platform, a bill of materials for each archive, the sums of all of them, and the
// manifest for krew. It needs no network beyond what go build needs.
//
//	dist archives   the archives, their bills of materials and checksums.txt
//	dist sbom       the bill of materials of one archive
//	dist manifest   krew's manifest, from its template and checksums.txt
//
// The Makefile knows the name, the version and the flags of the linker; they are given.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "archives":
			return runArchives(ctx, args[1:])
		case "sbom":
			return runSBOM(args[1:])
		case "manifest":
			return runManifest(args[1:])
		}
	}
	return errors.New("say archives, sbom or manifest")
}

func runArchives(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("archives", flag.ContinueOnError)
	var (
		b     build
		only  = flags.String("platforms", "", "build these alone, as linux/amd64,windows/arm64 (default all)")
		out   = flags.String("out", "dist", "the folder to write to")
		epoch = flags.Int64("time", 0, "the time of everything in the archives, in seconds since 1970: that of the commit")
	)
	flags.StringVar(&b.file, "file", "kubectl-gc", "what the program is called")
	flags.StringVar(&b.version, "version", "", "the version, as v1.2.3")
	flags.StringVar(&b.ldflags, "ldflags", "", "flags for the linker")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := checkVersion(b.version); err != nil {
		return err
	}
	if *epoch <= 0 {
		return errors.New("say with -time when the commit was made: make dist SOURCE_DATE_EPOCH=… where there is no git")
	}
	b.time = time.Unix(*epoch, 0).UTC()
	platforms, err := choose(*only)
	if err != nil {
		return err
	}
	return b.all(ctx, platforms, *out)
}

func runSBOM(args []string) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	out := flags.String("o", "", "the file to write")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *out == "" {
		return errors.New("say dist sbom -o FILE ARCHIVE")
	}
	return writeBill(flags.Arg(0), *out)
}

func runManifest(args []string) error {
	flags := flag.NewFlagSet("manifest", flag.ContinueOnError)
	var (
		template = flags.String("template", ".krew.yaml", "what krew-release-bot renders")
		from     = flags.String("from", "dist", "the folder with the archives")
		out      = flags.String("o", "", "the file to write: the name of the plugin, with .yaml")
		r        rendering
	)
	flags.StringVar(&r.name, "name", "gc", "the name of the plugin")
	flags.StringVar(&r.file, "file", "kubectl-gc", "what the program is called")
	flags.StringVar(&r.version, "version", "", "the version, as v1.2.3")
	flags.BoolVar(&r.partial, "partial", false, "give a platform that was not built a sum that nothing has")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if filepath.Base(*out) != r.name+".yaml" {
		return fmt.Errorf("write manifest to %q: krew wants the name of the plugin there, %s.yaml", *out, r.name)
	}
	if err := checkVersion(r.version); err != nil {
		return err
	}
	return r.write(*template, *from, *out)
}
