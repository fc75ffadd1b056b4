package main

import (
	"errors"
	"net"
	"testing"
)

func TestWithFreePort(t *testing.T) {
	taken := &exitError{name: "kube-apiserver", tail: "listen tcp 127.0.0.1:1: bind: address already in use"}
	other := &exitError{name: "kube-apiserver", tail: "unknown flag"}
	for name, c := range map[string]struct {
		answers []error
		calls   int
		want    error
	}{
		"the first port is fine":               {[]error{nil}, 1, nil},
		"the second port is fine":              {[]error{taken, nil}, 2, nil},
		"another error is final":               {[]error{taken, other, nil}, 2, other},
		"all ports are taken":                  {[]error{taken, taken, taken, taken, taken, nil}, 5, taken},
		"an error other than an exit is final": {[]error{net.ErrClosed}, 1, net.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			err := withFreePort(func(int) error {
				calls++
				return c.answers[calls-1]
			})
			if calls != c.calls || !errors.Is(err, c.want) {
				t.Errorf("got %v after %d calls, want %v after %d", err, calls, c.want, c.calls)
			}
		})
	}
}
