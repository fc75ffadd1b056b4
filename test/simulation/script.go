package simulation

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// script is what users and faults do in a day, in the order of time.
type script []step

// step is one thing that happens: a line of a script.
type step struct {
	at    time.Duration // since the day began
	words []string
}

func (s step) String() string { return s.at.String() + " " + strings.Join(s.words, " ") }

// mayGo reports whether a day without the step is as short. Without a step that stops an instance, that would
// renew its Lease for hours.
func (s step) mayGo() bool { return !slices.Contains([]string{"start", "stop", "crash"}, s.words[0]) }

// String returns a script with one step a line.
func (s script) String() string {
	var b strings.Builder
	for _, one := range s {
		fmt.Fprintln(&b, one)
	}
	return b.String()
}

// parse parses a script as String returns it.
func parse(text string) (script, error) {
	var out script
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		at, err := time.ParseDuration(words[0])
		if err != nil || len(words) < 2 {
			return nil, fmt.Errorf("%q is not a step: %v", line, err)
		}
		out = append(out, step{at, words[1:]})
	}
	return out, nil
}

// draw draws the script of a day. Between a few busy times the collector is down for hours: while it merely waits,
// one day of renewing its Lease would be a hundred thousand requests.
func draw(seed uint64) script {
	w := &writer{r: chanceOf(seed, "script")}
	busy := 2 + w.r.IntN(2)
	at := time.Duration(0)
	for i := range busy {
		begin := at
		at += between(w.r, time.Minute, 4*time.Minute)
		w.busy(begin, at)
		if i == busy-1 {
			break
		}
		night := between(w.r, time.Hour, 20*time.Hour/time.Duration(busy-1))
		for _, slot := range []string{"a", "b"} {
			w.add(at+between(w.r, 0, 30*time.Second), pick(w.r, "crash", "stop"), slot)
		}
		for range w.r.IntN(8) {
			w.user(between(w.r, at, at+night))
		}
		at += night
	}
	slices.SortStableFunc(w.out, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	return w.out
}

// writer writes a script.
type writer struct {
	r   *rand.Rand
	out script
}

func (w *writer) add(at time.Duration, words ...string) {
	w.out = append(w.out, step{at.Truncate(time.Microsecond), words})
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// busy writes what happens while the instances run.
func (w *writer) busy(from, to time.Duration) {
	for _, slot := range []string{"a", "b"} {
		if w.r.IntN(8) > 0 || slot == "a" {
			w.add(between(w.r, from, from+20*time.Second), "start", slot)
		}
	}
	for range 20 + w.r.IntN(40) {
		w.user(between(w.r, from, to))
	}
	for range w.r.IntN(9) {
		w.fault(between(w.r, from, to), to)
	}
}

// user writes what a user does.
func (w *writer) user(at time.Duration) {
	n := w.number()
	switch w.r.IntN(23) {
	case 0, 1, 2, 3, 4, 5, 6:
		words := []string{"create", n}
		if w.r.IntN(6) == 0 {
			words = append(words, "held")
		}
		w.add(at, append(words, w.owners()...)...)
	case 7, 8, 9, 10, 11:
		w.add(at, "delete", n, pick(w.r, "Background", "Background", "Foreground", "Orphan", "Default"))
	case 12, 13, 14:
		w.add(at, append([]string{"owners", n}, w.owners()...)...)
	case 15:
		w.add(at, "hold", n)
	case 16, 17:
		w.add(at, "release", n)
	case 18:
		w.add(at, "touch", n)
	case 19: // an owner with dependents, as users make them
		w.add(at, "create", n)
		for i := range 2 + w.r.IntN(4) {
			w.add(at+time.Duration(i+1)*time.Millisecond, "create", w.number(), n+pick(w.r, "", "!"))
		}
	case 20:
		w.add(at, "delete", n, pick(w.r, "Foreground", "Orphan"))
		w.add(at+between(w.r, 0, 2*time.Second), append([]string{"owners", w.number()}, n+"!")...)
	case 21: // an owner waits, and then does not
		w.add(at, "create", n, "held")
		w.add(at+time.Millisecond, "create", w.number(), n+"!")
		w.add(at+between(w.r, 0, 2*time.Second), "delete", n, "Foreground")
		if w.r.IntN(2) == 0 {
			w.add(at+between(w.r, 0, 5*time.Second), "solidify", n)
		} else { // which removes the finalizer, too
			w.add(at+between(w.r, 0, 3*time.Second), "delete", n, "Background")
		}
	case 22: // a name is used again
		w.add(at, "delete", n, "Background")
		w.add(at+between(w.r, 0, time.Second), append([]string{"create", n}, w.owners()...)...)
	}
}

func (w *writer) number() string { return fmt.Sprint(w.r.IntN(objects)) }

func (w *writer) owners() (out []string) {
	for range pick(w.r, 0, 0, 1, 1, 1, 2, 3) {
		if w.r.IntN(12) == 0 {
			out = append(out, "none")
			continue
		}
		out = append(out, w.number()+pick(w.r, "", "", "", "?")+pick(w.r, "", "!"))
	}
	return out
}

// fault writes what goes wrong before the end of a busy time.
func (w *writer) fault(at, end time.Duration) {
	slot := pick(w.r, "a", "b", "both")
	one := pick(w.r, "a", "b")
	some := string(pick(w.r, anything, discovery, watches, lists, gets, deletes, patches, locks))
	lasts := between(w.r, 100*time.Millisecond, 40*time.Second).Truncate(time.Millisecond).String()
	by := between(w.r, 10*time.Millisecond, 30*time.Second).Truncate(time.Millisecond).String()
	switch w.r.IntN(24) {
	case 0, 23:
		w.add(at, string(cut), one, pick(w.r, some, string(anything), string(locks)), lasts)
	case 2:
		w.add(at, string(refuses), slot, some, lasts)
	case 3:
		w.add(at, string(loses), slot, some, lasts)
	case 4:
		w.add(at, string(fails), slot, some, lasts, pick(w.r, "429", "500", "503", "504", "410"))
	case 5, 6:
		w.add(at, string(late), slot, pick(w.r, some, string(deletes), string(patches)), lasts, by)
	case 7:
		w.add(at, string(lateAnswer), slot, some, lasts, by)
	case 8, 9, 10:
		w.add(at, string(pick(w.r, silence, breaks, expires, repeats, lateAnswer)), slot, string(watches), lasts, by)
	case 11:
		w.add(at, "end-watches", one)
	case 12:
		w.add(at, "restart-server", fmt.Sprint(1+w.r.IntN(20)))
	case 1, 13, 14, 22:
		w.add(at, "kill", one, string(pick(w.r, beforeWrite, afterWrite, beforeChange, afterChange)), fmt.Sprint(1+w.r.IntN(5)))
	case 15:
		w.add(at, pick(w.r, "crash", "stop"), one)
		w.add(min(at+between(w.r, 0, 30*time.Second), end), "start", one)
	case 16, 17:
		w.add(at, "lease", pick(w.r, "delete", "steal", "release", "touch"))
	case 18:
		w.add(at, string(wrongClock), slot, string(locks), lasts, pick(w.r, "-24h", "-1m", "17s", "8760h"))
	case 19:
		w.add(at, string(pick(w.r, diskFull, diskError)), slot, string(anything), lasts)
	case 20:
		w.add(at, "definition", "delete")
		w.add(at+between(w.r, 0, time.Minute), "definition", "create")
	case 21:
		if w.r.IntN(2) == 0 {
			name := pick(w.r, namespaces...)
			w.add(at, "namespace", name, "delete")
			w.add(at+between(w.r, time.Second, time.Minute), "namespace", name, "create")
			return
		}
		w.add(at, "hide")
		w.add(at+between(w.r, 0, time.Minute), "show")
	}
}
