package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// export writes a conversation for another store, or checks its log.
func (p *program) export() *cobra.Command {
	var output string
	var check bool
	c := &cobra.Command{
		Use: "export id", Args: arguments(cobra.ExactArgs(1)), ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := exclusive(c, "check", "output"); err != nil {
				return err
			}
			if err := p.spare("output", output); err != nil {
				return err
			}
			ctx, stop := p.interruptible(c.Context())
			defer stop()
			engine, id, closing, err := p.openOne(ctx, args, choice{last: anyNewest().last})
			if err != nil {
				return interruption(ctx, err)
			}
			defer closing()
			if check {
				return interruption(ctx, p.checkLog(ctx, engine, id))
			}
			return interruption(ctx, p.runExport(ctx, engine, id, output))
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "the file")
	c.Flags().BoolVar(&check, "check", false, "check the log in place of writing it")
	return c
}

func (p *program) runExport(ctx context.Context, engine *debate.Engine, id, output string) error {
	var whole bytes.Buffer
	if err := engine.Export(ctx, id, &whole); err != nil {
		return err
	}
	write := func(w io.Writer) error {
		_, err := w.Write(escaped(whole.Bytes())) // it may be shown on a terminal
		return err
	}
	if output == "" {
		return write(p.Out)
	}
	if err := writeFile(output, write); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	p.warnf("Exported to %s.", output)
	return nil
}

// checked is what a check of a log has found.
type checked struct {
	ID     string `json:"id"`
	Events int64  `json:"events"`
	// Decisions is how many changes of the state the flow has decided again, as they were.
	Decisions int        `json:"decisions"`
	State     flow.State `json:"state"`
	Files     int        `json:"files"`
}

// sameRecord compares what a log says with what it says when it is read again, which may be later.
func sameRecord(record, again *flow.Record) error {
	if again.Seq < record.Seq {
		return fmt.Errorf("it has %d events, and was read again with %d", record.Seq, again.Seq)
	}
	if again.Seq > record.Seq {
		return nil // it has grown meanwhile
	}
	first, err := json.Marshal(record)
	if err != nil {
		return err
	}
	second, err := json.Marshal(again)
	if err != nil {
		return err
	}
	if !bytes.Equal(first, second) {
		return fmt.Errorf("it ends in %s, and when it is read again in %s, with another record", record.State, again.State)
	}
	return nil
}

// checkLog reads a log as one from elsewhere, which is not trusted, and compares what it says with what this store says.
func (p *program) checkLog(ctx context.Context, engine *debate.Engine, id string) error {
	record, err := engine.Record(ctx, id)
	if err != nil {
		return fmt.Errorf("the log is damaged: %w", err)
	}
	var log bytes.Buffer
	if err := engine.Export(ctx, id, &log); err != nil {
		return fmt.Errorf("the log is damaged: %w", err)
	}
	other := beside(engine)
	if _, err := other.Import(ctx, &log); err != nil {
		return fmt.Errorf("the log is not whole: %w", err)
	}
	again, err := other.Record(ctx, id)
	if err != nil {
		return fmt.Errorf("the log is not whole: %w", err)
	}
	if err := sameRecord(record, again); err != nil {
		return fmt.Errorf("the log is not whole: %w", err)
	}
	info, err := store.InfoOf(ctx, engine.Store, id)
	if err != nil {
		return err
	}
	if info.Seq == again.Seq && (info.State != again.State || info.Round != again.Round || info.Flow != again.Flow()) {
		return fmt.Errorf("the list is wrong: it has %s, %s in round %d, and the log %s, %s in round %d",
			info.Flow, info.State, info.Round, again.Flow(), again.State, again.Round)
	}
	decisions, err := redecide(ctx, engine, record)
	if err != nil {
		return fmt.Errorf("the log is not what the flow decides: %w", err)
	}
	found := checked{ID: id, Events: again.Seq, Decisions: decisions, State: again.State, Files: len(again.Files())}
	if p.json {
		return p.printValue(found)
	}
	p.printf("%s is whole: %d events, %s, %s, %s.\n", id, found.Events, progress.Plural(decisions, "decision"),
		progress.Plural(found.Files, "file"), found.State)
	return nil
}

// redecide lets the flow decide again, from the events before, each change of the state that it has decided alone, and compares
// it with the log. It returns how many there are. The copied part of a fork is left out: it was decided under another config.
func redecide(ctx context.Context, engine *debate.Engine, record *flow.Record) (int, error) {
	var events []flow.Event
	copied := int64(0)
	for event, err := range engine.Store.Read(ctx, record.ID, 0) {
		if err != nil {
			return 0, err
		}
		if start, ok := event.Body.(*flow.Start); ok && start.Parent != nil {
			copied = start.Parent.Seq
		}
		if events = append(events, event); event.Seq >= record.Seq {
			break
		}
	}
	flows, err := compiled(engine)
	if err != nil {
		return 0, err
	}
	f, decided := flowOf(engine, record.Flow()), 0
	for i := range events {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		said, ok := events[i].Body.(*flow.Transition)
		if !ok || events[i].Seq <= copied || !alone(f, said) {
			continue
		}
		again, err := next(flows, record.ID, events[:i], &events[i])
		if err != nil {
			return 0, fmt.Errorf("event %d: %w", events[i].Seq, err)
		}
		if again == nil || [2]flow.State{again.From, again.To} != [2]flow.State{said.From, said.To} ||
			again.On != said.On || again.Reason != said.Reason || again.By != said.By {
			return 0, fmt.Errorf("event %d goes %s, and the flow decides to go %s", events[i].Seq, way(said), way(again))
		}
		decided++
	}
	return decided, nil
}

// alone reports whether the flow decides a change of the state by the events before it alone: nobody has asked for it, no
// failure and no limit has caused it.
func alone(f *flow.Flow, t *flow.Transition) bool {
	if f == nil || t.By == flow.EndedByHost || t.Call != "" || slices.Contains(f.Inputs, t.On) {
		return false
	}
	switch t.On {
	case flow.TriggerInitialized, flow.TriggerComplete, flow.TriggerCompleted:
		return true
	default: // one of the flow's own
		return !slices.ContainsFunc(flow.Lifecycle(), func(rule flow.Rule) bool { return rule.On == t.On })
	}
}

// next returns the change of the state that follows events at the time of the next one; nil: there is none.
func next(flows flow.Flows, id string, before []flow.Event, at *flow.Event) (*flow.Transition, error) {
	core, err := flow.NewCore(flows, map[string]window.Manager{
		flow.ContextTruncate: window.Truncate{}, flow.ContextSliding: window.Sliding{}, flow.ContextSummarize: window.Summarize{},
		flow.DefaultContext: window.Hybrid{},
	}, id, before)
	if err != nil {
		return nil, err
	}
	out, err := core.Step(flow.Input{At: at.At, Signal: flow.Tick{}})
	if err != nil {
		return nil, err
	}
	for i := range out.Events {
		if t, ok := out.Events[i].Body.(*flow.Transition); ok {
			return t, nil
		}
	}
	return nil, nil //nolint:nilnil // the flow stays where it is
}

// compiled returns the flows of an engine as a core takes them.
func compiled(engine *debate.Engine) (flow.Flows, error) {
	all := flow.Flows{Machines: make(map[string]*flow.Machine), First: debate.FlowName}
	for _, f := range flows(engine) {
		machine, err := flow.Compile(f)
		if err != nil {
			return flow.Flows{}, err
		}
		all.Machines[f.Name] = machine
	}
	return all, nil
}

// way says how the state changes.
func way(t *flow.Transition) string {
	if t == nil {
		return "nowhere"
	}
	return strings.TrimSpace(fmt.Sprintf("from %s to %s by %s %s", t.From, t.To, t.On, t.Reason))
}
