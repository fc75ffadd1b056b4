// Package trace is the command kubectl gc trace.
package trace

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/scan"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/traceview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/pkg/trace"
)

type traceCommand struct {
	scan                      *cli.ScanOptions
	auditLogs, controllerLogs []string
	year                      int
	before                    string
	query                     trace.Question
	output                    *cli.OutputFlags
	saveBackup                string // the new folder; empty for none
}

// New returns the command trace.
func New(scan *cli.ScanOptions) *cobra.Command {
	c := &traceCommand{scan: scan, output: cli.NewOutputFlags("text", "wide")}
	cmd := &cobra.Command{
		Use:   "trace [TYPE/NAME]",
		Short: "Find out who deleted what, from the logs of the cluster",
		Long: `Find out after the fact who deleted what, and why, from any of these:

* the audit log of the API server (--audit-log): who sent which deletion. As
  the server writes it, as Google, AWS, Azure and OpenShift give it, or as a
  log collector has wrapped it;
* the log of kube-controller-manager (--controller-log), at best with -v=5: why
  the garbage collector deleted an object;
* a snapshot from before (--before): the owners that objects had.

Each flag takes files and folders, and sees by itself what a file is.

Without an object, list the deletions by what began them, the largest first.
With an object, show what its deletion came from, and what followed it.

It reads only these files, which may be gzipped, and asks no cluster. Without a
log it reads what the cluster keeps: the Events of the namespace, and the log
of kube-controller-manager where that is a Pod. Nothing is written. Times are
UTC.

It guesses nothing: what no file shows is not in what was read, and where
somebody only may have begun a deletion, it says perhaps, and why. More files
only add to an answer.
--save-backup writes what an audit log holds whole of a cascade to a backup, so
that "restore" can recreate it.

Exit codes: 0 answered; 1 no deletion of the object is in the files; 2 error:
wrong usage, or a file cannot be read.`,
		Example: cli.Examples(`
# What do the cluster's Events and the log of kube-controller-manager say?
kubectl gc trace deploy/web -n shop

# What was deleted, and who began it?
kubectl gc trace --audit-log audit.log

# Who deleted this object, and why?
kubectl gc trace statefulset/redis-exporter -n monitoring --audit-log audit.log --before yesterday.json.gz

# The rotated logs of two API servers, and that of kube-controller-manager
kubectl gc trace --audit-log cp-1/ --audit-log cp-2/ --controller-log kcm.log

# By UID, for a program
kubectl gc trace --uid e89a5951-52af-4650-986f-04c1fd4ba638 --audit-log audit.log -o json`),
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.run(cmd.Context(), args) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&c.auditLogs, "audit-log", nil, "Audit log, or a folder with such; - is stdin. May be repeated.")
	flags.StringArrayVar(&c.controllerLogs, "controller-log", nil, "Log of kube-controller-manager, or a folder with such; - is stdin. May be repeated.")
	flags.IntVar(&c.year, "year", 0, "Year of the lines of a log that has none, as klog writes it.")
	flags.StringVar(&c.before, "before", "", "Snapshot or kubectl output from before the deletion; - is stdin.")
	flags.StringVar(&c.query.UID, "uid", "", "Show the deletion of the object with this UID.")
	flags.StringVar(&c.saveBackup, "save-backup", "", "Save objects that the audit log has whole to this new folder, for restore.")
	c.output.AddFlags(cmd)
	cli.CompleteFlag(cmd, "audit-log", cli.CompleteFiles())
	cli.CompleteFlag(cmd, "controller-log", cli.CompleteFiles())
	cli.CompleteFlag(cmd, "before", cli.CompleteDocuments)
	cli.CompleteFlag(cmd, "save-backup", cli.CompleteFolders)
	return cmd
}

// whereLogs is the hint of a command line without a log.
const whereLogs = "the API server writes the audit log to its --audit-log-path, if it has one; the log of kube-controller-manager is that of its Pod in kube-system. Name an object to read what the cluster itself keeps"

// live reports whether the cluster is asked, since there is no log.
func (c *traceCommand) live() bool { return len(c.auditLogs)+len(c.controllerLogs) == 0 }

// complete reads the command line, and returns an error if that is not clear.
func (c *traceCommand) complete(args []string) error {
	files := slices.Concat(c.auditLogs, c.controllerLogs, []string{c.before})
	targets, err := cli.ParseTargets(args)
	if err == nil && len(targets) > 0 {
		c.query.Type, c.query.Name, c.query.Namespace = targets[0].Word, targets[0].Name, c.scan.Config.Namespace()
		if c.live() && c.query.Namespace == "" {
			c.query.Namespace, err = c.scan.Config.CurrentNamespace()
		}
	}
	stdin := len(slices.DeleteFunc(slices.Clone(files), func(file string) bool { return file != "-" }))
	return cmp.Or(
		c.scan.Validate(),
		c.output.Complete(&c.scan.Streams),
		err,
		cli.UsageIf(len(targets) > 1, "trace shows the deletion of one object, and %d are given", len(targets)),
		cli.UsageIf(len(targets) > 0 && c.query.UID != "", "a target by name cannot be combined with --uid"),
		cli.WithCommandHint(cli.UsageIf(len(targets) > 0 && c.query.Name == "", "%s is a type: trace shows the deletion of one object, given as TYPE/NAME", cli.Quote(c.query.Type)),
			"to list all deletions", "trace", "--audit-log", "FILE"),
		cli.UsageIf(c.query == (trace.Question{}) && c.scan.Config.Namespace() != "", "-n needs TYPE/NAME: without an object, trace lists the deletions of all namespaces"),
		cli.WithHint(cli.UsageIf(c.live() && c.query.Name == "", "no log given: use --audit-log, --controller-log or both"), whereLogs),
		cli.UsageIf(stdin > 1, "standard input can be only one of the files"),
		c.checkSave(),
	)
}

func (c *traceCommand) run(ctx context.Context, args []string) error {
	// What is kept of a large log takes more memory than time.
	defer debug.SetGCPercent(debug.SetGCPercent(15))
	if err := c.complete(args); err != nil {
		return err
	}
	before, err := c.readBefore(ctx)
	if err != nil {
		return err
	}
	facts := trace.NewFacts(before)
	reader := logReader{scan: c.scan, facts: facts, year: c.year}
	if c.live() {
		err = reader.cluster(ctx, c.query.Namespace)
	} else {
		err = reader.read(ctx, slices.Concat(c.auditLogs, c.controllerLogs))
	}
	if err != nil {
		return err
	}
	if before != nil {
		facts.Source(&trace.Source{File: c.before, Form: trace.FormScan, Span: trace.Span{First: before.Taken, Last: before.Taken}})
	}
	report := facts.Explain()
	selected, err := c.selected(report)
	switch {
	case err != nil:
		return err
	case c.query != (trace.Question{}) && selected.Target == nil:
		return c.writeNone(report, selected)
	}
	if err := c.write(selected); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if c.saveBackup != "" {
		return c.save(ctx, before, &report.Cascades[selected.Target.Cascade])
	}
	return nil
}

// selected returns the report about the object of the command line, and all of it without one. A name without a
// namespace has to be clear.
func (c *traceCommand) selected(r *trace.DeletionReport) (*trace.DeletionReport, error) {
	q := c.query
	if q == (trace.Question{}) {
		return r, nil
	}
	if in := r.Namespaces(q); q.Namespace == "" && q.UID == "" && len(in) > 0 {
		if q.Namespace = in[0]; len(in) > 1 && in[0] != "" {
			err := cli.Usagef("objects named %s were deleted in the namespaces %s", cli.Quote(q.Type+"/"+q.Name), cli.Quote(wording.List(in, 5)))
			return nil, cli.WithHint(err, "use -n to choose the namespace")
		}
	}
	return r.Select(q), nil
}

// deletions returns all deletions of a report.
func deletions(r *trace.DeletionReport) iter.Seq[*trace.Deletion] {
	return func(yield func(*trace.Deletion) bool) {
		for i := range r.Cascades {
			for k := range r.Cascades[i].Deletions {
				if !yield(&r.Cascades[i].Deletions[k]) {
					return
				}
			}
		}
	}
}

// readBefore returns the earlier scan; nil without one.
func (c *traceCommand) readBefore(ctx context.Context) (*snapshot.Snapshot, error) {
	if c.before == "" {
		return nil, nil
	}
	c.scan.From, c.scan.NamespaceMayBeMissing = c.before, true
	before, _, err := c.scan.Scan(ctx, scan.Scope{})
	c.scan.From = "" // suggestions are about the cluster
	if err == nil && before.Server == "" {
		before.Taken = time.Time{} // output of kubectl does not say when it was made
	}
	return before, err
}

// write writes a report in the format of -o.
func (c *traceCommand) write(r *trace.DeletionReport) error {
	if !c.output.Structured() {
		return c.view().Write(c.scan.Text(), r)
	}
	var named []object.Identity
	for d := range deletions(r) {
		named = append(named, d.Object)
	}
	return c.output.Write("TraceReport", r, named...)
}

func (c *traceCommand) view() traceview.ReportView {
	v := traceview.ReportView{Palette: c.scan.Palette(), Wide: c.output.Format == "wide", Suggest: c.scan.Suggest, Files: c.fileWords()}
	if c.saveBackup == "" {
		target := []string{c.query.Type + "/" + c.query.Name, "-n", c.query.Namespace}
		if c.query.UID != "" {
			target = []string{"--uid", c.query.UID}
		}
		v.Save = slices.Concat([]string{"trace"}, target, v.Files, []string{"--save-backup", "DIR"})
	}
	return v
}

// fileWords returns the flags that name the files of this command line, for another one.
func (c *traceCommand) fileWords() (words []string) {
	for _, file := range c.auditLogs {
		words = append(words, "--audit-log", file)
	}
	for _, file := range c.controllerLogs {
		words = append(words, "--controller-log", file)
	}
	if c.before != "" {
		words = append(words, "--before", c.before)
	}
	return words
}

// writeNone writes that no deletion of the object is known, what else is, and returns the exit code.
func (c *traceCommand) writeNone(all, of *trace.DeletionReport) error {
	if c.output.Structured() {
		if err := c.write(of); err != nil {
			return err
		}
		return cli.ExitError(cli.ExitFound)
	}
	what := "object with the UID " + cli.Quote(c.query.UID)
	var near []string
	if c.query.UID == "" {
		what = cli.Quote(c.query.Type+"/"+c.query.Name) + cli.InNamespace(c.query.Namespace)
		var names []string
		for d := range deletions(all) {
			if names = append(names, d.Object.Name); d.Object.Name == c.query.Name {
				near = append(near, d.Object.String()+cli.InNamespace(d.Object.Namespace))
			}
		}
		if near == nil && len(of.Notes) == 0 {
			near = cli.Nearest(c.query.Name, names)
		}
	}
	if err := c.view().None(c.scan.Text(), of, what, cli.DidYouMean(near)); err != nil {
		return err
	}
	return cli.ExitError(cli.ExitFound)
}
