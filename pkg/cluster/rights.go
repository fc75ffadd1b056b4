package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Right is a verb on objects of one kind in one namespace.
type Right struct {
	Verb    string
	Objects []object.Identity // never empty
}

// Grant is what is known of a Right. The zero value is one that is granted, as far as
// anybody can say before it is used.
type Grant struct {
	Type snapshot.Type // as it is served; zero where it is not
	// Refused are objects about which such a request is sure to be refused: all of them,
	// or those of the first hundred, where the rules of a namespace do not tell.
	Refused []object.Identity
	Untold  error // why it is not known whether it is granted
}

// reviewing is how long rights are asked for: what is not known by then stays untold.
const reviewing = 5 * time.Second

// mostReviews is how many requests of a kind are made at most to find out.
const mostReviews = 100

var errTooMany = errors.New("it would take too many requests to find out")

// Rights asks which of the rights the server grants, and answers for each. It takes up
// to four round trips and few requests, however many objects there are. What is refused
// is certain as of now; what is granted may be refused all the same, by admission.
func (c *Cluster) Rights(ctx context.Context, seen *snapshot.Snapshot, rights []Right) []Grant {
	ctx, cancel := context.WithTimeout(ctx, reviewing)
	defer cancel()
	q := &inquiry{Cluster: c, rights: rights, grants: make([]Grant, len(rights))}
	mapper := snapshot.NewMapper(seen.Types)
	var inOne, inNone []int // rights in a namespace, and on what is cluster-scoped
	for i, r := range rights {
		switch m, ok := mapper.Map(r.Objects[0].APIVersion, r.Objects[0].Kind); {
		case !ok || !m.Served: // yet: a restoration may make its definition first
		case m.Type.Namespaced:
			q.grants[i].Type = m.Type
			inOne = append(inOne, i)
		default:
			q.grants[i].Type = m.Type
			inNone = append(inNone, i)
		}
	}
	inOne = q.withoutWide(ctx, inOne)
	doubtful := q.byRules(ctx, inOne)
	q.oneByOne(ctx, append(inNone, doubtful...))
	return q.grants
}
