package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

const stateUsage = "the folder that up and down share (default: one in the user's cache folder)"

func upCommand(ctx context.Context, args []string, s streams) error {
	var o options
	var dir string
	fs := flag.NewFlagSet("up", flag.ContinueOnError)
	o.register(fs)
	fs.StringVar(&dir, "state", "", stateUsage)
	if err := parse(fs, args, s); err != nil {
		return err
	}
	flagsGiven := false // other than -state
	fs.Visit(func(f *flag.Flag) { flagsGiven = flagsGiven || f.Name != "state" })

	state, r, release, err := hold(ctx, dir, s.err)
	if err != nil {
		return err
	}
	defer release()
	if r.Run.runs() && r.Server != "" {
		if flagsGiven && !r.sameFlags(o) {
			return fmt.Errorf("a control plane runs already, with other flags (%s): controlplane down stops it", strings.Join(r.Args, " "))
		}
		fmt.Fprintf(s.err, "a control plane runs already at %s (%s)\n", r.Server, strings.Join(r.Args, " "))
		return export(s.out, state)
	}
	// Stop the rest of a run that was killed, or that never became ready.
	if err := end(ctx, r); err != nil {
		return err
	}
	if err := state.clear(); err != nil {
		return err
	}
	// Built here, since the run has no terminal to show its progress on.
	if _, err := build(ctx, newThread(), s.err, o.version, false); err != nil {
		return err
	}
	r, err = detach(ctx, state, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.err, "a control plane runs at %s (%s)\ncontrolplane down stops it\n", r.Server, strings.Join(r.Args, " "))
	return export(s.out, state)
}

// detach starts a run in a new session and returns when it is ready. After an error everything is
// stopped.
func detach(ctx context.Context, state state, o options) (record, error) {
	self, err := os.Executable()
	if err != nil {
		return record{}, fmt.Errorf("find own program: %w", err)
	}
	log, err := os.Create(state.file(runLog))
	if err != nil {
		return record{}, fmt.Errorf("start run: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(self, append([]string{"run", "--detached"}, o.args()...)...)
	cmd.Stderr = log
	cmd.Dir = string(state)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return record{}, fmt.Errorf("start run: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return record{}, fmt.Errorf("start run: %w", err)
	}

	r := record{Args: o.args()}
	if r.Run, err = identify(cmd.Process.Pid); err == nil {
		err = state.save(r) // at once, so that down finds it if this process is killed
	}
	var answer ready
	if err == nil {
		answer, err = receive(ctx, stdout)
	}
	if err == nil {
		err = r.complete(state, answer)
	}
	if err != nil {
		_ = cmd.Process.Signal(syscall.SIGTERM) // after an error of its own it ends by itself
		_ = cmd.Wait()
		return record{}, errors.Join(err, state.clear())
	}
	return r, nil
}

// receive reads the single line that a run prints: that it is ready, or why not.
func receive(ctx context.Context, from io.Reader) (ready, error) {
	type line struct {
		ready
		failure
	}
	var l line
	done := make(chan error, 1)
	go func() { done <- json.NewDecoder(from).Decode(&l) }()
	select {
	case <-ctx.Done():
		return ready{}, fmt.Errorf("wait for the run to be ready: %w", ctx.Err())
	case err := <-done:
		if err != nil {
			return ready{}, fmt.Errorf("wait for the run to be ready: %w", err)
		}
		if l.Error != "" {
			return ready{}, errors.New(l.Error)
		}
		return l.ready, nil
	}
}

// complete adds to the record what is known only when the run is ready.
func (r *record) complete(state state, answer ready) error {
	for _, pid := range answer.PIDs {
		server, err := identify(pid)
		if err != nil {
			return err
		}
		r.Servers = append(r.Servers, server)
	}
	r.Server = answer.Server
	config, err := os.ReadFile(answer.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig of the run: %w", err)
	}
	if err := writeWhole(state.kubeconfig(), config, 0o600); err != nil {
		return err
	}
	return state.save(*r)
}

// export prints the line that the shell evaluates.
func export(out io.Writer, state state) error {
	_, err := fmt.Fprintf(out, "export KUBECONFIG='%s'\n", strings.ReplaceAll(state.kubeconfig(), "'", `'\''`))
	return err
}
