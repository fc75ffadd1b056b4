package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// state is the folder with the state that up and down share.
type state string

// record describes the control plane that up has started.
type record struct {
	Run     identity   `json:"run"`
	Servers []identity `json:"servers"` // empty until it is ready
	Args    []string   `json:"args"`    // of run
	Server  string     `json:"server"`  // empty until it is ready
}

// openState creates the folder, by default the only one of the user.
func openState(dir string) (state, error) {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find folder for state: %w", err)
		}
		dir = filepath.Join(cache, "kubectl-gc", "controlplane-up")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find folder for state: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make folder for state: %w", err)
	}
	return state(dir), nil
}

func (s state) file(name string) string { return filepath.Join(string(s), name) }

func (s state) kubeconfig() string { return s.file(kubeconfigFile) }

const (
	recordFile = "record.json"
	runLog     = "run.log"
)

// load returns the record, or the zero value if there is none.
func (s state) load() (record, error) {
	data, err := os.ReadFile(s.file(recordFile))
	if errors.Is(err, os.ErrNotExist) {
		return record{}, nil
	}
	if err != nil {
		return record{}, fmt.Errorf("read record of what runs: %w", err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return record{}, fmt.Errorf("read record of what runs in %s: %w", s.file(recordFile), err)
	}
	return r, nil
}

func (s state) save(r record) error { return writeJSON(s.file(recordFile), r) }

// clear removes the record. The log of the run stays, so that it can be read.
func (s state) clear() error {
	var errs []error
	for _, name := range []string{kubeconfigFile, recordFile} {
		if err := os.Remove(s.file(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, fmt.Errorf("forget what ran: %w", err))
		}
	}
	return errors.Join(errs...)
}

// sameFlags reports whether the running control plane was started with the same command line.
func (r record) sameFlags(o options) bool { return slices.Equal(r.Args, o.args()) }

// all returns the processes, the run itself first.
func (r record) all() []identity { return append([]identity{r.Run}, r.Servers...) }

// hold opens the state, locks it until release is called, and reads the record.
func hold(ctx context.Context, dir string, progress io.Writer) (s state, r record, release func(), err error) {
	if s, err = openState(dir); err != nil {
		return s, r, nil, err
	}
	if release, err = s.lock(ctx, progress); err != nil {
		return s, r, nil, err
	}
	if r, err = s.load(); err != nil {
		release()
		return s, r, nil, err
	}
	return s, r, release, nil
}

func (s state) lock(ctx context.Context, progress io.Writer) (unlock func(), err error) {
	return lock(ctx, s.file(".lock"), func() {
		fmt.Fprintln(progress, "another up or down is at work, waiting for it")
	})
}
