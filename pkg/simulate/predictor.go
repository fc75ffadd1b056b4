package simulate

import (
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Predictor is whose decisions a model makes: those of Own or of Cluster. The zero value is nobody's.
type Predictor struct {
	Actor collector.Actor
	// Accepted are gaps that a person accepted: nothing is taken to be hidden in them.
	Accepted snapshot.AcceptedGaps
}

var (
	// Own predicts what this program does as the collector.
	Own = Predictor{Actor: collector.ActorClient}
	// Cluster predicts what the cluster's own collector and the other controllers do.
	Cluster = Predictor{Actor: collector.ActorControllerManager}
)

// Accepting returns the predictor that accepts these gaps.
func (p Predictor) Accepting(gaps snapshot.AcceptedGaps) Predictor {
	p.Accepted = gaps
	return p
}

func (p Predictor) cluster() bool { return p.Actor == collector.ActorControllerManager }
