package wording

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// Verdict returns what a person calls the verdict on a reference; empty for none.
func Verdict(v collector.Verdict) string { return verdicts[v] }

var verdicts = map[collector.Verdict]string{
	collector.VerdictSolid: "ok", collector.VerdictDangling: "no such owner", collector.VerdictWaiting: "waiting",
	collector.VerdictUnresolvable: "not served", collector.VerdictScopeError: "wrong scope", collector.VerdictUnknown: "unknown",
}

// Data returns what becomes of the data of a claim or a volume that is deleted, or that stays until nothing uses it,
// to continue a sentence.
func Data(of object.Identity, d *simulate.Data, inUse bool) string {
	isVolume := of.GroupVersionKind().GroupKind() == object.Volume
	out := ""
	if d.Size != "" {
		out = escape.Word(d.Size) + ", "
	}
	switch volume := escape.Word(d.Volume); {
	case d.Lost == simulate.DataLost && isVolume && inUse:
		out += "then its data goes"
	case d.Lost == simulate.DataLost && inUse:
		out += "then volume " + volume + " goes with its data"
	case d.Lost == simulate.DataLost && isVolume:
		out += "its data is DELETED"
	case d.Lost == simulate.DataLost:
		out += "volume " + volume + " is DELETED with its data"
	case d.Lost == simulate.DataKept && d.Volume == "":
		out += "without a volume"
	case d.Lost == simulate.DataKept && d.VolumeGoes:
		out += "volume " + volume + " is being deleted, and its data stays in the storage"
	case d.Lost == simulate.DataKept && isVolume:
		out += "its data stays in the storage"
	case d.Lost == simulate.DataKept:
		out += "volume " + volume + " is kept with its data (Retain)"
	case d.ReclaimPolicy != "":
		out += "the storage driver decides whether its data is deleted"
	case d.Volume != "":
		out += "volume " + volume + " may be deleted with its data"
	default:
		out += "its data may be deleted"
	}
	if len(d.Snapshots) > 0 {
		names := make([]string, len(d.Snapshots))
		for i, name := range d.Snapshots {
			names[i] = "VolumeSnapshot/" + escape.Word(name)
		}
		out += "; " + List(names, 3) + map[bool]string{true: " stays", false: " stay"}[len(names) == 1]
	}
	return out
}
