// Package controller is the command kubectl gc controller.
package controller

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

type controllerCommand struct {
	options        *cli.MutatingOptions
	besideOwn      bool
	leaderElect    bool
	leaseNamespace string
	metricsAddress string
	backupMaxAge   time.Duration
	backupMaxSize  resource.QuantityValue
}

// New returns the command controller.
func New(scan *cli.ScanOptions) *cobra.Command {
	c := &controllerCommand{options: cli.NewMutatingOptions("controller", scan)}
	cmd := &cobra.Command{
		Use:   "controller --yes",
		Short: "Run as the garbage collector of a cluster that has none",
		Long: `Run as the garbage collector of a cluster that has none: watch the cluster, and
delete whatever becomes garbage, until you interrupt it.

It works by the rules of collect, with the same precautions, but never prompts,
so --yes is required. It refuses to run beside a live kube-controller-manager.
Only one of several instances acts; the others wait to take over. If more than
--max-deletes objects of one namespace, or with owners of one kind, would be
deleted at once, it skips and logs them, and collects the rest.

Exit codes: 1 it lost its Lease, or kube-controller-manager runs; 2 error at
the start: wrong usage, or the cluster cannot be read; 130 interrupted.`,
		Example: cli.Examples(`
# What it would delete at once
kubectl gc collect --dry-run

# Collect whatever becomes garbage
kubectl gc controller --yes

# One namespace, without backups, with its steps as lines of JSON
kubectl gc controller --yes -n shop --no-backup -o jsonl

# With metrics and health checks, in a Pod
kubectl gc controller --yes --metrics-bind-address :8080 --backup-dir /backup`),
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(cli.ServiceFormats.Check("output", c.options.Output.Format), c.options.Complete(cmd, args), c.validate()); err != nil {
				return err
			}
			scan.NeedsCluster = true
			return c.serve(cmd.Context())
		},
	}
	c.options.AddServiceFlags(cmd)
	c.backupMaxSize.Quantity = resource.MustParse("1Gi")
	flags := cmd.Flags()
	c.options.AddAcceptGapFlag(flags)
	c.options.AddMaxDeletesFlag(flags)
	flags.Lookup("max-deletes").Usage = "Leave a namespace alone if more of its objects would be deleted at once."
	flags.BoolVar(&c.besideOwn, "allow-running-collector", false, "Run although kube-controller-manager is alive.")
	flags.BoolVar(&c.leaderElect, "leader-elect", true, "Act only while this instance holds a Lease.")
	flags.StringVar(&c.leaseNamespace, "leader-elect-namespace", "kube-system", "Namespace of that Lease.")
	flags.StringVar(&c.metricsAddress, "metrics-bind-address", "", "Serve /metrics, /healthz and /readyz at this address, such as :8080.")
	flags.DurationVar(&c.backupMaxAge, "backup-max-age", 7*24*time.Hour, "Remove backups of this command older than this.")
	flags.Var(&c.backupMaxSize, "backup-max-size", "Keep backups up to this size, and remove the oldest; one namespace may use a tenth.")
	cli.CompleteFlag(cmd, "leader-elect", cli.CompleteBool)
	cli.CompleteFlag(cmd, "leader-elect-namespace", scan.CompleteNamespaces)
	return cmd
}

func (c *controllerCommand) validate() error {
	return cmp.Or(
		cli.CheckNamespaceName("leader-elect-namespace", c.leaseNamespace),
		cli.UsageIf(!c.options.Yes, "controller deletes whatever becomes garbage, without asking: it needs --yes"),
		cli.UsageIf(c.options.MaxDeletes == 0, "--max-deletes must be at least 1: with 0 it could delete nothing"),
		cli.UsageIf(c.backupMaxAge <= 0 || c.backupMaxSize.Value() <= 0, "--backup-max-age and --backup-max-size must be positive: to back up nothing, use --no-backup"),
	)
}
