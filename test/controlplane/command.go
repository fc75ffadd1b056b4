package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

var errStdinClosed = errors.New("stdin was closed before the control plane was ready")

// readCommands sends the lines of in, and calls closed at its end.
func readCommands(in io.Reader, closed context.CancelCauseFunc) <-chan string {
	lines := make(chan string, 16) // buffered, so that the end is noticed even while commands wait
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

// execute runs one command.
func execute(ctx context.Context, p *plane, line string) error {
	verb, value, _ := strings.Cut(line, " ")
	value = strings.TrimSpace(value)
	switch {
	case verb == "restart" && value == apiServerName:
		if err := p.restartAPIServer(ctx); err != nil {
			return fmt.Errorf("restart %s: %w", apiServerName, err)
		}
		return nil
	case verb == "kill" && value == managerName:
		p.killManager()
		return nil
	case verb == "corrupt" && value != "":
		if err := p.corrupt(ctx, value); err != nil {
			return fmt.Errorf("corrupt %s: %w", value, err)
		}
		return nil
	case verb != "collector":
		return fmt.Errorf("unknown command %q, want: collector on|off|absent, restart %s, kill %s, or corrupt KEY", line, apiServerName, managerName)
	}
	want, err := parseCollector(value)
	if err != nil {
		return err
	}
	if err := p.setCollector(ctx, want); err != nil {
		return fmt.Errorf("switch collector to %s: %w", want, err)
	}
	return nil
}
