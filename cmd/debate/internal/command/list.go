package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	asking     bool
	since      string
	limit      int
}

// list lists the conversations of the store.
func (p *program) list() *cobra.Command {
	var f listFlags
	c := &cobra.Command{
		Use: "list", Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.interruptible(c.Context(), func(ctx context.Context) error { return p.runList(ctx, &f) })
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.states, "state", nil, "only those in one of these `states`, such as paused,waits,failed")
	completeFlag(c, "state", func() []string { return slices.Sorted(maps.Values(stateWords())) })
	flags.StringArrayVar(&f.labels, "label", nil, "only those with this label, as `name=value`; can be repeated")
	flags.StringVar(&f.text, "text", "", "only those whose topic or turns contain this text")
	flags.BoolVar(&f.unfinished, "unfinished", false, "only those that are not over")
	flags.BoolVar(&f.asking, "asking", false, "only those in which a person is asked something")
	flags.StringVar(&f.since, "since", "", "only those started since: an `age` such as 90m, 12h or 7d, or a date such as 2026-01-31")
	flags.IntVar(&f.limit, "limit", 50, "how many there are at most; 0: all")
	return c
}

func (p *program) runList(ctx context.Context, f *listFlags) error {
	engine, closing, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer closing()
	filter, err := f.filter(time.Now())
	if err != nil {
		return exit(exitArguments, err)
	}
	found := []listed{}
	for info, err := range engine.List(ctx, filter) {
		if err != nil {
			return err
		}
		found = append(found, listedOf(ctx, engine, info))
	}
	return p.showList(found, f)
}

// filter returns what the flags select. It asks for one conversation more than is shown, so that it is known whether there are
// more.
func (f *listFlags) filter(now time.Time) (store.Filter, error) {
	filter := store.Filter{Newest: true, Unfinished: f.unfinished, Asking: f.asking, Text: f.text}
	if f.limit < 0 {
		return filter, errors.New("--limit is at least 0")
	}
	if f.limit > 0 {
		filter.Limit = f.limit + 1
	}
	for i, name := range f.states {
		for state, word := range stateWords() {
			if name == word || name == string(state) {
				filter.States = append(filter.States, state)
			}
		}
		if len(filter.States) == i {
			return filter, flow.Unknown("state", name, slices.Sorted(maps.Values(stateWords()))...)
		}
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

// listed is a conversation in a list.
type listed struct {
	store.Info

	Error string `json:"error,omitempty"` // why it cannot be read

	asks string // who is asked, and until when
}

// listedOf returns a conversation with what it has cost until now.
func listedOf(ctx context.Context, engine *debate.Engine, info store.Info) listed {
	out := listed{Info: info}
	if info.Err == nil && (!info.State.Final() || info.Unsettled != flow.Unsettled{}) {
		if record, err := engine.Record(ctx, info.ID); err == nil { // what cannot be read is listed all the same
			out.Recount(record)
			out.asks = whoIsAsked(record)
		}
	}
	if info.Err != nil {
		out.Error = info.Err.Error()
	}
	return out
}

// whoIsAsked names those who are asked something, each with the end of their time if there is one.
func whoIsAsked(record *flow.Record) string {
	var all []string
	for i := range record.Inquiries {
		q := &record.Inquiries[i]
		who := progress.Clean(called(record, q.To))
		if len(q.Options) > 0 { // of anybody
			who = strings.TrimSpace("about " + who)
		}
		if !q.Until.IsZero() {
			who += " until " + minute(q.Until)
		}
		all = append(all, who)
	}
	return strings.Join(all, "; ")
}

// minute writes a time as people of the place read it.
func minute(t time.Time) string {
	return t.Local().Format("Jan 02 15:04") //nolint:gosmopolitan // people read the time of their place
}

// wide is how many columns a list has in which the flow has one, and narrow how many it has in which more than the topic has one.
const (
	wide   = 100
	narrow = 60
)

func (p *program) showList(found []listed, f *listFlags) error {
	more := f.limit > 0 && len(found) > f.limit
	if more {
		found = found[:f.limit]
	}
	switch {
	case p.json:
		if err := p.printValue(found); err != nil {
			return err
		}
	case len(found) == 0 && len(f.states)+len(f.labels) == 0 && f.text+f.since == "" && !f.unfinished && !f.asking:
		p.warnf("There are no conversations yet in %s.", shown(p.place()))
	case len(found) == 0:
		p.warnf("There is no such conversation in %s.", shown(p.place()))
	default:
		if err := p.listTable(found, columns(p.Out), f.asking); err != nil {
			return err
		}
		for i := range found {
			if held := quarantined(&found[i].Info); held != "" {
				p.warnf("%s: %s", shortID(found[i].ID), held)
			}
		}
	}
	if more {
		p.warnf("There are more than %d: --limit 0 lists all.", f.limit)
	}
	return nil
}

// listTable prints the conversations. On a terminal of so many columns the ids are short, and a row takes one line. With 0 columns it is
// none, and the ids are whole. asking means that who is asked, and since when, stands in the place of the start and the cost.
func (p *program) listTable(found []listed, width int, asking bool) error {
	t := &table{out: p.Out, width: width, short: true}
	add := func(row ...string) {
		id, started, state, round, cost, about := row[0], row[1], row[3], row[4], row[5], row[6]
		switch {
		case width == 0 || width >= wide:
			t.texts(row)
		case width < narrow && asking:
			t.texts([]string{id, cost, about})
		case width < narrow:
			t.texts([]string{id, state, about})
		default:
			if known, _, more := strings.Cut(cost, ", "); more && !asking { // how much stands in show
				cost = known + "+"
			}
			t.texts([]string{id, started, state, round, cost, about})
		}
	}
	head := []string{"ID", "STARTED", "FLOW", "STATE", "ROUND", "COST", "TOPIC"}
	if asking {
		head[1], head[5] = "ASKED", "WHO"
	}
	add(head...)
	for i := range found {
		cells := found[i].cells()
		if asking {
			if cells[1] = "-"; !found[i].AskedAt.IsZero() {
				cells[1] = minute(found[i].AskedAt)
			}
			cells[5] = dashed(found[i].asks)
		}
		if width > 0 {
			cells[0] = shortID(cells[0])
		}
		add(cells...)
	}
	return t.end()
}

// cells returns a row of the list, with the whole id and topic.
func (l *listed) cells() []string {
	if l.Err != nil {
		return []string{l.ID, "-", dashed(l.Flow), "unreadable", "-", "-", l.Error}
	}
	state := stateWord(l.State, l.Owner != "")
	if l.Quarantine != (store.Quarantine{}) {
		state += "!"
	}
	return []string{
		l.ID, minute(madeAt(l.ID, l.StartedAt)), l.Flow, state, strconv.Itoa(l.Round),
		l.Less(l.CopiedUnsettled).Short(max(0, l.Spent-l.Copied)), l.Topic,
	}
}

// madeAt returns when a conversation was made that was started then. A fork has the start of what it continues, and an id that the engine
// has drawn, a UUIDv7, begins with the time.
func madeAt(id string, started time.Time) time.Time {
	if shortID(id) == id || id[14] != '7' {
		return started
	}
	milliseconds, err := strconv.ParseInt(id[:8]+id[9:13], 16, 64)
	if made := time.UnixMilli(milliseconds); err == nil && made.After(started) {
		return made
	}
	return started
}

// stateWords are the words of the list for states in which no process works on a conversation.
func stateWords() map[flow.State]string {
	return map[flow.State]string{
		flow.StatePaused: "paused", flow.StateAwaitingInput: "waits", flow.StateError: "failed",
		flow.StateCompleted: "done", flow.StateCanceled: "canceled",
	}
}

// stateWord says in a word what a conversation does.
func stateWord(state flow.State, held bool) string {
	switch word := stateWords()[state]; {
	case word != "":
		return word
	case held:
		return "running"
	default:
		return "idle"
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
