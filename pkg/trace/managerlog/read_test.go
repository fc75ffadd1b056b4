package managerlog

import (
	"bytes"
	gocmp "cmp"
	"compress/gzip"
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

// latest is when the logs of these tests end.
var latest = time.Date(2026, 11, 27, 23, 0, 0, 0, time.UTC)

func read(t *testing.T, log string) ([]trace.Line, Stats, error) {
	t.Helper()
	var lines []trace.Line
	stats, err := Read(t.Context(), strings.NewReader(log), "test", latest, func(l trace.Line) { lines = append(lines, l) })
	return lines, stats, err
}

// A line has this before its message in all the tables.
const header1127 = "I1127 21:00:01.500000       1 garbagecollector.go:500] "

var at = time.Date(2026, 11, 27, 21, 0, 1, 500000000, time.UTC)

// TestWordings has a line of each format string of the releases.
func TestWordings(t *testing.T) {
	exporter := object.Identity{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "monitoring", Name: "redis-exporter", UID: "e-1"}
	redis := object.Identity{APIVersion: "app.example.com/v1", Kind: "RedisCluster", Name: "redis-0826", UID: "r-1"}
	elsewhere := redis
	elsewhere.Namespace = "data"
	withoutUID := redis
	withoutUID.UID = ""
	onlyUID := object.Identity{UID: "e-1"}
	withoutVersion := exporter
	withoutVersion.APIVersion = ""
	const (
		item  = "[apps/v1/StatefulSet, namespace: monitoring, name: redis-exporter, uid: e-1]"
		owner = "[app.example.com/v1/RedisCluster, namespace: data, name: redis-0826, uid: r-1]"
		ref   = `{"apiVersion":"app.example.com/v1","kind":"RedisCluster","name":"redis-0826","uid":"r-1","controller":true}`
	)
	for _, tt := range []struct {
		releases, message string
		level             int
		want              trace.Line // without the time; no kind if it says nothing of interest
	}{
		{"1.13-1.26", `Starting garbage collector controller`, 0, trace.Line{Says: trace.Started}},
		{"1.27-1.37", `"Starting controller" controller="garbagecollector"`, 0, trace.Line{Says: trace.Started}},
		{"1.27-1.37", `"Starting controller" controller="podgc"`, -1, trace.Line{}},
		{"1.13-1.18", `processing item ` + item, 2, trace.Line{Says: trace.Processes, Object: exporter}},
		{"1.19", `"Processing object" object="monitoring/redis-exporter" objectUID=e-1 kind="StatefulSet"`, 2, trace.Line{Says: trace.Processes, Object: withoutVersion}},
		{"1.20-1.26", `"Processing object" object="monitoring/redis-exporter" objectUID="e-1" kind="StatefulSet" virtual=false`, 2, trace.Line{Says: trace.Processes, Object: withoutVersion}},
		{"1.20-1.26", `"Processing object" object="monitoring/redis-0826" objectUID="r-1" kind="RedisCluster" virtual=true`, 2, trace.Line{}},
		{"1.27-1.37", `"Processing item" item="` + item + `" virtual=false`, 2, trace.Line{Says: trace.Processes, Object: exporter}},
		{"1.30-1.37", `"Processing item" logger="garbage-collector-controller" item="` + item + `" virtual=false`, 2, trace.Line{Says: trace.Processes, Object: exporter}},
		{"1.13-1.18", `processing item ` + item + ` returned at once, because its DeletionTimestamp is non-nil`, -1, trace.Line{}},
		{"1.13-1.26", `object e-1's owner app.example.com/v1/RedisCluster, redis-0826 is not found`, 5, trace.Line{Says: trace.OwnerNotFound, Object: onlyUID, Owner: withoutUID}},
		{"1.13-1.26", `object e-1's owner app.example.com/v1/RedisCluster, redis-0826 is not found, UID mismatch`, 5, trace.Line{Says: trace.OwnerNotFound, Object: onlyUID, Owner: withoutUID}},
		{"1.27", `"item's owner is not found" item="` + item + `" owner={APIVersion:app.example.com/v1 Kind:RedisCluster Name:redis-0826 UID:r-1 Controller:0xc000 BlockOwnerDeletion:<nil>}`, 5, trace.Line{Says: trace.OwnerNotFound, Object: exporter, Owner: redis}},
		{"1.28-1.37", `"item's owner is not found" item="` + item + `" owner=` + ref, 5, trace.Line{Says: trace.OwnerNotFound, Object: exporter, Owner: redis}},
		{"1.28-1.37", `"item's owner is not found, UID mismatch" item="` + item + `" owner=` + ref, 5, trace.Line{Says: trace.OwnerNotFound, Object: exporter, Owner: redis}},
		{"1.13-1.26", `according to the absentOwnerCache, object e-1's owner app.example.com/v1/RedisCluster, redis-0826 does not exist`, 5, trace.Line{Says: trace.OwnerKnownAbsent, Object: onlyUID, Owner: withoutUID}},
		{"1.20-1.26", `according to the absentOwnerCache, object e-1's owner app.example.com/v1/RedisCluster, redis-0826 does not exist in namespace monitoring`, 5, trace.Line{Says: trace.OwnerKnownAbsent, Object: onlyUID, Owner: withoutUID}},
		{"1.28-1.37", `"according to the absentOwnerCache, item's owner does not exist" item="` + item + `" owner=` + ref, 5, trace.Line{Says: trace.OwnerKnownAbsent, Object: exporter, Owner: redis}},
		{"1.28-1.37", `"according to the absentOwnerCache, item's owner does not exist in namespace" item="` + item + `" owner=` + ref, 5, trace.Line{Says: trace.OwnerKnownAbsent, Object: exporter, Owner: redis}},
		{"1.13-1.26", `classify references of ` + item + `.`, 5, trace.Line{}},
		{"1.27-1.37", `"classify item's references" item="` + item + `" solid=null dangling=[` + ref + `] waitingForDependentsDeletion=null`, 5, trace.Line{}},
		{"1.28-1.37", `"classify item's references" item="` + item + `" solid=null dangling=[` + ref + `] waitingForDependentsDeletion=[` + ref + `]`, 5, trace.Line{Says: trace.OwnerWaits, Object: exporter, Owner: redis}},
		{"1.27", `"classify item's references" item="` + item + `" solid=[] dangling=[] waitingForDependentsDeletion=[{APIVersion:app.example.com/v1 Kind:RedisCluster Name:redis-0826 UID:r-1 Controller:0xc000 BlockOwnerDeletion:<nil>}]`, 5, trace.Line{}},
		{"1.20-1.26", `node ` + item + ` references an owner ` + owner + ` but does not match namespaces`, 2, trace.Line{Says: trace.OwnerElsewhere, Object: exporter, Owner: elsewhere}},
		{"1.27-1.37", `"item references an owner but does not match namespaces" item="` + item + `" owner="` + owner + `"`, 2, trace.Line{Says: trace.OwnerElsewhere, Object: exporter, Owner: elsewhere}},
		{"1.13-1.26", `adding ` + item + ` to attemptToDelete, because its owner ` + owner + ` is deletingDependents`, 2, trace.Line{Says: trace.OwnerInForeground, Object: exporter, Owner: elsewhere}},
		{"1.27-1.37", `"adding dependent to attemptToDelete, because its owner is deletingDependents" item="` + owner + `" dependent="` + item + `"`, 2, trace.Line{Says: trace.OwnerInForeground, Object: exporter, Owner: elsewhere}},
		{"1.13-1.18", `delete object ` + item + ` with propagation policy Background`, 2, trace.Line{Says: trace.Deletes, Object: exporter, Policy: "Background"}},
		{"1.19-1.26", `"Deleting object" object="monitoring/redis-exporter" objectUID="e-1" kind="StatefulSet" propagationPolicy=Orphan`, 2, trace.Line{Says: trace.Deletes, Object: withoutVersion, Policy: "Orphan"}},
		{"1.27", `"Deleting item" item="` + item + `" propagationPolicy=Background`, 2, trace.Line{Says: trace.Deletes, Object: exporter, Policy: "Background"}},
		{"1.28-1.37", `"Deleting item" item="` + item + `" propagationPolicy="Background"`, 2, trace.Line{Says: trace.Deletes, Object: exporter, Policy: "Background"}},
		{"1.13-1.26", `at least one owner of object ` + item + ` has FinalizerDeletingDependents, and the object itself has dependents, so it is going to be deleted in Foreground`, 2, trace.Line{Says: trace.Deletes, Object: exporter, Policy: "Foreground"}},
		{"1.27-1.37", `"at least one owner of item has FinalizerDeletingDependents, and the item itself has dependents, so it is going to be deleted in Foreground" item="` + item + `"`, 2, trace.Line{Says: trace.Deletes, Object: exporter, Policy: "Foreground"}},
		{"1.13-1.26", `remove dangling references []v1.OwnerReference{v1.OwnerReference{Name:"redis-0826"}} and waiting references []v1.OwnerReference(nil) for object ` + item, 2, trace.Line{Says: trace.RemovesReference, Object: exporter}},
		{"1.27-1.37", `"remove dangling references and waiting references for item" item="` + item + `" dangling=[` + ref + `] waitingForDependentsDeletion=null`, 2, trace.Line{Says: trace.RemovesReference, Object: exporter}},
		{"1.13-1.19", `GraphBuilder process object: apps/v1/StatefulSet, namespace monitoring, name redis-exporter, uid e-1, event type delete`, 5, trace.Line{}},
		{"1.20-1.26", `GraphBuilder process object: apps/v1/StatefulSet, namespace monitoring, name redis-exporter, uid e-1, event type delete, virtual=false`, 5, trace.Line{Says: trace.Gone, Object: exporter}},
		{"1.20-1.26", `GraphBuilder process object: apps/v1/StatefulSet, namespace monitoring, name redis-exporter, uid e-1, event type delete, virtual=true`, 5, trace.Line{}},
		{"1.27-1.37", `"GraphBuilder process object" apiVersion="apps/v1" kind="StatefulSet" object="monitoring/redis-exporter" uid="e-1" eventType="delete" virtual=false`, 5, trace.Line{Says: trace.Gone, Object: exporter}},
		{"1.27-1.37", `"GraphBuilder process object" apiVersion="apps/v1" kind="StatefulSet" object="monitoring/redis-exporter" uid="e-1" eventType="update" virtual=false`, 5, trace.Line{}},
	} {
		t.Run(tt.releases+" "+tt.message[:12], func(t *testing.T) {
			lines, stats, err := read(t, header1127+tt.message+"\n")
			if err != nil || stats.Unreadable != 0 || stats.Verbosity != tt.level {
				t.Errorf("Read(%s): error %v, %d unreadable, level %d, want %d", tt.message, err, stats.Unreadable, stats.Verbosity, tt.level)
			}
			var want []trace.Line
			if tt.want.Says != "" {
				tt.want.Time = at
				want = append(want, tt.want)
			}
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("Read(%s), want -, got +:\n%s", tt.message, diff)
			}
		})
	}
}

// TestJSON has lines as --logging-format=json wrote them: structured, and sentences in the message.
func TestJSON(t *testing.T) {
	const seconds, millis = "1795813201.5", "1795813201500.123"
	if got := at.Unix(); got != 1795813201 {
		t.Fatalf("the tests are at %d", got)
	}
	lines, stats, err := read(t, strings.Join([]string{
		`{"ts":` + seconds + `,"caller":"garbagecollector/garbagecollector.go:354","msg":"object e-1's owner v1/ConfigMap, redis is not found\n","v":0}`,
		`{"ts":` + millis + `,"caller":"garbagecollector/garbagecollector.go:580","msg":"Deleting object","v":2,"object":{"name":"redis","namespace":"data"},"objectUID":"r-1","kind":"RedisCluster","propagationPolicy":"Background"}`,
		`{"ts":` + millis + `,"logger":"garbage-collector-controller","caller":"garbagecollector/garbagecollector.go:650","msg":"Deleting item","v":2,"item":{"name":"redis","namespace":"data","apiVersion":"v1","uid":"r-1"},"propagationPolicy":"Orphan"}`,
		`{"ts":` + millis + `,"caller":"garbagecollector/garbagecollector.go:650","msg":"Deleting item","v":2,"item":"none","propagationPolicy":"Orphan"}`,
		`{"ts":1e300,"caller":"garbagecollector/garbagecollector.go:650","msg":"Deleting item"}`,
	}, "\n"))
	want := []trace.Line{
		{Time: at, Says: trace.OwnerNotFound, Object: object.Identity{UID: "e-1"}, Owner: object.Identity{APIVersion: "v1", Kind: "ConfigMap", Name: "redis"}},
		{Time: at.Add(123 * time.Microsecond), Says: trace.Deletes, Object: object.Identity{Kind: "RedisCluster", Namespace: "data", Name: "redis", UID: "r-1"}, Policy: "Background"},
		{Time: at.Add(123 * time.Microsecond), Says: trace.Deletes, Object: object.Identity{APIVersion: "v1", Namespace: "data", Name: "redis", UID: "r-1"}, Policy: "Orphan"},
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
		"removes-reference two", "started",
	}
	atLevel5 := append([]string{
		"gone bg", "gone exporter", "gone never",
		"owner-known-absent bg-child: bg", "owner-known-absent bg-grandchild: bg-child",
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
		lines, stats, err := read(t, string(log))
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
			if l.Says != trace.Started && (l.Object.UID == "" || l.Object.APIVersion == "") || i > 0 && l.Time.Before(lines[i-1].Time.Add(-time.Second)) {
				t.Errorf("%s: %+v", file, l)
			}
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if diff := cmp.Diff(tt.want, slices.Compact(got)); diff != "" {
			t.Errorf("%s, want -, got +:\n%s", file, diff)
		}
	}
}

func TestPrefixes(t *testing.T) {
	const line = header1127 + `"Starting controller" controller="garbagecollector"`
	inJSON := strings.ReplaceAll(line, `"`, `\"`)
	for name, tt := range map[string]struct {
		line string
		year int // 0: nothing is read
	}{
		"none":                  {line, 2026},
		"kubectl --timestamps":  {"2024-11-27T21:00:01.612345678Z " + line, 2024},
		"kubectl --prefix":      {"[pod/kube-controller-manager-a/kube-controller-manager] " + line, 2026},
		"kubectl, both":         {"[pod/kube-controller-manager-a/kube-controller-manager] 2024-11-27T21:00:01Z " + line, 2024},
		"CRI":                   {"2024-11-27T22:00:01.612345678+01:00 stderr F " + line, 2024},
		"Docker":                {`{"log":"` + inJSON + `\n","stream":"stderr","time":"2024-11-27T21:00:01.612345678Z"}`, 2024},
		"journald":              {"Nov 27 21:00:01 cp-1 kube-controller-manager[1]: " + line, 2026},
		"journald, ISO":         {"2026-11-27T21:00:01+0000 cp-1 kube-controller-manager[812]: " + line, 2026},
		"carriage return":       {line + "\r", 2026},
		"continued by a tab":    {"\t" + line, 0},
		"continued in CRI":      {"2024-11-27T22:00:01.612345678+01:00 stderr F \tname]: " + line, 0},
		"continued by a space":  {" > name]: " + line, 0},
		"quoted in another":     {`I1127 21:00:01.500000       1 event.go:1] "Event" message="]: ` + line, 0},
		"day that no month has": {strings.Replace(line, "I1127", "I1131", 1), 0},
		"hour that no day has":  {strings.Replace(line, " 21:", " 24:", 1), 0},
	} {
		lines, _, _ := read(t, tt.line+"\n")
		var years []int
		for _, l := range lines {
			years = append(years, l.Time.Year())
		}
		if tt.year == 0 && len(years) == 0 {
			continue
		}
		if !slices.Equal(years, []int{tt.year}) {
			t.Errorf("%s: years %v, want %d", name, years, tt.year)
		}
	}
}

func TestYear(t *testing.T) {
	for _, tt := range []struct{ text, latest, want string }{
		{"1231 23:59:59.000000", "2026-01-01T00:00:10Z", "2025-12-31T23:59:59Z"},
		{"0101 00:00:10.000000", "2025-12-31T23:59:59Z", "2026-01-01T00:00:10Z"},
		{"1128 10:00:00.000000", "2026-11-27T21:00:00Z", "2026-11-28T10:00:00Z"},
		{"1129 10:00:00.000000", "2026-11-27T21:00:00Z", "2025-11-29T10:00:00Z"},
		{"0229 10:00:00.000000", "2027-11-27T21:00:00Z", "2024-02-29T10:00:00Z"},
		{"0229 10:00:00.000000", "2103-11-27T21:00:00Z", "2096-02-29T10:00:00Z"},
		{"0230 10:00:00.000000", "2027-11-27T21:00:00Z", "0001-01-01T00:00:00Z"},
	} {
		latest, err := time.Parse(time.RFC3339, tt.latest)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := withYear([]byte(tt.text), latest)
		if got.Format(time.RFC3339) != tt.want {
			t.Errorf("withYear(%s, %s) = %v, want %s", tt.text, tt.latest, got, tt.want)
		}
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
		lines, stats, _ := read(t, header1127+message+"\n")
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
	long := header1127 + strings.Repeat("x", 2*maxLine) + "\n"
	for name, tt := range map[string]struct {
		log                      string
		lines, unreadable, kinds int
		err                      string
	}{
		"empty":       {},
		"plain":       {log: started, lines: 1, kinds: 1},
		"no newline":  {log: strings.TrimSpace(started), lines: 1, kinds: 1},
		"gzip":        {log: packed.String(), lines: 1, kinds: 1},
		"cut gzip":    {log: packed.String()[:packed.Len()-6], lines: 1, kinds: 1, err: "read log of kube-controller-manager test: unexpected EOF"},
		"long line":   {log: long + started, lines: 2, unreadable: 1, kinds: 1},
		"long at end": {log: started + long[:maxLine+10], lines: 2, unreadable: 1, kinds: 1},
		"another log": {log: "GET / 200\n", lines: 1, err: "read log of kube-controller-manager test: no line of it looks like one of kube-controller-manager"},
	} {
		lines, stats, err := read(t, tt.log)
		if len(lines) != tt.kinds || stats.Lines != tt.lines || stats.Unreadable != tt.unreadable || fmt.Sprint(err) != gocmp.Or(tt.err, "<nil>") {
			t.Errorf("%s: %d lines, %+v, error %v", name, len(lines), stats, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/1.*")
	for _, file := range files {
		log, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(log) {
			f.Add(line)
		}
	}
	f.Add([]byte(header1127 + `object e-1's owner v1/A, b is not found`))
	f.Add([]byte(`{"log":"I1127 21:00:01.500000 1 graph_builder.go:5] x","time":"2026-11-27T21:00:01Z"}`))
	f.Fuzz(func(t *testing.T, log []byte) {
		kinds := 0
		stats, _ := Read(t.Context(), bytes.NewReader(log), "test", latest, func(l trace.Line) {
			kinds++
			if l.Time.IsZero() || l.Says == "" || (l.Object.UID == "") != (l.Says == trace.Started) {
				t.Errorf("%+v", l)
			}
		})
		if kinds > stats.Lines {
			t.Errorf("%d lines say something, of %+v", kinds, stats)
		}
	})
}
