package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// suggest adds what a person may do about each fault, in the order of the checks.
func (d *Diagnosis) suggest(o *Observations) {
	for _, b := range o.Backends {
		d.Suggestions = append(d.Suggestions, forBackend(b)...)
	}
	add := func(sentence string, command ...string) {
		d.Suggestions = append(d.Suggestions, reason.Suggestion{Sentence: sentence, Command: append([]string{}, command...)})
	}
	for _, r := range o.Admission.Refused {
		sentence, command := r.Remedy()
		if !slices.ContainsFunc(d.Suggestions, func(s reason.Suggestion) bool { return slices.Equal(s.Command, command) }) {
			add(sentence, command...)
		}
	}
	for _, g := range gaps(o, false) {
		if args := g.FirstObject(); args != nil {
			add("see what you can do about the first object in etcd that cannot be read", plugin.Line(append([]string{"why"}, args...)...)...)
		}
	}
	if d.status("api-server") == Fail {
		add("start kube-apiserver without --enable-garbage-collector=false, as kube-controller-manager must have the same value")
	}
	switch {
	case d.status("leader") == Fail:
		add("start kube-controller-manager, or read its log")
	case d.status("garbage") == Fail || d.status("canary") == Fail:
		add("read the log of kube-controller-manager for garbage-collector-controller, and check its flags --controllers and --enable-garbage-collector")
	}
	if d.status("garbage") == Fail {
		add("preview what a garbage collector would do, and do it without one", plugin.Line("collect", "--dry-run")...)
	}
	if s := d.status("deletions"); s == Fail || s == Warn {
		add("see what each deletion waits for", plugin.Line("audit", "--rule", strings.Join(longDeletions, ","))...)
	}
	if d.State == Unverified && o.Canary == nil {
		add("prove that it works: this creates a ConfigMap and its owner in a namespace, and deletes them", plugin.Line("doctor", "--canary", "NAMESPACE")...)
	}
	if d.status("owner-namespaces") == Warn {
		add("see the references to owners in other namespaces", plugin.Line("audit", "--cross-namespace")...)
	}
}

func forBackend(b reason.Backend) []reason.Suggestion {
	if b.Object.IsCRD() {
		return []reason.Suggestion{{Sentence: fmt.Sprintf("restore %s, which converts %s", serviceOf(b), b.Serves), Command: []string{}}}
	}
	see := reason.Suggestion{Sentence: fmt.Sprintf("see why %s does not answer", b.Serves), Command: []string{"kubectl", "describe", "apiservice", b.Object.Name}}
	if b.Service == "" { // the API server itself serves it, or nobody knows who does
		return []reason.Suggestion{see}
	}
	see.Sentence += ", and restore " + serviceOf(b)
	return []reason.Suggestion{see, {Sentence: fmt.Sprintf("only if nothing needs %s, delete its APIService", b.Serves), Command: []string{"kubectl", "delete", "apiservice", b.Object.Name}}}
}

func serviceOf(b reason.Backend) string {
	if b.Service == "" {
		return "the webhook of " + b.Object.String()
	}
	return "Service " + b.Service
}
