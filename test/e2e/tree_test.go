package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// row is one line of a printed table, by column title. The last column of a tree has no title;
// its key is "".
type row map[string]string

// rows parses a table. It leaves out the summary line at the end, if there is one.
func rows(t testing.TB, table string) []row {
	t.Helper()
	all := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	header := []rune(all[0])
	var titles []string
	var starts []int
	for i := range header {
		if header[i] != ' ' && (i == 0 || i >= 2 && header[i-1] == ' ' && header[i-2] == ' ') {
			starts = append(starts, i)
			title, _, _ := strings.Cut(string(header[i:]), "  ")
			titles = append(titles, title)
		}
	}
	var out []row
	for _, line := range all[1:] {
		cells := row{}
		runes := []rune(line)
		for i, from := range starts {
			to := len(runes)
			if i+1 < len(starts) {
				to = min(to, starts[i+1])
			}
			cells[titles[i]] = strings.TrimRight(string(runes[min(from, len(runes)):max(to, min(from, len(runes)))]), " ")
		}
		// Text after the last titled column belongs to the column without a title.
		last := titles[len(titles)-1]
		if value, notes, found := strings.Cut(cells[last], "  "); found || last == "AGE" && strings.HasPrefix(cells[last], "  ") {
			cells[last], cells[""] = value, strings.TrimLeft(notes, " ")
		}
		out = append(out, cells)
	}
	return out
}

// createShop creates a Deployment with the objects that a controller and a kubelet would have
// created for it, and a Job.
func (s *scene) createShop(ns string) (deployment, replicaSet, pod1, pod2, job object) {
	s.Helper()
	deployment = s.create(workload("Deployment", ns, "web", withField("status", map[string]any{
		"replicas": int64(2), "readyReplicas": int64(1), "updatedReplicas": int64(2), "availableReplicas": int64(1),
	})))
	replicaSet = s.create(workload("ReplicaSet", ns, "web-5f6d8c9b7", ownedBy(referenceTo(deployment, blocking, controlling)), withField("status", map[string]any{
		"replicas": int64(2), "readyReplicas": int64(1), "availableReplicas": int64(1),
	})))
	running := func(ready bool) map[string]any {
		return map[string]any{"phase": "Running", "containerStatuses": []any{map[string]any{
			"name": "main", "image": "example.com/none", "imageID": "none", "ready": ready, "restartCount": int64(0),
			"state": map[string]any{"running": map[string]any{"startedAt": "2026-01-01T00:00:00Z"}},
		}}}
	}
	waiting := running(false)
	waiting["containerStatuses"].([]any)[0].(map[string]any)["state"] = map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}}
	pod1 = s.create(pod(ns, "web-5f6d8c9b7-2ftpd", ownedBy(referenceTo(replicaSet, blocking, controlling)), withField("status", running(true))))
	pod2 = s.create(pod(ns, "web-5f6d8c9b7-4dspl", ownedBy(referenceTo(replicaSet, blocking, controlling)), withField("status", waiting)))
	spec := template("import")
	spec["spec"].(map[string]any)["restartPolicy"] = "Never"
	job = s.create(newObject("batch/v1", "Job", ns, "import", withField("spec", map[string]any{"completions": int64(1), "template": spec}),
		ownedBy(referenceTo(deployment)), withField("status", map[string]any{"active": int64(1), "startTime": "2026-01-01T00:00:00Z"})))
	return deployment, replicaSet, pod1, pod2, job
}

func TestTreeShowsReadyStatusAndAgeAsKubectlGetDoes(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("shop")
	s.createShop(ns)
	before := s.kubectlColumns(ns)
	got := map[string]row{}
	all := rows(t, s.gc("tree", "deployment/web", "-n", ns).exits(t, 0).Stdout)
	for _, line := range all[:len(all)-1] {
		got[strings.TrimLeft(line["NAME"], " │├└─")] = line
	}
	after := s.kubectlColumns(ns)
	names := []string{"Deployment/web", "ReplicaSet/web-5f6d8c9b7", "Pod/web-5f6d8c9b7-2ftpd", "Pod/web-5f6d8c9b7-4dspl", "Job/import"}
	if len(before) != len(names) || len(after) != len(names) {
		t.Fatalf("kubectl get shows %+v, then %+v, want %d objects", before, after, len(names))
	}
	for i, name := range names {
		ours := columnsOf(t, name, got[name]["READY"], got[name])
		if ours.ready != before[i].ready || ours.status != before[i].status || ours.name != before[i].name {
			t.Errorf("kubectl gc tree shows %+v, kubectl get %+v", ours, before[i])
		}
		if ours.age < before[i].age || ours.age > after[i].age {
			t.Errorf("kubectl gc tree says that %s is %s old, kubectl get said %s before and %s after", name, ours.age, before[i].age, after[i].age)
		}
	}
}

// columns are what kubectl get prints about an object.
type columns struct {
	name, ready, status string
	age                 time.Duration
}

func columnsOf(t testing.TB, name, ready string, line row) columns {
	t.Helper()
	age, err := time.ParseDuration(line["AGE"])
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return columns{name, ready, line["STATUS"], age}
}

// kubectlColumns returns what kubectl get prints about the shop.
func (s *scene) kubectlColumns(ns string) []columns {
	s.Helper()
	var out []columns
	r := s.kubectl("get", "deployments,replicasets,pods,jobs", "-n", ns).exits(s, 0)
	kinds := map[string]string{"deployment.apps": "Deployment", "replicaset.apps": "ReplicaSet", "pod": "Pod", "job.batch": "Job"}
	for table := range strings.SplitSeq(strings.TrimSpace(r.Stdout), "\n\n") {
		for _, line := range rows(s, table) {
			kind, name, _ := strings.Cut(line["NAME"], "/")
			ready := line["READY"]
			if desired, ok := line["DESIRED"]; ok {
				ready += "/" + desired
			}
			out = append(out, columnsOf(s, kinds[kind]+"/"+name, ready, line))
		}
	}
	return out
}

func TestTreeOfNamespacedObjectReadsOnlyItsNamespace(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("asked")
	_, _, p, _, _ := s.createShop(ns)
	cluster := s.create(clusterRole("e2e-asked"))
	s.create(configMap(ns, "flags", ownedBy(referenceTo(p), referenceTo(cluster))))
	f := s.throughProxy(nil)
	shown := decode[tree](t, f.gc("tree", "deployment/web", "-n", ns, "-o", "json").exits(t, 0))
	if len(shown.Objects) != 6 || !shown.Complete {
		t.Errorf("%d objects, complete %t", len(shown.Objects), shown.Complete)
	}
	elsewhere := f.matching(func(r *http.Request) bool {
		path := r.URL.Path
		switch {
		case path == "/api", path == "/apis", path == "/version", strings.Contains(path, "/namespaces/"+ns+"/"):
			return false
		case strings.HasSuffix(path, "/apiservices"), strings.HasSuffix(path, "/customresourcedefinitions"):
			return false // discovery is compared with them
		}
		return path != "/apis/rbac.authorization.k8s.io/v1/clusterroles/e2e-asked" // the only owner outside of the namespace
	})
	for _, r := range elsewhere {
		t.Errorf("it requests %s", r.URL)
	}
}
