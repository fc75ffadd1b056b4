package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
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
	o.register(fs)
	if err := parse(fs, args, s); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var commands <-chan string
	if o.state == "" {
		commands = readCommands(s.in, cancel)
	}

	answers := json.NewEncoder(s.out)
	p, err := buildAndStart(ctx, o, s.err)
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

func buildAndStart(ctx context.Context, o options, progress io.Writer) (*plane, error) {
	bin, err := build(ctx, progress, o.version, o.onlyIfBuilt)
	if err != nil {
		return nil, err
	}
	removeStale()
	return start(ctx, bin, o)
}

// serve executes commands until ctx ends, which is not an error, until a server ends, or until nobody
// reads the answers.
func serve(ctx context.Context, p *plane, commands <-chan string, answers *json.Encoder) error {
	var answer any = ready{
		Kubeconfig: p.folder.file(kubeconfigFile), Server: p.server, Dir: p.folder.path, Bin: p.bin.tools, switched: p.switched(),
	}
	for {
		if err := answers.Encode(answer); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
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
			err := execute(ctx, p, line)
			if answer = p.switched(); err != nil {
				answer = failure{Error: err.Error()}
			}
		}
	}
}

func (p *plane) switched() switched {
	return switched{Collector: p.collector, Manager: p.managerServer, PIDs: p.pids()}
}
