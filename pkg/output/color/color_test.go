package color_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
)

func TestPolicy(t *testing.T) {
	for name, c := range map[string]struct {
		mode              color.Choice
		terminal, noColor bool
		want              string
	}{
		"auto colours on a terminal":         {color.Auto, true, false, "\x1b[31mx\x1b[0m"},
		"auto respects NO_COLOR":             {color.Auto, true, true, "x"},
		"auto leaves a file alone":           {color.Auto, false, false, "x"},
		"always is always, whatever is said": {color.Always, false, true, "\x1b[31mx\x1b[0m"},
		"never is never":                     {color.Never, true, false, "x"},
		"no mode is no colour":               {"", true, false, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, color.New(c.mode, c.terminal, c.noColor).Deleted("x")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	if got := color.New(color.Always, false, false).Deleted("x"); got == "x" {
		t.Error("NO_COLOR in the environment overruled the caller")
	}
}

func TestMeanings(t *testing.T) {
	p := color.New(color.Always, false, false)
	got := []string{
		p.Deleted("goes"), p.Changed("changes"), p.Kept("stays"), p.Dim("dim"), p.Bold("strong"),
		p.Severity(audit.Error, "error"), p.Severity(audit.Warning, "warning"), p.Severity(audit.Info, "info"), p.Severity("odd", "odd"),
	}
	want := []string{
		"\x1b[31mgoes\x1b[0m", "\x1b[33mchanges\x1b[0m", "\x1b[32mstays\x1b[0m", "\x1b[2mdim\x1b[22m", "\x1b[1mstrong\x1b[22m",
		"\x1b[31merror\x1b[0m", "\x1b[33mwarning\x1b[0m", "\x1b[2minfo\x1b[22m", "odd",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestEmptyTextIsNotColoured(t *testing.T) {
	if got := color.New(color.Always, true, false).Deleted(""); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestMode(t *testing.T) {
	var m color.Choice
	if err := m.Set("always"); err != nil || m != color.Always || m.String() != "always" {
		t.Errorf("got %q, %v", m, err)
	}
	err := m.Set("yes")
	if diff := cmp.Diff(`"yes" is none of auto, always, never`, err.Error()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if m != color.Always {
		t.Errorf("a wrong word changed the mode to %q", m)
	}
}
