package testcluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// killedChildVariable makes this test binary a process that starts a control plane and kills
// itself.
const killedChildVariable = "KUBECTL_GC_TEST_AS_VICTIM"

func runKilledChild() {
	p, err := Start(context.Background(), Options{Collector: Absent, OnlyIfBuilt: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(p.Dir)
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	panic(err)
}

func TestControlPlaneStopsWithItsParent(t *testing.T) {
	sharedControlPlane(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), killedChildVariable+"=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	dir := strings.TrimSpace(string(out))
	if err == nil || dir == "" {
		t.Fatalf("the killed process ends with %v and prints %q\n%s", err, dir, &stderr)
	}
	// The folder is removed after the last process has ended.
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", dir)
		}
		<-tick.C
	}
}
