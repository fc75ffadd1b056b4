package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// build is what all platforms have in common.
type build struct {
	file, version, ldflags string
	time                   time.Time
}

// beside is what an archive holds beside the program. krew-index wants the licence in it.
var beside = []string{"LICENSE", "README.md"}

// all makes an archive with its bill of materials for each platform, and the sums of
// everything. What an earlier run left in the folder is removed.
func (b build) all(ctx context.Context, platforms []platform, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("make folder for archives: %w", err)
	}
	if err := removeEarlier(out); err != nil {
		return err
	}
	var made []string
	for _, p := range platforms {
		archive := p.archive(b.file, b.version)
		fmt.Println(filepath.Join(out, archive))
		if err := b.one(ctx, p, filepath.Join(out, archive)); err != nil {
			return err
		}
		if err := writeBill(filepath.Join(out, archive), filepath.Join(out, archive+billEnding)); err != nil {
			return err
		}
		made = append(made, archive, archive+billEnding)
	}
	return writeSums(out, made)
}

func (b build) one(ctx context.Context, p platform, archive string) error {
	work, err := os.MkdirTemp("", "kubectl-gc-dist-")
	if err != nil {
		return fmt.Errorf("make folder to build in: %w", err)
	}
	defer os.RemoveAll(work)
	program := filepath.Join(work, p.program(b.file))
	if err := b.compile(ctx, p, program); err != nil {
		return err
	}
	var entries []entry
	for _, name := range beside {
		entries = append(entries, entry{name: name, from: name, mode: 0o644})
	}
	entries = append(entries, entry{name: filepath.Base(program), from: program, mode: 0o755})
	if err := writeArchive(archive, entries, b.time); err != nil {
		return fmt.Errorf("write %s: %w", archive, err)
	}
	return nil
}

// compile leaves nothing of this machine in the program: no folder, no user, no clock, no
// C compiler, and no state of git, which an unpacked source archive has not. The
// variables are all that go build takes into account beside its flags.
func (b build) compile(ctx context.Context, p platform, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", b.ldflags, "-o", program, "./cmd/kubectl-gc")
	cmd.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "CGO_ENABLED=0",
		"GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOWORK=off")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %s: %w\n%s", p, err, said)
	}
	return nil
}
