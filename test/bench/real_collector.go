package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

const (
	managerName = "kube-controller-manager"
	// glance is how often the remaining objects are counted.
	glance = 20 * time.Millisecond
)

// real measures the collector of kube-controller-manager from the start of its workers, as
// its log reports, until all garbage is gone.
func (w *harness) real(ctx context.Context) (c cost, err error) {
	client, err := newClient(w.plane.Kubeconfig)
	if err != nil {
		return c, err
	}
	if err := w.plane.SetCollector(ctx, testcluster.On); err != nil {
		return c, err
	}
	for left := true; left; {
		time.Sleep(glance)
		if left, err = garbageLeft(ctx, client); err != nil {
			return c, err
		}
	}
	over := time.Now()
	c.CPU = w.serverCPU(managerName)
	log, err := os.ReadFile(filepath.Join(w.plane.Dir, managerName+".log"))
	if err != nil {
		return c, fmt.Errorf("read when the collector began: %w", err)
	}
	begun, err := beginning(log, over)
	if err != nil {
		return c, err
	}
	c.Wall = over.Sub(begun)
	return c, w.plane.SetCollector(ctx, testcluster.Absent)
}

// beginning returns when the workers of the last collector in a log started. The log has no year,
// so the function uses that of latest, a later time.
func beginning(log []byte, latest time.Time) (time.Time, error) {
	position := bytes.LastIndex(log, []byte("roceeding to collect garbage"))
	if position < 0 {
		return time.Time{}, errors.New("its log does not say when the collector began")
	}
	line := log[bytes.LastIndexByte(log[:position], '\n')+1:]
	const form = "0102 15:04:05.000000"
	if len(line) < 1+len(form) {
		return time.Time{}, errors.New("its log does not say when the collector began")
	}
	said, err := time.ParseInLocation("2006"+form, latest.Format("2006")+string(line[1:1+len(form)]), latest.Location())
	if err != nil {
		return said, fmt.Errorf("read when the collector began: %w", err)
	}
	if said.After(latest) { // the log began in the year before
		said = said.AddDate(-1, 0, 0)
	}
	return said, nil
}
