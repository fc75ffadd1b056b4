package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// slow is the link of the goal: 50 ms round trip, 20 Mbit/s in each direction.
var slow = link{roundTrip: 50 * time.Millisecond, rate: 20_000_000 / 8}

// link is a simulated network link between a client and a server.
type link struct {
	roundTrip time.Duration
	rate      int // bytes a second, each way, shared by all connections
}

const (
	parcel = 4 << 10 // bytes that are transferred together
	// queued is the number of packets in one direction of a connection: those on their way
	// and in a router's queue. The sender waits with more.
	queued     = 64
	bufferSize = 64 << 10
)

func (l link) String() string {
	return fmt.Sprintf("%s round trip and %g Mbit/s", l.roundTrip, float64(l.rate)*8/1e6)
}

// direction is one direction of a link. The zero value is idle.
type direction struct {
	mu   sync.Mutex
	free time.Time // when everything sent so far has left the sender
}

// arrival reserves the direction for n bytes and returns when the last of them arrives.
func (l link) arrival(way *direction, n int) time.Time {
	way.mu.Lock()
	defer way.mu.Unlock()
	if now := time.Now(); way.free.Before(now) {
		way.free = now
	}
	way.free = way.free.Add(time.Duration(n) * time.Second / time.Duration(l.rate))
	return way.free.Add(l.roundTrip / 2)
}

// copy forwards bytes until either end is closed.
func (l link) copy(to io.Writer, from io.Reader, over *direction) error {
	type sent struct {
		bytes []byte
		due   time.Time
	}
	under, read := make(chan sent, queued), make(chan error, 1)
	lost := make(chan struct{})
	go func() {
		defer close(under)
		for {
			bytes := make([]byte, parcel)
			n, err := from.Read(bytes)
			if n > 0 {
				select {
				case under <- sent{bytes[:n], l.arrival(over, n)}:
				case <-lost:
				}
			}
			if err != nil {
				read <- err
				return
			}
		}
	}()
	for s := range under {
		time.Sleep(time.Until(s.due))
		if _, err := to.Write(s.bytes); err != nil {
			close(lost) // the caller closes from, which ends the read
			return err
		}
	}
	if err := <-read; !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// proxy is a link to a server, for clients that connect to Address.
type proxy struct {
	link
	Address  string
	server   string
	listener net.Listener
	up, down direction

	mu    sync.Mutex
	ends  map[net.Conn]bool // nil after close
	tasks sync.WaitGroup
}

// newProxy listens on loopback, for connections to a server's host:port.
func newProxy(server string, over link) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for a slow link: %w", err)
	}
	p := &proxy{link: over, Address: listener.Addr().String(), server: server, listener: listener, ends: map[net.Conn]bool{}}
	p.tasks.Go(p.accept)
	return p, nil
}

// close closes all connections and waits for their goroutines.
func (p *proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for end := range p.ends {
		_ = end.Close()
	}
	p.ends = nil
	p.mu.Unlock()
	p.tasks.Wait()
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.tasks.Go(func() { p.connect(client) })
	}
}

// connect serves a connection until it ends.
func (p *proxy) connect(client net.Conn) {
	if !p.hold(client) {
		return
	}
	defer p.drop(client)
	time.Sleep(p.roundTrip) // simulates the handshake, which takes no time on loopback
	server, err := net.Dial("tcp", p.server)
	if err != nil || !p.hold(server) {
		return
	}
	defer p.drop(server)
	if tcp, ok := server.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(bufferSize)
	}
	var both sync.WaitGroup
	both.Go(func() { p.pass(server, client, &p.up) })
	both.Go(func() { p.pass(client, server, &p.down) })
	both.Wait()
}

// pass forwards one direction and then closes it, or both after an error.
func (p *proxy) pass(to, from net.Conn, over *direction) {
	tcp, ok := to.(*net.TCPConn)
	if err := p.copy(to, from, over); err != nil || !ok {
		_ = to.Close()
		_ = from.Close()
		return
	}
	_ = tcp.CloseWrite()
}

// hold registers a connection to be closed with the proxy. If the proxy is closed already,
// it closes the connection and returns false.
func (p *proxy) hold(end net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ends == nil {
		_ = end.Close()
		return false
	}
	p.ends[end] = true
	return true
}

func (p *proxy) drop(end net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = end.Close()
	delete(p.ends, end)
}
