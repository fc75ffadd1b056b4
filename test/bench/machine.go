package main

import (
	"bytes"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine describes the machine. Unknown fields are empty.
type machine struct {
	Cores  int
	CPU    string
	Memory string
	System string
	Go     string
}

func thisMachine() machine {
	m := machine{Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System = "Linux " + strings.TrimSpace(string(release)) + ", " + runtime.GOARCH
	}
	m.CPU = procField("/proc/cpuinfo", "model name")
	if kb, err := strconv.ParseFloat(strings.TrimSuffix(procField("/proc/meminfo", "MemTotal"), " kB"), 64); err == nil {
		m.Memory = strconv.FormatFloat(kb/(1<<20), 'f', 0, 64) + " GiB"
	}
	return m
}

// procField returns the first value of a name in a file of "name: value" lines.
func procField(path, name string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	found := regexp.MustCompile(`(?m)^` + name + `\s*:\s*(.*?)\s*$`).FindSubmatch(data)
	if found == nil {
		return ""
	}
	return string(found[1])
}

// ticks are the times that all cores have spent, in total and idle.
type ticks struct{ all, idle int64 }

// now returns the current ticks; ok is false if they are unknown.
func now() (t ticks, ok bool) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return t, false
	}
	line, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Fields(line)
	const idle, iowait, guest = 4, 5, 9
	for i := 1; i < len(fields) && i < guest; i++ {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return t, false
		}
		t.all += n
		if i == idle || i == iowait {
			t.idle += n
		}
	}
	return t, t.all > 0
}

// sampleBusy waits, and returns the part of the machine that was busy meanwhile, from 0 to
// 1; 0 if it is unknown.
func sampleBusy(d time.Duration) float64 {
	before, ok := now()
	time.Sleep(d)
	after, okToo := now()
	if !ok || !okToo || after.all == before.all {
		return 0
	}
	return 1 - float64(after.idle-before.idle)/float64(after.all-before.all)
}

// cpuOf returns the CPU time, user and system, of a running process; 0 if it is unknown.
func cpuOf(pid int) time.Duration {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name before it is in brackets and may contain anything.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	const user, system, tick = 11, 12, 10 * time.Millisecond // Linux always reports 100 ticks a second to programs
	if len(fields) <= system {
		return 0
	}
	u, errUser := strconv.Atoi(fields[user])
	k, errSystem := strconv.Atoi(fields[system])
	if errUser != nil || errSystem != nil {
		return 0
	}
	return time.Duration(u+k) * tick
}
