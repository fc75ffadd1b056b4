package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
)

// heap has a server's memory statistics since its start.
type heap struct {
	made        int64 // bytes
	collections int64 // of garbage
}

func (c *counter) heap(ctx context.Context) (heap, error) {
	data, err := c.metrics(ctx)
	if err != nil {
		return heap{}, fmt.Errorf("ask for the server's heap: %w", err)
	}
	return heapOf(data)
}

var (
	madeLine      = regexp.MustCompile(`(?m)^go_memstats_alloc_bytes_total (\S+)$`)
	collectedLine = regexp.MustCompile(`(?m)^go_gc_duration_seconds_count (\S+)$`)
)

func heapOf(metrics []byte) (heap, error) {
	var values [2]int64
	for i, line := range []*regexp.Regexp{madeLine, collectedLine} {
		found := line.FindSubmatch(metrics)
		if found == nil {
			return heap{}, fmt.Errorf("the server's metrics have no line like %s", line)
		}
		value, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			return heap{}, fmt.Errorf("read the server's metrics: %w", err)
		}
		values[i] = int64(value)
	}
	return heap{values[0], values[1]}, nil
}
