package logs

import (
	"bytes"
	"regexp"
)

// ForeignError reports that a text is no log of those that Read reads.
type ForeignError struct {
	Looks string // what it looks like, and how to get one that can be read; empty if that is unknown
}

// Error does not name the text.
func (e *ForeignError) Error() string {
	const is = "it is neither an audit log nor a log of kube-controller-manager"
	if e.Looks == "" {
		return is
	}
	return is + "; it looks like " + e.Looks
}

// maxHead is how much of a text tells what it looks like.
const maxHead = 4 << 10

// manifest is how YAML of objects begins. It may hold the text of anybody, such as lines of logs.
var manifest = regexp.MustCompile(`^(?:\s|---|#.*\n)*(?:apiVersion|kind|items|metadata|rules|data|spec):\s`)

// others are texts that people take for logs. The first whose expression matches the beginning of the text counts.
var others = []struct {
	begins *regexp.Regexp
	looks  string
}{
	{regexp.MustCompile(`^LPKSHHRH`), "a journal of systemd: export it with journalctl -o short-iso"},
	{regexp.MustCompile(`^(?s:PK\x03\x04|\(\x{FFFD}/\x{FFFD}|\x{FFFD}7zXZ|BZh\d|.{257}ustar)`), "an archive: unpack it"},
	{regexp.MustCompile(`^\s*(?:- |---|insertId:)(?s:.*)protoPayload:`), "YAML of gcloud: export the log with gcloud logging read --format=json"},
	{regexp.MustCompile(`^\s*\{(?s:.*)"(?:kind|items)":(?s:.*)"metadata":`), "objects of a cluster: that is not a log; --before and --from read objects"},
	{regexp.MustCompile(`^\{\s+insertId:`), "a copy from Google's console: export the log with gcloud logging read --format=json"},
	{regexp.MustCompile(`^(?:\S+ )?audit\S*\.log\n`), "a list of logs: read one with oc adm node-logs NODE --path=kube-apiserver/audit.log"},
	{regexp.MustCompile(`^(?:LAST SEEN|NAMESPACE +LAST SEEN)`), "the output of kubectl get events: get them with -o json"},
	{regexp.MustCompile(`^(?:apiVersion|items):(?s:.*)\n\s+(?:involvedObject|regarding):`), "Events as YAML: get them with -o json"},
	{manifest, "YAML: an audit log is JSON, and a policy is not a log"},
	{regexp.MustCompile(`^"?@?\w[\w. ]*"?(?:,"?@?\w[\w. ]*"?)+\r?\n`), "a table with commas: export the log as JSON"},
	{regexp.MustCompile(`^\s*<(?:!|html|\?xml)`), "a web page: download the file itself"},
	{regexp.MustCompile(`\x00{8}`), "binary data"},
}

// foreign returns an error that says what a text looks like that begins so. component reports that it has lines
// as Kubernetes writes them.
func foreign(head []byte, component bool) error {
	if component {
		return &ForeignError{
			"a log of another component of Kubernetes: kube-apiserver writes the audit log where --audit-log-path says, and the garbage collector writes to the log of kube-controller-manager",
		}
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for _, other := range others {
		if other.begins.Match(head) {
			return &ForeignError{other.looks}
		}
	}
	return &ForeignError{}
}
