// Command oracle runs upstream's garbage collector on scenarios. It reads requests as
// JSON, one per line, and writes a reply to each.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/oracle/_build/garbagecollector"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/oracle/_build/scenario"
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve() error {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	out := json.NewEncoder(os.Stdout)
	for in.More() {
		var r scenario.Request
		if err := in.Decode(&r); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if err := out.Encode(garbagecollector.Explore(r)); err != nil {
			return fmt.Errorf("write a reply: %w", err)
		}
	}
	return nil
}
