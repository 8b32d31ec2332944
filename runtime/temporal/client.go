package temporal

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// Client starts and steers debates that workers of Temporal run. It is safe for concurrent use; its fields must not change once it
// is used.
type Client struct {
	// Engine has the store of the debates, and what a config names. It makes no calls here.
	Engine *debate.Engine
	// Temporal is the connection to the server. The caller closes it.
	Temporal client.Client
	// TaskQueue is where the workers listen.
	TaskQueue string
	// Options changes how the workflow of a debate is started: its task queue, a memo, a StaticSummary, a Priority, timeouts, a
	// VersioningOverride. Temporal keeps these texts; no other text of a debate is in a history. info has the id, flow, topic and labels,
	// and nothing else. The id and the policies for ids are set after the call, and cannot be changed. Options is called each time a
	// workflow may be started, also by Control, and concurrently. A running workflow keeps what it was started with. nil: nothing is changed.
	Options func(info debate.Info, o *client.StartWorkflowOptions)
	// FailAfter is how long a debate may stay in the error state before its workflow fails with an application error of type
	// [FailedType]. 0: an hour. Below 0: the workflow waits without a bound.
	FailAfter time.Duration
	// Attributes sets the search attributes [StateAttribute], [FlowAttribute] and [LabelsAttribute]. The namespace has to know them:
	// with one that it does not know, the server refuses to start a workflow.
	Attributes bool
}

// Start checks a config as Engine.Start does, stores the debate, and starts its workflow, whose id is the debate's. It returns that
// id. A config with an ID can be started again: if the debate is stored with the same config, Start only makes sure that its
// workflow runs. If its config is another one, the error is of kind conflict.
//
// If Start fails after the debate is stored, the error comes with the id, and [Client.Resume] starts the workflow.
func (c *Client) Start(ctx context.Context, config flow.Config) (id string, err error) {
	id, err = c.Engine.Submit(ctx, config)
	if err != nil {
		return "", err
	}
	return id, c.Resume(ctx, id)
}

// Resume starts the workflow of a stored debate, unless it runs already or the debate is over. If a process has the debate open, the
// workflow waits until that one has closed it. If there is no such debate, the error is [debate.ErrNotFound].
func (c *Client) Resume(ctx context.Context, id string) error {
	in, options, err := c.workflow(ctx, id)
	if err != nil || in == nil {
		return err
	}
	_, err = c.Temporal.ExecuteWorkflow(ctx, options, WorkflowName, *in)
	return err
}

// Control gives a control to a debate, as Engine.Control does, and with the same errors: its workflow acts on it at once. The texts
// of the control go to the store alone.
//
// If no workflow runs for the debate, Control starts one: a debate whose workflow has failed continues with a [flow.Retry]. If this
// process ends in the middle, a control that was recorded is acted on within a lease all the same, if a workflow runs.
func (c *Client) Control(ctx context.Context, id string, signal flow.Signal) error {
	late := Look{After: cmp.Or(c.Engine.Lease, defaultLease)}
	err := c.Temporal.SignalWorkflow(ctx, id, "", LookName, late)
	if err != nil && !isGone(err) {
		return err
	}
	if err := c.Engine.Control(ctx, id, signal); err != nil {
		return err
	}
	in, options, err := c.workflow(ctx, id)
	if err != nil || in == nil {
		return err
	}
	_, err = c.Temporal.SignalWithStartWorkflow(ctx, id, LookName, Look{}, options, WorkflowName, *in)
	return err
}

// Status returns what the workflow of a debate knows. A worker has to run; Engine.Record needs none.
func (c *Client) Status(ctx context.Context, id string) (Status, error) {
	value, err := c.Temporal.QueryWorkflow(ctx, id, "", StatusName)
	if err != nil {
		return Status{}, err
	}
	var status Status
	return status, value.Get(&status)
}

// Wait waits until the workflow of a debate ends, which is when the debate is over and each call has been accounted for. If the
// workflow was canceled, or has failed with [FailedType], the error of Temporal comes with the Status.
func (c *Client) Wait(ctx context.Context, id string) (status Status, err error) {
	err = c.Temporal.GetWorkflow(ctx, id, "").Get(ctx, &status)
	if canceled, ok := errors.AsType[*temporal.CanceledError](err); ok && canceled.HasDetails() {
		err = errors.Join(err, canceled.Details(&status))
	}
	if failed, ok := errors.AsType[*temporal.ApplicationError](err); ok && failed.Type() == FailedType {
		err = errors.Join(err, failed.Details(&status))
	}
	return status, err
}

// workflow returns how the workflow of a stored debate is started; nil: the debate is over.
func (c *Client) workflow(ctx context.Context, id string) (*input, client.StartWorkflowOptions, error) {
	record, err := c.Engine.Record(ctx, id)
	if err != nil {
		return nil, client.StartWorkflowOptions{}, err
	}
	if record.Final() && record.InFlight() == 0 {
		return nil, client.StartWorkflowOptions{}, nil
	}
	options := client.StartWorkflowOptions{TaskQueue: c.TaskQueue}
	if c.Attributes {
		options.TypedSearchAttributes = attributesOf(record)
	}
	if c.Options != nil {
		settings := record.Settings()
		c.Options(debate.Info{ID: id, Flow: record.Flow(), Topic: settings.Topic, Labels: maps.Clone(settings.Labels)}, &options)
	}
	options.ID = id
	// The log knows whether the debate is over, not a workflow that has ended: the store may be a backup, or have the id anew.
	options.WorkflowIDReusePolicy = enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE
	options.WorkflowIDConflictPolicy = enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
	options.WorkflowExecutionErrorWhenAlreadyStarted = false
	return &input{ID: id, Attributes: c.Attributes, FailAfter: max(0, cmp.Or(c.FailAfter, time.Hour))}, options, nil
}

// attributesOf returns the search attributes that do not change.
func attributesOf(r *flow.Record) temporal.SearchAttributes {
	labels := make([]string, 0, len(r.Settings().Labels))
	for _, name := range slices.Sorted(maps.Keys(r.Settings().Labels)) {
		labels = append(labels, name+"="+r.Settings().Labels[name])
	}
	all := []temporal.SearchAttributeUpdate{temporal.NewSearchAttributeKeyKeyword(FlowAttribute).ValueSet(r.Flow())}
	if len(labels) > 0 {
		all = append(all, temporal.NewSearchAttributeKeyKeywordList(LabelsAttribute).ValueSet(labels))
	}
	return temporal.NewSearchAttributes(all...)
}

// isGone reports whether no workflow runs.
func isGone(err error) bool {
	_, gone := errors.AsType[*serviceerror.NotFound](err)
	return gone
}
