package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// listFlags are the flags of the command list.
type listFlags struct {
	states     []string
	labels     []string
	text       string
	unfinished bool
	since      string
	limit      int
}

// list lists the conversations of the store.
func (p *program) list() *cobra.Command {
	var f listFlags
	c := &cobra.Command{
		Use: "list", Short: "List the conversations, the newest first", Args: arguments(cobra.NoArgs),
		Long: `List the conversations, the newest first: id, start, flow, state, round, cost
and topic. A star behind the state means that a process runs the conversation
now. An exclamation mark means that it is in quarantine: it could not be
opened, and a line below the list says why. The cost is what was spent until
now, and then the most that was spent beyond it, by calls that were broken off
and by replies without a reported usage. What a fork has copied is left out of
both. --json has all four: spent, atMost, copied and copiedUnsettled.`,
		Example: `  debate list --unfinished
  debate list --state awaitingInput --since 7d
  debate list --text "rate limiter" --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := p.interruptible(c.Context())
			defer stop()
			engine, closing, err := p.open(ctx)
			if err != nil {
				return err
			}
			defer closing()
			filter, err := f.filter(engine, time.Now())
			if err != nil {
				return exit(exitArguments, err)
			}
			found := []listed{}
			for info, err := range engine.List(ctx, filter) {
				if err != nil {
					return interruption(ctx, err)
				}
				found = append(found, listedOf(ctx, engine, info))
			}
			return p.showList(found, f.limit)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.states, "state", nil, "only those in one of these `states`, such as paused,awaitingInput,error")
	flags.StringArrayVar(&f.labels, "label", nil, "only those with this label, as `name=value`; can be repeated")
	flags.StringVar(&f.text, "text", "", "only those whose topic or turns contain this text")
	flags.BoolVar(&f.unfinished, "unfinished", false, "only those that are not over")
	flags.StringVar(&f.since, "since", "", "only those started since: an `age` such as 90m, 12h or 7d, or a date such as 2026-01-31")
	flags.IntVar(&f.limit, "limit", 50, "how many there are at most; 0: all")
	return c
}

// filter returns what the flags select. It asks for one conversation more than is shown, so that it is known whether there are
// more.
func (f *listFlags) filter(engine *debate.Engine, now time.Time) (store.Filter, error) {
	filter := store.Filter{Newest: true, Unfinished: f.unfinished, Text: f.text}
	if f.limit < 0 {
		return filter, errors.New("--limit is at least 0")
	}
	if f.limit > 0 {
		filter.Limit = f.limit + 1
	}
	known := states(engine)
	for _, name := range f.states {
		if !slices.Contains(known, name) {
			return filter, flow.Unknown("state", name, known...)
		}
		filter.States = append(filter.States, flow.State(name))
	}
	var err error
	if filter.Labels, err = labelled(f.labels); err == nil && f.since != "" {
		filter.From, err = since("since", f.since, now)
	}
	return filter, err
}

// labelled reads labels, each as name=value.
func labelled(labels []string) (map[string]string, error) {
	if len(labels) == 0 {
		return nil, nil //nolint:nilnil // there are none
	}
	out := make(map[string]string)
	for _, label := range labels {
		name, value, ok := strings.Cut(label, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--label %q: want name=value", label)
		}
		out[name] = value
	}
	return out, nil
}

// since reads a point in the past, which a flag names: an age, a date, or a time.
func since(flag, text string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if age, err := time.ParseDuration(text); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("--%s %q: want an age such as 90m, 12h or 7d, or a date such as 2026-01-31", flag, text)
}

// states returns the names of the states in which a stored conversation can be.
func states(engine *debate.Engine) []string {
	out := []string{
		string(flow.StateInitializing), string(flow.StatePaused), string(flow.StateAwaitingInput), string(flow.StateCompleting),
		string(flow.StateCompleted), string(flow.StateCanceled), string(flow.StateError),
	}
	var own []string
	for _, f := range flows(engine) {
		for state := range f.Steps {
			if !slices.Contains(out, string(state)) && !slices.Contains(own, string(state)) {
				own = append(own, string(state))
			}
		}
	}
	slices.Sort(own)
	return append(own, out...)
}

// listed is a conversation in a list.
type listed struct {
	store.Info

	Error string `json:"error,omitempty"` // why it cannot be read
}

// listedOf returns a conversation with what it has cost until now.
func listedOf(ctx context.Context, engine *debate.Engine, info store.Info) listed {
	out := listed{Info: info}
	if info.Err == nil && (!info.State.Final() || info.Unsettled != flow.Unsettled{}) {
		if record, err := engine.Record(ctx, info.ID); err == nil { // what cannot be read is listed all the same
			out.Recount(record)
		}
	}
	if info.Err != nil {
		out.Error = info.Err.Error()
	}
	return out
}

func (p *program) showList(found []listed, limit int) error {
	more := limit > 0 && len(found) > limit
	if more {
		found = found[:limit]
	}
	switch {
	case p.json:
		if err := p.printValue(found); err != nil {
			return err
		}
	case len(found) == 0:
		p.warnf("There is no such conversation in %s.", shown(p.place()))
	default:
		t := newTable(p.Out)
		t.row("ID", "STARTED", "FLOW", "STATE", "ROUND", "COST", "TOPIC")
		for i := range found {
			t.row(found[i].cells()...)
		}
		if err := t.end(); err != nil {
			return err
		}
		for i := range found {
			if held := quarantined(&found[i].Info); held != "" {
				p.warnf("%s: %s", found[i].ID, held)
			}
		}
	}
	if more {
		p.warnf("There are more than %d: --limit 0 lists all.", limit)
	}
	return nil
}

func (l *listed) cells() []any {
	if l.Err != nil {
		return []any{l.ID, "-", dashed(l.Flow), "unreadable", "-", "-", short(l.Error, 60)}
	}
	state := string(l.State)
	if l.Owner != "" {
		state += "*"
	}
	if l.Quarantine != (store.Quarantine{}) {
		state += "!"
	}
	started := l.StartedAt.Local().Format("2006-01-02 15:04") //nolint:gosmopolitan // people read the time of their place
	return []any{
		l.ID, started, l.Flow, state, l.Round,
		l.Less(l.CopiedUnsettled).Short(max(0, l.Spent-l.Copied)), short(l.Topic, 60),
	}
}

// quarantined says that a conversation could not be opened, why, and how long workers leave it alone; "": it could be.
func quarantined(info *store.Info) string {
	q := info.Quarantine
	if q == (store.Quarantine{}) {
		return ""
	}
	text := fmt.Sprintf("in quarantine: could not be opened, %s: %s", progress.Plural(q.Count, "time"), progress.Clean(q.Reason))
	if q.Left > 0 {
		text += fmt.Sprintf("; workers leave it alone for %s", progress.Span(time.Duration(q.Left)))
	}
	return text
}
