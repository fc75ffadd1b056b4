package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

var errStdinClosed = errors.New("stdin was closed before the control plane was ready")

// readCommands passes on the lines of in, and calls closed at its end.
func readCommands(in io.Reader, closed context.CancelCauseFunc) <-chan string {
	lines := make(chan string, 16) // so that the end is noticed behind commands that wait
	go func() {
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			if line := strings.TrimSpace(scanner.Text()); line != "" {
				lines <- line
			}
		}
		closed(errStdinClosed)
	}()
	return lines
}

// obey runs one command.
func obey(ctx context.Context, p *plane, line string) error {
	verb, value, _ := strings.Cut(line, " ")
	if verb != "collector" {
		return fmt.Errorf("unknown command %q, want: collector on|off|absent", line)
	}
	want, err := parseCollector(strings.TrimSpace(value))
	if err != nil {
		return err
	}
	if err := p.setCollector(ctx, want); err != nil {
		return fmt.Errorf("switch collector to %s: %w", want, err)
	}
	return nil
}

// isTerminal tells if in is a device that somebody may type on.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
