package prometheus

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/terminating"
)

func parsed(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return families
}

// hostile are names that a kubeconfig may have for a context.
var hostile = []string{`a"} 1`, "b\nkubectl_gc_audit_complete 1", `c\`, "d\xff", "e\x1b[31m", "arn:aws:eks:eu-west-1:1:cluster/prod"}

func TestPrometheusParsesOutput(t *testing.T) {
	of := func(names ...string) (out []audit.Cluster) {
		for _, name := range names {
			out = append(out, cluster(name, findings(2, "missing-owner", audit.Error)))
		}
		return out
	}
	for name, clusters := range map[string][]audit.Cluster{
		"one cluster":        of(""),
		"an incomplete scan": {cluster("", missingType(snapshot.Forbidden), missingType("of-tomorrow"))},
		"several clusters, one without an answer": append(of("prod", "staging"), unanswered("edge")),
		"hostile names": of(hostile...),
	} {
		t.Run(name, func(t *testing.T) {
			text := exposition(t, clusters...)
			families := parsed(t, text)
			problems, err := promlint.New(strings.NewReader(text)).Lint()
			if err != nil || len(problems) > 0 {
				t.Errorf("%v %v", problems, err)
			}
			answered := 0
			for _, c := range clusters {
				if c.Answered {
					answered++
				}
			}
			for metric, series := range map[string]int{
				"kubectl_gc_audit_findings": answered * len(audit.IDs()) * 3,
				"kubectl_gc_audit_objects":  answered,
				"kubectl_gc_audit_answered": len(clusters),
				"kubectl_gc_audit_complete": len(clusters),
				"kubectl_gc_audit_gaps":     len(clusters) * (len(snapshot.GapErrorClasses) + 1),
				"kubectl_gc_build_info":     1,
			} {
				family := families[metric]
				if family == nil || family.GetType() != dto.MetricType_GAUGE || family.GetHelp() == "" || len(family.GetMetric()) != series {
					t.Errorf("%s: want %d gauges, got %v", metric, series, family)
				}
			}
			requireDistinct(t, families)
		})
	}
}

// requireDistinct requires that no series occurs twice: Prometheus and the Pushgateway reject
// such a page as a whole.
func requireDistinct(t *testing.T, families map[string]*dto.MetricFamily) {
	t.Helper()
	for name, family := range families {
		there := map[string]bool{}
		for _, m := range family.GetMetric() {
			labels := ""
			for _, l := range m.GetLabel() {
				labels += l.GetName() + "=" + l.GetValue() + "\x00"
			}
			if there[labels] {
				t.Errorf("%s is there twice with %q", name, labels)
			}
			there[labels] = true
		}
	}
}

func TestHostileNamesStayInLabels(t *testing.T) {
	families := parsed(t, exposition(t, cluster(hostile[1], missingType(snapshot.Forbidden))))
	complete := families["kubectl_gc_audit_complete"].GetMetric()
	if len(complete) != 1 || complete[0].GetGauge().GetValue() != 0 || complete[0].GetLabel()[0].GetValue() != `b\nkubectl_gc_audit_complete 1` {
		t.Errorf("got %v", complete)
	}
}

func TestTheSeriesOfDeletionsAreBounded(t *testing.T) {
	var changes []func(*audit.Cluster)
	for i := range 200 {
		changes = append(changes, beingDeleted("Widget", time.Duration(i)*time.Minute, terminating.HolderFinalizer, fmt.Sprintf("example.com/%03d", i)))
	}
	changes = append(changes,
		beingDeleted("Pod", time.Hour, terminating.HolderKubelet), beingDeleted("Pod", 2*time.Hour, terminating.HolderKubelet),
		beingDeleted("Widget", time.Hour, terminating.HolderFinalizer, "nothing"), beingDeleted("Widget", time.Hour, terminating.HolderFinalizer, "nothing"),
		beingDeleted("other", time.Hour, terminating.HolderFinalizer, "other"), beingDeleted("other", time.Hour, terminating.HolderFinalizer, "other"),
	)
	families := parsed(t, exposition(t, cluster("", changes...)))
	requireDistinct(t, families)
	if n := len(families["kubectl_gc_terminating_oldest_seconds"].GetMetric()); n > 51 {
		t.Errorf("%d series", n)
	}
	objects, holders := 0.0, map[string]float64{}
	for _, m := range families["kubectl_gc_terminating_objects"].GetMetric() {
		objects += m.GetGauge().GetValue()
		holders[m.GetLabel()[1].GetValue()] += m.GetGauge().GetValue()
	}
	if objects != 206 || holders["kubelet"] != 2 || holders["nothing"] != 0 {
		t.Errorf("%v objects, by holder %v", objects, holders)
	}
}

func TestHostileFinalizersStayInLabels(t *testing.T) {
	families := parsed(t, exposition(t, cluster("", beingDeleted("Widget", time.Hour, terminating.HolderFinalizer, hostile[1]))))
	if m := families["kubectl_gc_terminating_objects"].GetMetric(); len(m) != 1 || m[0].GetGauge().GetValue() != 1 {
		t.Errorf("got %v", m)
	}
	if m := families["kubectl_gc_audit_complete"].GetMetric(); len(m) != 1 {
		t.Errorf("got %v", m)
	}
}
