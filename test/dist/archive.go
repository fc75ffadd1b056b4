package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// entry is one file of an archive.
type entry struct {
	name string // in the archive
	from string // on the disk
	mode fs.FileMode
}

// writeArchive writes the entries in their order, as root's and all of one time: what an
// archive says of its files is given, and never that of the files here.
func writeArchive(path string, entries []entry, at time.Time) error {
	var archive bytes.Buffer
	pack := packTar
	if strings.HasSuffix(path, ".zip") {
		pack = packZip
	}
	if err := pack(&archive, entries, at); err != nil {
		return err
	}
	return os.WriteFile(path, archive.Bytes(), 0o644)
}

func packTar(to io.Writer, entries []entry, at time.Time) error {
	// The header of gzip stays empty: it has a place for a time and a name.
	compressed, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, e := range entries {
		data, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: e.name, Mode: int64(e.mode), Size: int64(len(data)),
			ModTime: at, Uname: "root", Gname: "root",
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

func packZip(to io.Writer, entries []entry, at time.Time) error {
	archive := zip.NewWriter(to)
	archive.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, e := range entries {
		data, err := os.ReadFile(e.from)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		header.SetMode(e.mode)
		file, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := file.Write(data); err != nil {
			return err
		}
	}
	return archive.Close()
}

// readArchive answers the files of an archive, by name.
func readArchive(path string) (map[string][]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, ".zip") {
		return unpackZip(data)
	}
	return unpackTar(data)
}

func unpackTar(data []byte) (map[string][]byte, error) {
	compressed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if files[header.Name], err = io.ReadAll(archive); err != nil {
			return nil, fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

func unpackZip(data []byte) (map[string][]byte, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range archive.File {
		if files[f.Name], err = fs.ReadFile(archive, f.Name); err != nil {
			return nil, err
		}
	}
	return files, nil
}
