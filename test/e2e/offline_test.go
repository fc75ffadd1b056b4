package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sameFromFile runs a command on the cluster and on a file, and requires identical output.
func (s *scene) sameFromFile(file string, args ...string) {
	s.Helper()
	live := s.gc(args...)
	saved := s.gc(append(args, "--from", file)...)
	if live.Code != saved.Code || live.Code > 1 {
		s.Errorf("kubectl gc %s exits with %d live and %d from a file\n%s%s", live.output(), live.Code, saved.Code, short(live.Stderr), short(saved.Stderr))
	}
	if diff := cmp.Diff(ageless(live.Stdout), ageless(saved.Stdout)); diff != "" {
		s.Errorf("kubectl gc %s: live (-) and from a file (+) differ:\n%s", live.output(), short(diff))
	}
	if diff := cmp.Diff(sourceless(onlyLive.ReplaceAllString(live.Stderr, "")), sourceless(saved.Stderr)); diff != "" {
		s.Errorf("kubectl gc %s: live (-) and from a file (+) differ on stderr:\n%s", live.output(), short(diff))
	}
}

var (
	// onlyLive matches the hint of audit at --settle, which a file does not allow.
	onlyLive = regexp.MustCompile(`(?m)^Leave out what a running garbage collector is about to do: .*\n`)

	// source matches how a preview names its cluster or file, and how a suggestion does.
	source = regexp.MustCompile(` on \S+ \(https://\S+\)| \(file [^)\n]*\)| --from \S+`)

	blanks = regexp.MustCompile(`  +`)
	ages   = regexp.MustCompile(`\b(for|terminating) (?:[0-9]+[smhdy])+|("?scanned"?: )"[^"]*"`)
)

// sourceless returns output that does not say whether a cluster or a file was read.
func sourceless(s string) string { return source.ReplaceAllString(s, "") }

// ageless returns output without ages and scan times, which differ between two scans, and without
// the spaces that align them in a table.
func ageless(s string) string {
	return ages.ReplaceAllString(blanks.ReplaceAllString(sourceless(s), " "), "$1$2")
}

// snapshot writes a snapshot to a file and returns its path.
func (s *scene) snapshot(args ...string) string {
	s.Helper()
	file := filepath.Join(s.TempDir(), "snapshot.json.gz")
	s.gc(append([]string{"snapshot", "-o", file}, args...)...).exits(s, 0)
	return file
}

func TestSnapshotGivesSameOutputAsCluster(t *testing.T) {
	s := newScene(t)
	s.defineTestKinds()
	ns, other := s.namespace("family"), s.namespace("other")
	deployment, _, pod1, _, _ := s.createShop(ns)
	cluster := s.create(gadget("e2e-family", ownedBy(referenceTo(s.create(gadget("e2e-above"))))))
	far := s.create(configMap(other, "far"))
	flags := s.create(configMap(ns, "flags", ownedBy(referenceTo(deployment), referenceTo(cluster, versioned(customGroup+"/v1beta1")), referenceTo(far))))
	bad := s.create(secret(ns, "bad", ownedBy(
		referenceTo(flags), reference("v1", "Secret", "gone", "gone"), reference("v1", "ConfigMap", "flags", "former"),
		referenceTo(flags, named("flag")), reference("apps/v1beta1", "Deployment", "web", deployment.GetUID()), reference("v1", "Nothing", "x", "x"))))
	// These refer to a member of the family from another namespace, and from no namespace. A scan
	// of one namespace does not read them, so they must not be shown.
	s.create(secret(other, "claims", ownedBy(referenceTo(flags), referenceTo(far))))
	s.create(clusterRole("e2e-claims", ownedBy(referenceTo(flags))))
	files := map[string]string{"all": s.snapshot(), "one namespace": s.snapshot("-n", ns)}
	for _, target := range []object{pod1, flags, bad} {
		t.Run(target.GetKind()+" "+target.GetName(), func(t *testing.T) {
			s := s.forSubtest(t)
			for _, file := range files {
				s.sameFromFile(file, "tree", strings.ToLower(target.GetKind())+"/"+target.GetName(), "-n", ns, "-o", "json")
				s.sameFromFile(file, "tree", "-n", ns, "--uid", string(target.GetUID()), "--owners", "-o", "name")
			}
		})
	}
	for _, format := range []string{"json", "wide"} {
		s.sameFromFile(files["all"], "audit", "-o", format)
		s.sameFromFile(files["one namespace"], "audit", "-n", ns, "-o", format)
	}
	// With the rest of the cluster, more is certain about what becomes of these objects.
	s.sameFromFile(files["all"], "audit", "-n", ns, "--dangling", "-o", "name")
	s.sameFromFile(files["all"], "tree", "-A", "-o", "json")
	for _, file := range files {
		s.sameFromFile(file, "tree", "-n", ns, "-o", "json")
		s.sameFromFile(file, "tree", "-n", ns, "-o", "name")
	}
}
