package prometheus

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

// The groups of alerts: about the audit, and about the collector in service.
const (
	auditGroup   = "kubectl-gc"
	collectGroup = "kubectl-gc-controller"
)

// alerts returns the alerts of these groups.
func alerts(t *testing.T, names ...string) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(filepath.Join("..", "..", "docs", "in-cluster", "alerts.yaml"), false, model.UTF8Validation)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var out []rulefmt.Rule
	for _, g := range groups.Groups {
		if slices.Contains(names, g.Name) {
			out = append(out, g.Rules...)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no alerts in %q", names)
	}
	return out
}

func TestAlertsUseExistingMetrics(t *testing.T) {
	there := parsed(t, exposition(t, cluster("", beingDeleted("Pod", time.Hour, terminating.HolderKubelet))))
	maps.Copy(there, parsed(t, collectorPage(t)))
	for _, alert := range alerts(t, auditGroup, collectGroup) {
		expression, err := parser.ParseExpr(alert.Expr)
		if err != nil {
			t.Fatal(err)
		}
		parser.Inspect(expression, func(n parser.Node, _ []parser.Node) error {
			if s, ok := n.(*parser.VectorSelector); ok && there[s.Name] == nil {
				t.Errorf("%s uses %s, which is never written", alert.Alert, s.Name)
			}
			return nil
		})
	}
}

func TestEveryAlertWaitsBeforeItFires(t *testing.T) {
	for _, alert := range alerts(t, auditGroup, collectGroup) {
		if alert.For == 0 {
			t.Errorf("%s fires at the first evaluation", alert.Alert)
		}
	}
}

// day is the number of hourly scrapes before the last one.
const day = 24

// TestAlertsFire scrapes the audit of each hour and evaluates the expressions of the alerts at
// the end. It ignores how long they have to be true.
func TestAlertsFire(t *testing.T) {
	broken := findings(2, "missing-owner", audit.Error)
	for name, test := range map[string]struct {
		before, last []audit.Cluster // nil: nothing is scraped
		late         time.Duration   // time since the last scan
		want         []string
	}{
		"no findings": {
			before: []audit.Cluster{cluster("")}, last: []audit.Cluster{cluster("")},
		},
		"only warnings": {
			before: []audit.Cluster{cluster("", findings(5, "unverified-owner", audit.Warning))}, last: []audit.Cluster{cluster("", findings(5, "unverified-owner", audit.Warning))},
		},
		"errors for a day": {
			before: []audit.Cluster{cluster("", broken)}, last: []audit.Cluster{cluster("", broken)},
			want: []string{"OwnerReferencesBroken"},
		},
		"new errors": {
			before: []audit.Cluster{cluster("")}, last: []audit.Cluster{cluster("", broken)},
			want: []string{"OwnerReferencesBreaking", "OwnerReferencesBroken"},
		},
		"new errors in one of two clusters": {
			before: []audit.Cluster{cluster("a"), cluster("b", broken)}, last: []audit.Cluster{cluster("a", broken), cluster("b", broken)},
			want: []string{"OwnerReferencesBreaking a", "OwnerReferencesBroken a", "OwnerReferencesBroken b"},
		},
		"repaired": {
			before: []audit.Cluster{cluster("", broken)}, last: []audit.Cluster{cluster("")},
		},
		"a deletion that is stuck": {
			before: []audit.Cluster{cluster("")}, last: []audit.Cluster{cluster("", beingDeleted("Pod", 2*time.Hour, terminating.HolderKubelet))},
			want: []string{"DeletionStuck"},
		},
		"a deletion that is stuck in one of two clusters": {
			before: []audit.Cluster{cluster("a"), cluster("b")},
			last:   []audit.Cluster{cluster("a"), cluster("b", beingDeleted("Widget", 2*time.Hour, terminating.HolderFinalizer, "example.com/hold"))},
			want:   []string{"DeletionStuck b"},
		},
		"a deletion of some minutes, and a long grace period": {
			before: []audit.Cluster{cluster("")},
			last:   []audit.Cluster{cluster("", beingDeleted("Pod", 10*time.Minute, terminating.HolderKubelet), beingDeleted("Pod", 10*time.Hour, terminating.HolderGracePeriod))},
		},
		"a deletion that was stuck": {
			before: []audit.Cluster{cluster("", beingDeleted("Pod", 2*time.Hour, terminating.HolderKubelet))}, last: []audit.Cluster{cluster("")},
		},
		"a forbidden type": {
			before: []audit.Cluster{cluster("")}, last: []audit.Cluster{cluster("", missingType(snapshot.Forbidden))},
			want: []string{"OwnerReferencesNotAllSeen"},
		},
		"one of two clusters does not answer": {
			before: []audit.Cluster{cluster("a"), cluster("b")}, last: []audit.Cluster{cluster("a"), unanswered("b")},
			want: []string{"OwnerReferencesClusterSilent b"},
		},
		"no audit for four hours": {
			before: []audit.Cluster{cluster("")}, last: []audit.Cluster{cluster("")}, late: 4 * time.Hour,
			want: []string{"OwnerReferencesNotAudited"},
		},
		"no metrics at all": {
			want: []string{"OwnerReferencesNotAudited"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var script strings.Builder
			// The first sample decides how old the others may be, and the series of one load have no
			// order.
			script.WriteString("load 1h\n\tstart 0\n\nload 1h\n")
			if test.last != nil {
				scrape(t, &script, exposition(t, test.before...), exposition(t, test.last...))
			}
			storage := promqltest.LoadedStorage(t, script.String())
			defer storage.Close()
			engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
			// The clock of the storage starts at 0, so the times of the scans are shifted in the
			// same way.
			since := now.Add(test.late).Unix()
			var got []string
			for _, alert := range alerts(t, auditGroup) {
				expression := strings.ReplaceAll(alert.Expr, "time()", model.SampleValue(since).String())
				for _, labels := range evaluate(t, engine, storage, expression, day*time.Hour) {
					got = append(got, strings.TrimSpace(alert.Alert+" "+labels.Get("cluster")))
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// evaluate returns the labels of the series for which an expression is true, so long after the
// clock of the storage started.
func evaluate(t *testing.T, engine *promql.Engine, storage storage.Queryable, expression string, at time.Duration) (out []labels.Labels) {
	t.Helper()
	query, err := engine.NewInstantQuery(context.Background(), storage, nil, expression, time.Unix(0, 0).Add(at))
	if err != nil {
		t.Fatal(err)
	}
	vector, err := query.Exec(context.Background()).Vector()
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	for _, s := range vector {
		out = append(out, s.Metric)
	}
	return out
}

// scrape loads one page every hour for a day, and another page at its end.
func scrape(t *testing.T, script *strings.Builder, before, last string) {
	t.Helper()
	values := map[string][2]string{}
	var order []string
	for i, page := range []string{before, last} {
		for line := range strings.Lines(page) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			at := strings.LastIndexByte(line, ' ')
			v, known := values[line[:at]]
			if !known {
				order = append(order, line[:at])
				v = [2]string{"_", "stale"}
			}
			v[i] = strings.TrimSpace(line[at:])
			values[line[:at]] = v
		}
	}
	for _, series := range order {
		v := values[series]
		past := "_x24"
		if v[0] != "_" {
			past = v[0] + "+0x23"
		}
		script.WriteString("  " + series + " " + past + " " + v[1] + "\n")
	}
}
