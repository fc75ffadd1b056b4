package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// counts is a flag with numbers of objects.
type counts []int

func (c *counts) String() string {
	words := make([]string, len(*c))
	for i, n := range *c {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}

// Set implements flag.Value.
func (c *counts) Set(text string) error {
	*c = nil
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return fmt.Errorf("%q is no number", word)
		}
		*c = append(*c, n)
	}
	return nil
}

// check refuses numbers that do not increase, and a first number so small that the first
// namespace would grow with the second: tree measures that namespace at each number.
func (c counts) check() error {
	first := applicationsInNamespace * applicationIs
	switch {
	case c[0] < 1:
		return errors.New("-objects must be at least 1")
	case len(c) > 1 && c[0] < first:
		return fmt.Errorf("the first of several -objects must be at least %d, a namespace full", first)
	case !slices.IsSorted(c) || len(slices.Compact(slices.Clone(c))) < len(c):
		return errors.New("the numbers of -objects must grow")
	}
	return nil
}
