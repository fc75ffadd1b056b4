package client

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GetWhole reads the object that the query names into a struct with the fields that are used of
// it, under their names in JSON, in upper or lower case.
func GetWhole(ctx context.Context, c *Client, q Query, into any) error {
	raw, err := c.Fetch(ctx, q, AcceptWhole, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if _, err := ReadObject(raw, q, false); err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("decode a %s: %w", q.Type.Kind, err)
	}
	return nil
}

// Limits of ListWhole.
const (
	maxWholePages = 4
	wholePage     = 500 // objects
)

// ListWhole is like GetWhole for the objects of a list that the options select, but at most 2,000
// of them.
func ListWhole[T any](ctx context.Context, c *Client, q Query, options metav1.ListOptions) ([]T, error) {
	var out []T
	options.Limit = wholePage
	for range maxWholePages {
		raw, err := c.Fetch(ctx, q, AcceptWhole, options)
		if err != nil {
			return nil, err
		}
		items, meta, err := ReadPage(raw, q, false)
		if err != nil {
			return nil, err
		}
		for _, raw := range items {
			var item T
			if _, err := ReadItem(raw, q, false); err != nil {
				return nil, err
			}
			if err := json.Unmarshal(raw, &item); err != nil {
				return nil, fmt.Errorf("decode a %s: %w", q.Type.Kind, err)
			}
			out = append(out, item)
		}
		if options.Continue = meta.Continue; options.Continue == "" {
			break
		}
	}
	return out, nil
}
