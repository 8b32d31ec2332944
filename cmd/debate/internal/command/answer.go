package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/media"
	"github.com/agonist-dev/debate/store"
)

// waiting lets a command that answers take the newest conversation that waits for an answer, if "last" asks for it.
func waiting() choice {
	return choice{last: &store.Filter{Asking: true, Unfinished: true}}
}

// answerFlags are the flags of the command answer.
type answerFlags struct {
	files               []string
	model, actor, aside string // with an option
	idle                bool   // the flag --no-run
}

// answer answers a question of a conversation, with a text or with one of its options.
func (p *program) answer() *cobra.Command {
	var f answerFlags
	c := p.aboutOne("answer id [question] answer", cobra.RangeArgs(1, 3), func(c *cobra.Command, args []string) error {
		return p.onOne(c.Context(), args, waiting(), func(ctx context.Context, engine *debate.Engine, id string) error {
			answer, err := p.answerOf(c, engine, id, args[1:], &f)
			if err != nil {
				return err
			}
			if err := p.control(ctx, engine, id, *answer); err != nil {
				return err
			}
			if err := handOver(ctx, engine, id); err != nil {
				return err
			}
			if run, err := p.tellState(ctx, engine, id, !f.idle); err != nil || !run {
				return err
			}
			return p.goOn(ctx, engine, id, "")
		})
	})
	flags := c.Flags()
	flags.StringArrayVar(&f.files, "file", nil, "a `file` that belongs to the answer, such as an image or a PDF; can be repeated")
	flags.StringVar(&f.model, "model", "", "with the option model: the model that takes over, as `provider/model`")
	flags.StringVar(&f.actor, "actor", "", "with the options skip and drop: who is meant, if the question is about several")
	flags.StringVar(&f.aside, "text", "", "with the option deny: why; with done: what the tool has answered")
	_ = flags.SetAnnotation("text", mayBeBlank, []string{"true"}) // a tool may have answered nothing
	personFlag(c)
	completeFlag(c, "model", modelNames)
	p.withRun(c, &f.idle)
	return c
}

// handover is how long a process that waits for an answer, such as a terminal, has to continue the conversation. Meanwhile it has no lease.
const handover = time.Second

// handOver waits until such a process continues the conversation, if there is one.
func handOver(ctx context.Context, engine *debate.Engine, id string) error {
	for until := time.Now().Add(handover); ; {
		info, err := store.InfoOf(ctx, engine.Store, id)
		if err != nil || info.Owner != "" || info.State.Idle() || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(handover / 20):
		}
	}
}

// answerOf returns the answer that the arguments behind the id give.
func (p *program) answerOf(c *cobra.Command, engine *debate.Engine, id string, args []string, f *answerFlags) (*flow.Answer, error) {
	record, err := engine.Record(c.Context(), id)
	if err != nil {
		return nil, err
	}
	q, rest, err := inquiryOf(record, args, len(f.files) > 0)
	if err != nil {
		return nil, first(c.Context(), engine, record, args, err)
	}
	answer := &flow.Answer{Inquiry: q.ID, Person: p.person(c), Model: f.model, By: f.actor, Text: f.aside}
	switch optional := len(q.Options) > 0; {
	case optional && len(rest) > 0 && len(f.files) == 0:
		answer.Option = flow.Option(rest[0])
		if err := checkChoice(q, answer); err != nil {
			return nil, exit(exitArguments, err)
		}
		return answer, nil
	case optional:
		return nil, exit(exitArguments, fmt.Errorf("%s is answered with an option: %s", q.ID, either(q.Options)))
	case f.model != "" || f.actor != "" || f.aside != "":
		return nil, exit(exitArguments, fmt.Errorf("%s is answered with a text: --model, --actor and --text are for options", q.ID))
	}
	if answer.Text, err = p.text(rest, "answer"); err != nil {
		return nil, err
	}
	answer.Attachments, err = readFiles(f.files)
	return answer, err
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

// first returns the error of an answer that comes too late. It says how the question that the arguments behind the id name was answered,
// or the last one if they name none and none is open. If it was not answered, why is the error.
func first(ctx context.Context, engine *debate.Engine, record *flow.Record, args []string, why error) error {
	named, answers := len(args) > 1, record.Answers
	var id string
	switch {
	case named:
		id = args[0]
	case len(record.Inquiries) == 0 && len(answers) > 0:
		last := &answers[len(answers)-1]
		if id = last.Inquiry; last.Option == flow.OptionStandIn { // it decides about the question that the person was asked
			if call, ok := strings.CutPrefix(id, "ask."); ok {
				id = strings.TrimSuffix(strings.TrimRight(call, "0123456789"), ".")
			}
		}
	default:
		return why
	}
	// An answer without a text and an option is never accepted: this one only asks.
	answered, ok := errors.AsType[*flow.AnsweredError](engine.Control(ctx, record.ID, flow.Answer{Inquiry: id}))
	switch {
	case !ok:
		return why
	case named:
		return answered
	default:
		return fmt.Errorf("%w; %w", why, answered)
	}
}

// inquiryOf returns the open inquiry that the arguments behind the id name, or the only one, and the arguments behind it.
// bare means that nothing has to follow.
func inquiryOf(record *flow.Record, args []string, bare bool) (*flow.Inquiry, []string, error) {
	ids := make([]string, len(record.Inquiries))
	for i := range record.Inquiries {
		q := &record.Inquiries[i]
		ids[i] = q.ID
		if len(args) > 0 && args[0] == q.ID && (len(args) > 1 || bare) {
			return q, args[1:], nil
		}
	}
	switch {
	case len(ids) == 0:
		is := "is"
		if record.State == flow.StateError {
			is = "has"
		}
		return nil, nil, fmt.Errorf("%s does not wait for an answer: it %s %s", record.ID, is, stateWord(record.State, false))
	case len(args) > 1:
		return nil, nil, exit(exitArguments, flow.Unknown("open question", args[0], ids...))
	case len(args) == 0 && !bare, len(args) == 1 && slices.Contains(ids, args[0]):
		return nil, nil, exit(exitArguments, fmt.Errorf("the answer to %s is missing", strings.Join(ids, ", ")))
	case len(ids) > 1:
		return nil, nil, exit(exitArguments, fmt.Errorf("several questions are open; name one of: %s", strings.Join(ids, ", ")))
	}
	return &record.Inquiries[0], args, nil
}

// text returns a text that a person wrote, such as an answer: an argument, or the standard input.
func (p *program) text(args []string, what string) (string, error) {
	switch {
	case len(args) == 0:
		return "", nil
	case args[0] == "-":
		return p.readInput(what)
	case !utf8.ValidString(args[0]):
		return "", exit(exitArguments, fmt.Errorf("the %s is not valid UTF-8: set the terminal to UTF-8", what))
	default:
		return args[0], nil
	}
}

// readFiles reads the files of an answer.
func readFiles(paths []string) ([]flow.File, error) {
	out := make([]flow.File, len(paths))
	for i, path := range paths {
		data, err := readNamed(path, flow.MaxFile)
		switch {
		case err != nil:
			return nil, err
		case media.TypeOf(data) == "":
			return nil, exit(exitArguments,
				fmt.Errorf("--file: %s is neither a text nor a PDF, PNG, JPEG, GIF or WebP: give it as one of these", path))
		}
		out[i] = flow.File{Name: filepath.Base(path), Data: data}
	}
	return out, nil
}

// either lists options as those of which one is given.
func either(options []flow.Option) string {
	texts := make([]string, len(options))
	for i, option := range options {
		texts[i] = string(option)
	}
	return strings.Join(texts, "|")
}
