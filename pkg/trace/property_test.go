package trace_test

import (
	"container/heap"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

// world is a small cluster with a garbage collector and a namespace controller, which writes its audit log
// and knows which request each deletion goes back to.
type world struct {
	*log
	rng    *rand.Rand
	now    float64
	queue  queue
	live   []*thing
	byUID  map[types.UID]*thing
	roots  map[types.UID]string // by object, who and when
	manyOf map[types.UID]bool   // objects whose cause hangs on the order of two deletions
	ns     map[string]bool      // namespaces that are being deleted
	latest float64              // of the collector, in seconds
	n      int
}

type thing struct {
	object.Object
	waits, gone, doomed bool
	marked              float64
	root                string
}

type task struct {
	at float64
	n  int
	do func()
}

type queue []task

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at < q[j].at || q[i].at == q[j].at && q[i].n < q[j].n }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(task)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

func (w *world) after(seconds float64, do func()) {
	w.n++
	heap.Push(&w.queue, task{w.now + seconds, w.n, do})
}

func (w *world) run() {
	for len(w.queue) > 0 {
		t := heap.Pop(&w.queue).(task)
		w.now = t.at
		t.do()
	}
}

// made adds an object, and its creation to the log.
func (w *world) made(kind string, name string, owners ...*thing) *thing {
	w.n++
	w.now += 0.001
	apiVersion := map[string]string{"Deployment": "apps/v1", "ReplicaSet": "apps/v1", "Pod": "v1", "ConfigMap": "v1"}[kind]
	var of []object.Object
	for _, owner := range owners {
		of = append(of, owner.Object)
	}
	o := &thing{Object: st.Object(apiVersion, kind, name, st.UID(types.UID(fmt.Sprint("uid-", w.n))), st.OwnedBy(of...))}
	o.Created = at(w.now).Truncate(time.Second)
	w.live = append(w.live, o)
	w.byUID[o.UID] = o
	w.create(w.now, alice, o.Object)
	return o
}

// ask is a user who deletes an object.
func (w *world) ask(user string, o *thing, p reason.Cascade) {
	if o.gone || o.waits || w.ns[o.Namespace] {
		return
	}
	w.remove(user, o, p, fmt.Sprint(user, " ", at(w.now).UnixNano()))
}

// remove deletes an object for a root.
func (w *world) remove(user string, o *thing, p reason.Cascade, root string) {
	o.root = root
	w.roots[o.UID] = root
	switch p {
	case reason.Foreground:
		o.waits, o.marked = true, w.now
		w.delete(w.now, user, o.Object, policy(p), lingers(o.Object, w.now, object.ForegroundFinalizer))
	case reason.Orphan:
		o.gone = true
		w.delete(w.now, user, o.Object, policy(p), lingers(o.Object, w.now, object.OrphanFinalizer))
		for _, d := range w.dependents(o) {
			w.unlink(d, o)
		}
		return
	default:
		o.gone = true
		w.delete(w.now, user, o.Object)
	}
	w.notify(o)
}

func (w *world) dependents(o *thing) []*thing {
	var out []*thing
	for _, d := range w.live {
		for _, r := range d.Owners {
			if r.UID == o.UID && !d.gone {
				out = append(out, d)
			}
		}
	}
	return out
}

// unlink removes references of the collector's.
func (w *world) unlink(d *thing, o *thing) {
	var rest []object.Reference
	for _, r := range d.Owners {
		if r.UID != o.UID {
			rest = append(rest, r)
		}
	}
	d.Owners = rest
	seen := d.Object
	if d.waits {
		marked := at(d.marked).Truncate(time.Second)
		seen.Deleted = &marked
	}
	w.add(w.now, gc, "patch", targetOf(d.Object), func(r *trace.Request) {
		if w.level == whole {
			r.Target.UID, r.Objects = d.UID, []trace.Seen{{Object: seen}}
		}
	})
}

// notify makes the collector look at the dependents of what is gone.
func (w *world) notify(o *thing) {
	for _, d := range w.dependents(o) {
		w.after(0.01+w.rng.Float64()*w.latest, func() { w.collect(d) })
	}
}

// collect is the collector that looks at an object.
func (w *world) collect(d *thing) {
	if d.gone || d.waits || len(d.Owners) == 0 {
		return
	}
	var dead []*thing
	for _, r := range d.Owners {
		if o := w.byUID[r.UID]; o.gone || o.waits {
			dead = append(dead, o)
		}
	}
	switch {
	case len(dead) == 0:
	case len(dead) < len(d.Owners):
		for _, o := range dead {
			if !o.waits {
				w.unlink(d, o)
			}
		}
	default:
		last := dead[0]
		for _, o := range dead {
			if w.when(o) > w.when(last) {
				last = o
			}
			w.manyOf[d.UID] = w.manyOf[d.UID] || w.manyOf[o.UID] || len(dead) > 1
		}
		w.remove(gc, d, reason.Background, last.root)
	}
}

// when returns when an object stopped to count as an owner.
func (w *world) when(o *thing) float64 {
	for i := range w.Requests {
		if r := &w.Requests[i]; (r.Verb == "delete" && r.Target.Name == o.Name && r.Target.Namespace == o.Namespace || r.Verb == "deletecollection" && r.Target.Namespace == o.Namespace) && w.holds(r, o) {
			return r.Received.Sub(st.Taken).Seconds()
		}
	}
	return -1
}

func (w *world) holds(r *trace.Request, o *thing) bool {
	if r.Verb == "delete" {
		return r.Target.Resource == targetOf(o.Object).Resource && (r.Target.UID == "" || r.Target.UID == o.UID)
	}
	return o.doomed && r.Target.Resource == targetOf(o.Object).Resource
}

// askNamespace is a user who deletes a namespace with everything in it.
func (w *world) askNamespace(user, name string) {
	if w.ns[name] {
		return
	}
	w.ns[name] = true
	root := fmt.Sprint(user, " ", at(w.now).UnixNano())
	namespace := st.Namespace(name)
	w.roots[namespace.UID] = root
	w.delete(w.now, user, namespace, lingers(namespace, w.now))
	for i, kind := range []string{"Pod", "ReplicaSet", "Deployment", "ConfigMap"} {
		w.after(0.1+0.2*float64(i), func() {
			var items []object.Object
			var of []*thing
			for _, o := range w.live {
				if o.Namespace == name && o.Kind == kind && !o.gone {
					item := o.Object
					if o.waits {
						marked := at(o.marked).Truncate(time.Second)
						item.Deleted = &marked
					}
					items, of = append(items, item), append(of, o)
				}
			}
			apiVersion := "v1"
			if kind == "ReplicaSet" || kind == "Deployment" {
				apiVersion = "apps/v1"
			}
			w.collection(w.now, nsDeleter, st.Object(apiVersion, kind, name+"/x"), items...)
			for _, o := range of {
				if o.doomed = true; !o.waits {
					w.roots[o.UID], o.root = root, root
				}
				o.gone = true
				w.notify(o)
			}
		})
	}
	w.after(20, func() { w.finalize(w.now, namespace) })
}

// draw makes a world, lets users delete in it, and returns it with its log.
func draw(t *rapid.T, detail level, gap float64, scanned, recreate bool) *world {
	w := &world{
		log: &log{level: detail}, rng: rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed"))), byUID: map[types.UID]*thing{}, now: 1,
		roots: map[types.UID]string{}, manyOf: map[types.UID]bool{}, ns: map[string]bool{}, latest: 1,
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "deployments") {
		w.grow(t, fmt.Sprintf("ns-%d/web-%d", i%2, i))
	}
	if scanned {
		var all []object.Object
		for _, o := range w.live {
			o.Created = st.Taken.Add(-time.Hour)
			all = append(all, o.Object)
		}
		w.Requests = nil
		w.before(append(all, st.Namespace("ns-0"), st.Namespace("ns-1"))...)
	}
	start := 10.0
	for range rapid.IntRange(1, 8).Draw(t, "deletions") {
		start += gap * (0.1 + w.rng.Float64())
		if gap > 10 {
			start += gap
		}
		user := rapid.SampledFrom([]string{alice, bob}).Draw(t, "user")
		w.after(start-w.now, w.deletes(t, user, recreate))
	}
	w.run()
	return w
}

// grow makes a Deployment with its dependents, some with two owners.
func (w *world) grow(t *rapid.T, name string) {
	web := w.made("Deployment", name)
	for i := range rapid.IntRange(0, 3).Draw(t, "sets") {
		set := w.made("ReplicaSet", fmt.Sprintf("%s-%d", name, i), web)
		for j := range rapid.IntRange(0, 2).Draw(t, "pods") {
			w.made("Pod", fmt.Sprintf("%s-%d-%d", name, i, j), w.owners(t, set)...)
		}
	}
	w.made("ConfigMap", name, w.owners(t, web)...)
}

// owners returns one owner, or two.
func (w *world) owners(t *rapid.T, first *thing) []*thing {
	out := []*thing{first}
	if rapid.IntRange(0, 4).Draw(t, "second owner") == 0 {
		for _, o := range w.live {
			if o != first && o.Namespace == first.Namespace && (o.Kind == "Deployment" || o.Kind == "ReplicaSet") && !o.gone {
				return append(out, o)
			}
		}
	}
	return out
}

// deletes returns what a user does at some time.
func (w *world) deletes(t *rapid.T, user string, recreate bool) func() {
	what := rapid.IntRange(0, 9).Draw(t, "what")
	i := rapid.IntRange(0, 1000).Draw(t, "which")
	p := rapid.SampledFrom([]reason.Cascade{reason.Background, reason.Background, reason.Foreground, reason.Orphan}).Draw(t, "policy")
	return func() {
		if what == 0 {
			w.askNamespace(user, fmt.Sprint("ns-", i%2))
			return
		}
		o := w.live[i%len(w.live)]
		w.ask(user, o, p)
		if recreate && what < 5 && o.gone && !w.ns[o.Namespace] && o.Kind == "Deployment" {
			w.after(0.5, func() {
				if !w.ns[o.Namespace] && !w.exists(o) {
					again := w.made("Deployment", o.Namespace+"/"+o.Name)
					w.made("Pod", fmt.Sprintf("%s/%s-again-%d", o.Namespace, o.Name, w.n), again)
				}
			})
		}
	}
}

// exists reports whether an object of that name exists.
func (w *world) exists(o *thing) bool {
	return slices.ContainsFunc(w.live, func(t *thing) bool {
		return !t.gone && t.Kind == o.Kind && t.Namespace == o.Namespace && t.Name == o.Name
	})
}

// check compares a report with what happened. It returns how many deletions are explained.
func (w *world) check(t *rapid.T, l *log, complete func(types.UID) bool) (right, unknown int) {
	r := l.facts().Explain()
	seen := map[types.UID]bool{}
	for _, c := range r.Cascades {
		root := fmt.Sprint(c.By.User, " ", c.At.UnixNano())
		for _, d := range c.Deletions {
			uid := d.Object.UID
			switch want := w.roots[uid]; {
			case uid == "" || d.Inferred:
				continue
			case d.Perhaps, c.Root.Code == reason.LinkedLater(nil).Code: // a dependent that was made too late
			case seen[uid]:
				t.Errorf("%s is there twice", d.Object)
			case c.Unexplained:
				if unknown++; complete(uid) {
					t.Errorf("%s is not explained: %s", d.Object, d.Why.Message())
				}
			case want != root && (w.level == whole || !strings.HasPrefix(want, c.By.User+" ")): // without UIDs, a name is one object
				t.Errorf("%s (%s) goes back to %s, not to %s: %s\n%s", d.Object, uid, want, root, d.Why.Message(), tell(r))
			default:
				right++
			}
			seen[uid] = true
		}
	}
	for uid := range w.roots {
		if !seen[uid] && complete(uid) {
			t.Errorf("the deletion of %s is not reported", uid)
		}
	}
	return right, unknown
}

// lose returns the evidence without a part of its requests.
func (w *world) lose(t *rapid.T) *log {
	rng := rand.New(rand.NewSource(rapid.Int64().Draw(t, "lost")))
	e := &log{Before: w.Before}
	e.Requests = nil
	for _, r := range w.Requests {
		if rng.Intn(10) > 0 {
			e.Requests = append(e.Requests, r)
		}
	}
	rng.Shuffle(len(e.Requests), func(i, j int) { e.Requests[i], e.Requests[j] = e.Requests[j], e.Requests[i] })
	return e
}

func TestEveryDeletionGoesBackToItsRoot(t *testing.T) {
	t.Run("in a complete log", rapid.MakeCheck(func(t *rapid.T) {
		w := draw(t, whole, 20, false, true)
		w.check(t, w.log, func(types.UID) bool { return true })
	}))
	t.Run("if users are quick, but for those with owners in several cascades", rapid.MakeCheck(func(t *rapid.T) {
		w := draw(t, whole, 1, rapid.Bool().Draw(t, "scan"), true)
		w.check(t, w.log, func(uid types.UID) bool { return !w.manyOf[uid] })
	}))
	t.Run("or to none, if lines are missing", rapid.MakeCheck(func(t *rapid.T) {
		w := draw(t, whole, 1, rapid.Bool().Draw(t, "scan"), true)
		w.check(t, w.lose(t), func(types.UID) bool { return false })
	}))
	t.Run("or to none, at a lower level, with or without an earlier scan", rapid.MakeCheck(func(t *rapid.T) {
		scanned := rapid.Bool().Draw(t, "scan")
		w := draw(t, rapid.SampledFrom([]level{metadata, request}).Draw(t, "level"), 1, scanned, !scanned)
		w.check(t, w.log, func(types.UID) bool { return false })
		w.check(t, w.lose(t), func(types.UID) bool { return false })
	}))
}

// said is what a report says about who began the deletion of an object: for certain, or as one of several.
type said struct {
	certain string
	text    string
}

func whoBegan(r *trace.DeletionReport) map[types.UID]said {
	out := map[types.UID]said{}
	for _, c := range r.Cascades {
		for _, d := range c.Deletions {
			s := said{text: fmt.Sprint(c.By.User, " ", c.Root.Message())}
			for up := d; ; up = c.Deletions[up.Parent] {
				s.text += " " + up.Why.Message()
				for _, also := range up.Circumstances {
					s.text += " " + also.Message()
				}
				if up.Parent < 0 {
					break
				}
			}
			if !c.Unexplained && !d.Perhaps {
				s.certain = c.By.User
			}
			out[d.Object.UID] = s
		}
	}
	return out
}

// What is certain in a part of a log is not somebody else's in the whole: there it is certain, too, or who was
// named is still among those who are.
func TestMoreEvidenceDoesNotTakeAnAnswerBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t, whole, 1, rapid.Bool().Draw(t, "scan"), true)
		all := whoBegan(w.facts().Explain())
		for i := range w.Requests {
			part := &log{Before: w.Before, Requests: slices.Delete(slices.Clone(w.Requests), i, i+1)}
			for uid, was := range whoBegan(part.facts().Explain()) {
				if now := all[uid]; uid != "" && was.certain != "" && now.certain != was.certain && (now.certain != "" || !strings.Contains(now.text, was.certain)) {
					t.Errorf("without request %d, %s goes back to %s; in the whole log to %q: %s", i, uid, was.certain, now.certain, now.text)
				}
			}
		}
	})
}

func TestTheOrderInWhichFilesAreReadDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := draw(t, rapid.SampledFrom([]level{metadata, request, whole}).Draw(t, "level"), 1, rapid.Bool().Draw(t, "scan"), true)
		want := tell(w.facts().Explain())
		rng := rand.New(rand.NewSource(rapid.Int64().Draw(t, "order")))
		rng.Shuffle(len(w.Requests), func(i, j int) { w.Requests[i], w.Requests[j] = w.Requests[j], w.Requests[i] })
		if got := tell(w.facts().Explain()); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}
