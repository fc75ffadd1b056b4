// Command kubectl-gc is the kubectl plugin `kubectl gc`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // every way a kubeconfig may authenticate

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), interrupts()...)
	context.AfterFunc(ctx, stop) // the second interrupt ends the process at once
	code := cmd.Main(ctx, os.Args[1:], cli.Process())
	stop()
	os.Exit(code)
}

// interrupts returns the signals that stop the command. SIGHUP, which arrives when the
// terminal is closed, is one of them unless it is ignored (nohup).
func interrupts() []os.Signal {
	out := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		out = append(out, syscall.SIGHUP)
	}
	return out
}
