package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// The media types that audit requests.
const (
	acceptMetadata  = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	acceptDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
)

// discoveryPaths are the paths of discovery.
var discoveryPaths = []string{"/api", "/apis", "/version"}

// transferred is the output of a floor process.
type transferred struct {
	Requests int64 `json:"requests"`
	Bytes    int64 `json:"bytes"` // of the bodies, after decompression
}

// floor requests the paths in stdin, one per line, and discards the responses without
// decoding more than the continue token. On request it reads discovery before, which it
// also discards, and uses another server address.
func floor(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	var w listMethod
	flags := flag.NewFlagSet(floorCommand, flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "")
	server := flags.String("server", "", "")
	discover := flags.Bool("discover", false, "")
	w.register(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := testcluster.RequireTestCluster(*kubeconfig); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	if *server != "" {
		config.Host = *server
	}
	config.DisableCompression = !w.Gzip
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("prepare client: %w", err)
	}
	input, err := io.ReadAll(stdin)
	if err != nil {
		return fmt.Errorf("read paths: %w", err)
	}

	d := &drain{client: client, server: config.Host, way: w}
	if *discover {
		if err := d.all(ctx, discoveryPaths, d.get); err != nil {
			return err
		}
	}
	if err := d.all(ctx, strings.Fields(string(input)), d.list); err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(transferred{Requests: d.requests.Load(), Bytes: d.bytes.Load()})
}

type drain struct {
	client          *http.Client
	server          string
	way             listMethod
	requests, bytes atomic.Int64
}

// all requests paths, several at once.
func (d *drain) all(ctx context.Context, paths []string, ask func(context.Context, string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(d.way.Streams)
	for _, path := range paths {
		group.Go(func() error {
			if err := ask(ctx, path); err != nil {
				return fmt.Errorf("get %s: %w", path, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// get requests something other than a list.
func (d *drain) get(ctx context.Context, path string) error {
	return d.answer(ctx, path, acceptDiscovery, func(reader) error { return nil })
}

func (d *drain) list(ctx context.Context, path string) error {
	next := ""
	for {
		query := url.Values{}
		if d.way.Page > 0 {
			query.Set("limit", strconv.Itoa(d.way.Page))
		}
		if d.way.Cached {
			query.Set("resourceVersion", "0")
		}
		if next != "" {
			query.Set("continue", next)
		}
		err := d.answer(ctx, path+"?"+query.Encode(), acceptMetadata, func(r reader) (err error) {
			next, err = continuation(r)
			return err
		})
		if err != nil || next == "" {
			return err
		}
	}
}

// answer calls read for the beginning of a response and discards the rest.
func (d *drain) answer(ctx context.Context, path, accept string, read func(reader) error) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.server+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", accept)
	response, err := d.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() // read only
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	d.requests.Add(1)
	body := &counted{from: response.Body}
	defer func() { d.bytes.Add(body.n) }()
	if err := read(bufio.NewReader(body)); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, body)
	return err
}

// counted counts the bytes read through it.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += int64(n)
	return n, err
}
