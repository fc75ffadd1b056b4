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
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const stateUsage = "the folder that up and down share (default of these: one in the user's cache folder)"

func upCommand(ctx context.Context, args []string, s streams) error {
	var o options
	fs := flag.NewFlagSet("up", flag.ContinueOnError)
	o.register(fs)
	if err := parse(fs, args, s); err != nil {
		return err
	}
	flags := fs.NFlag()
	if o.state != "" {
		flags--
	}
	state, unlock, err := openState(ctx, o.state, s.err)
	if err != nil {
		return err
	}
	defer unlock()
	config := filepath.Join(state, kubeconfigFile)
	switch running := runOf(config) > 0; {
	case running && flags > 0:
		return errors.New("a control plane runs already, perhaps with other flags: controlplane down stops it")
	case !running:
		// Built here, since the run has no terminal to show its progress on.
		if _, err := build(ctx, s.err, o.version, o.onlyIfBuilt); err != nil {
			return err
		}
		if err := detach(ctx, append(args, "--state="+state), filepath.Join(state, "run.log")); err != nil {
			return err
		}
	}
	fmt.Fprintln(s.err, "a control plane runs: controlplane down stops it")
	_, err = fmt.Fprintf(s.out, "export KUBECONFIG='%s'\n", strings.ReplaceAll(config, "'", `'\''`))
	return err
}

// openState creates the folder that up and down share, by default the only one of the user, and
// locks it.
func openState(ctx context.Context, dir string, progress io.Writer) (state string, unlock func(), err error) {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", nil, fmt.Errorf("find folder for state: %w", err)
		}
		dir = filepath.Join(cache, "kubectl-gc", "controlplane-up")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", nil, fmt.Errorf("find folder for state: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("make folder for state: %w", err)
	}
	unlock, err = lock(ctx, filepath.Join(dir, ".lock"), func() {
		fmt.Fprintln(progress, "another up or down is at work, waiting for it")
	})
	return dir, unlock, err
}

// detach starts a run in a new session and returns when it is ready. After an error it is stopped.
func detach(ctx context.Context, args []string, logFile string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	log, err := os.Create(logFile)
	if err != nil {
		return fmt.Errorf("start run: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(self, append([]string{"run"}, args...)...)
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start run: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start run: %w", err)
	}
	interrupt := func() { _ = cmd.Process.Signal(syscall.SIGTERM) }
	defer context.AfterFunc(ctx, interrupt)()
	var answer failure
	err = json.NewDecoder(stdout).Decode(&answer)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err == nil && answer.Error == "":
		return nil
	case err == nil:
		err = errors.New(answer.Error)
	}
	interrupt()
	_ = cmd.Wait()
	return fmt.Errorf("start run: %w", err)
}

// stopTimeout is how long a run may take to stop its servers, one after the other.
const stopTimeout = 4 * grace

func downCommand(ctx context.Context, args []string, s streams) error {
	fs := flag.NewFlagSet("down", flag.ContinueOnError)
	dir := fs.String("state", "", stateUsage)
	if err := parse(fs, args, s); err != nil {
		return err
	}
	state, unlock, err := openState(ctx, *dir, s.err)
	if err != nil {
		return err
	}
	defer unlock()
	config := filepath.Join(state, kubeconfigFile)
	answer := "no control plane runs"
	if pid := runOf(config); pid > 0 {
		if err := stopRun(ctx, pid, config); err != nil {
			return err
		}
		answer = "the control plane is stopped"
	}
	if err := os.Remove(config); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("forget what ran: %w", err)
	}
	_, err = fmt.Fprintln(s.out, answer)
	return err
}

// stopRun stops the run of a kubeconfig and returns when it has ended. It kills a run that does not
// respond, and then the kernel kills the servers if it can.
func stopRun(ctx context.Context, pid int, config string) error {
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop process %d: %w", pid, err)
	}
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	kill := time.After(stopTimeout)
	for runOf(config) == pid {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of process %d: %w", pid, ctx.Err())
		case <-kill:
			_ = syscall.Kill(pid, syscall.SIGKILL) // fails if it has ended meanwhile
		case <-tick.C:
		}
	}
	return nil
}
