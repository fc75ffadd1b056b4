package simulation

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// kind is a fault that lasts for a while.
type kind string

const (
	cut        kind = "cut"    // nothing passes, and what is under way arrives afterwards
	refuses    kind = "refuse" // no connection is made
	loses      kind = "lose"   // requests are handled, and their answers are lost
	fails      kind = "fail"   // requests are answered with an error, and not handled
	late       kind = "late"   // requests arrive late
	lateAnswer kind = "late-answer"
	silence    kind = "silent" // the watches that would send an event send nothing any more, for ever
	breaks     kind = "break"  // watches end in the middle of an event
	expires    kind = "expire" // watches end with 410
	repeats    kind = "repeat" // events arrive twice
	wrongClock kind = "clock"  // the times that an instance writes into the Lease are wrong
	diskFull   kind = "full"   // no file grows
	diskError  kind = "io-error"
)

// weather is a fault while it lasts.
type weather struct {
	Kind  kind
	slot  string // a, b or both
	class class  // of the requests it concerns
	until time.Time
	by    time.Duration // how late, or how wrong
	code  int           // of the answer
}

// parseWeather parses the words KIND SLOT CLASS LASTS [BY or CODE].
func parseWeather(words []string, now time.Time) (weather, error) {
	if len(words) < 4 {
		return weather{}, fmt.Errorf("%q is not KIND SLOT CLASS LASTS", strings.Join(words, " "))
	}
	w := weather{Kind: kind(words[0]), slot: words[1], class: class(words[2])}
	lasts, err := time.ParseDuration(words[3])
	w.until = now.Add(lasts)
	if err == nil && len(words) > 4 {
		if w.Kind == fails {
			w.code, err = strconv.Atoi(words[4])
		} else {
			w.by, err = time.ParseDuration(words[4])
		}
	}
	return w, err
}

func (w weather) concerns(slot string, c class) bool {
	return (w.slot == slot || w.slot == "both") && (w.class == anything || w.class == c)
}

// weatherFor returns the faults that a request of a life meets now.
func (d *day) weatherFor(l *life, c class) (out []weather) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	for _, w := range d.weather {
		if now.Before(w.until) && w.concerns(l.slot, c) {
			out = append(out, w)
		}
	}
	return out
}
