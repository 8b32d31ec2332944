package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
)

// steer makes a command that sends an input of arbitrated work. read returns the payload that the argument behind the id
// stands for; "" is no argument.
func (p *program) steer(c *cobra.Command, on flow.Trigger, read func(work *arbiter.Work, argument string) (any, error)) *cobra.Command {
	var f controlFlags
	c.ValidArgsFunction = p.completeSteered
	named := choice{last: unfinished().last}
	p.controlling(c, &f, named, func(c *cobra.Command, engine *debate.Engine, id string, args []string) (flow.Signal, error) {
		work, err := p.workOf(c, engine, id)
		if err != nil {
			return nil, err
		}
		payload, err := read(work, strings.Join(args[1:], ""))
		if err != nil {
			return nil, exit(exitArguments, err)
		}
		data, err := json.Marshal(payload)
		if err != nil {
			return nil, err
		}
		return flow.Sent{Trigger: on, Payload: data, Reason: f.reason}, nil
	})
	return f.withReason(c)
}

// workOf returns the arbitrated work of this id.
func (p *program) workOf(c *cobra.Command, engine *debate.Engine, id string) (*arbiter.Work, error) {
	record, err := engine.Record(c.Context(), id)
	if err != nil {
		return nil, err
	}
	work, ok := arbiter.Of(record)
	if !ok {
		return nil, exit(exitArguments, fmt.Errorf("%s is a conversation of the flow %s: %s is for arbitrated work", id, record.Flow(), c.Name()))
	}
	return work, nil
}

// forceAgent lets an agent act next.
func (p *program) forceAgent() *cobra.Command {
	return p.steer(&cobra.Command{
		Use: "force-agent id agent", Short: "Let an agent of arbitrated work act next, whatever the arbiter would decide",
		Long: `Let an agent of arbitrated work act next, whatever the arbiter would decide.
While an agent works, it is not possible: pause the work before.`,
		Example: `  debate force-agent 0198c2f1 tester --reason "the tests first"`,
		Args:    arguments(cobra.ExactArgs(2)),
	}, arbiter.TriggerForceAgent, func(work *arbiter.Work, name string) (any, error) {
		names := agentsOf(work)
		if !slices.Contains(names, name) {
			return nil, flow.Unknown("agent", name, names...)
		}
		return arbiter.ForceAgent{Agent: name}, nil
	})
}

// skipStep leaves out a step of the plan.
func (p *program) skipStep() *cobra.Command {
	return p.steer(&cobra.Command{
		Use: "skip-step id [step]", Short: "Leave out a step of the plan of arbitrated work: by default the current one",
		Long: `Leave out a step of the plan of arbitrated work that is still to be done: by
default the current one. debate show numbers them. While an agent works, it is
not possible: pause the work before.`,
		Example: `  debate skip-step 0198c2f1 3`,
		Args:    arguments(cobra.RangeArgs(1, 2)),
	}, arbiter.TriggerSkipStep, func(work *arbiter.Work, number string) (any, error) {
		plan := work.Plan()
		if plan != nil && plan.Left() == 0 {
			return nil, errors.New("no step is left to be done")
		}
		if number == "" {
			return arbiter.SkipStep{}, nil
		}
		step, err := stepOf(plan, number)
		if err == nil && settled(plan.Steps[step].Status) {
			err = fmt.Errorf("step %s is %s; left are: %s", number, plan.Steps[step].Status, leftOf(plan))
		}
		return arbiter.SkipStep{Step: &step}, err
	})
}

// rerunStep makes a step of the plan pending again.
func (p *program) rerunStep() *cobra.Command {
	return p.steer(&cobra.Command{
		Use: "rerun-step id step", Short: "Have a step of the plan of arbitrated work done again",
		Long: `Have a step of the plan of arbitrated work done again, as the next one. debate
show numbers the steps. While an agent works, it is not possible: pause the
work before.`,
		Example: `  debate rerun-step 0198c2f1 2 --reason "the specification has changed"`,
		Args:    arguments(cobra.ExactArgs(2)),
	}, arbiter.TriggerRerunStep, func(work *arbiter.Work, number string) (any, error) {
		step, err := stepOf(work.Plan(), number)
		return arbiter.RerunStep{Step: step}, err
	})
}

// agentsOf returns the names of the agents of work.
func agentsOf(work *arbiter.Work) []string {
	agents := work.Config().Agents
	out := make([]string, len(agents))
	for i := range agents {
		out[i] = agents[i].Name
	}
	return out
}

// stepOf returns the index of a step by its number, which counts from 1.
func stepOf(plan *arbiter.Plan, number string) (int, error) {
	if plan == nil || len(plan.Steps) == 0 {
		return 0, errors.New("there is no plan yet")
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(plan.Steps) {
		return 0, fmt.Errorf("there is no step %q; the steps are 1 to %d", number, len(plan.Steps))
	}
	return n - 1, nil
}

// settled reports whether nothing is left to be done of a step.
func settled(status arbiter.Status) bool {
	return status == arbiter.Complete || status == arbiter.Skipped
}

// leftOf lists the numbers of the steps that are still to be done.
func leftOf(plan *arbiter.Plan) string {
	var left []string
	for i := range plan.Steps {
		if !settled(plan.Steps[i].Status) {
			left = append(left, strconv.Itoa(i+1))
		}
	}
	return strings.Join(left, ", ")
}
