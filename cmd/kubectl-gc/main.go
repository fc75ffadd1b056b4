// Command kubectl-gc is the kubectl plugin `kubectl gc`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // every way a kubeconfig may authenticate

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first interrupt drains, the second quits
	code := cli.Main(ctx, os.Args[1:], cli.Process())
	stop()
	os.Exit(code)
}
