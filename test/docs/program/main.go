// Command program is kubectl-gc for the pages: with PAGE_COLUMNS, its output is as on a terminal
// of that width.
package main

import (
	"context"
	"os"
	"os/signal"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	streams := cli.Process()
	if columns, err := strconv.Atoi(os.Getenv("PAGE_COLUMNS")); err == nil {
		streams.OutWidth = func() int { return columns }
		streams.ErrWidth = streams.OutWidth
	}
	code := cmd.Main(ctx, os.Args[1:], streams)
	stop()
	os.Exit(code)
}
