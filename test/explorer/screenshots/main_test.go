package main

import (
	"errors"
	"os"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/explorer/browser"
)

func TestPicturesShowTheWordsOfToday(t *testing.T) {
	want := ""
	err := visit("../../..", func(_ picture, _ *browser.Tab, words string) error {
		want += words
		return nil
	})
	if errors.Is(err, browser.ErrNone) {
		t.Skip("SKIPPED, NOT TESTED: the pictures of docs/report.md:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../docs/images/words.txt")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("the pictures in docs/images are of another version: make pictures, and look at them; the words today are\n%s", want)
	}
}
