package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// evalFlags are the flags of the command eval.
type evalFlags struct {
	file   string
	models []string
}

// eval has evaluators score the solution of a stored deliberation.
func (p *program) eval() *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use: "eval [id]", Short: "Have several evaluators score the solution of a deliberation: by default of the newest",
		Long: `Have several evaluators score the solution of a stored deliberation, by
default of the newest, all at once. None sees the answer of another one. They
give 1 to 10 for seven criteria and for the whole; the table shows the
averages, and how far the evaluators differ. The evaluation is stored as a
conversation of its own.

The evaluators come from a file, JSON or YAML, with the fields of an
evaluation (evaluators with id, model, temperature, prompt or promptFile;
temperature, budget and so on for all), or from --evaluator. A file can also
have the fields of the public program: agents with id, provider, model,
systemPromptPath, timeout and enabled. Without either there are two evaluators
of the default model.`,
		Example: `  debate eval
  debate eval 0198c2f1 --evaluator openai/gpt-4.1 --evaluator anthropic/claude-sonnet-4-5 --json`,
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := exclusive(c, "config", "evaluator"); err != nil {
				return err
			}
			engine, id, closing, err := p.openOne(c.Context(), args, solved())
			if err != nil {
				return err
			}
			defer closing()
			config, err := p.evaluation(c.Context(), engine, id, &f)
			if err != nil {
				return err
			}
			session, err := engine.Start(c.Context(), config)
			if err != nil {
				return err
			}
			p.warnf("The evaluation of %s is kept as %s.", id, session.ID())
			if p.json {
				return p.scores(c.Context(), session)
			}
			return p.lead(c.Context(), session)
		},
	}
	p.viewFlags(c)
	c.Flags().StringVar(&f.file, "config", "", "read the evaluators from this `file`, JSON or YAML")
	c.Flags().StringArrayVar(&f.models, "evaluator", nil, "`provider/model`: an evaluator; can be repeated")
	completeFlag(c, "evaluator", modelNames)
	return c
}

// solved lets the command take the newest deliberation that may have a solution.
func solved() choice {
	return choice{last: &store.Filter{States: []flow.State{flow.StateCompleted}}, flow: deliberation.FlowName, implied: true}
}

// evaluation returns the evaluation of a deliberation's solution.
func (p *program) evaluation(ctx context.Context, engine *debate.Engine, id string, f *evalFlags) (flow.Config, error) {
	record, err := engine.Record(ctx, id)
	if err != nil {
		return nil, err
	}
	d, ok := deliberation.Of(record)
	if !ok {
		return nil, exit(exitArguments, fmt.Errorf("%s is a conversation of the flow %s: eval is for deliberations", id, record.Flow()))
	}
	about, err := evaluation.About(d)
	if err != nil {
		return nil, exit(exitArguments, fmt.Errorf("%s has no solution: it is %s", id, record.State))
	}
	about.Unattended = !p.interactive()
	models := f.models
	if len(models) == 0 && f.file == "" {
		usual := settings.DefaultModel(func(vendor string) bool { return engine.Providers[vendor] != nil })
		if usual == "" {
			return nil, exit(exitConfig, errors.New("there is no key: set OPENAI_API_KEY, or another vendor's, or name models"))
		}
		models = []string{usual, usual}
	}
	loaded, problems := settings.OpenEvaluation(f.file, models, &about)
	if loaded == nil {
		return nil, exit(codeOfMistakes(problems), settings.Sorted(problems))
	}
	if problems == nil {
		for _, note := range loaded.Notes {
			p.warnf("%s", note)
		}
	}
	if err := check(ctx, loaded, engine, problems); err != nil {
		return nil, err
	}
	return loaded.Config, nil
}

// scored is what eval --json prints.
type scored struct {
	ID string `json:"id"`
	evaluation.Report
}

// scores waits for an evaluation and prints its report as JSON.
func (p *program) scores(ctx context.Context, session *debate.Session) error {
	ctx, stop := p.interruptible(ctx)
	defer stop()
	record, err := session.WaitIdle(ctx)
	if record == nil {
		return interruption(ctx, err)
	}
	if scores, ok := evaluation.Of(record); ok && record.State == flow.StateCompleted {
		if err := p.printValue(scored{session.ID(), scores.Report()}); err != nil {
			return err
		}
	}
	got := resultOf(record)
	return (&leader{program: p, session: session}).end(record, &got, err)
}
