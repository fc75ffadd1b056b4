package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// attempt is a way and what it cost.
type attempt struct {
	listMethod
	Runs sample
}

// search tries ways in turns, so often as -runs says, but for those that are out: whose
// fastest run was too far from the fastest of all. kept is never out. The best comes
// first: by its median, of those that stayed.
func (w *harness) search(ctx context.Context, ways []listMethod, kept listMethod, as func(listMethod) program) ([]attempt, error) {
	all := make([]attempt, len(ways))
	in := make([]*attempt, len(ways))
	for i, by := range ways {
		all[i].listMethod, in[i] = by, &all[i]
	}
	for round := range w.runs {
		fmt.Fprintf(w.progress, "  round %d of %d: %d ways\n", round+1, w.runs, len(in))
		programs := make([]program, len(in))
		for i, a := range in {
			programs[i] = as(a.listMethod)
		}
		samples, _, err := w.turns(ctx, programs, 1)
		if err != nil {
			return nil, err
		}
		for i, a := range in {
			a.Runs = append(a.Runs, samples[i]...)
		}
		in = staying(in, kept, slack(round))
	}
	slices.SortStableFunc(all, func(a, b attempt) int {
		if more := len(b.Runs) - len(a.Runs); more != 0 {
			return more
		}
		return int(a.Runs.Median().Wall - b.Runs.Median().Wall)
	})
	return all, nil
}

// slack is how many times the best a way may take to be tried again after a round: a
// single run may have had bad luck.
func slack(round int) float64 {
	if round == 0 {
		return 3
	}
	return 1.5
}

func staying(in []*attempt, kept listMethod, slack float64) []*attempt {
	best := slices.MinFunc(in, func(a, b *attempt) int { return int(a.Runs.fastest() - b.Runs.fastest()) }).Runs.fastest()
	return slices.DeleteFunc(slices.Clone(in), func(a *attempt) bool {
		return a.listMethod != kept && a.Runs.fastest() > time.Duration(slack*float64(best))
	})
}
