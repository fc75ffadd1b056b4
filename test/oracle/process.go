package oracle

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// Ask returns the reply to a request.
type Ask func(context.Context, scenario.Request) (scenario.Reply, error)

// Command starts a process that reads requests on standard input, one JSON document a line,
// and writes one line with the reply to each.
type Command struct {
	Args    []string
	Env     []string // nil: that of this process
	Stderr  io.Writer
	Timeout time.Duration // of one request
}

// Pool is a number of processes that answer requests.
type Pool struct {
	command Command
	idle    chan *process
}

// NewPool returns a pool of at most n processes. They start when they are needed.
func NewPool(c Command, n int) *Pool {
	p := &Pool{command: c, idle: make(chan *process, n)}
	for range n {
		p.idle <- nil
	}
	return p
}

// Ask has one of the processes answer a request. A process that fails is replaced. It is safe
// for concurrent use.
func (p *Pool) Ask(ctx context.Context, r scenario.Request) (scenario.Reply, error) {
	var at *process
	select {
	case at = <-p.idle:
	case <-ctx.Done():
		return scenario.Reply{}, ctx.Err()
	}
	if at == nil {
		started, err := p.command.start()
		if err != nil {
			p.idle <- nil
			return scenario.Reply{}, err
		}
		at = started
	}
	reply, err := at.ask(ctx, r, p.command.Timeout)
	if err != nil {
		err = errors.Join(err, at.stop())
		at = nil
	}
	p.idle <- at
	if err == nil && reply.Error != "" {
		err = errors.New(reply.Error)
	}
	return reply, err
}

// Close ends the processes. No request may be under way.
func (p *Pool) Close() error {
	var all []error
	for range cap(p.idle) {
		if at := <-p.idle; at != nil {
			all = append(all, at.close())
		}
	}
	return errors.Join(all...)
}

// process is a process that answers one request at a time.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
}

func (c Command) start() (*process, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Stderr = c.Env, c.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{cmd, stdin, bufio.NewReader(stdout)}, nil
}

func (p *process) ask(ctx context.Context, r scenario.Request, timeout time.Duration) (scenario.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })()
	var reply scenario.Reply
	line, err := json.Marshal(r)
	if err == nil {
		_, err = p.stdin.Write(append(line, '\n'))
	}
	if err == nil {
		line, err = p.stdout.ReadBytes('\n')
	}
	switch {
	case ctx.Err() != nil:
		return reply, fmt.Errorf("no reply: %w", ctx.Err())
	case err != nil:
		return reply, fmt.Errorf("no reply: %w", err)
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return reply, fmt.Errorf("decode the reply: %w", err)
	}
	return reply, nil
}

// stop kills a process that failed, and returns how it ended if it had ended before.
func (p *process) stop() error {
	_ = p.stdin.Close()
	killed := p.cmd.Process.Kill() == nil
	if err := p.cmd.Wait(); !killed {
		return err
	}
	return nil
}

// close ends a process by the end of its input.
func (p *process) close() error {
	return errors.Join(p.stdin.Close(), p.cmd.Wait())
}
