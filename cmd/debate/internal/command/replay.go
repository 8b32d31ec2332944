package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// longestGap is the longest that a replay waits between two events.
const longestGap = 3 * time.Second

// replay shows a stored conversation again, or checks its log.
func (p *program) replay() *cobra.Command {
	var speed float64
	var check bool
	c := &cobra.Command{
		Use: "replay [id]", Short: "Show the course of a stored conversation again, or check its log: by default of the newest",
		Long: `Show the course of a stored conversation again, from its log: by default of
the newest. No model is asked. --speed says how many times as fast as it was;
no pause is longer than 3 s.

--check shows nothing. It reads the whole log strictly, as one from elsewhere,
and folds it anew, and says whether it is whole: the numbers and times of the
events, the config, whether each event can stand behind those before it, the
files, and whether the record that comes of it, and the entry in the list, are
those of the store. Then the flow decides again, from the events before each,
the changes of the state that depend on those alone. What people, failures and
limits have changed is not decided again, nor what a fork has copied; and no
reply is judged again, for the log has what came of it.`,
		Example: `  debate replay --speed 20
  debate replay 0198c2f1 --check
  debate replay 0198c2f1 --speed 0 --json`,
		Args:              arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: p.completeIDs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if speed < 0 {
				return exit(exitArguments, errors.New("--speed is at least 0"))
			}
			ctx, stop := p.interruptible(c.Context())
			defer stop()
			engine, id, closing, err := p.openOne(ctx, args, anyNewest())
			if err != nil {
				return interruption(ctx, err)
			}
			defer closing()
			if check {
				return interruption(ctx, p.checkLog(ctx, engine, id))
			}
			return interruption(ctx, p.play(ctx, engine, id, speed))
		},
	}
	c.Flags().Float64Var(&speed, "speed", 10, "how many times as fast as it was; 0: without pauses")
	c.Flags().BoolVar(&check, "check", false, "check the log in place of showing it")
	return c
}

// play shows the events that a conversation has now.
func (p *program) play(ctx context.Context, engine *debate.Engine, id string, speed float64) error {
	record, err := engine.Record(ctx, id)
	if err != nil {
		return err
	}
	show, end := p.course(time.Time{})
	var last time.Time
	for event, err := range engine.Events(ctx, id, 0) {
		if err != nil {
			return err
		}
		if speed > 0 && !last.IsZero() {
			if err := sleep(ctx, min(longestGap, time.Duration(float64(event.At.Sub(last))/speed))); err != nil {
				return err
			}
		}
		last = event.At
		show(&event)
		if event.Seq >= record.Seq {
			break
		}
	}
	end()
	if got := resultOf(record); got.exists && !p.json {
		return p.print(got.text)
	}
	return nil
}

// sleep waits, or returns the error of ctx once that is over.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
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
	other := &debate.Engine{Flows: engine.Flows, Store: &store.Memory{}, Logger: slog.New(slog.DiscardHandler)}
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
