package cluster

import (
	"context"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"
)

// nearby is the round trip below which lists are not asked for compressed: to compress
// takes a server longer than to send as much within one place, and less long than over
// any other link. So kubectl's --disable-compression is for distant servers only.
const nearby = 3 * time.Millisecond

// link is how far away a server is.
type link struct{ near atomic.Bool }

// measured has the connections that requests of ctx open tell how far it is: by what
// TCP takes to greet, in which nothing but the way counts.
func (l *link) measured(ctx context.Context) context.Context {
	var begun sync.Map // several addresses may be tried at once
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		ConnectStart: func(_, address string) { begun.Store(address, time.Now()) },
		ConnectDone: func(_, address string, err error) {
			if at, ok := begun.Load(address); ok && err == nil {
				l.near.Store(time.Since(at.(time.Time)) < nearby)
			}
		},
	})
}
