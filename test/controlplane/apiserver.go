package main

import (
	"context"
	"fmt"
)

const apiServerName = "kube-apiserver"

// startAPIServer starts the API server at a free port.
func (p *plane) startAPIServer(ctx context.Context) error {
	return withFreePort(func(port int) error { return p.startAPIServerAt(ctx, port) })
}

// startAPIServerAt returns once the whole API is available, including the default roles and the
// namespaces that every cluster has.
func (p *plane) startAPIServerAt(ctx context.Context, port int) error {
	server, err := launch(p.folder.path, p.bin.servers, apiServerName, commandLine(p.apiserverSettings(port), p.options.apiserver))
	if err != nil {
		return err
	}
	p.apiserver, p.apiserverPort, p.server = server, port, loopback(port)
	return server.await(ctx, func(ctx context.Context) error {
		for _, path := range []string{"/readyz", "/api/v1/namespaces/kube-system", "/api/v1/namespaces/default"} {
			if err := get(ctx, p.client, p.server+path, p.users[0].token); err != nil {
				return err
			}
		}
		return nil
	}, p.etcd)
}

// restartAPIServer replaces the API server by a new process at the same port, so that clients
// reconnect. After an error it does not run.
func (p *plane) restartAPIServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	p.apiserver.stop(grace)
	p.client.CloseIdleConnections()
	return p.startAPIServerAt(ctx, p.apiserverPort)
}

func (p *plane) apiserverSettings(port int) []setting {
	return []setting{
		setting("etcd-servers=unix://" + p.folder.file(socketFile)),
		"bind-address=127.0.0.1",
		"advertise-address=127.0.0.1",
		setting(fmt.Sprintf("secure-port=%d", port)),
		"tls-cert-file=" + servingCertFile,
		"tls-private-key-file=" + servingKeyFile,
		"cert-dir=.",
		"token-auth-file=" + tokenFile,
		"authorization-mode=RBAC",
		setting("service-account-issuer=https://" + clusterName),
		"service-account-key-file=" + serviceAccountFile,
		"service-account-signing-key-file=" + serviceAccountFile,
		"service-cluster-ip-range=10.0.0.0/24",
		// By default the server registers itself as an endpoint, and a loopback address is not a
		// valid endpoint.
		"endpoint-reconciler-type=none",
		"allow-privileged=true",
		// It rejects Pods until a controller has created the service account, and there may be no such
		// controller.
		"disable-admission-plugins=ServiceAccount",
	}
}
