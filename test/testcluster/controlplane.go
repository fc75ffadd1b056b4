package testcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// ErrNotBuilt means that the binaries of a control plane do not exist.
var ErrNotBuilt = errors.New("the control plane's binaries are not built: `go run -C test/controlplane . build` does it, in minutes")

// ControlPlane is a running control plane. It is not safe for concurrent use.
type ControlPlane struct {
	// Kubeconfig is a path. The user of its current context, admin, may do everything. The
	// users of Context have no permissions until they are granted.
	Kubeconfig string
	// Server is the URL of kube-apiserver.
	Server string
	// Manager is the URL of kube-controller-manager, where admin may read /metrics. It is
	// empty while the collector is Absent.
	Manager string
	// Dir holds the logs, NAME.log. Stop removes it.
	Dir string
	// KubectlPath is a kubectl of the newest version that can be started.
	KubectlPath string
	// PIDs are the process IDs of the servers, by name.
	PIDs map[string]int

	process   *exec.Cmd
	stdin     io.WriteCloser
	responses chan response // closed when process ends its output
	exited    chan struct{} // closed when process is gone
	result    error         // of process; read it after exited only
	lost      error         // why process can no longer be used
	stop      sync.Once
}

// response is an output line of the command, with the fields that are used here.
type response struct {
	Kubeconfig string         `json:"kubeconfig"`
	Server     string         `json:"server"`
	Dir        string         `json:"dir"`
	Bin        string         `json:"bin"`
	Manager    string         `json:"manager"`
	PIDs       map[string]int `json:"pids"`
	Error      string         `json:"error"`
	NotBuilt   bool           `json:"notBuilt"`
}

// Start starts a control plane and returns when it is ready. ctx applies to the start only;
// the control plane runs until Stop, or until this process ends.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	if runtime.GOOS == "windows" {
		return nil, errors.New("start control plane: it does not run on Windows")
	}
	path, module, err := buildCommand(ctx)
	if err != nil {
		return nil, err
	}
	p := &ControlPlane{
		process:   exec.Command(path, o.args()...),
		responses: make(chan response),
		exited:    make(chan struct{}),
	}
	p.process.Dir, p.process.Env = module, withoutKube(os.Environ())
	p.process.Stderr = o.Stderr
	if o.Stderr == nil {
		p.process.Stderr = os.Stderr
	}
	if p.stdin, err = p.process.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start control plane: %w", err)
	}
	stdout, err := p.process.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start control plane: %w", err)
	}
	if err := p.process.Start(); err != nil {
		return nil, fmt.Errorf("start control plane: %w", err)
	}
	go p.forward(stdout)

	a, err := p.receive(ctx)
	if err == nil {
		err = RequireTestCluster(a.Kubeconfig)
	}
	if err != nil {
		_ = p.Stop() // the response has the error already
		return nil, fmt.Errorf("start control plane: %w", err)
	}
	p.Kubeconfig, p.Server, p.Dir = a.Kubeconfig, a.Server, a.Dir
	p.KubectlPath = filepath.Join(a.Bin, "kubectl")
	p.Manager, p.PIDs = a.Manager, a.PIDs
	return p, nil
}

// forward sends the command's output to responses, until the command ends.
func (p *ControlPlane) forward(stdout io.Reader) {
	lines := json.NewDecoder(stdout)
	for {
		var a response
		if err := lines.Decode(&a); err != nil {
			break
		}
		p.responses <- a
	}
	close(p.responses)
	p.result = p.process.Wait()
	close(p.exited)
}

// receive returns the next response. After a timeout the control plane cannot be used any
// more, as a late response would be taken for the next one.
func (p *ControlPlane) receive(ctx context.Context) (response, error) {
	select {
	case <-ctx.Done():
		p.lost = fmt.Errorf("wait for its answer: %w", ctx.Err())
		return response{}, p.lost
	case a, ok := <-p.responses:
		switch {
		case !ok:
			p.lost = errors.New("it has ended")
			return response{}, p.lost
		case a.NotBuilt:
			return response{}, ErrNotBuilt
		case a.Error != "":
			return response{}, errors.New(a.Error)
		}
		return a, nil
	}
}

// SetCollector switches the garbage collector On, Off or Absent by replacing the
// kube-controller-manager. With On it returns after the collector's workers have started. If
// the control plane returns an error, the collector is Absent.
func (p *ControlPlane) SetCollector(ctx context.Context, want string) error {
	if err := p.command(ctx, "collector "+want); err != nil {
		return fmt.Errorf("switch collector to %s: %w", want, err)
	}
	return nil
}

// RestartAPIServer replaces the API server by a new process at the same address, and returns when
// that is ready.
func (p *ControlPlane) RestartAPIServer(ctx context.Context) error {
	if err := p.command(ctx, "restart kube-apiserver"); err != nil {
		return fmt.Errorf("restart the API server: %w", err)
	}
	return nil
}

// KillManager kills kube-controller-manager, which cannot clean up. Then the collector is Absent.
func (p *ControlPlane) KillManager(ctx context.Context) error {
	if err := p.command(ctx, "kill kube-controller-manager"); err != nil {
		return fmt.Errorf("kill kube-controller-manager: %w", err)
	}
	return nil
}

// Corrupt replaces what etcd has at a key, such as /registry/secrets/shop/web, by bytes that the API
// server cannot decode.
func (p *ControlPlane) Corrupt(ctx context.Context, key string) error {
	if err := p.command(ctx, "corrupt "+key); err != nil {
		return fmt.Errorf("corrupt an object in etcd: %w", err)
	}
	return nil
}

// command has the control plane execute a command.
func (p *ControlPlane) command(ctx context.Context, line string) error {
	if p.lost != nil {
		return p.lost
	}
	if _, err := fmt.Fprintln(p.stdin, line); err != nil {
		return err
	}
	a, err := p.receive(ctx)
	if err != nil {
		return err
	}
	p.Manager, p.PIDs = a.Manager, a.PIDs
	return nil
}

// Stop stops the control plane and returns after its processes have ended and its folder is
// removed. It returns an error if the control plane had ended by itself. Further calls do
// nothing.
func (p *ControlPlane) Stop() (err error) {
	p.stop.Do(func() {
		p.lost = errors.New("it is stopped")
		_ = p.stdin.Close()
		go func() {
			for range p.responses {
			}
		}()
		select {
		case <-p.exited:
		case <-time.After(30 * time.Second):
			_ = p.process.Process.Kill()
			<-p.exited
		}
		if p.result != nil {
			err = fmt.Errorf("stop control plane: %w", p.result)
		}
	})
	return err
}
