package command

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
)

// choose answers a question with one of its options.
func (p *program) choose() *cobra.Command {
	var f controlFlags
	var answer flow.Answer
	var person string
	c := p.controlling(&cobra.Command{
		Use: "choose id [inquiry] option", Short: "Decide about a failure, a tool or a cost warning, and continue the conversation",
		Long: `Answer a question of a conversation with one of its options: what is done
about a failed call, the use of a tool, or a cost warning. debate show lists
the questions and their options. The inquiry may be left out if only one is
open. Once no answer is missing, the conversation is continued here, unless
another process runs it. The first answer counts; a later one fails and names
the person of the first.`,
		Example: `  debate choose 0198c2f1 retry
  debate choose last model --model anthropic/claude-haiku-4-5
  debate choose 0198c2f1 deny --text "not that folder"`,
		Args:              arguments(cobra.RangeArgs(2, 3)),
		ValidArgsFunction: p.completeInquiries,
	}, &f, waiting(), func(c *cobra.Command, engine *debate.Engine, id string, args []string) (flow.Signal, error) {
		record, err := engine.Record(c.Context(), id)
		if err != nil {
			return nil, err
		}
		q, rest, err := inquiryOf(record, args[1:], false)
		if err != nil {
			return nil, first(c.Context(), engine, record, args[1:], err)
		}
		if len(q.Options) == 0 {
			return nil, exit(exitArguments, fmt.Errorf("%s is answered with a text: %s TEXT", q.ID, progress.Command("answer", id, q.ID)))
		}
		answer.Inquiry, answer.Option, answer.Person = q.ID, flow.Option(rest[0]), p.person(c, person)
		if err := checkChoice(q, &answer); err != nil {
			return nil, exit(exitArguments, err)
		}
		return answer, nil
	})
	flags := c.Flags()
	flags.StringVar(&answer.Model, "model", "", "with the option model: the model that takes over, as `provider/model`")
	flags.StringVar(&answer.By, "actor", "", "with skip and drop: who is meant, if the question is about several")
	flags.StringVar(&answer.Text, "text", "", "with deny: why; with done: what the tool has answered")
	_ = flags.SetAnnotation("text", mayBeBlank, []string{"true"}) // a tool may have answered nothing
	withPerson(c, &person)
	p.withRun(c, &f)
	return c
}

// checkChoice reports what does not fit together in a choice.
func checkChoice(q *flow.Inquiry, a *flow.Answer) error {
	option := a.Option
	switch {
	case !slices.Contains(q.Options, option):
		return fmt.Errorf("%s: %w", q.ID, flow.Unknown("option", option, q.Options...))
	case option == flow.OptionModel && a.Model == "":
		return errors.New("the option model wants --model")
	case option != flow.OptionModel && a.Model != "":
		return errors.New("--model is for the option model")
	case a.By != "" && option != flow.OptionSkip && option != flow.OptionDrop:
		return errors.New("--actor is for the options skip and drop")
	case a.Text != "" && option != flow.OptionDeny && option != flow.OptionDone:
		return errors.New("--text is for the options deny and done")
	}
	return nil
}
