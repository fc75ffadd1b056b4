package trace

import (
	"cmp"
	"math"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// instant is a time by the clock of one file: of one API server, or of several whose clocks are close. The
// zero value is unknown.
type instant struct {
	us   int64 // microseconds since 1970
	file int32
}

// By how much the clocks of API servers, of kube-controller-manager and of whoever made a scan may differ, within a file and
// between two. Within it the order of two times is unknown.
const (
	tolerance = 2 * time.Second
	apart     = time.Minute
)

// fileOfScan is the file of an earlier scan, which was made before, as the user says.
const fileOfScan = -1

func ofScan(taken time.Time) instant {
	if taken.IsZero() {
		return instant{math.MinInt64 / 2, fileOfScan}
	}
	return instant{taken.UnixMicro(), fileOfScan}
}

func (i instant) known() bool { return i.us != 0 }

// time returns the zero time if it is unknown.
func (i instant) time() time.Time {
	if !i.known() || i.us == math.MinInt64/2 {
		return time.Time{}
	}
	return time.UnixMicro(i.us).UTC()
}

// yearless reports whether i is of a log whose times have no year.
func (i instant) yearless() bool { return !reason.HasYear(i.time()) }

func (i instant) add(d time.Duration) instant { return instant{i.us + d.Microseconds(), i.file} }

// before reports whether i certainly is before o. Nothing is before or after what is unknown.
func (i instant) before(o instant) bool {
	if i.file != o.file && i.yearless() != o.yearless() && i.file != fileOfScan && o.file != fileOfScan {
		return false
	}
	gap := tolerance
	if i.file != o.file && i.file != fileOfScan && o.file != fileOfScan {
		gap = apart
	}
	return i.known() && o.known() && o.us-i.us > gap.Microseconds()
}

// precedes reports whether i is before o: certainly, or by the clock of one file. A scan was made before, as the user says.
func (i instant) precedes(o instant) bool {
	one := i.file == o.file || i.file == fileOfScan || o.file == fileOfScan
	return i.known() && o.known() && one && i.us < o.us || i.before(o)
}

func (i instant) compare(o instant) int { return cmp.Compare(i.us, o.us) }

// later returns the later one of two; either may be unknown.
func later(a, b instant) instant {
	if !a.known() || b.known() && b.us > a.us {
		return b
	}
	return a
}
