package simulation

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

// life is one run of the command, from its start until it ends or is killed.
type life struct {
	day    *day
	slot   string
	name   string // such as a.2
	cancel context.CancelFunc
	killed chan struct{} // closed when it is killed
	disk   *disk
	said   lockedBuffer // what the command printed

	// Guarded by day.mu.
	dead      bool
	candidate string         // the holder identity it uses in the Lease; empty until it wrote one
	requests  map[string]int // so far, by method, path and class
	doomed    doom
	deletions []deletion
	patched   map[string]bool // paths of objects that it has patched
}

// point is a place in the work of an instance where it can be killed.
type point string

const (
	beforeWrite  point = "before-write" // a write leaves
	afterWrite   point = "after-write"  // a write was handled, and its answer has not arrived
	beforeChange point = "before-change"
	afterChange  point = "after-change" // of a file
)

// doom kills a life when it reaches a point for the nth time. 0 means never.
type doom struct {
	at point
	n  int
}

// slot runs one life after the other.
type slot struct {
	name    string
	lives   int
	now     *life         // nil if none runs
	wanted  bool          // to run
	changed chan struct{} // receives a value when wanted may have changed
}

// lockedBuffer is a bytes.Buffer for concurrent use.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// keepRunning runs the command in a slot again and again, while it is wanted, until ctx ends.
func (d *day) keepRunning(ctx context.Context, s *slot) {
	for ctx.Err() == nil {
		d.mu.Lock()
		wanted := s.wanted
		d.mu.Unlock()
		if wanted {
			d.live(ctx, s)
		}
		restart := between(chanceOf(d.seed, fmt.Sprintf("restart %s.%d", s.name, s.lives)), time.Second, 10*time.Second)
		if !wanted {
			restart = 24 * time.Hour
		}
		select {
		case <-ctx.Done():
		case <-s.changed:
		case <-time.After(restart):
		}
	}
}

// maxEnd is how long the command may take to end: it waits for the answers to its last writes, and releases its Lease.
const maxEnd = time.Minute

// live runs the command once.
func (d *day) live(ctx context.Context, s *slot) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.lives++
	l := &life{day: d, slot: s.name, name: fmt.Sprintf("%s.%d", s.name, s.lives), cancel: cancel, killed: make(chan struct{}), requests: map[string]int{}, patched: map[string]bool{}}
	backups := filepath.Join(d.dir, l.name)
	l.disk = newDisk(backups)
	l.disk.before, l.disk.part = l.refuse, chanceOf(d.seed, "full disk of "+l.name).IntN
	d.mu.Lock()
	s.now = l
	d.lives = append(d.lives, l)
	d.mu.Unlock()
	ended := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		select {
		case <-ended:
		case <-time.After(maxEnd):
			stacks := make([]byte, 1<<20)
			d.fail(fmt.Sprintf("%s has not ended %s after it was interrupted:\n%s", l.name, maxEnd, stacks[:runtime.Stack(stacks, true)]))
		}
	})()
	defer close(ended)
	code := cmd.Main(ctx, []string{
		"controller", "--yes", "--server=http://memory", "--backup-dir", backups, "--max-deletes", "10000", "-o", "jsonl",
	}, cli.Streams{
		In: strings.NewReader(""), Out: &l.said, Err: &l.said, Getenv: func(string) string { return "" }, Now: time.Now,
		Transport: l, Disk: l.change,
	})
	d.mu.Lock()
	s.now = nil
	l.dead = true
	d.mu.Unlock()
	d.count(fmt.Sprintf("life ended with %d", code))
	d.judgeBackups(l)
}

func (l *life) isDead() bool {
	l.day.mu.Lock()
	defer l.day.mu.Unlock()
	return l.dead
}

// reach kills the life if it is doomed to be killed at this point.
func (l *life) reach(p point) {
	l.day.mu.Lock()
	defer l.day.mu.Unlock()
	l.reachLocked(p)
}

func (l *life) reachLocked(p point) {
	if l.doomed.n == 0 || l.doomed.at != p {
		return
	}
	if l.doomed.n--; l.doomed.n == 0 {
		l.day.countLocked("kill " + string(p))
		l.kill()
	}
}

// kill ends the process: from now on, nothing that it does has an effect. The caller holds day.mu.
func (l *life) kill() {
	if !l.dead {
		l.dead = true
		close(l.killed)
		l.cancel()
	}
}

// change carries out a change of a file.
func (l *life) change(c backup.DiskChange, do func() error) error {
	err := l.disk.carryOut(c, do)
	l.reach(afterChange)
	return err
}

// refuse returns why a change cannot be made at this moment, nil if it can.
func (l *life) refuse(c backup.DiskChange) error {
	l.reach(beforeChange)
	if l.isDead() {
		return errKilled
	}
	for _, w := range l.day.weatherFor(l, anything) {
		switch grows := c.Op == backup.Write || c.Op == backup.CreateFile || c.Op == backup.MakeFolder; {
		case w.Kind == diskFull && grows:
			l.day.count(string(w.Kind))
			return syscall.ENOSPC
		case w.Kind == diskError:
			l.day.count(string(w.Kind))
			return syscall.EIO
		}
	}
	return nil
}
