package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// attempt is a list method and its cost.
type attempt struct {
	listMethod
	Runs sample
}

// search tries list methods, interleaved, in as many rounds as -runs says. It drops those
// whose fastest run was too far from the fastest of all. It returns the best median first.
func (w *harness) search(ctx context.Context, ways []listMethod, as func(listMethod) program) ([]attempt, error) {
	all := make([]attempt, len(ways))
	attempts := make([]*attempt, len(ways))
	for i, method := range ways {
		all[i].listMethod, attempts[i] = method, &all[i]
	}
	for round := range w.runs {
		fmt.Fprintf(w.progress, "  round %d of %d: %d ways\n", round+1, w.runs, len(attempts))
		programs := make([]program, len(attempts))
		for i, a := range attempts {
			programs[i] = as(a.listMethod)
		}
		samples, _, err := w.turns(ctx, programs, 1, change)
		if err != nil {
			return nil, err
		}
		for i, a := range attempts {
			a.Runs = append(a.Runs, samples[i]...)
		}
		attempts = staying(attempts, slack(round))
	}
	sortAttempts(all)
	return all, nil
}

// sortAttempts sorts by the median wall time, those with the most runs first.
func sortAttempts(all []attempt) {
	slices.SortStableFunc(all, func(a, b attempt) int {
		if more := len(b.Runs) - len(a.Runs); more != 0 {
			return more
		}
		return int(a.Runs.Median().Wall - b.Runs.Median().Wall)
	})
}

// slack is the ratio to the fastest up to which a list method is tried again, since a
// single run may be slow by chance.
func slack(round int) float64 {
	if round == 0 {
		return 3
	}
	return 1.5
}

func staying(in []*attempt, slack float64) []*attempt {
	best := slices.MinFunc(in, func(a, b *attempt) int { return int(a.Runs.fastest() - b.Runs.fastest()) }).Runs.fastest()
	return slices.DeleteFunc(slices.Clone(in), func(a *attempt) bool {
		return a.Runs.fastest() > time.Duration(slack*float64(best))
	})
}
