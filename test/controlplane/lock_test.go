package main

import (
	"path/filepath"
	"testing"
)

func TestLockIsHeldByOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path, func() { t.Error("waits for nobody") })
	if err != nil {
		t.Fatal(err)
	}

	waits := make(chan struct{})
	second := make(chan error, 1)
	go func() {
		unlock, err := lock(t.Context(), path, func() { close(waits) })
		if err == nil {
			unlock()
		}
		second <- err
	}()
	<-waits
	select {
	case err := <-second:
		t.Fatalf("two hold the lock (%v)", err)
	default:
	}
	unlock()
	if err := <-second; err != nil {
		t.Error(err)
	}
}
