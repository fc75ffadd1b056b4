package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
)

const socketFile = "etcd.sock"

// startEtcd starts etcd on a Unix socket in the run's folder. Unlike a port, nobody else can take
// it, and only the user can connect to it.
func (p *plane) startEtcd(ctx context.Context) error {
	socket := p.folder.file(socketFile)
	if len(socket) > 100 {
		return fmt.Errorf("start etcd on %s: the path is too long for a socket, set TMPDIR to a shorter folder", socket)
	}
	// The socket is not advertised, because etcd rejects that. Its only client knows the path.
	server, err := launch(p.folder.path, p.bin.tools, "etcd", commandLine([]setting{
		"data-dir=etcd",
		setting("listen-client-urls=unix://" + socket),
		"advertise-client-urls=http://127.0.0.1:0",
		"listen-peer-urls=http://127.0.0.1:0",
		"log-level=warn",
		"unsafe-no-fsync=true",
		"quota-backend-bytes=8589934592", // enough for the benchmarks
	}, nil))
	if err != nil {
		return err
	}
	p.etcd = server

	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
	return server.await(ctx, func(ctx context.Context) error {
		return get(ctx, client, "http://etcd/health", "")
	})
}
