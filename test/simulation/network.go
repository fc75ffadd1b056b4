package simulation

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// class is a kind of requests, for faults that concern only some.
type class string

const (
	anything  class = "all"
	locks     class = "lease"
	discovery class = "discovery"
	watches   class = "watch"
	lists     class = "list"
	gets      class = "get"
	deletes   class = "delete"
	patches   class = "patch"
)

// message is a request under way.
type message struct {
	*http.Request
	class  class
	body   []byte
	sent   time.Time
	chance *rand.Rand
}

// classOf returns the class of a request.
func classOf(r *http.Request) class {
	at := placeOf(r.URL.Path)
	switch {
	case at.resource == leasePlace.resource && (at.name != "" || r.Method == http.MethodPost):
		return locks
	case r.Method == http.MethodDelete:
		return deletes
	case r.Method != http.MethodGet:
		return patches
	case r.URL.Query().Has("watch"):
		return watches
	case at.name != "":
		return gets
	case at.resource == "":
		return discovery
	}
	return lists
}

var (
	errKilled  = errors.New("the process was killed")
	errReset   = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
)

// RoundTrip carries a request of this life to the server and the answer back.
func (l *life) RoundTrip(r *http.Request) (*http.Response, error) {
	m, err := l.newMessage(r)
	if err != nil {
		return nil, err
	}
	if m.class == deletes || m.class == patches {
		l.reach(beforeWrite)
	}
	w, err := l.travel(m, false)
	if err != nil {
		return nil, err
	}
	if w.Kind == fails {
		return refusal(m, w), nil
	}
	if m.class == watches {
		return l.watch(m)
	}
	answer, err := l.handle(m)
	if err != nil {
		return nil, err
	}
	if _, err := l.travel(m, true); err != nil {
		return nil, err
	}
	return answer, nil
}

func (l *life) newMessage(r *http.Request) (*message, error) {
	m := &message{Request: r, class: classOf(r), sent: time.Now()}
	if r.Body != nil {
		var err error
		if m.body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	key := r.Method + " " + r.URL.Path + " " + string(m.class)
	l.day.mu.Lock()
	n := l.requests[key]
	l.requests[key]++
	l.day.mu.Unlock()
	m.chance = chanceOf(l.day.seed, fmt.Sprintf("%s %s %d", l.name, key, n))
	if m.class == locks && len(m.body) > 0 {
		l.signWithItsClock(m)
	}
	m.Request = r.Clone(r.Context())
	m.Request.Body = io.NopCloser(bytes.NewReader(m.body))
	return m, nil
}

// travel waits until a request has arrived at the server or, if back, its answer at the client. It returns
// the fault that a request meets there.
func (l *life) travel(m *message, back bool) (met weather, err error) {
	delay := latency(m.chance)
	for _, w := range l.day.weatherFor(l, m.class) {
		switch {
		case w.Kind == cut:
			delay += time.Until(w.until)
		case w.Kind == late && !back, w.Kind == lateAnswer && back:
			delay += w.by
		case w.Kind == refuses && !back:
			err = errRefused
		case w.Kind == loses && back:
			err = errReset
		case w.Kind == fails && !back:
			met = w
		default:
			continue
		}
		l.day.count(string(w.Kind))
	}
	if slept := l.sleep(m.Context(), delay); slept != nil {
		return met, slept
	}
	return met, err
}

// sleep sleeps, unless the context ends or the process is killed first.
func (l *life) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		if l.isDead() {
			return errKilled
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-l.killed:
		return errKilled
	}
}

// refusal is the answer of a server, or of something before it, that does not do what it is asked for.
func refusal(m *message, w weather) *http.Response {
	status := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(w.code), Message: "the simulation refuses it"}
	a := newAnswer()
	switch w.code {
	case http.StatusTooManyRequests:
		a.header.Set("Retry-After", "1")
		status.Reason = metav1.StatusReasonTooManyRequests
	case http.StatusServiceUnavailable:
		status.Reason = metav1.StatusReasonServiceUnavailable
	case http.StatusInternalServerError:
		status.Reason = metav1.StatusReasonInternalError
	case http.StatusGone:
		status.Reason = metav1.StatusReasonExpired
	}
	apiserver.WriteJSON(a, w.code, status)
	return a.response(m.Request)
}

// answer is an answer in memory.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func newAnswer() *answer { return &answer{header: http.Header{}, code: http.StatusOK} }

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(code int)        { a.code = code }
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

func (a *answer) response(r *http.Request) *http.Response {
	return &http.Response{
		StatusCode: a.code, Header: a.header, Body: io.NopCloser(&a.body), ContentLength: int64(a.body.Len()),
		Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
}

// handle lets the server handle a request, and the judge see it.
func (l *life) handle(m *message) (*http.Response, error) {
	d := l.day
	d.mu.Lock()
	defer d.mu.Unlock()
	if l.dead {
		return nil, errKilled
	}
	h := handled{life: l.name, sent: m.sent, at: time.Now(), method: m.Method, path: m.URL.Path, query: m.URL.Query(), body: m.body, before: d.server.Revision()}
	if holder := holderIn(m.body); m.class == locks && holder != "" {
		l.candidate = holder
	}
	h.candidate = l.candidate
	a := newAnswer()
	d.server.Honest(a, m.Request)
	h.after, h.status = d.server.Revision(), a.code
	d.judge.observe(h)
	d.observe(l, m, h)
	if m.class == deletes || m.class == patches {
		l.reachLocked(afterWrite)
	}
	return a.response(m.Request), nil
}

// holderIn returns the holder that a write of a Lease sets.
func holderIn(body []byte) string {
	var lease struct {
		Spec struct{ HolderIdentity string }
	}
	_ = json.Unmarshal(body, &lease) // a release has none
	return lease.Spec.HolderIdentity
}

// signWithItsClock shifts the times in a Lease if the clock of this life is wrong.
func (l *life) signWithItsClock(m *message) {
	for _, w := range l.day.weatherFor(l, locks) {
		if w.Kind != wrongClock {
			continue
		}
		var lease map[string]any
		if json.Unmarshal(m.body, &lease) != nil {
			continue
		}
		spec, _ := lease["spec"].(map[string]any)
		for _, field := range []string{"renewTime", "acquireTime"} {
			if at, err := time.Parse(metav1.RFC3339Micro, fmt.Sprint(spec[field])); err == nil {
				spec[field] = at.Add(w.by).Format(metav1.RFC3339Micro)
			}
		}
		m.body, _ = json.Marshal(lease)
		l.day.count(string(w.Kind))
	}
}

// watch answers a watch: the server sends its events at once, and they arrive one after the other.
func (l *life) watch(m *message) (*http.Response, error) {
	ctx, cancel := context.WithCancel(m.Context())
	inner, err := apiserver.Transport(http.HandlerFunc(l.day.server.Honest)).RoundTrip(m.Request.WithContext(ctx))
	if err != nil || inner.StatusCode != http.StatusOK {
		if err != nil {
			cancel()
			return nil, err
		}
		raw, readErr := io.ReadAll(inner.Body)
		cancel()
		inner.Body = io.NopCloser(bytes.NewReader(raw))
		return inner, readErr
	}
	reader, writer := io.Pipe()
	forget := l.day.remember(l, cancel)
	events := inner.Body
	go func() {
		defer forget()
		defer cancel()
		defer events.Close()
		writer.CloseWithError(l.forward(ctx, m, events, writer))
	}()
	inner.Body = watchBody{reader, cancel}
	return inner, nil
}

type watchBody struct {
	*io.PipeReader
	cancel func()
}

func (b watchBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// forward passes the events of a watch on until it ends, with the faults that they meet. It returns why the
// watch ends: nil if the server ended it.
func (l *life) forward(ctx context.Context, m *message, from io.Reader, to io.Writer) error {
	seconds, _ := strconv.Atoi(m.URL.Query().Get("timeoutSeconds"))
	ended := make(chan struct{})
	defer close(ended)
	over, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		for in := bufio.NewReader(from); ; {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			select {
			case lines <- line:
			case <-ended:
				return
			}
		}
	}()
	for {
		select {
		case <-l.killed:
			return errKilled
		case <-ctx.Done():
			return errReset
		case <-over.Done():
			return nil
		case line, ok := <-lines:
			if !ok {
				return errReset
			}
			if last, err := l.pass(ctx, m, line, to); last || err != nil {
				return err
			}
		}
	}
}

// ofEvents are the faults that an event can meet.
var ofEvents = []kind{silence, breaks, expires, repeats, lateAnswer, cut}

// pass passes one event on, with the faults that it meets. It reports whether it is the last one of its watch.
func (l *life) pass(ctx context.Context, m *message, line []byte, to io.Writer) (last bool, err error) {
	times, delay := 1, latency(m.chance)
	for _, w := range l.day.weatherFor(l, watches) {
		if !slices.Contains(ofEvents, w.Kind) {
			continue
		}
		l.day.count(string(w.Kind))
		switch {
		case w.Kind == silence:
			return true, l.sleep(ctx, forever)
		case w.Kind == breaks:
			_, _ = to.Write(line[:m.chance.IntN(len(line))]) // fails if the client has closed the watch
			return true, errReset
		case w.Kind == expires:
			expired := metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version"}
			return true, json.NewEncoder(to).Encode(map[string]any{"type": "ERROR", "object": expired})
		case w.Kind == repeats:
			times = 2
		case w.Kind == lateAnswer:
			delay += w.by
		case w.Kind == cut:
			delay += time.Until(w.until)
		}
	}
	if err := l.sleep(ctx, delay); err != nil {
		return true, err
	}
	for range times {
		if _, err := to.Write(line); err != nil {
			return true, err
		}
	}
	return false, nil
}

// forever is longer than a day.
const forever = 1000 * time.Hour
