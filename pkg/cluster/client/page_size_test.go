package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

func TestNextPageSize(t *testing.T) {
	for name, test := range map[string]struct {
		size int64
		took time.Duration
		want int64
	}{
		"at once":                         {100, 0, 400},
		"in a tenth of the time":          {100, pageTime / 10, 400},
		"in half of it":                   {100, pageTime / 2, 200},
		"in all of it":                    {100, pageTime, 100},
		"in twice as much":                {100, 2 * pageTime, 50},
		"never to more than the largest":  {800, 0, 1000},
		"and never to none, however slow": {1, time.Hour, 1},
	} {
		if got := nextPageSize(test.size, 1000, test.took); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// asked returns the sizes of the pages requested for a list of n objects.
func asked(t *testing.T, n int, o Options) []int {
	t.Helper()
	var mu sync.Mutex
	var sizes []int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		mu.Lock()
		sizes = append(sizes, limit)
		mu.Unlock()
		to, next := n, ""
		if limit > 0 && from+limit < n {
			to = from + limit
			next = strconv.Itoa(to)
		}
		var names []string
		for i := from; i < to; i++ {
			names = append(names, fmt.Sprint("o", i))
		}
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		_, _ = w.Write(pageOf(t, next, names...))
	}))
	t.Cleanup(server.Close)
	c, err := New(&rest.Config{Host: server.URL}, o)
	if err != nil {
		t.Fatal(err)
	}
	list := c.List(t.Context(), Query{Type: podType}, false)
	objects, err := list.Objects, list.Err
	if err != nil || len(objects) != n {
		t.Fatalf("%d objects of %d, %v", len(objects), n, err)
	}
	return sizes
}

func TestLongListIsReadInLargerPages(t *testing.T) {
	for name, test := range map[string]struct {
		o    Options
		want []int
	}{
		"if the program may choose":              {Options{ChunkSize: 10, ChooseChunkSize: true}, []int{10, 40, 160, 640}},
		"as those before, where it is asked for": {Options{ChunkSize: 100}, []int{100, 100, 100}},
		"or all at once":                         {Options{ChooseChunkSize: true}, []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, asked(t, 250, test.o)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestListsHaveNoPagesIfTheServerStreamsThem(t *testing.T) {
	chosen := Options{ChunkSize: DefaultChunkSize, ChooseChunkSize: true}
	for name, test := range map[string]struct {
		o       Options
		release string
		want    int64
	}{
		"since 1.33":                    {chosen, "v1.33.0", 0},
		"also with a suffix":            {chosen, "v1.36.3-eks-5b5ee1a", 0},
		"not before":                    {chosen, "v1.32.9", DefaultChunkSize},
		"nor if the version is unknown": {chosen, "", DefaultChunkSize},
		"nor if a size is asked for":    {Options{ChunkSize: 500}, "v1.36.3", 500},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(&rest.Config{Host: "https://127.0.0.1:1"}, test.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.ForServer(test.release).Options.ChunkSize; got != test.want {
				t.Errorf("pages of %d objects, want %d", got, test.want)
			}
		})
	}
}
