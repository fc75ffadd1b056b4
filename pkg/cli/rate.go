package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	limit "golang.org/x/time/rate"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
)

// rate is the value of --rate: how many writes are sent per second; 0 is no limit. With less
// than one per second, the watchdog would take a slow run for a stalled one.
type rate int

// maxRate is more than an API server can do.
const maxRate = 100_000

// String implements pflag.Value.
func (r *rate) String() string {
	if *r == 0 {
		return ""
	}
	return strconv.Itoa(int(*r)) + "/s"
}

// Set implements pflag.Value.
func (r *rate) Set(given string) error {
	n, err := strconv.Atoi(strings.TrimSuffix(given, "/s"))
	if err != nil || n < 1 || n > maxRate {
		return errors.New("must be a whole number of writes per second, such as 50/s")
	}
	*r = rate(n)
	return nil
}

// Type implements pflag.Value.
func (r *rate) Type() string { return "N/s" }

// rates are values of --rate that completion offers.
var rates = []string{"10/s", "50/s", "100/s"}

// duration returns how long this many writes take at least.
func (r *rate) duration(writes int) time.Duration {
	return time.Duration(writes-1) * time.Second / time.Duration(*r)
}

// pace returns a function that returns when the next write may be sent, or the error of the
// context if that ends before. It spaces writes evenly, also after a pause. It is nil without a
// limit.
func (r *rate) pace() func(context.Context) error {
	if *r == 0 {
		return nil
	}
	limiter := limit.NewLimiter(limit.Limit(*r), 1)
	return func(ctx context.Context) error { return client.Wait(ctx, limiter.Reserve().Delay()) }
}

// checkRate returns an error if the plan cannot be carried out within --timeout because of
// --rate. A preview only warns.
func checkRate(j Job, p *plan.Plan) error {
	o := j.Options
	if o.rate == 0 || o.runTimeout == 0 {
		return nil
	}
	writes := 0
	for i := range p.Steps {
		if !j.LeavesRestToCollector || p.Steps[i].Requested {
			writes++
		}
	}
	least := o.rate.duration(writes)
	if least <= o.runTimeout {
		return nil
	}
	why := fmt.Sprintf("at --rate %s, %s take at least %s, longer than --timeout allows (%s)", &o.rate, wording.Count(writes, "write"), least.Round(time.Second), o.runTimeout)
	if !o.Mutates() {
		fmt.Fprintln(o.Scan.Err, "warning: "+why)
		return nil
	}
	return WithHint(Usagef("%s: nothing was changed", why), "use --timeout 0 for no limit")
}
