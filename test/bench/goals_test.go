package main

import "testing"

func TestMarks(t *testing.T) {
	for name, c := range map[string]struct {
		got, want mark
	}{
		"a ratio that is reached":                      {atMost(1.3, 1.25), mark{"≤ 1.3", "1.25"}},
		"a ratio that is missed":                       {atMost(1.3, 2.65), mark{"≤ 1.3", "2.65, missed"}},
		"an unknown ratio":                             {atMost(1.3, unknown), mark{"≤ 1.3", "not known"}},
		"memory for few objects":                       {memoryMark(50_000, 50<<20), mark{"≤ 55 MiB", "50 MiB"}},
		"memory for many":                              {memoryMark(500_000, 301<<20), mark{"≤ 240 MiB", "301 MiB, missed"}},
		"memory for more objects than the goals cover": {memoryMark(1_000_000, 700<<20), mark{"reported", "700 MiB"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %+v, want %+v", c.got, c.want)
			}
		})
	}
}

func TestStaying(t *testing.T) {
	fast, slower, lost := &attempt{listMethod{Streams: 2}, ms(100, 900)}, &attempt{listMethod{Streams: 4}, ms(250)}, &attempt{listMethod{Streams: 8}, ms(301)}
	for name, c := range map[string]struct {
		slack float64
		want  []*attempt
	}{
		"the best by far":             {1.5, []*attempt{fast}},
		"others that are not too far": {3, []*attempt{fast, slower}},
	} {
		t.Run(name, func(t *testing.T) {
			got := staying([]*attempt{slower, fast, lost}, c.slack)
			if len(got) != len(c.want) {
				t.Fatalf("%d stay, want %d", len(got), len(c.want))
			}
			for _, want := range c.want {
				if got[0] != want && got[len(got)-1] != want {
					t.Errorf("%s does not stay", want)
				}
			}
		})
	}
}

func TestCheckMemory(t *testing.T) {
	for name, c := range map[string]struct {
		err error
		ok  bool
	}{
		"for few objects":                            {checkMemoryFor(8<<30, 50_000), true},
		"for many, on a large machine":               {checkMemoryFor(20<<30, 500_000), true},
		"not for many, on a small machine":           {checkMemoryFor(8<<30, 500_000), false},
		"if the memory is unknown":                   {checkMemoryFor(0, 500_000), true},
		"for the next run":                           {checkFreeMemoryFor(2 << 30), true},
		"not for the next run":                       {checkFreeMemoryFor(reserve - 1), false},
		"if the memory is unknown, for the next run": {checkFreeMemoryFor(0), true},
	} {
		t.Run(name, func(t *testing.T) {
			if ok := c.err == nil; ok != c.ok {
				t.Errorf("got %v", c.err)
			}
		})
	}
}
