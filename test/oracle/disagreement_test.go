package oracle

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/oracle/scenario"
)

// ends returns the ends of a reply in which as many orders as given delete an object, and all
// others keep it.
func ends(deleted, kept int) []End {
	var r scenario.Reply
	if deleted > 0 {
		r.Ends = append(r.Ends, scenario.End{Orders: deleted})
	}
	if kept > 0 {
		o := scenario.Object{}
		o.UID = "o"
		r.Ends = append(r.Ends, scenario.End{Orders: kept, Objects: []scenario.Object{o}})
	}
	return Ends(r)
}

func TestCompareDistinguishesWrongFromFalselyCertain(t *testing.T) {
	for name, c := range map[string]struct {
		deleted, kept int
		reserve       Reserve
		none, some    Class
		want          Class
	}{
		"as predicted in all orders":                 {10, 0, Certain, Wrong, FalselyCertain, ""},
		"in no order":                                {0, 10, Certain, Wrong, FalselyCertain, Wrong},
		"in some orders":                             {3, 7, Certain, Wrong, FalselyCertain, FalselyCertain},
		"nondeterministic, and some orders differ":   {3, 7, Nondeterministic, Wrong, FalselyCertain, ""},
		"nondeterministic, and all orders are alike": {10, 0, Nondeterministic, Wrong, FalselyCertain, Needless},
		"later, and some orders differ":              {3, 7, Later, Wrong, FalselyCertain, ""},
		"later, and in no order":                     {0, 10, Later, Wrong, FalselyCertain, Wrong},
		"unverified, and in no order":                {0, 10, Unverified, Wrong, FalselyCertain, ""},
		"some order is enough":                       {1, 9, Certain, DeletedByNoOrder, "", ""},
		"some order is enough, and there is none":    {0, 10, Certain, DeletedByNoOrder, "", DeletedByNoOrder},
		"no orders":                                  {0, 0, Certain, Wrong, FalselyCertain, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := Prediction{
				Command: "delete", Aspect: "state", Object: "o", Said: gone, Reserve: c.reserve, None: c.none, Some: c.some,
				Holds:    func(e End) bool { return e.Object("o") == nil },
				Describe: func(e End) string { return stateOf(e.Object("o")) },
			}
			got := Class("")
			if found := Compare([]Prediction{p}, ends(c.deleted, c.kept)); len(found) > 0 {
				got = found[0].Class
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
