package explainview

import (
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// age is how kubectl writes one. What a clock ahead of ours says is now.
func age(d time.Duration) string { return duration.HumanDuration(max(d, 0)) }
