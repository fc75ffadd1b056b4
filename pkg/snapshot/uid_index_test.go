package snapshot_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func TestIndexEqualsMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []types.UID
		want := map[types.UID]int{}
		x := snapshot.NewIndex(rapid.IntRange(0, 40).Draw(t, "expected"), func(position int) types.UID { return list[position] })
		uids := rapid.Custom(func(t *rapid.T) types.UID { return types.UID(rapid.StringN(0, 2, 2).Draw(t, "uid")) })
		for _, uid := range rapid.SliceOfN(uids, 0, 200).Draw(t, "uids") {
			position, present := want[uid]
			if !present {
				position = len(list)
				want[uid] = position
			}
			if got := x.Insert(uid, len(list)); got != position {
				t.Fatalf("%q is at %d, inserted at %d", uid, position, got)
			}
			if !present {
				list = append(list, uid)
			}
		}
		for _, uid := range append(list, uids.Draw(t, "another"), "nobody's") {
			position, present := want[uid]
			if got, ok := x.Find(uid); ok != present || ok && got != position {
				t.Fatalf("%q is at %d (%v), found at %d (%v)", uid, position, present, got, ok)
			}
		}
	})
}
