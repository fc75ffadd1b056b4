package main

import (
	"testing"
	"time"
)

func TestCollectorsAreComparedTurnByTurn(t *testing.T) {
	// the machine was slow in the last two turns, and the collectors alike in all
	theirs := []time.Duration{100, 100, 100, 900, 900}
	ours := []time.Duration{90, 100, 110, 810, 990}
	if got, want := ratiosOf(ours, theirs).String(), "1.00 (0.90 to 1.10)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
