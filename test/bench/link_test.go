package main

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// transferTime returns how long it takes until all bytes have arrived. Each sender has its own
// connection over the same direction of the link.
func transferTime(t *testing.T, l link, senders, bytesEach int) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		var over direction
		begun, done := time.Now(), make(chan int64)
		for range senders {
			near, sender := net.Pipe()
			receiver, far := net.Pipe()
			go func() {
				_, _ = sender.Write(make([]byte, bytesEach))
				_ = sender.Close()
			}()
			go func() {
				if err := l.copy(far, near, &over); err != nil {
					t.Error(err)
				}
				_ = far.Close()
			}()
			go func() {
				n, _ := io.Copy(io.Discard, receiver)
				done <- n
			}()
		}
		for range senders {
			if n := <-done; n != int64(bytesEach) {
				t.Errorf("%d bytes arrived, want %d", n, bytesEach)
			}
		}
		took = time.Since(begun)
	})
	return took
}

func TestLinkTransferTime(t *testing.T) {
	l := link{roundTrip: 50 * time.Millisecond, rate: 1_000_000}
	for name, c := range map[string]struct {
		senders, bytesEach int
		want               time.Duration
	}{
		"a few bytes take half a round trip":          {1, 1, 25*time.Millisecond + time.Microsecond},
		"many bytes take what the rate allows":        {1, 3_000_000, 3025 * time.Millisecond},
		"connections at the same time share the rate": {3, 1_000_000, 3025 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			if got := transferTime(t, l, c.senders, c.bytesEach); got != c.want {
				t.Errorf("it took %s, want %s", got, c.want)
			}
		})
	}
}

func TestSenderWaitsForSlowLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, sender := net.Pipe()
		receiver, far := net.Pipe()
		var over direction
		ended := make(chan error)
		go func() { ended <- link{rate: parcel}.copy(far, near, &over) }() // one parcel a second
		go func() { _, _ = io.Copy(io.Discard, receiver) }()
		if err := sender.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := sender.Write(make([]byte, 10*queued*parcel))
		if want := (10 + queued + 3) * parcel; err == nil || n > want {
			t.Errorf("%d bytes were taken in ten seconds, %v, want %d at most and then no more", n, err, want)
		}
		for _, end := range []io.Closer{near, sender, receiver, far} {
			_ = end.Close()
		}
		<-ended
		synctest.Wait()
	})
}

func TestProxyForwardsBothDirections(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() { // responds with twice the request after the end of the request
		server, err := listener.Accept()
		if err != nil {
			return
		}
		defer server.Close()
		asked, _ := io.ReadAll(server)
		_, _ = server.Write(bytes.Repeat(asked, 2))
	}()
	p, err := newProxy(listener.Addr().String(), link{roundTrip: time.Millisecond, rate: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	client, err := net.Dial("tcp", p.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	question := strings.Repeat("a question ", 10_000)
	if _, err := io.WriteString(client, question); err != nil {
		t.Fatal(err)
	}
	if err := client.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(client)
	if err != nil || string(answer) != question+question {
		t.Errorf("got %d bytes, %v, want the question twice, %d bytes", len(answer), err, 2*len(question))
	}
}

func TestProxyCloseEndsConnections(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	p, err := newProxy(listener.Addr().String(), link{roundTrip: time.Millisecond, rate: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("tcp", p.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	p.close()
	if _, err := client.Read(make([]byte, 1)); err == nil {
		t.Error("the client still reads")
	}
}
