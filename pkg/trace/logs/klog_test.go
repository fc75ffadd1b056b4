package logs

import (
	"bytes"
	gocmp "cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// readLines reads a log of kube-controller-manager of 2026.
func readLines(t *testing.T, log string) ([]trace.Line, trace.Source, error) {
	t.Helper()
	var found finds
	source, err := Read(t.Context(), strings.NewReader(log), "test", 2026, &found)
	for i := range found.lines {
		found.lines[i].Place = trace.Place{}
	}
	return found.lines, source, err
}

// A line has this before its message in all the tables.
const header1127 = "I1127 21:00:01.500000       1 garbagecollector.go:500] "

var at = time.Date(2026, 11, 27, 21, 0, 1, 500000000, time.UTC)

// TestJSON has lines as --logging-format=json wrote them: structured, and sentences in the message.
func TestJSON(t *testing.T) {
	const seconds, millis = "1795813201.5", "1795813201500.123"
	if got := at.Unix(); got != 1795813201 {
		t.Fatalf("the tests are at %d", got)
	}
	lines, stats, err := readLines(t, strings.Join([]string{
		`{"ts":` + seconds + `,"caller":"garbagecollector/garbagecollector.go:354","msg":"object e-1's owner v1/ConfigMap, redis is not found\n","v":0}`,
		`{"ts":` + millis + `,"caller":"garbagecollector/garbagecollector.go:580","msg":"Deleting object","v":2,"object":{"name":"redis","namespace":"data"},"objectUID":"r-1","kind":"RedisCluster","propagationPolicy":"Background"}`,
		`{"ts":` + millis + `,"logger":"garbage-collector-controller","caller":"garbagecollector/garbagecollector.go:650","msg":"Deleting item","v":2,"item":{"name":"redis","namespace":"data","apiVersion":"v1","uid":"r-1"},"propagationPolicy":"Orphan"}`,
		`{"ts":` + millis + `,"caller":"garbagecollector/garbagecollector.go:650","msg":"Deleting item","v":2,"item":"none","propagationPolicy":"Orphan"}`,
		`{"ts":1e300,"caller":"garbagecollector/garbagecollector.go:650","msg":"Deleting item"}`,
	}, "\n"))
	want := []trace.Line{
		{Time: at, Says: trace.OwnerNotFound, Object: object.Identity{UID: "e-1"}, Owner: object.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: "redis"}},
		{Time: at.Add(123 * time.Microsecond), Says: trace.Deletes, By: trace.RoleCollector, Object: object.Identity{Kind: "RedisCluster", Namespace: "data", Name: "redis", UID: "r-1"}, Policy: "Background"},
		{Time: at.Add(123 * time.Microsecond), Says: trace.Deletes, By: trace.RoleCollector, Object: object.Identity{APIVersion: "v1", Namespace: "data", Name: "redis", UID: "r-1"}, Policy: "Orphan"},
	}
	if diff := cmp.Diff(want, lines); diff != "" || err != nil || stats.Unreadable != 1 {
		t.Errorf("%v, %d unreadable, want 1; lines, want -, got +:\n%s", err, stats.Unreadable, diff)
	}
}

// TestRealLogs reads what the collectors of releases wrote about the same deletions, restarted between
// them: that of an owner with each policy, references to owners that never existed, and, at the end, one
// to a ConfigMap in another namespace.
func TestRealLogs(t *testing.T) {
	atLevel2 := []string{
		"deletes bg-child Background", "deletes bg-grandchild Background",
		"deletes exporter Background", "deletes fg-child Foreground", "deletes fg-grandchild Background",
		"deletes mismatch Background", "deletes never Background",
		"owner-elsewhere exporter: redis", "owner-elsewhere reader: redis",
		"owner-in-foreground fg-child: fg", "owner-in-foreground fg-grandchild: fg-child",
		"processes exporter", "processes never", "processes reader",
		"removes-reference two: bg", "started",
	}
	atLevel5 := append([]string{
		"gone bg", "gone exporter", "gone never",
		"owner-known-absent bg-child: bg", "owner-known-absent bg-grandchild: bg-child",
		"owned never: gone-owner",
		"owner-known-absent mismatch: redis", "owner-known-absent never: gone-owner", "owner-known-absent two: bg",
		"owner-not-found exporter: redis",
	}, atLevel2...)
	for file, tt := range map[string]struct {
		want  []string
		level int
	}{
		"1.30-v5.log": {atLevel5, 5}, "1.37-v5.json": {atLevel5, 5}, "1.37-v2.log": {atLevel2, 2},
	} {
		log, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		lines, stats, err := readLines(t, string(log))
		if err != nil || stats.Unreadable != 0 || stats.Verbosity != tt.level || stats.Lines != strings.Count(string(log), "\n") {
			t.Errorf("%s: %+v, %v", file, stats, err)
		}
		var got []string
		for i, l := range lines {
			s := fmt.Sprintf("%s %s", l.Says, l.Object.Name)
			switch {
			case l.Owner.Name != "":
				s += ": " + l.Owner.Name
			case l.Policy != "":
				s += " " + l.Policy
			}
			got = append(got, strings.TrimSpace(s))
			if l.Says != trace.Started && l.Says != trace.Syncs && (l.Object.UID == "" || l.Object.APIVersion == "") || i > 0 && l.Time.Before(lines[i-1].Time.Add(-time.Second)) {
				t.Errorf("%s: %+v", file, l)
			}
		}
		if strings.HasPrefix(file, "1.30") { // of 1.37 the lines are left out
			got = slices.DeleteFunc(got, func(s string) bool { return s == "syncs" })
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if diff := cmp.Diff(tt.want, slices.Compact(got)); diff != "" {
			t.Errorf("%s, want -, got +:\n%s", file, diff)
		}
	}
}

// A year is that of the prefix, or of the options, and never made up.
func TestReadLinesOfKlogAsOthersWriteThem(t *testing.T) {
	const line = header1127 + `"Starting controller" controller="garbagecollector"`
	inJSON := strings.ReplaceAll(line, `"`, `\"`)
	for name, tt := range map[string]struct {
		line string
		year int // -1: nothing is read
	}{
		"none":                    {line, 0},
		"kubectl --timestamps":    {"2024-11-27T21:00:01.612345678Z " + line, 2024},
		"kubectl --prefix":        {"[pod/kube-controller-manager-a/kube-controller-manager] " + line, 0},
		"kubectl, both":           {"[pod/kube-controller-manager-a/kube-controller-manager] 2024-11-27T21:00:01Z " + line, 2024},
		"CRI":                     {"2024-11-27T22:00:01.612345678+01:00 stderr F " + line, 2024},
		"Docker":                  {`{"log":"` + inJSON + `\n","stream":"stderr","time":"2024-11-27T21:00:01.612345678Z"}`, 2024},
		"journald":                {"Nov 27 21:00:01 cp-1 kube-controller-manager[1]: " + line, 0},
		"journald, ISO":           {"2024-11-27T21:00:01+0000 cp-1 kube-controller-manager[812]: " + line, 2024},
		"journald, JSON":          {`{"MESSAGE":"` + inJSON + `","_HOSTNAME":"a","__REALTIME_TIMESTAMP":"1732741201500000"}`, 2024},
		"Loki":                    {`[{"line":"` + inJSON + `","timestamp":"1732741201500000000"}]`, 2024},
		"Fluent Bit":              {`{"date":1732741201.5,"log":"` + inJSON + `"}`, 2024},
		"Filebeat":                {`{"@timestamp":"2024-11-27T21:00:01.6Z","message":"` + inJSON + `"}`, 2024},
		"CloudWatch, JSON":        {`{"events":[{"timestamp":1732741201500,"message":"` + inJSON + `"}]}`, 2024},
		"CloudWatch, tail":        {"2024-11-27T21:00:01.612000+00:00 kube-controller-manager-1 " + line, 2024},
		"Azure":                   {`{"records":[{"time":"2024-11-27T21:00:01Z","category":"kube-controller-manager","properties":{"log":"` + inJSON + `\n"}}]}`, 2024},
		"Google":                  {`{"jsonPayload":{"message":"` + strings.ReplaceAll(line[len(header1127):], `"`, `\"`) + `"},"sourceLocation":{"file":"garbagecollector.go","line":"500"},"timestamp":"2024-11-27T21:00:01.5Z"}`, 2024},
		"oc adm node-logs":        {"master-0.example.com " + line, 0},
		"the end of the year":     {strings.Replace("2025-01-01T00:00:10Z "+line, "I1127 21:00", "I1231 23:59", 1), 2024},
		"a clock that is ahead":   {strings.Replace("2024-12-31T23:59:50Z "+line, "I1127 21:00", "I0101 00:00", 1), 2025},
		"carriage return":         {line + "\r", 0},
		"continued by a tab":      {"\t" + line, -1},
		"continued in CRI":        {"2024-11-27T22:00:01.612345678+01:00 stderr F \tname]: " + line, -1},
		"continued in Docker":     {`{"log":"\t` + inJSON + `\n","time":"2024-11-27T21:00:01Z"}`, -1},
		"continued by a space":    {" > name]: " + line, -1},
		"continued by an object":  {"\t" + `{"ts":1795813201500,"caller":"garbagecollector/garbagecollector.go:1","msg":"Starting controller","controller":"garbagecollector"}`, -1},
		"continued by an event":   {"\t" + anEventOfAudit, -1},
		"an event":                {anEventOfAudit, -1},
		"quoted in another":       {`I1127 21:00:01.500000       1 event.go:1] "Event" message="]: ` + line, -1},
		"a day that no month has": {strings.Replace(line, "I1127", "I1131", 1), -1},
		"a day of leap years":     {strings.Replace("2027-11-27T21:00:01Z "+line, "I1127", "I0229", 1), 2024},
		"an hour that no day has": {strings.Replace(line, " 21:", " 24:", 1), -1},
	} {
		t.Run(name, func(t *testing.T) {
			var found finds
			source, err := Read(t.Context(), strings.NewReader(header1127+"another\n"+tt.line+"\n"), "test", 0, &found)
			if err != nil || source.Form != trace.FormManagerLog || len(found.requests) > 0 || !source.Yearless {
				t.Errorf("%d requests, %+v, %v", len(found.requests), source, err)
			}
			if tt.year < 0 && len(found.lines) == 0 {
				return
			}
			if len(found.lines) != 1 || found.lines[0].Time.Year() != tt.year {
				t.Errorf("%v, want a line of %d", found.lines, tt.year)
			}
		})
	}
}

const anEventOfAudit = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"1","stage":"ResponseComplete","verb":"delete","user":{"username":"jane"},"objectRef":{"resource":"configmaps","name":"a"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-01-02T03:04:05Z","stageTimestamp":"2026-01-02T03:04:05Z"}`

// A log goes on after the end of a year.
func TestLinesWithoutAYearGoOnInTheNext(t *testing.T) {
	var log strings.Builder
	for _, day := range []string{"0229", "0301", "1231", "0101", "1231", "0101", "0701", "1231", "0102"} {
		fmt.Fprintf(&log, "I%s 21:00:01.500000       1 garbagecollector.go:500] synced garbage collector\n", day)
	}
	for base, want := range map[int]string{0: "[0 0 0 1 0 1 1 1 2]", 2024: "[2024 2024 2024 2025 2024 2025 2025 2025 2026]"} {
		var found finds
		source, err := Read(t.Context(), strings.NewReader(log.String()), "test", base, &found)
		var years []int
		for _, l := range found.lines {
			years = append(years, l.Time.Year())
		}
		if fmt.Sprint(years) != want || err != nil || source.Yearless != (base == 0) || source.Last.Year() != base+2 {
			t.Errorf("%v, want %s, %+v, %v", years, want, source, err)
		}
	}
}

// A log that was pasted has a margin, which its lines have and what continues them exceeds.
func TestReadLogsThatWerePasted(t *testing.T) {
	log := header1127 + "Starting garbage collector controller\n" + header1127 + "\"x\" name=<\n\t" + header1127 + "Starting garbage collector controller\n >\n" + header1127 + "synced garbage collector\n"
	for name, margin := range map[string]string{"not": "", "indented": "    ", "quoted": "> ", "in a list": "  > "} {
		pasted := margin + strings.ReplaceAll(strings.TrimSpace(log), "\n", "\n"+margin)
		lines, source, err := readLines(t, "We see this:\n\n"+margin+"```\n"+pasted+"\n"+margin+"```\nAny idea?\n")
		if err != nil || len(lines) != 2 || lines[1].Says != trace.Syncs || source.Unreadable > 0 {
			t.Errorf("%s: %v, %+v, %v", name, lines, source, err)
		}
	}
}

// What an object holds may be the text of anybody, in a file of objects that somebody takes for a log.
func TestNothingInAnObjectIsEvidence(t *testing.T) {
	text, err := json.Marshal(anEventOfAudit)
	if err != nil {
		t.Fatal(err)
	}
	started := header1127 + "Starting garbage collector controller"
	for name, file := range map[string]string{
		"a ConfigMap":                `{"apiVersion":"v1","data":{"a":` + string(text) + `},"kind":"ConfigMap","metadata":{}}`,
		"a list":                     `{"apiVersion":"v1","items":[{"apiVersion":"v1","data":{"a":` + string(text) + `},"kind":"ConfigMap"}],"kind":"List"}`,
		"a list, indented":           "{\n \"apiVersion\": \"v1\",\n \"items\": [\n  {\n \"apiVersion\": \"v1\",\n \"data\": {\n \"a\": " + string(text) + "\n  }\n }\n ]\n}",
		"a custom resource":          `{"apiVersion":"example.com/v1","events":[` + anEventOfAudit + `],"kind":"Evil"}`,
		"a custom resource in lists": `{"apiVersion":"v1","items":[{"apiVersion":"example.com/v1","events":[` + anEventOfAudit + `],"kind":"Evil"}],"kind":"List"}`,
		"YAML":                       "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: '" + anEventOfAudit + "'\n",
		"YAML, a block":              "---\n# a\napiVersion: v1\ndata:\n  a: |\n    " + anEventOfAudit + "\n    " + started + "\n",
		"part of YAML":               "  a: '" + anEventOfAudit + "'\n",
	} {
		var found finds
		_, err := Read(t.Context(), strings.NewReader(file+"\n"), "test", 0, &found)
		var foreign *ForeignError
		if !errors.As(err, &foreign) || len(found.requests)+len(found.lines) > 0 {
			t.Errorf("%s: %v, %+v", name, err, found)
		}
	}
}

// Whoever can put lines into a log of kube-apiserver's standard output has no events in it, and the other way round.
func TestALogIsOfOneForm(t *testing.T) {
	lines, source, err := readLines(t, anEventOfAudit+"\n"+header1127+"Starting garbage collector controller\n")
	if err != nil || len(lines) > 0 || source.Form != auditLog || source.Events != 1 || source.Unreadable != 1 {
		t.Errorf("%v, %+v, %v", lines, source, err)
	}
}

// TestHostileNames reads lines whose names have what separates the parts of a line: none may be taken for
// another object.
func TestHostileNames(t *testing.T) {
	for _, message := range []string{
		`delete object [v1/ConfigMap, namespace: a, name: x, uid: 1], namespace: b, name: y, uid: 2] with propagation policy Background`,
		`"Deleting item" item="[v1/ConfigMap, namespace: a, name: x, name: y, uid: 2]" propagationPolicy="Background"`,
		"\"Deleting item\" item=<\n\t[v1/ConfigMap, namespace: a, name: x\n\t" + header1127 + `"Deleting item" item="[v1/A, namespace: b, name: y, uid: 2]" propagationPolicy="Background"` + "\n >",
		`"item's owner is not found" item="[v1/ConfigMap, namespace: a, name: x, uid: 1]" owner={"apiVersion":"v1","kind":"A"`,
		`"item's owner is not found" item="[v1/ConfigMap, namespace: a, name: x, uid: 1]" owner={APIVersion:v1 Kind:A Name:y UID:2 UID:3 Controller:<nil> BlockOwnerDeletion:<nil>}`,
		`"Deleting item" item="[v1/ConfigMap, namespace: a, name: x`,
		`"Deleting item" propagationPolicy="Background"`,
	} {
		lines, stats, _ := readLines(t, header1127+message+"\n")
		if len(lines) > 0 || stats.Unreadable != 1 {
			t.Errorf("%s: %v, %d unreadable, want no line and 1", message, lines, stats.Unreadable)
		}
	}
}

func TestReadFails(t *testing.T) {
	started := header1127 + "Starting garbage collector controller\n"
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	_, _ = zip.Write([]byte(started))
	_ = zip.Close()
	long := header1127 + strings.Repeat("x", 2*maxKlog) + "\n"
	for name, tt := range map[string]struct {
		log                      string
		lines, unreadable, kinds int
		err                      string
	}{
		"empty":       {},
		"plain":       {log: started, lines: 1, kinds: 1},
		"no newline":  {log: strings.TrimSpace(started), lines: 1, kinds: 1},
		"gzip":        {log: packed.String(), lines: 1, kinds: 1},
		"cut gzip":    {log: packed.String()[:packed.Len()-6], lines: 1, kinds: 1, err: "read log test: unexpected EOF"},
		"long line":   {log: long + started, lines: 2, unreadable: 1, kinds: 1},
		"long at end": {log: started + long[:maxKlog+100], lines: 2, unreadable: 1, kinds: 1},
		"another log": {log: "GET / 200\n", lines: 1, err: "read log test: it is neither an audit log nor a log of kube-controller-manager"},
	} {
		lines, stats, err := readLines(t, tt.log)
		if len(lines) != tt.kinds || stats.Lines != tt.lines || stats.Unreadable != tt.unreadable || !strings.HasPrefix(fmt.Sprint(err), gocmp.Or(tt.err, "<nil>")) {
			t.Errorf("%s: %d lines, %+v, error %v", name, len(lines), stats, err)
		}
	}
}
