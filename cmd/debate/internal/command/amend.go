package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/flow"
)

// amendFlags are the flags of the command amend.
type amendFlags struct {
	from         string
	sets, models []string
	budget       string
	rounds       int
	next, skip   string
	rerun        int
	reason       string
	person       string // who asks for it
}

// modelUsage describes the flag --model of the commands that give a conversation other models.
const modelUsage = "`model` for all who have one, or who=model for one, as provider/model[,fallback…]; can be repeated"

// amend changes the settings of a conversation, and steers arbitrated work. It wants an id.
func (p *program) amend() *cobra.Command {
	var f amendFlags
	c := p.aboutOne("amend id", cobra.ExactArgs(1), func(c *cobra.Command, args []string) error {
		return p.onOne(c.Context(), args, choice{}, func(_ context.Context, engine *debate.Engine, id string) error {
			return p.runAmend(c, engine, id, &f)
		})
	})
	flags := c.Flags()
	flags.StringVar(&f.from, "from", "", "read an amendment from this `file`, JSON or YAML")
	flags.StringArrayVar(&f.sets, "set", nil, "`name=value`: one field of the settings, such as turnTimeout=5m; can be repeated")
	flags.StringVar(&f.budget, "budget", "", "the most that may be spent, in `USD`; 0: no limit")
	flags.StringArrayVar(&f.models, "model", nil, modelUsage)
	flags.IntVar(&f.rounds, "rounds", 0, "how many rounds there are at most")
	flags.IntVar(&f.rerun, "rerun", 0, "of arbitrated work: the number of a `step` of the plan that is done again, as the next one")
	flags.StringVar(&f.skip, "skip", "", "of arbitrated work: the number of a `step` that is left out, or current")
	flags.StringVar(&f.next, "next", "", "of arbitrated work: the `agent` that acts next")
	withReason(c, &f.reason)
	completeFlag(c, "model", modelNames)
	return c
}

// change is one of the controls that amend gives.
type change struct {
	what   string // for a person
	signal func(record *flow.Record) (flow.Signal, error)
}

// runAmend gives the controls one after the other. The first refusal stops, and it is said what was done before.
func (p *program) runAmend(c *cobra.Command, engine *debate.Engine, id string, f *amendFlags) error {
	f.person = p.user()
	changes := f.changes(c)
	if len(changes) == 0 {
		return exit(exitArguments, errors.New("nothing is to be changed; see debate amend --help"))
	}
	var done []string
	for _, one := range changes {
		if err := p.changeOne(c.Context(), engine, id, one.signal); err != nil {
			if len(done) > 0 {
				p.warnf("Done before: %s.", strings.Join(done, ", "))
			}
			return err
		}
		done = append(done, one.what)
	}
	if !p.json {
		p.warnf("Changed: %s.", strings.Join(changed(c), "; "))
	}
	_, err := p.tellState(c.Context(), engine, id, false)
	return err
}

// changed returns the flags that change something, with their values.
func changed(c *cobra.Command) (all []string) {
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "reason" {
			all = append(all, f.Name+" "+progress.Clean(strings.Trim(f.Value.String(), "[]")))
		}
	})
	return all
}

func (p *program) changeOne(
	ctx context.Context, engine *debate.Engine, id string, signal func(record *flow.Record) (flow.Signal, error),
) error {
	record, err := engine.Record(ctx, id)
	if err != nil {
		return err
	}
	control, err := signal(record)
	if err != nil {
		return exit(max(codeOfMistakes(err), exitArguments), settings.Sorted(err))
	}
	return p.control(ctx, engine, id, control)
}

// changes returns what the flags ask for, in the order in which it is done.
func (f *amendFlags) changes(c *cobra.Command) (all []change) {
	given := func(names ...string) bool { return slices.ContainsFunc(names, c.Flags().Changed) }
	if given("from", "set", "budget", "model", "rounds") {
		all = append(all, change{"the settings", func(record *flow.Record) (flow.Signal, error) { return f.amendment(c, record) }})
	}
	for _, one := range []struct {
		flag string
		on   flow.Trigger
		read func(work *arbiter.Work) (any, error)
	}{
		{"rerun", arbiter.TriggerRerunStep, f.rerunStep},
		{"skip", arbiter.TriggerSkipStep, f.skipStep},
		{"next", arbiter.TriggerForceAgent, f.forceAgent},
	} {
		if !given(one.flag) {
			continue
		}
		all = append(all, change{"--" + one.flag, func(record *flow.Record) (flow.Signal, error) {
			work, ok := arbiter.Of(record)
			if !ok {
				return nil, fmt.Errorf("--%s is for arbitrated work, and this is a conversation of the flow %s", one.flag, record.Flow())
			}
			payload, err := one.read(work)
			if err != nil {
				return nil, fmt.Errorf("--%s: %w", one.flag, err)
			}
			data, err := json.Marshal(payload)
			return flow.Sent{Trigger: one.on, Payload: data, Reason: f.reason, Person: f.person}, err
		}})
	}
	return all
}

// amendment returns what the flags change in the settings.
func (f *amendFlags) amendment(c *cobra.Command, record *flow.Record) (flow.Amendment, error) {
	var change flow.Amendment
	edits, err := settings.OpenEdits(f.from, f.sets)
	if err != nil {
		return change, err
	}
	if err := edits.Amend(&change, record.Settings().Budget); err != nil {
		return change, err
	}
	if c.Flags().Changed("rounds") {
		if change.Rounds = &f.rounds; f.rounds < 0 { // of which the library says two things
			return change, fmt.Errorf("--rounds %d: is at least 1", f.rounds)
		}
	}
	if c.Flags().Changed("budget") {
		if err := f.setBudget(record, &change); err != nil {
			return change, err
		}
	}
	models, err := modelsOf(record, f.models)
	if err != nil {
		return change, err
	}
	if change.Models != nil {
		maps.Copy(change.Models, models)
	} else if len(models) > 0 {
		change.Models = models
	}
	if reflect.ValueOf(change).IsZero() {
		return change, errors.New("nothing is to be changed; see debate amend --help")
	}
	change.Person = f.person
	return change, nil
}

// setBudget changes the limit of the cost, and the soft one with it if both are the same, as --budget of a start sets them. The other
// limits stay.
func (f *amendFlags) setBudget(record *flow.Record, change *flow.Amendment) error {
	var budget flow.Budget
	if present := cmp.Or(change.Budget, record.Settings().Budget); present != nil {
		budget = *present
	}
	same := budget.Soft > 0 && budget.Soft == budget.Hard
	if err := budget.Hard.UnmarshalJSON([]byte(f.budget)); err != nil {
		return fmt.Errorf("--budget %q: want an amount of USD such as 2.50", f.budget)
	}
	if same {
		budget.Soft = budget.Hard
	}
	change.Budget = &budget
	return nil
}

// modelsOf returns the models that the flags --model give: each who=model, or a model for all who have one.
func modelsOf(record *flow.Record, given []string) (map[string]flow.ModelChoice, error) {
	out := make(map[string]flow.ModelChoice)
	for _, one := range given {
		who, names, named := strings.Cut(one, "=")
		if !named {
			names = one
		}
		models := strings.Split(names, ",")
		unnamed := func(model string) bool { _, _, ok := flow.SplitModel(model); return !ok }
		if named && who == "" || slices.ContainsFunc(models, unnamed) {
			return nil, fmt.Errorf("--model %q: want provider/model, or who=provider/model", one)
		}
		picked := flow.ModelChoice{Model: models[0], Fallbacks: models[1:]}
		if named {
			out[who] = picked
			continue
		}
		for seat := range record.Config().Seats() {
			if cmp.Or(record.Replacement(seat.By), *seat.Model) != "" {
				out[seat.By] = picked
			}
		}
	}
	return out, nil
}

// forceAgent lets an agent act next.
func (f *amendFlags) forceAgent(work *arbiter.Work) (any, error) {
	var names []string
	agents := work.Config().Agents
	for i := range agents {
		names = append(names, agents[i].Name)
	}
	if !slices.Contains(names, f.next) {
		return nil, flow.Unknown("agent", f.next, names...)
	}
	return arbiter.ForceAgent{Agent: f.next}, nil
}

// skipStep leaves out a step of the plan.
func (f *amendFlags) skipStep(work *arbiter.Work) (any, error) {
	plan := work.Plan()
	if plan != nil && plan.Left() == 0 {
		return nil, errors.New("no step is left to be done")
	}
	if f.skip == "current" {
		return arbiter.SkipStep{}, nil
	}
	step, err := stepOf(plan, f.skip)
	if err == nil && isDone(plan.Steps[step].Status) {
		err = fmt.Errorf("step %s is %s; left are: %s", f.skip, plan.Steps[step].Status, leftOf(plan))
	}
	return arbiter.SkipStep{Step: &step}, err
}

// rerunStep makes a step of the plan pending again.
func (f *amendFlags) rerunStep(work *arbiter.Work) (any, error) {
	step, err := stepOf(work.Plan(), strconv.Itoa(f.rerun))
	return arbiter.RerunStep{Step: step}, err
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

// isDone reports whether nothing is left to be done of a step.
func isDone(status arbiter.Status) bool {
	return status == arbiter.Complete || status == arbiter.Skipped
}

// leftOf lists the numbers of the steps that are still to be done.
func leftOf(plan *arbiter.Plan) string {
	var left []string
	for i := range plan.Steps {
		if !isDone(plan.Steps[i].Status) {
			left = append(left, strconv.Itoa(i+1))
		}
	}
	return strings.Join(left, ", ")
}
