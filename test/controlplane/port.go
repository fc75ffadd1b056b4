package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
)

// withFreePort calls start with a loopback port that was free a moment ago. The servers cannot
// inherit an open listener, so another process may take the port first. The server then ends with
// an error, and start is called again with another port.
func withFreePort(start func(port int) error) error {
	for attempt := 1; ; attempt++ {
		port, err := freePort()
		if err != nil {
			return err
		}
		if err = start(port); !portTaken(err) || attempt == 5 {
			return err
		}
	}
}

func portTaken(err error) bool {
	var exit *exitError
	return errors.As(err, &exit) && strings.Contains(exit.tail, "address already in use")
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// loopback returns the URL of a server at a port.
func loopback(port int) string {
	return fmt.Sprintf("https://127.0.0.1:%d", port)
}
