package main

import (
	"os"
	"testing"
)

// asCommand makes this test binary act as the command, so that tests can kill it.
const asCommand = "KUBECTL_GC_TEST_AS_CONTROLPLANE"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}
