package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// markerFile is in the folder of every run, which holds a lock on it while it runs.
const markerFile = "kubectl-gc-test.json"

// folderPrefix is short because etcd's socket is in the folder, and the path of a socket is
// limited to little more than a hundred bytes.
const folderPrefix = "kubectl-gc-test-"

// proof is in the kubeconfig and names the marker that belongs to it.
type proof struct {
	Marker string `json:"marker"` // path of the marker file
	ID     string `json:"id"`     // of the run
}

// marker is the content of the marker file.
type marker struct {
	ID     string `json:"id"`
	PID    int    `json:"pid"`              // of the run
	Server string `json:"server,omitempty"` // empty until it is known
}

// folder is what one run owns on disk.
type folder struct {
	path string
	id   string
	lock *os.File // of the marker
}

// newFolder creates a folder that only its user can read.
func newFolder() (*folder, error) {
	path, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		return nil, fmt.Errorf("make folder of the run: %w", err)
	}
	d := &folder{path: path, id: rand.Text()}
	if err := d.mark(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return d, nil
}

func (d *folder) file(name string) string { return filepath.Join(d.path, name) }

func (d *folder) proof() proof { return proof{Marker: d.file(markerFile), ID: d.id} }

// mark writes the marker. It locks the file before it renames it into place: if another process
// can lock a marker, its run is over.
func (d *folder) mark() error {
	f, err := os.CreateTemp(d.path, ".marker-")
	if err != nil {
		return fmt.Errorf("mark folder: %w", err)
	}
	ok, err := tryLock(f)
	if err == nil && !ok {
		err = errors.New("its lock is taken")
	}
	if err == nil {
		err = os.Rename(f.Name(), d.file(markerFile))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("mark folder: %w", err), f.Close())
	}
	d.lock = f
	return d.setServer("")
}

// setServer records the server in the marker.
func (d *folder) setServer(server string) error {
	data, err := json.Marshal(marker{ID: d.id, PID: os.Getpid(), Server: server})
	if err != nil {
		return fmt.Errorf("write marker: %w", err)
	}
	// Written in place, since the lock belongs to this file.
	if err := d.lock.Truncate(0); err != nil {
		return fmt.Errorf("write marker: %w", err)
	}
	if _, err := d.lock.WriteAt(append(data, '\n'), 0); err != nil {
		return fmt.Errorf("write marker: %w", err)
	}
	return nil
}

// remove removes the folder.
func (d *folder) remove() error {
	defer d.lock.Close()
	if err := os.RemoveAll(d.path); err != nil {
		return fmt.Errorf("remove folder of the run: %w", err)
	}
	return nil
}

// removeStale removes the folders of runs that were killed. It ignores folders that it cannot
// read or remove, such as those of another user.
func removeStale() {
	markers, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*", markerFile))
	for _, path := range markers {
		if _, lives, err := readMarker(path); err == nil && !lives {
			_ = os.RemoveAll(filepath.Dir(path))
		}
	}
}

// readMarker returns the content of a marker, and whether its run lives. Only then is its process
// ID that of the run.
func readMarker(path string) (m marker, lives bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return m, false, err
	}
	defer f.Close()
	free, err := tryLock(f)
	if err != nil || free {
		return m, false, err
	}
	return m, true, json.NewDecoder(f).Decode(&m)
}

// runOf returns the process ID of the run that wrote a kubeconfig, or 0 if it has ended.
func runOf(path string) int {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	var config kubeconfig
	if err := json.Unmarshal(data, &config); err != nil || len(config.Extensions) != 1 {
		return 0
	}
	mark := config.Extensions[0].Extension
	if m, lives, err := readMarker(mark.Marker); err == nil && lives && m.ID == mark.ID {
		return m.PID
	}
	return 0
}
