package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// forkFlags are the flags of the command fork.
type forkFlags struct {
	at    int64
	round int
	file  string
	sets  []string
}

// fork starts a conversation that continues from a point of another one.
func (p *program) fork() *cobra.Command {
	var f forkFlags
	c := &cobra.Command{
		Use: "fork id", Short: "Start a new conversation from a point of another one, and run it",
		Long: `Start a new conversation that begins with a copy of another one, and run it.
The other one does not change. --round takes it to where a round began, and
--at to an event of its log (debate replay --json shows the numbers; 0: only
the config is taken). Without either it goes on from where the other one is
now. What was copied counts against its budget.

--set and --config change the config: a file of JSON with the fields that are
replaced, within objects field by field, and null to remove one. What the
copied part refers to, such as the names of the participants, cannot be
changed.`,
		Example: `  debate fork 0198c2f1 --round 2 --set rounds=5
  debate fork 0198c2f1 --at 0 --set judge.model=anthropic/claude-sonnet-4-5`,
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := exclusive(c, "at", "round"); err != nil {
				return err
			}
			engine, id, closing, err := p.openOne(c.Context(), args, choice{last: anyNewest().last})
			if err != nil {
				return err
			}
			defer closing()
			seq, err := f.cut(c, engine, id)
			if err != nil {
				return err
			}
			edits, err := f.edits()
			if err != nil {
				return exit(exitArguments, err)
			}
			session, err := forked(c.Context(), engine, id, seq, edits)
			if err != nil {
				return err
			}
			p.warnf("%s is a fork of %s at event %d.", session.ID(), id, seq)
			return p.lead(c.Context(), session)
		},
	}
	flags := c.Flags()
	flags.Int64Var(&f.at, "at", 0, "the number of the last event that is copied; 0: none")
	flags.IntVar(&f.round, "round", 0, "copy up to the beginning of this round")
	flags.StringVar(&f.file, "config", "", "a JSON `file` with the fields of the config that change")
	flags.StringArrayVar(&f.sets, "set", nil, "`name=value`: one field of the config, such as judge.model=openai/gpt-4.1; can be repeated")
	p.runFlags(c)
	return c
}

// cut returns the number of the last event that is copied.
func (f *forkFlags) cut(c *cobra.Command, engine *debate.Engine, id string) (int64, error) {
	record, err := engine.Record(c.Context(), id)
	if err != nil {
		return 0, err
	}
	switch {
	case c.Flags().Changed("at"):
		if f.at < 0 || f.at > record.Seq {
			return 0, exit(exitArguments, fmt.Errorf("--at %d: the events of %s are 1 to %d", f.at, id, record.Seq))
		}
		return f.at, nil
	case c.Flags().Changed("round"):
		return roundStart(c.Context(), engine, record, f.round)
	case record.Final():
		return 0, exit(exitArguments, fmt.Errorf("%s is over: say with --round or --at where the fork begins", id))
	}
	return record.Seq, nil
}

// roundStart returns the number of the event with which a round began.
func roundStart(ctx context.Context, engine *debate.Engine, record *flow.Record, round int) (int64, error) {
	for event, err := range engine.Events(ctx, record.ID, 0) {
		if err != nil {
			return 0, err
		}
		if began, ok := event.Body.(*flow.Round); ok && began.N == round {
			return event.Seq, nil
		}
		if event.Seq >= record.Seq {
			break
		}
	}
	return 0, exit(exitArguments, fmt.Errorf("--round %d: the rounds of %s are 1 to %d", round, record.ID, record.Round))
}

// edits returns the fields that change, as a tree of JSON.
func (f *forkFlags) edits() (map[string]any, error) {
	out := make(map[string]any)
	if f.file != "" {
		data, err := os.ReadFile(f.file)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(data, &out); err != nil {
			return nil, fmt.Errorf("read %s: %w", f.file, err)
		}
	}
	for _, set := range f.sets {
		name, text, ok := strings.Cut(set, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--set %q: want name=value", set)
		}
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		path := strings.Split(name, ".")
		at := out
		for _, key := range path[:len(path)-1] {
			inner, ok := at[key].(map[string]any)
			if !ok {
				inner = make(map[string]any)
				at[key] = inner
			}
			at = inner
		}
		at[path[len(path)-1]] = value
	}
	return out, nil
}

// forked forks a conversation with edits of its config.
func forked(ctx context.Context, engine *debate.Engine, id string, seq int64, edits map[string]any) (*debate.Session, error) {
	var mistake error
	var edit func(flow.Config) flow.Config
	if len(edits) > 0 {
		edit = func(config flow.Config) flow.Config {
			var changed flow.Config
			changed, mistake = edited(engine, config, edits)
			return changed
		}
	}
	session, err := engine.Fork(ctx, id, seq, edit)
	switch {
	case mistake != nil:
		return nil, exit(exitArguments, mistake)
	case errors.Is(err, flow.ErrLacking):
		return nil, exit(exitConfig, err)
	}
	return session, err
}

// edited returns a config with other values in some fields. nil: the error says why.
func edited(engine *debate.Engine, config flow.Config, edits map[string]any) (flow.Config, error) {
	data, err := flow.EncodeConfig(config)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		return nil, err
	}
	merge(tree, edits)
	if data, err = json.Marshal(tree); err != nil {
		return nil, err
	}
	changed, err := engine.DecodeConfig(data)
	if err != nil { // an interface that holds a nil pointer is not nil
		return nil, err
	}
	return changed, nil
}

// merge writes edits into a tree, by the rules of JSON Merge Patch (RFC 7396): objects field by field, all else as a whole, and
// null removes a field.
func merge(tree, edits map[string]any) {
	for key, value := range edits {
		inner, isObject := value.(map[string]any)
		present, wasObject := tree[key].(map[string]any)
		switch {
		case value == nil:
			delete(tree, key)
		case isObject && !wasObject:
			present = make(map[string]any)
			tree[key] = present
			merge(present, inner)
		case isObject:
			merge(present, inner)
		default:
			tree[key] = value
		}
	}
}
