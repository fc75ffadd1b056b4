package e2e

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// The user's connection breaks while the output goes to a file, not to the terminal.
func TestCollectDrainsWhenTerminalIsClosed(t *testing.T) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // else the program would ignore it when nohup runs this test
	s := newScene(t)
	ns := s.namespace("hung-up")
	objects := s.createGarbage(ns, 60)
	connected := make(chan *os.File, 1)
	f := s.proxyCalling(deleting(anyRequest), func() {
		if err := (<-connected).Close(); err != nil {
			s.Error(err)
		}
	})
	p := f.command("collect", "-n", ns, "--yes", "--concurrency=1", "-o", "json")
	keys, err := pty.Start(p.cmd)
	s.must(err)
	go func() { p.ended <- p.cmd.Wait() }()
	connected <- keys
	f.requireDrained(p.wait(), objects)
}

func TestCollectContinuesUnderNohup(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("nohup")
	objects := s.createGarbage(ns, 10)
	started := make(chan *process, 1)
	f := s.proxyCalling(deleting(anyRequest), func() {
		if err := (<-started).cmd.Process.Signal(syscall.SIGHUP); err != nil {
			s.Error(err)
		}
	})
	p := f.command("collect", "-n", ns, "--yes", "--concurrency=1")
	nohup, err := exec.LookPath("nohup")
	s.must(err)
	p.cmd.Path, p.cmd.Args = nohup, append([]string{"nohup", filepath.Join(bin, "kubectl-gc")}, p.cmd.Args[1:]...)
	s.must(p.cmd.Start())
	go func() { p.ended <- p.cmd.Wait() }()
	started <- p
	p.wait().exits(t, 0)
	s.requireGone(objects...)
}
