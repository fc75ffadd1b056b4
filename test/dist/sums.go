package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sumsFile is as sha256sum writes it, and checks it with -c.
const sumsFile = "checksums.txt"

func writeSums(folder string, names []string) error {
	slices.Sort(names)
	var lines strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return fmt.Errorf("sum up: %w", err)
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(data), name)
	}
	if err := os.WriteFile(filepath.Join(folder, sumsFile), []byte(lines.String()), 0o644); err != nil {
		return fmt.Errorf("write sums: %w", err)
	}
	return nil
}

// readSums answers the sum of each file.
func readSums(folder string) (map[string]string, error) {
	data, err := os.ReadFile(filepath.Join(folder, sumsFile))
	if err != nil {
		return nil, fmt.Errorf("read sums: %w", err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(data)) {
		sum, name, found := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !found || name != filepath.Base(name) {
			return nil, fmt.Errorf("read sums: %q is no line of %s", line, sumsFile)
		}
		sums[name] = sum
	}
	return sums, nil
}

// removeEarlier removes what an earlier run made in a folder, by its sums, and nothing else.
func removeEarlier(folder string) error {
	sums, err := readSums(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for name := range sums {
		if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove what an earlier run made: %w", err)
		}
	}
	return nil
}
