package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"
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
	return server.await(ctx, func(ctx context.Context) error {
		return get(ctx, p.etcdClient(), "http://etcd/health", "")
	})
}

func (p *plane) etcdClient() *http.Client {
	return &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", p.folder.file(socketFile))
		},
	}}
}

// corrupt replaces the value of a key by one that the API server cannot decode.
func (p *plane) corrupt(ctx context.Context, key string) error {
	body, err := json.Marshal(map[string][]byte{"key": []byte(key), "value": []byte("broken by a test")})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://etcd/v3/kv/put", bytes.NewReader(body))
	if err != nil {
		return err
	}
	return send(p.etcdClient(), request)
}
