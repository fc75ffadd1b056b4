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

	"github.com/kubectl-gc/kubectl-gc/test/plane"
)

// acceptMetadata asks for what audit asks for.
const acceptMetadata = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// transferred is what a floor process says of itself.
type transferred struct {
	Requests int64 `json:"requests"`
	Bytes    int64 `json:"bytes"` // of the bodies, after decompression
}

// floor lists the paths that stdin names, one a line, and throws the answers away: it reads
// no more of them than where the next page begins.
func floor(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	var w way
	flags := flag.NewFlagSet(floorCommand, flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "")
	w.register(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := plane.RequireOurs(*kubeconfig); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	config.DisableCompression = !w.Gzip
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("prepare client: %w", err)
	}
	in, err := io.ReadAll(stdin)
	if err != nil {
		return fmt.Errorf("read paths: %w", err)
	}

	d := &drain{client: client, server: config.Host, way: w}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(w.Streams)
	for path := range strings.FieldsSeq(string(in)) {
		group.Go(func() error { return d.list(ctx, path) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(transferred{Requests: d.requests.Load(), Bytes: d.bytes.Load()})
}

type drain struct {
	client          *http.Client
	server          string
	way             way
	requests, bytes atomic.Int64
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
		var err error
		if next, err = d.page(ctx, path+"?"+query.Encode()); err != nil {
			return fmt.Errorf("list %s: %w", path, err)
		}
		if next == "" {
			return nil
		}
	}
}

func (d *drain) page(ctx context.Context, path string) (next string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.server+path, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("Accept", acceptMetadata)
	response, err := d.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() // read only
	if response.StatusCode != http.StatusOK {
		return "", errors.New(response.Status)
	}
	d.requests.Add(1)
	body := &counted{from: response.Body}
	if next, err = continuation(bufio.NewReader(body)); err != nil {
		return "", err
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return "", err
	}
	d.bytes.Add(body.n)
	return next, nil
}

// counted counts what is read through it.
type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.from.Read(b)
	c.n += int64(n)
	return n, err
}
