package managerlog

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// entry is a line of the log.
type entry struct {
	written   time.Time
	collector bool // a source file of the garbage collector wrote it; the rest is known only then
	message   string
	values    map[string]string // of a structured line: text without quotes, or else JSON
}

// parse reads a line with or without a prefix.
func parse(line []byte, latest time.Time) (entry, bool) {
	if bytes.HasPrefix(line, []byte(`{"log":`)) { // Docker
		var docker struct {
			Log  string    `json:"log"`
			Time time.Time `json:"time"`
		}
		if json.Unmarshal(line, &docker) != nil {
			return entry{}, false
		}
		line = bytes.TrimRight([]byte(docker.Log), "\r\n")
		if !docker.Time.IsZero() {
			latest = docker.Time
		}
	}
	line, latest = cutPrefix(line, latest)
	if bytes.HasPrefix(line, []byte("{")) {
		return parseJSON(line)
	}
	return parseText(line, latest)
}

// cutPrefix removes what kubectl logs --prefix and --timestamps, a container runtime (CRI) and journald write
// before a line. It returns the time in it if that has a year, or else latest.
func cutPrefix(line []byte, latest time.Time) ([]byte, time.Time) {
	if bytes.HasPrefix(line, []byte("[pod/")) {
		_, line, _ = bytes.Cut(line, []byte("] "))
	}
	if at, rest, ok := bytes.Cut(line, []byte(" ")); ok && len(at) >= len("2006-01-02T15:04:05Z") && len(at) <= len(time.RFC3339Nano) {
		if t, err := time.Parse(time.RFC3339, string(at)); err == nil {
			latest, line = t, rest
			for _, stream := range []string{"stderr F ", "stdout F "} {
				line = bytes.TrimPrefix(line, []byte(stream))
			}
		}
	}
	// A line that continues the one before begins with a tab or a space: it is not taken for another.
	if len(line) > len("I"+stamp) && line[0] > ' ' && line[0] != '{' && line[len("I0102")] != ' ' {
		if i := bytes.Index(line[:min(len(line), 256)], []byte("]: ")); i >= 0 {
			line = line[i+len("]: "):]
		}
	}
	return line, latest
}

// header is that of klog: severity, month and day, time, thread, file and line.
var header = regexp.MustCompile(`^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ ([\w./-]+\.go):\d+\] `)

const stamp = "0102 15:04:05.000000"

func parseText(line []byte, latest time.Time) (entry, bool) {
	m := header.FindSubmatchIndex(line)
	if m == nil {
		return entry{}, false
	}
	t, ok := withYear(line[1:1+len(stamp)], latest)
	if !ok {
		return entry{}, false
	}
	e := entry{written: t, collector: ofCollector(line[m[2]:m[3]])}
	if e.collector {
		e.message, e.values = structured(string(line[m[1]:]))
	}
	return e, true
}

func ofCollector(file []byte) bool {
	name := file[bytes.LastIndexByte(file, '/')+1:]
	return string(name) == "garbagecollector.go" || string(name) == "graph_builder.go"
}

// withYear returns the time in the latest year in which it exists and is at most a day after latest. The
// text has the form of stamp.
func withYear(text []byte, latest time.Time) (time.Time, bool) {
	number := func(from, to int) (n int) {
		for _, digit := range text[from:to] {
			n = 10*n + int(digit-'0')
		}
		return n
	}
	month, day, hour, minute, second := number(0, 2), number(2, 4), number(5, 7), number(8, 10), number(11, 13)
	if hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	latest = latest.UTC().AddDate(0, 0, 1)
	const leap = 8 // the most years between two leap years
	for year := latest.Year(); year >= latest.Year()-leap; year-- {
		t := time.Date(year, time.Month(month), day, hour, minute, second, 1000*number(14, 20), time.UTC)
		if t.Day() == day && int(t.Month()) == month && !t.After(latest) {
			return t, true
		}
	}
	return time.Time{}, false
}

// structured splits the message of a structured line from its values. A line of another kind has none.
func structured(text string) (message string, values map[string]string) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return text, nil
	}
	message, _ = strconv.Unquote(quoted)
	values = map[string]string{}
	for rest := text[len(quoted):]; ; {
		key, after, ok := strings.Cut(strings.TrimLeft(rest, " "), "=")
		if !ok || after == "" {
			return message, values
		}
		var value string
		switch after[0] {
		case '"':
			if quoted, err = strconv.QuotedPrefix(after); err != nil {
				return message, values
			}
			value, _ = strconv.Unquote(quoted)
			rest = after[len(quoted):]
		case '{', '[':
			value, rest = after, "" // 1.27 writes Go's notation; no value that matters follows it
			var raw json.RawMessage
			if d := json.NewDecoder(strings.NewReader(after)); d.Decode(&raw) == nil {
				value, rest = string(raw), after[d.InputOffset():]
			}
		default:
			value, rest, _ = strings.Cut(after, " ")
		}
		if _, twice := values[key]; !twice {
			values[key] = value
		}
	}
}

func parseJSON(line []byte) (entry, bool) {
	var e entry
	ofInterest := bytes.Contains(line, []byte("/garbagecollector.go:")) || bytes.Contains(line, []byte("/graph_builder.go:"))
	if stamp, ok := bytes.CutPrefix(line, []byte(`{"ts":`)); ok && !ofInterest {
		stamp, _, _ = bytes.Cut(stamp, []byte(","))
		e.written, ok = ofEpoch(stamp)
		return e, ok
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(line, &fields) != nil {
		return e, false
	}
	var ok bool
	if e.written, ok = ofEpoch(fields["ts"]); !ok {
		return e, false
	}
	caller, _, _ := strings.Cut(unquoted(fields["caller"]), ":")
	if e.collector = ofCollector([]byte(caller)); e.collector {
		e.message = strings.TrimSpace(unquoted(fields["msg"]))
		e.values = make(map[string]string, len(fields))
		for key, value := range fields {
			e.values[key] = unquoted(value)
		}
	}
	return e, true
}

// unquoted returns the text of a JSON string, or any other value as it is.
func unquoted(value json.RawMessage) string {
	if len(value) < 2 || value[0] != '"' {
		return string(value)
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	var text string
	_ = json.Unmarshal(value, &text) // is valid, as it is part of a value that was decoded
	return text
}

// ofEpoch reads milliseconds; Kubernetes 1.19 wrote seconds.
func ofEpoch(stamp []byte) (time.Time, bool) {
	n, err := strconv.ParseFloat(string(stamp), 64)
	const year2100 = 4102444800
	switch {
	case err != nil || !(n > 0 && n < year2100*1000):
		return time.Time{}, false
	case n < year2100:
		n *= 1000
	}
	return time.UnixMicro(int64(n * 1000)).UTC(), true
}
