package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"time"
)

const kubeconfigFile = "kubeconfig"

// ready is the line that run prints when the control plane is ready.
type ready struct {
	Kubeconfig string `json:"kubeconfig"`
	Server     string `json:"server"`
	Dir        string `json:"dir"` // the run's folder, with the logs
	Bin        string `json:"bin"` // the folder of kubectl
	switched
}

// switched is the line that answers a command.
type switched struct {
	Collector collector      `json:"collector"`
	Manager   string         `json:"manager,omitempty"` // URL of kube-controller-manager, empty if it does not run
	PIDs      map[string]int `json:"pids"`
}

// failure is the line that is printed instead of ready or switched.
type failure struct {
	Error    string `json:"error"`
	NotBuilt bool   `json:"notBuilt,omitempty"` // --only-if-built was set, and there are no binaries
}

func runCommand(ctx context.Context, args []string, s streams) error {
	var o options
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	o.registerRun(fs)
	if err := parse(fs, args, s); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var commands <-chan string
	if !o.detached {
		commands = readCommands(s.in, cancel)
	}

	answers := json.NewEncoder(s.out)
	p, err := buildAndStart(ctx, o, s)
	if errors.Is(context.Cause(ctx), errStdinClosed) && errors.Is(err, context.Canceled) {
		err = errStdinClosed
	}
	if err != nil {
		_ = answers.Encode(failure{Error: err.Error(), NotBuilt: errors.Is(err, errNotBuilt)})
		return err
	}
	err = serve(ctx, p, commands, answers)
	return errors.Join(err, p.stop())
}

func buildAndStart(ctx context.Context, o options, s streams) (*plane, error) {
	t := newThread()
	bin, err := build(ctx, t, s.err, o.version, o.onlyIfBuilt)
	if err != nil {
		return nil, err
	}
	removeStale()
	begun := time.Now()
	p, err := start(ctx, t, bin, o)
	if err == nil && isTerminal(s.in) {
		fmt.Fprintf(s.err, "ready after %s, Ctrl-C stops it\n", time.Since(begun).Round(100*time.Millisecond))
	}
	return p, err
}

// serve executes commands until ctx ends, which is not an error, or a server ends.
func serve(ctx context.Context, p *plane, commands <-chan string, answers *json.Encoder) error {
	// The reader may be gone. Then stdin closes as well.
	_ = answers.Encode(ready{
		Kubeconfig: p.folder.file(kubeconfigFile), Server: p.server, Dir: p.folder.path, Bin: p.bin.tools, switched: p.switched(),
	})
	for {
		var managerExited <-chan struct{}
		if p.manager != nil {
			managerExited = p.manager.exited
		}
		select {
		case <-ctx.Done():
			return nil
		case <-p.etcd.exited:
			return p.etcd.died()
		case <-p.apiserver.exited:
			return p.apiserver.died()
		case <-managerExited:
			return p.manager.died()
		case line := <-commands:
			if err := execute(ctx, p, line); err != nil {
				_ = answers.Encode(failure{Error: err.Error()})
			} else {
				_ = answers.Encode(p.switched())
			}
		}
	}
}

func (p *plane) switched() switched {
	return switched{Collector: p.collector, Manager: p.managerServer, PIDs: p.pids()}
}
