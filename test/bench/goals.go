package main

import (
	"fmt"
	"time"
)

// The goals: ratios, except for memory, which is in bytes.
const (
	goalTree     = 1.5
	goalGrowth   = 1.15 // none, but for what is measured by chance
	goalEach     = 1.15
	goalServers  = 1.2
	goalCrossing = 1.1
)

// goalWall and goalCPU return the goals of audit for that many objects, in every state.
func goalWall(objects int) float64 {
	if objects <= 50_000 {
		return 1.25
	}
	return 1.2
}

func goalCPU(objects int) float64 {
	if objects <= 50_000 {
		return 1.8
	}
	return 2.3
}

// goalMemory returns the memory goal of audit for that many objects; 0 if there is none.
func goalMemory(objects int) int64 {
	switch {
	case objects <= 50_000:
		return 55 << 20
	case objects <= 500_000:
		return 240 << 20
	}
	return 0
}

// goal is a row: the goal and the result for each number of objects.
type goal struct {
	What  string
	Marks []mark
}

// mark is the goal and the result. It is empty if nothing was measured.
type mark struct{ Goal, Reached string }

// unknown is a ratio that could not be measured.
const unknown = -1

// atMost marks a ratio.
func atMost(limit, reached float64) mark {
	m := mark{Goal: fmt.Sprintf("≤ %.4g", limit), Reached: "not known"}
	if reached != unknown {
		m.Reached = verdict(fmt.Sprintf("%.2f", reached), reached <= limit)
	}
	return m
}

func verdict(reached string, kept bool) string {
	if kept {
		return reached
	}
	return reached + ", missed"
}

// Goals returns all goals, each with a mark for each number of objects.
func (r *report) Goals() []goal {
	out := []goal{
		{What: "`audit`, peak memory"},
		{What: "`tree` of one object, wall time / that of its namespace's floor"},
		{What: "`tree`, wall time / that with the fewest objects elsewhere"},
		{What: "`audit`, wall time per object / that of the fewest"},
		{What: "`audit`, CPU per object / that of the fewest"},
		{What: "`audit` over a slow link, wall time / the floor's, compressed"},
	}
	for _, s := range states {
		for _, what := range []string{"wall time", "CPU", "CPU of API server and etcd"} {
			out = append(out, goal{What: fmt.Sprintf("`audit`, %s / the floor's, cluster %s", what, s.Name)})
		}
	}
	for i, s := range r.Stages {
		for at, m := range r.marks(i, s) {
			out[at].Marks = append(out[at].Marks, m)
		}
	}
	return out
}

// marks returns the marks in the order of the goals.
func (r *report) marks(i int, s *sizeResult) []mark {
	first := r.Stages[0]
	tree := s.Of(treeRow)
	out := []mark{
		memoryMark(s.Wanted, s.mostMemory()),
		atMost(goalTree, times(tree.Median().Wall, tree.Against.Wall)),
		{},
		{},
		{},
		{},
	}
	if i > 0 {
		audit, before, each := s.States[0].Audit.Median(), first.States[0].Audit.Median(), float64(first.Objects)/float64(s.Objects)
		out[2] = atMost(goalGrowth, times(tree.Median().Wall, first.Of(treeRow).Median().Wall))
		out[3] = atMost(goalEach, each*times(audit.Wall, before.Wall))
		out[4] = atMost(goalEach, each*times(audit.CPU, before.CPU))
	}
	if i == 0 && r.Crossing != nil {
		slow := r.Crossing.Audit()
		out[5] = atMost(goalCrossing, times(slow.Median().Wall, slow.Against.Wall))
	}
	for _, in := range s.States {
		is, floor := in.Audit.Median(), in.Floor()
		out = append(out, atMost(goalWall(s.Wanted), times(is.Wall, floor.Wall)), atMost(goalCPU(s.Wanted), times(is.CPU, floor.CPU)), atMost(goalServers, times(is.Servers, floor.Servers)))
	}
	return out
}

// mostMemory returns the largest median peak of audit in all states.
func (s *sizeResult) mostMemory() (most int64) {
	for _, in := range s.States {
		most = max(most, in.Audit.Median().Memory)
	}
	return most
}

func memoryMark(objects int, reached int64) mark {
	limit := goalMemory(objects)
	switch {
	case reached == 0:
		return mark{Goal: "≤ " + memory(limit), Reached: "not known"}
	case limit == 0:
		return mark{Goal: "reported", Reached: memory(reached)}
	}
	return mark{Goal: "≤ " + memory(limit), Reached: verdict(memory(reached), reached <= limit)}
}

// times returns how many times b fits into a.
func times(a, b time.Duration) float64 {
	if b == 0 {
		return unknown
	}
	return float64(a) / float64(b)
}
