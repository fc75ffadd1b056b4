package main

import (
	"bytes"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

func TestMedianAndRatio(t *testing.T) {
	sample := []cost{{wall: 5}, {wall: 1}, {wall: 3}}
	if got := median(sample, func(c cost) time.Duration { return c.wall }); got != 3 {
		t.Errorf("got median %d, want 3", got)
	}
	if got := ratio[int64](3, 2); got != "1.50" {
		t.Errorf("got ratio %s, want 1.50", got)
	}
}

func TestEveryProgramIsMeasured(t *testing.T) {
	if os.Getenv(testcluster.BuildVariable) == "" {
		t.Skip("it needs a control plane")
	}
	var out bytes.Buffer
	b := &bench{objects: []int{1000, 1100}, runs: 1, garbage: 150, out: &out, progress: t.Output()}
	if err := b.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rows := regexp.MustCompile(`(?m) \d+\.\d{3} s .* [1-9]\d* MiB `).FindAll(out.Bytes(), -1); len(rows) != 6 {
		t.Errorf("%d programs have a wall time and a peak of memory, want 6", len(rows))
	}
	t.Logf("\n%s", &out)
}
