package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

//go:embed objects.yaml
var manifest string

// copies is how many of each object of the manifest an application has. The last one is garbage.
var copies = []int{1, 1, 2, 12, 5, 0}

const (
	applicationSize         = 20 // objects
	applicationsInNamespace = 50
	seedStreams             = 4
)

// template is an object of the manifest as the API server stores it, in protobuf.
type template struct{ key, value, uid string }

// seeder writes objects to etcd, several times as fast as through the API server. The server learns
// of them as of those that another server creates.
type seeder struct {
	etcd         *http.Client
	templates    []template
	applications int // that exist
}

// newSeeder has the API server complete the templates, without storing them.
func newSeeder(ctx context.Context, plane *testcluster.ControlPlane) (*seeder, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: seedStreams, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(plane.Dir, "etcd.sock"))
	}}
	s := &seeder{etcd: &http.Client{Transport: transport}}
	create := plane.Kubectl(ctx, "create", "--dry-run=server", "-o", "json", "--show-managed-fields", "-f", "-")
	create.Stdin = strings.NewReader(manifest)
	out, err := create.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("complete templates: %w\n%s", err, out)
	}
	objects := json.NewDecoder(bytes.NewReader(out))
	for range copies {
		var raw json.RawMessage
		if err := objects.Decode(&raw); err != nil {
			return nil, fmt.Errorf("read templates: %w", err)
		}
		object, kind, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("decode templates: %w", err)
		}
		var value bytes.Buffer
		if err := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &value); err != nil {
			return nil, fmt.Errorf("encode templates: %w", err)
		}
		o := object.(metav1.Object)
		key := path.Join("/registry", strings.ToLower(kind.Kind)+"s", o.GetNamespace(), o.GetName())
		s.templates = append(s.templates, template{key, value.String(), string(o.GetUID())})
	}
	return s, nil
}

// write is a request to write an object, in JSON for etcd.
type write struct {
	Put struct {
		Key   []byte `json:"key"`
		Value []byte `json:"value"`
	} `json:"requestPut"`
}

// copy returns a write of a copy with a new UID, in which pairs of texts are replaced, each by one of
// the same length. A UID that replace has for it takes precedence.
func (t *template) copy(replace ...string) (w write) {
	r := strings.NewReplacer(append(replace, t.uid, newUID())...)
	w.Put.Key, w.Put.Value = []byte(r.Replace(t.key)), []byte(r.Replace(t.value))
	return w
}

func newUID() string { return string(uuid.NewUUID()) }

// fill creates applications until there are as many objects.
func (s *seeder) fill(ctx context.Context, objects int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(seedStreams)
	for ; s.applications*applicationSize < objects; s.applications++ {
		writes := s.application(s.applications)
		group.Go(func() error { return s.write(ctx, writes) })
	}
	return group.Wait()
}

func namespaceOf(application int) string {
	return fmt.Sprintf("bench-%05d", application/applicationsInNamespace)
}

// application returns a Deployment and its dependents, and its namespace before the first one.
func (s *seeder) application(i int) (writes []write) {
	namespace, deployment, replicaSet := namespaceOf(i), newUID(), newUID()
	for position, t := range s.templates {
		if position == 0 && i%applicationsInNamespace > 0 { // the namespace
			continue
		}
		for n := range copies[position] {
			replace := []string{
				"bench-00000", namespace, "kube-system", namespace, "app-00000", fmt.Sprintf("app-%05d", i), "-nth", fmt.Sprintf("-%03d", n),
				"deployment-uid-000000000000000000000", deployment, "replicaset-uid-000000000000000000000", replicaSet,
			}
			if n == 0 { // first copies are the owners: the Deployment, and the ReplicaSet of the Pods
				replace = append(replace, s.templates[1].uid, deployment, s.templates[2].uid, replicaSet)
			}
			writes = append(writes, t.copy(replace...))
		}
	}
	return writes
}

// garbage creates ConfigMaps whose owners never existed.
func (s *seeder) garbage(ctx context.Context, objects int) error {
	const dependents = 100
	t := s.templates[len(s.templates)-1]
	for i := 0; i < objects; i += dependents {
		var writes []write
		owner := newUID()
		for n := range min(dependents, objects-i) {
			writes = append(writes, t.copy("kube-system", garbageNamespace, "leftover-nth", fmt.Sprintf("left-%07d", i+n), "missing-uid-000000000000000000000000", owner))
		}
		if err := s.write(ctx, writes); err != nil {
			return err
		}
	}
	return nil
}

// write sends a transaction to the JSON gateway of etcd.
func (s *seeder) write(ctx context.Context, writes []write) error {
	body, err := json.Marshal(map[string][]write{"success": writes})
	if err != nil {
		return fmt.Errorf("encode objects: %w", err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	response, err := s.etcd.Post("http://etcd/v3/kv/txn", "application/json", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("write to etcd: %w", err)
	}
	defer response.Body.Close() // read only
	if answer, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		return errors.Join(err, fmt.Errorf("write to etcd: %s: %s", response.Status, answer))
	}
	return nil
}
