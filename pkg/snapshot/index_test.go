package snapshot_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func TestAnIndexFindsWhatAMapDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []types.UID
		want := map[types.UID]int{}
		x := snapshot.NewIndex(rapid.IntRange(0, 40).Draw(t, "expected"), func(place int) types.UID { return list[place] })
		uids := rapid.Custom(func(t *rapid.T) types.UID { return types.UID(rapid.StringN(0, 2, 2).Draw(t, "uid")) })
		for _, uid := range rapid.SliceOfN(uids, 0, 200).Draw(t, "uids") {
			place, known := want[uid]
			if !known {
				place = len(list)
				want[uid] = place
			}
			if got := x.Insert(uid, len(list)); got != place {
				t.Fatalf("%q stands at %d, entered at %d", uid, place, got)
			}
			if !known {
				list = append(list, uid)
			}
		}
		for _, uid := range append(list, uids.Draw(t, "another"), "nobody's") {
			place, known := want[uid]
			if !known {
				place = -1
			}
			if got := x.Find(uid); got != place {
				t.Fatalf("%q stands at %d, found at %d", uid, place, got)
			}
		}
	})
}
