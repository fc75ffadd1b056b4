package logs

import (
	"bytes"
	"cmp"
	"errors"
	"strconv"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// maxWraps limits the objects and texts that are around an event or a line.
const maxWraps = 3

// around is what is known of an event or a line from what is around it.
type around struct {
	at     time.Time // zero if it is unknown
	stream string    // the form of what it is from; empty if nothing names that
	indent string
	depth  int // how many more objects and texts it may be in
}

// value reads a JSON value: an event, an entry, a line of klog, or what a collector of logs put around one.
func (r *reader) value(v value, in around) error {
	if v.begins('"') {
		return r.line(bytes.TrimRight(v.bytes(), " \t\r\n"), in)
	}
	o, err := v.object(r.scratch[in.depth][:0])
	r.scratch[in.depth] = o
	switch {
	case err != nil:
		return err
	case isAudit(o.get("apiVersion")) && o.get("kind").is("Event"):
		return r.audit(o, &in)
	case o.get("protoPayload") != nil:
		if err := r.ofCluster(o); err != nil {
			return err
		}
		return r.google(o, &in)
	case o.get("ts") != nil && o.get("caller") != nil:
		return r.klogJSON(o, &in)
	case in.depth == maxWraps && isEvent(o):
		return r.eventObject(o)
	case in.depth == 0, o.get("apiVersion") != nil: // another object of the API, which may hold the text of anybody
		return errNothing
	}
	if err := r.enclosed(o, &in); err != nil {
		return err
	}
	if file := o.get("sourceLocation").get("file"); file != nil && !in.at.IsZero() { // Google, of other logs
		return r.klogLine(in.at, file.bytes(), o.get("jsonPayload").get("message").bytes(), &in)
	}
	in.depth--
	err = errNothing
	for _, f := range o {
		if !f.value.begins('{') && !f.value.begins('"') {
			continue
		}
		inner := r.value(f.value, in)
		if inner == nil {
			return nil
		}
		if errors.Is(err, errNothing) {
			err = inner
		}
	}
	return err
}

// enclosed adds what an object says of what is in it. It returns an error if that is of no interest.
func (r *reader) enclosed(by fields, in *around) error {
	in.at = cmp.Or(timeAround(by), in.at)
	for _, key := range []string{"category", "Category", "logStreamName", "logStream"} {
		in.stream = cmp.Or(in.stream, streamOf(by.get(key).bytes())) // the outermost: the text inside may be that of anybody
	}
	return cmp.Or(ofControlPlane(by), r.ofCluster(by))
}

var errOther = errors.New("it is of another component than the API server and kube-controller-manager")

// ofControlPlane returns an error if a collector of logs says that an object is around what another component wrote: whoever runs a Pod
// chooses its text.
func ofControlPlane(o fields) error {
	for _, source := range []value{o.get("category"), o.get("Category"), o.get("kubernetes").get("container_name")} {
		name := source.bytes()
		if len(name) > 0 && !bytes.Contains(name, []byte("audit")) && !bytes.Contains(name, []byte("apiserver")) && !bytes.Contains(name, []byte("controller-manager")) {
			return errOther
		}
	}
	if o.get("resource").get("type").is("k8s_container") || bytes.HasPrefix(o.get("logGroup").bytes(), []byte("/aws/containerinsights/")) {
		return errOther
	}
	return nil
}

var errCluster = errors.New("it is of another cluster than what comes first")

// ofCluster returns an error if the logs of Google, Amazon or Azure name another cluster than before.
func (r *reader) ofCluster(o fields) error {
	for _, source := range []value{o.get("resource").get("labels").get("cluster_name"), o.get("logGroup"), o.get("resourceId")} {
		if name := string(source.bytes()); name != "" {
			if r.source.Cluster = cmp.Or(r.source.Cluster, name); r.source.Cluster != name {
				return errCluster
			}
			return nil
		}
	}
	return nil
}

// streamOf returns the form of what is in a stream, by the names of Azure and Amazon.
func streamOf(name []byte) string {
	switch {
	case string(name) == "kube-controller-manager", bytes.HasPrefix(name, []byte("kube-controller-manager-")):
		return trace.FormManagerLog
	case bytes.HasPrefix(name, []byte("kube-apiserver-audit-")), bytes.HasPrefix(name, []byte("kube-audit")):
		return auditLog
	}
	return ""
}

// maxPrefix limits what is before a line of klog or an object.
const maxPrefix = 256

// line reads a line, with what kubectl, a container runtime, journald, people and others write before it and around it. What
// they write is words; a line that has white space where a word begins continues another one.
func (r *reader) line(line []byte, in around) error {
	if len(line) > 1 && line[0] == '`' { // of Markdown
		line = bytes.Trim(line, "`")
	}
	for rest := line; len(line)-len(rest) < maxPrefix; {
		word, after, _ := bytes.Cut(rest, []byte(" "))
		if tab := bytes.IndexByte(word, '\t'); tab >= 0 {
			word, after = word[:tab], rest[tab+1:]
		}
		if isHeader(rest) {
			return r.klogText(rest, &in)
		}
		switch file := sourceFile(word); {
		case file != nil && !r.headed && byFile[string(file)] != nil: // the header was cut
			return r.klogLine(in.at, file, after, &in)
		case len(word) > 0 && word[0] == '{':
			return r.value(rest, in)
		case len(after) == 0, len(word) == 0 && len(line)-len(rest) != len("Nov "):
			return errNothing
		case len(word) == 0: // before a day of one digit
		case word[0] >= '0' && word[0] <= '9':
			for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05-0700"} {
				if t, err := time.Parse(layout, string(word)); err == nil {
					in.at = t
				}
			}
		default:
			in.stream = cmp.Or(in.stream, streamOf(word))
		}
		rest = after
	}
	return errNothing
}

// sourceFile returns the file of a word such as file.go:5], or nothing.
func sourceFile(word []byte) []byte {
	word, closed := bytes.CutSuffix(word, []byte("]"))
	file, line, ok := bytes.Cut(word, []byte(":"))
	if _, err := strconv.Atoi(string(line)); !closed || !ok || err != nil || !bytes.HasSuffix(file, []byte(".go")) {
		return nil
	}
	return file
}

// timeAround returns when a collector of logs got what an object is around; zero if the object does not say.
func timeAround(o fields) time.Time {
	for _, key := range []string{"time", "@timestamp", "timestamp", "TimeGenerated", "__REALTIME_TIMESTAMP", "date"} {
		text := string(o.get(key).bytes())
		if t, err := time.Parse(time.RFC3339, text); err == nil {
			return t.UTC()
		}
		if t, ok := ofEpoch(text); ok {
			return t
		}
	}
	return time.Time{}
}

// ofEpoch reads seconds, or as many thousandths, millionths or billionths as there are since 1970.
func ofEpoch(text string) (time.Time, bool) {
	n, err := strconv.ParseFloat(text, 64)
	const year2100 = 4102444800
	if err != nil || !(n > 0) {
		return time.Time{}, false
	}
	for unit := 1e6; unit >= 1e-3; unit /= 1000 {
		if n < year2100*1e6/unit {
			return time.UnixMicro(int64(n * unit)).UTC(), true
		}
	}
	return time.Time{}, false
}
