package trust

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// Defect 15: nothing limited the memory for all pages of a list. The list has 600 MiB, in pages
// of 15 MiB, in place of an endless one.
func TestEndlessListIsLimitedInMemory(t *testing.T) {
	t.Parallel()
	const pages, mostRSS = 40, 512 << 20
	fat := strings.Repeat("x", 15<<20)
	s := NewServer(t)
	s.Lie(Listed(Secrets).And(Metadata), func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("continue")) // an error means the first page
		o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprint("fat-", page), Namespace: "shop", UID: types.UID(fmt.Sprint("fat-", page)), CreationTimestamp: metav1.Now(),
			ResourceVersion: strconv.Itoa(page) + fat, // the program keeps it for each object and cannot deduplicate it
		}}
		list := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []metav1.PartialObjectMetadata{o}}
		list.SetGroupVersionKind(schema.FromAPIVersionAndKind("meta.k8s.io/v1", "PartialObjectMetadataList"))
		if page+1 < pages {
			list.Continue = strconv.Itoa(page + 1)
		}
		apiserver.WriteProtobuf(w, apiserver.InProtobuf, http.StatusOK, list)
	})
	u := newUser(t, s)
	u.always = []string{"--max-memory=128Mi"}

	p := u.starts(strictAudit...)
	peak := p.highWater()
	p.ends(runTimeout).isIncomplete()
	fits(t, peak(), mostRSS>>20)
	asked := slices.DeleteFunc(s.Requests(), func(r apiserver.Request) bool { return r.Path != Secrets.Path() })
	if len(asked) < 2 || len(asked) >= pages {
		t.Errorf("%d pages of %d were requested", len(asked), pages)
	}
}

// highWater follows the peak memory of a process until it ends, without what its parent had.
func (p *process) highWater() func() int64 {
	peak, ended := int64(0), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
			_, rest, running := strings.Cut(string(status), "VmHWM:")
			if err != nil || !running { // it has no memory any more
				return
			}
			if kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64); err == nil {
				peak = kib << 10
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return func() int64 {
		<-ended
		return peak
	}
}

// manyOwners fills a server with objects of 10,000 owner references each, as large as etcd accepts, and
// one object that is garbage.
func manyOwners(t *testing.T, objects int) (s *Server, greedy []*Object, garbage *Object) {
	t.Helper()
	s = NewServer(t)
	for i := range objects {
		owners := manyReferences(10_000, fmt.Sprintf("%08x", i))
		for j := range owners[:100] {
			owners[j].Name = fmt.Sprint("absent-", j) // one lookup for all objects
		}
		greedy = append(greedy, s.Add(ownedBy(ConfigMaps.Object("shop", fmt.Sprint("greedy-", i)), owners...)))
	}
	return s, greedy, s.Add(ownedBy(Secrets.Object("default", "garbage"), missingOwner(Deployments)))
}

// fits requires that a process took at most that many MiB.
func fits(t *testing.T, peak, most int64) {
	t.Helper()
	t.Logf("it took %d MiB", peak>>20)
	if peak > most<<20 {
		t.Errorf("it took %d MiB of memory, at most %d MiB are expected", peak>>20, most)
	}
}

// The command lines and limits are those of docs/in-cluster, without the wait of --settle. Each limit leaves a tenth.
func TestManyReferencesFitIntoTheMemoryOfTheCronJob(t *testing.T) {
	for objects, code := range map[int]int{150: 0, 220: 2} {
		t.Run(fmt.Sprint(objects), func(t *testing.T) {
			s, _, _ := manyOwners(t, objects)
			u := newUser(t, s)
			u.env = append(u.env, "GOMEMLIMIT=600MiB")
			p := u.starts("audit", "--strict", "--settle=0", "--max-memory=448Mi", "--fail-on=never")
			peak := p.highWater()
			p.ends(2 * runTimeout).exits(code)
			fits(t, peak(), 768*9/10)
		})
	}
}

// With 220 objects the owner references of their namespace do not fit.
func TestManyReferencesFitIntoTheMemoryOfTheDeployment(t *testing.T) {
	for _, objects := range []int{150, 220} {
		t.Run(fmt.Sprint(objects), func(t *testing.T) {
			s, greedy, garbage := manyOwners(t, objects)
			u := newUser(t, s)
			u.env = append(u.env, "GOMEMLIMIT=800MiB")
			p, log := u.startsService("--metrics-bind-address=127.0.0.1:0", "--backup-dir="+u.home+"/backup", "--backup-max-size=256Mi", "--max-memory=512Mi")
			peak := p.highWater()
			u.awaits("the garbage of another namespace", s.gone(garbage))
			for i := range 5 {
				touched := *s.Now(greedy[i])
				touched.Labels = map[string]string{"touched": "yes"}
				s.Add(&touched)
				later := s.Add(ownedBy(Secrets.Object("default", fmt.Sprint("later-", i)), missingOwner(Deployments)))
				u.awaits("what becomes garbage later", s.gone(later))
			}
			p.stops(log)
			fits(t, peak(), 1024*9/10)
		})
	}
}

// What one namespace writes into a few objects neither fails the round of all nor takes the memory of the Deployment.
func TestAFewObjectsDoNotStopTheServiceForOthers(t *testing.T) {
	roles := apiserver.Namespaced("rbac.authorization.k8s.io", "roles", "Role")
	for name, tenant := range map[string]func(i int) *Object{
		"many finalizers": func(i int) *Object {
			o := terminating(ConfigMaps.Object("tenant", fmt.Sprint("held-", i)))
			o.Finalizers = []string{metav1.FinalizerDeleteDependents}
			for j := range 25_000 {
				o.Finalizers = append(o.Finalizers, fmt.Sprintf("example.com/a-long-name-of-a-finalizer-%020d", j))
			}
			return o
		},
		"a long name": func(i int) *Object {
			return ownedBy(roles.Object("tenant", strings.Repeat("\x01", 400_000)+strconv.Itoa(i)), missingOwner(Deployments))
		},
		"a reference with a long UID": func(i int) *Object {
			owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "absent"}
			if i < 5 {
				owner.UID = types.UID(strings.Repeat("\x01", 400_000))
			}
			return ownedBy(ConfigMaps.Object("tenant", fmt.Sprint("owned-", i)), owner)
		},
		"many references to one missing owner": func(i int) *Object {
			references := manyReferences(10_000, "aaaaaaaa")
			for j := range references {
				references[j].Name = "absent"
			}
			return ownedBy(ConfigMaps.Object("tenant", fmt.Sprint("owned-", i)), references...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewServer(t)
			s.Serve(roles)
			for i := range 50 {
				s.Add(tenant(i))
			}
			garbage := s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
			u := newUser(t, s)
			u.env = append(u.env, "GOMEMLIMIT=800MiB")
			p, log := u.startsService("--backup-max-size=256Mi", "--max-memory=512Mi")
			peak := p.highWater()
			u.awaits("the garbage of another namespace", s.gone(garbage))
			p.stops(log)
			fits(t, peak(), 1024*9/10)
		})
	}
}

func TestEndlessFilesAreLimitedInMemory(t *testing.T) {
	const mostRSS = 192 << 20
	s := NewServer(t)
	for _, args := range [][]string{{"audit", "--from"}, {"audit", "--baseline"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			p := newUser(t, s).starts(append(args, "/dev/zero", "--max-memory=128Mi")...)
			peak := p.highWater()
			if r := p.ends(runTimeout).exits(2); !strings.Contains(r.stderr, "raise --max-memory") {
				t.Errorf("got %s", short(r.stderr))
			}
			fits(t, peak(), mostRSS>>20)
		})
	}
}
