package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

const managerName = "kube-controller-manager"

const managerKubeconfig = "kube-controller-manager.kubeconfig"

// setCollector replaces kube-controller-manager by one with the wanted collector. After an error
// none is running.
func (p *plane) setCollector(ctx context.Context, want collector) error {
	if p.collector == want {
		return nil
	}
	p.stopManager()
	if want == collectorAbsent {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	err := withFreePort(func(port int) error { return p.startManager(ctx, want, port) })
	if err != nil {
		p.stopManager()
		return err
	}
	p.collector = want
	return nil
}

func (p *plane) stopManager() {
	if p.manager != nil {
		p.manager.stop(grace)
	}
	p.manager, p.managerServer, p.collector = nil, "", collectorAbsent
}

// killManager ends kube-controller-manager without letting it clean up.
func (p *plane) killManager() {
	if p.manager != nil {
		_ = p.manager.handle.Kill()
		<-p.manager.exited
	}
	p.manager, p.managerServer, p.collector = nil, "", collectorAbsent
}

func (p *plane) startManager(ctx context.Context, want collector, port int) error {
	server, err := launch(p.folder.path, p.bin.servers, managerName, commandLine([]setting{
		"kubeconfig=" + managerKubeconfig,
		// Authenticates requests to the manager's own server, so that an admin can read its
		// metrics.
		"authentication-kubeconfig=" + managerKubeconfig,
		"authorization-kubeconfig=" + managerKubeconfig,
		"bind-address=127.0.0.1",
		setting(fmt.Sprintf("secure-port=%d", port)),
		"tls-cert-file=" + servingCertFile,
		"tls-private-key-file=" + servingKeyFile,
		// Clients of the manager's server authenticate with tokens, so the lookup of client
		// certificates is skipped.
		"authentication-skip-lookup=true",
		"leader-elect=false",
		"use-service-account-credentials=false",
		"service-account-private-key-file=" + serviceAccountFile,
		"root-ca-file=" + authorityFile,
		setting("controllers=" + want.controllers()),
		// The default of 20 requests a second is meant for clusters with other clients.
		"kube-api-qps=1000",
		"kube-api-burst=2000",
	}, p.options.manager))
	if err != nil {
		return err
	}
	p.manager, p.managerServer = server, loopback(port)
	return server.await(ctx, func(ctx context.Context) error {
		if err := get(ctx, p.client, p.managerServer+"/healthz", ""); err != nil {
			return err
		}
		if want == collectorOn && !workersStarted(server.written()) {
			return errors.New("the garbage collector has not begun")
		}
		return nil
	}, p.apiserver, p.etcd)
}

// workersStarted reports whether the collector's workers run, according to the log. The health
// check does not tell, and nothing is collected before. (The message is from Run in
// pkg/controller/garbagecollector/garbagecollector.go of Kubernetes, unchanged since v1.8.)
func workersStarted(log []byte) bool {
	return bytes.Contains(log, []byte("roceeding to collect garbage"))
}
