package command

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/flow"
)

// amendFlags are the flags of the command amend.
type amendFlags struct {
	from                      string
	budget, soft, warn        string
	calls, tokens             int
	span                      time.Duration
	unlimited                 bool
	models, fallbacks         []string
	rounds                    int
	context, summarizer       string
	autoSummary, unattended   bool
	patience, roundTime, turn time.Duration
	timeouts                  []string
}

// amend changes the settings of a conversation.
func (p *program) amend() *cobra.Command {
	var f amendFlags
	c := p.controlling(&cobra.Command{
		Use: "amend id", Short: "Change the settings of a conversation that has started: budget, models, rounds, time-outs",
		Long: `Change the settings of a conversation that has started and is not over,
wherever it runs. What no flag names stays as it is. Calls in flight end under
the settings under which they began. --from reads an amendment from a file, in
JSON or YAML, which can also change the policies for failures and tools (retry,
onFailure, toolPolicy); the flags come after it.`,
		Example: `  debate amend 0198c2f1 --budget 5 --rounds 6
  debate amend 0198c2f1 --model architect=anthropic/claude-sonnet-4-5,openai/gpt-4.1
  debate amend 0198c2f1 --fallbacks judge=openai/gpt-4.1 --turn-timeout 5m`,
		PreRunE: func(c *cobra.Command, _ []string) error { return exclusive(c, "no-budget", "budget") },
	}, nil, choice{}, func(c *cobra.Command, engine *debate.Engine, id string, _ []string) (flow.Signal, error) {
		record, err := engine.Record(c.Context(), id)
		if err != nil {
			return nil, err
		}
		change, err := f.amendment(c, record)
		if err != nil {
			return nil, exit(exitArguments, err)
		}
		return *change, nil
	})
	flags := c.Flags()
	flags.StringVar(&f.from, "from", "", "read an amendment from this `file`, JSON or YAML")
	flags.StringVar(&f.budget, "budget", "", "the most that may be spent, in `USD`; 0: no limit")
	flags.StringVar(&f.soft, "soft", "", "the cost at which the rounds end, in `USD`; 0: no limit")
	flags.StringVar(&f.warn, "warn", "", "the cost at which there is a warning, in `USD`; 0: none")
	flags.IntVar(&f.calls, "budget-calls", 0, "the most calls; 0: no limit")
	flags.IntVar(&f.tokens, "budget-tokens", 0, "the most tokens of input and output; 0: no limit")
	flags.DurationVar(&f.span, "budget-time", 0, "the most time since the start; 0: no limit")
	flags.BoolVar(&f.unlimited, "no-budget", false, "remove every limit")
	flags.StringArrayVar(&f.models, "model", nil, "`who=provider/model`[,fallback…]: another model; can be repeated")
	flags.StringArrayVar(&f.fallbacks, "fallbacks", nil, "`who=provider/model`[,…]: other fallback models; can be repeated")
	flags.IntVar(&f.rounds, "rounds", 0, "how many rounds there are at most")
	flags.StringVar(&f.context, "context-manager", "", "what makes a long conversation fit: hybrid, truncate, sliding, summarize")
	flags.StringVar(&f.summarizer, "summarizer", "", "the `model` that summarises; none: no model does; \"\": each call's own")
	_ = flags.SetAnnotation("summarizer", mayBeBlank, []string{"true"}) // the flag exists
	flags.BoolVar(&f.autoSummary, "auto-summary", false, "summarise early")
	flags.BoolVar(&f.unattended, "unattended", false, "ask nobody about failures, costs and tools")
	flags.DurationVar(&f.patience, "patience", 0, "how long an outage is waited for")
	flags.DurationVar(&f.roundTime, "round-timeout", 0, "the time of a round; 0: no bound")
	flags.DurationVar(&f.turn, "turn-timeout", 0, "the time of one attempt at a call")
	flags.StringArrayVar(&f.timeouts, "timeout", nil, "`kind=duration`: the time of one attempt at a call of this kind; can be repeated")
	return c
}

// amendment returns what the flags change.
func (f *amendFlags) amendment(c *cobra.Command, record *flow.Record) (*flow.Amendment, error) {
	var change flow.Amendment
	if f.from != "" {
		if err := settings.ReadInto(f.from, &change); err != nil {
			return nil, settings.Sorted(err)
		}
	}
	given(c, "rounds", &change.Rounds, &f.rounds)
	given(c, "context-manager", &change.Context, &f.context)
	given(c, "summarizer", &change.Summarizer, &f.summarizer)
	given(c, "auto-summary", &change.AutoSummary, &f.autoSummary)
	given(c, "unattended", &change.Unattended, &f.unattended)
	given(c, "patience", &change.Patience, (*flow.Duration)(&f.patience))
	given(c, "round-timeout", &change.RoundTimeout, (*flow.Duration)(&f.roundTime))
	given(c, "turn-timeout", &change.TurnTimeout, (*flow.Duration)(&f.turn))
	err := errors.Join(f.setBudget(c.Flags().Changed, record, &change), f.setTimeouts(&change), f.setModels(record, &change))
	if err == nil && reflect.ValueOf(change).IsZero() {
		err = errors.New("nothing is to be changed; see debate amend --help")
	}
	return &change, err
}

// given points a field of an amendment to the value of a flag, if the flag was given.
func given[T any](c *cobra.Command, flag string, field **T, value *T) {
	if c.Flags().Changed(flag) {
		*field = value
	}
}

// setBudget changes the limits that flags name. The other limits stay.
func (f *amendFlags) setBudget(changed func(string) bool, record *flow.Record, change *flow.Amendment) error {
	var budget flow.Budget
	switch present := record.Settings().Budget; {
	case f.unlimited:
		change.Budget = &budget
	case change.Budget != nil:
		budget = *change.Budget
	case present != nil:
		budget = *present
	}
	same := budget.Soft > 0 && budget.Soft == budget.Hard // as --budget of a start sets them
	var mistakes []error
	for name, field := range map[string]struct {
		to   *flow.Money
		from string
	}{"budget": {&budget.Hard, f.budget}, "soft": {&budget.Soft, f.soft}, "warn": {&budget.Warn, f.warn}} {
		if !changed(name) {
			continue
		}
		change.Budget = &budget
		if err := field.to.UnmarshalJSON([]byte(field.from)); err != nil {
			mistakes = append(mistakes, fmt.Errorf("--%s %q: want an amount of USD such as 2.50", name, field.from))
		}
	}
	if same && changed("budget") && !changed("soft") {
		budget.Soft = budget.Hard
	}
	if changed("budget-calls") {
		change.Budget, budget.HardCalls = &budget, f.calls
	}
	if changed("budget-tokens") {
		change.Budget, budget.HardTokens = &budget, f.tokens
	}
	if changed("budget-time") {
		change.Budget, budget.HardTime = &budget, f.span
	}
	return errors.Join(mistakes...)
}

func (f *amendFlags) setTimeouts(change *flow.Amendment) error {
	for _, given := range f.timeouts {
		kind, text, _ := strings.Cut(given, "=")
		span, err := time.ParseDuration(text)
		if err != nil || kind == "" {
			return fmt.Errorf("--timeout %q: want kind=duration, such as critique=90s", given)
		}
		if change.Timeouts == nil {
			change.Timeouts = make(map[flow.CallKind]flow.Duration)
		}
		change.Timeouts[flow.CallKind(kind)] = flow.Duration(span)
	}
	return nil
}

// setModels gives actors other models. Other fallbacks leave an actor its model.
func (f *amendFlags) setModels(record *flow.Record, change *flow.Amendment) error {
	if change.Models == nil && len(f.models)+len(f.fallbacks) > 0 {
		change.Models = make(map[string]flow.ModelChoice)
	}
	for _, given := range f.models {
		who, names, _ := strings.Cut(given, "=")
		models := strings.Split(names, ",")
		if who == "" || names == "" {
			return fmt.Errorf("--model %q: want who=provider/model", given)
		}
		change.Models[who] = flow.ModelChoice{Model: models[0], Fallbacks: models[1:]}
	}
	models := asked(record)
	for _, given := range f.fallbacks {
		who, names, ok := strings.Cut(given, "=")
		if who == "" || !ok {
			return fmt.Errorf("--fallbacks %q: want who=provider/model", given)
		}
		pick, named := change.Models[who]
		if !named {
			pick.Model = models[who]
		}
		if pick.Model == "" {
			return fmt.Errorf("--fallbacks %q: %w", given, flow.Unknown("actor with a model", who, slices.Collect(maps.Keys(models))...))
		}
		pick.Fallbacks = nil
		if names != "" {
			pick.Fallbacks = strings.Split(names, ",")
		}
		change.Models[who] = pick
	}
	return nil
}

// asked returns the models that are asked first, by the actors who have one.
func asked(record *flow.Record) map[string]string {
	models := make(map[string]string)
	for seat := range record.Config().Seats() {
		if model := cmp.Or(record.Replacement(seat.By), *seat.Model); model != "" {
			models[seat.By] = model
		}
	}
	return models
}
