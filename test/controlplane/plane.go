package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// grace is how long a server may take to stop before it is killed.
const grace = 5 * time.Second

// plane is one control plane. Its methods are not safe for concurrent use.
type plane struct {
	options options
	bin     binaries
	folder  *folder
	users   []user
	client  *http.Client

	etcd, apiserver *process
	apiserverPort   int
	server          string // URL of the API server

	manager       *process // nil when the collector is absent
	managerServer string
	collector     collector
}

// start starts a control plane. If it fails, everything that it has started is stopped.
func start(ctx context.Context, bin binaries, o options) (*plane, error) {
	folder, err := newFolder()
	if err != nil {
		return nil, err
	}
	p := &plane{options: o, bin: bin, folder: folder, users: newUsers(), collector: collectorAbsent}
	if err := p.start(ctx); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

func (p *plane) start(ctx context.Context) error {
	if err := writeCertificates(p.folder.path, time.Now()); err != nil {
		return err
	}
	if err := writeTokens(p.folder.path, p.users); err != nil {
		return err
	}
	authority, err := os.ReadFile(p.folder.file(authorityFile))
	if err != nil {
		return fmt.Errorf("read certificate authority: %w", err)
	}
	p.client = newClient(authority)

	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.startEtcd(starting); err != nil {
		return err
	}
	if err := p.startAPIServer(starting); err != nil {
		return err
	}
	if err := p.writeKubeconfigs(authority); err != nil {
		return err
	}
	if err := p.setCollector(ctx, p.options.collector); err != nil || p.options.state == "" {
		return err
	}
	config, err := os.ReadFile(p.folder.file(kubeconfigFile))
	if err != nil {
		return fmt.Errorf("copy kubeconfig: %w", err)
	}
	if err := os.WriteFile(filepath.Join(p.options.state, kubeconfigFile), config, 0o600); err != nil {
		return fmt.Errorf("copy kubeconfig: %w", err)
	}
	return nil
}

// writeKubeconfigs writes the kubeconfig of kube-controller-manager, and then the one of the
// users.
func (p *plane) writeKubeconfigs(authority []byte) error {
	if err := p.folder.setServer(p.server); err != nil {
		return err
	}
	var people, manager []user
	for _, u := range p.users {
		if u.name == controllerManager {
			manager = append(manager, u)
		} else {
			people = append(people, u)
		}
	}
	mark := p.folder.proof()
	return errors.Join(
		newKubeconfig(p.server, authority, manager, mark).write(p.folder.file(managerKubeconfig)),
		newKubeconfig(p.server, authority, people, mark).write(p.folder.file(kubeconfigFile)),
	)
}

// servers returns the servers that should be running.
func (p *plane) servers() []*process {
	var all []*process
	for _, each := range []*process{p.manager, p.apiserver, p.etcd} {
		if each != nil {
			all = append(all, each)
		}
	}
	return all
}

// stop stops the servers, clients before their servers, and removes the folder.
func (p *plane) stop() error {
	for _, each := range p.servers() {
		each.stop(grace)
	}
	return p.folder.remove()
}

// pids returns the process IDs of the servers by name.
func (p *plane) pids() map[string]int {
	pids := map[string]int{}
	for _, each := range p.servers() {
		pids[each.name] = each.handle.Pid
	}
	return pids
}
