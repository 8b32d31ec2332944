package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// waiting lets a command that answers take the newest conversation that waits for an answer, if "last" asks for it.
func waiting() choice {
	return choice{last: &store.Filter{States: []flow.State{flow.StateAwaitingInput}, Unfinished: true}}
}

// answer answers a question of a conversation.
func (p *program) answer() *cobra.Command {
	var f controlFlags
	var files []string
	var person string
	c := p.controlling(&cobra.Command{
		Use: "answer id [inquiry] text", Short: "Answer a question of a conversation, and continue it",
		Long: `Answer a question of a conversation. The inquiry may be left out if only one
is open; debate show lists them. A text of "-" is read from the standard
input. "last" is the newest conversation that waits. Once no answer is
missing, the conversation is continued here, unless another process runs it.
The first answer counts; a later one fails and names the person of the first.`,
		Example: `  debate answer 0198c2f1 "About 5,000 requests a second"
  debate answer last clarify.1 - < figures.md
  debate answer 0198c2f1 --file plan.pdf "See the plan"`,
		Args:              arguments(cobra.RangeArgs(1, 3)),
		ValidArgsFunction: p.completeInquiries,
	}, &f, waiting(), func(c *cobra.Command, engine *debate.Engine, id string, args []string) (flow.Signal, error) {
		record, err := engine.Record(c.Context(), id)
		if err != nil {
			return nil, err
		}
		q, rest, err := inquiryOf(record, args[1:], len(files) > 0)
		if err != nil {
			return nil, first(c.Context(), engine, record, args[1:], err)
		}
		if len(q.Options) > 0 {
			return nil, exit(exitArguments, fmt.Errorf("%s is answered with an option, %s: %s OPTION",
				q.ID, either(q.Options), progress.Command("choose", id, q.ID)))
		}
		answer := flow.Answer{Inquiry: q.ID, Person: p.person(c, person)}
		if answer.Text, err = p.answerText(rest); err != nil {
			return nil, err
		}
		if answer.Attachments, err = readFiles(files); err != nil {
			return nil, err
		}
		return answer, nil
	})
	c.Flags().StringArrayVar(&files, "file", nil, "a `file` that belongs to the answer, such as an image or a PDF; can be repeated")
	withPerson(c, &person)
	p.withRun(c, &f)
	return c
}

// withPerson adds the flag --person.
func withPerson(c *cobra.Command, person *string) {
	c.Flags().StringVar(person, "person", "", "the name that the log keeps of the person who answers: by default that of the system's user")
	_ = c.Flags().SetAnnotation("person", mayBeBlank, []string{"true"}) // nobody is named
}

// person returns the name of the person who answers: what the flag --person says, or the system's user.
func (p *program) person(c *cobra.Command, said string) string {
	if c.Flags().Changed("person") {
		return said
	}
	return p.user()
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
		id = answers[len(answers)-1].Inquiry
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
		return nil, nil, fmt.Errorf("%s does not wait for an answer: it is %s", record.ID, record.State)
	case len(args) > 1:
		return nil, nil, exit(exitArguments, flow.Unknown("open question", args[0], ids...))
	case len(args) == 0 && !bare, len(args) == 1 && slices.Contains(ids, args[0]):
		return nil, nil, exit(exitArguments, fmt.Errorf("the answer to %s is missing", strings.Join(ids, ", ")))
	case len(ids) > 1:
		return nil, nil, exit(exitArguments, fmt.Errorf("several questions are open; name one of: %s", strings.Join(ids, ", ")))
	}
	return &record.Inquiries[0], args, nil
}

// answerText returns the text of an answer: an argument, or the standard input.
func (p *program) answerText(args []string) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	if args[0] != "-" {
		return args[0], nil
	}
	data, err := io.ReadAll(p.In)
	if err != nil {
		return "", fmt.Errorf("read the answer from the standard input: %w", err)
	}
	if strings.TrimSpace(string(data)) == "" {
		return "", exit(exitArguments, errors.New("there is no answer: the standard input is empty"))
	}
	return string(data), nil
}

// readFiles reads the files of an answer.
func readFiles(paths []string) ([]flow.File, error) {
	out := make([]flow.File, len(paths))
	for i, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, exit(exitArguments, err)
		case !info.Mode().IsRegular():
			return nil, exit(exitArguments, fmt.Errorf("%s is no file", path))
		case info.Size() > flow.MaxFile:
			return nil, exit(exitArguments, fmt.Errorf("%s is larger than %d MiB", path, flow.MaxFile>>20))
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
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
