package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

func TestPicturesAreUpToDate(t *testing.T) {
	lines, err := runCommands(filepath.Join(root, "docs", "demo", "cluster.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, theme := range themes {
		want := render(lines, theme)
		got, err := os.ReadFile(filepath.Join(root, "docs", "picture", name+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("docs/picture/%s.svg shows something else than the program says now: make pictures", name)
		}
	}
}

func TestPictureIsWellFormedXML(t *testing.T) {
	lines := []line{parse("a <b> & \x1b[31m\"c\"\x1b[0m ]]>")}
	for d := xml.NewDecoder(bytes.NewReader(render(lines, themes["dark"]))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestParse(t *testing.T) {
	got := parse("a \x1b[31merror\x1b[0m b\x1b[2mc\x1b[22md")
	want := line{{"a ", ""}, {"error", red}, {" b", ""}, {"c", dim}, {"d", ""}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(run{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
