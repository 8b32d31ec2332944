package store

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
)

// Filter selects conversations. All fields that are set must match. The zero value selects all conversations.
type Filter struct {
	States []flow.State      // the conversation is in one of them
	Labels map[string]string // the conversation has all of them, with these values
	// Unfinished leaves out completed and canceled conversations.
	Unfinished bool
	// Working leaves out all conversations that wait or have ended (see [flow.State.Idle]).
	Working bool
	// Idle leaves out conversations whose lease is held.
	Idle bool
	// Due selects what a worker should open now: the conversations that are Idle, whose quarantine is over, and that need a process.
	// A conversation needs one if it is Working and has no alarm that is still to ring, or if it is unfinished and its alarm has
	// rung (see [Alarms]).
	Due bool
	// Asking selects the conversations that are not over and have open questions to persons. One that waits in the state awaitingInput has
	// some even if Info.Asks is 0.
	Asking bool
	// From and Until bound the time at which a conversation was started: at From or later, and before Until.
	From, Until time.Time
	// Text is searched for in the topic and in turns. The case of letters does not matter. The search reads whole
	// logs, so it is the slowest of all conditions.
	Text string
	// Newest reverses the order of ids. The newest come first only if ids sort by time, as UUIDv7s do: those of one's own may not.
	Newest bool
	// After is an id, such as the last of the page before. The list begins behind it, in the order of the list. It need
	// not be the id of a conversation. "": the list begins at its beginning.
	After string
	// Limit bounds the number of conversations in the list. 0: no limit.
	Limit int
	// Per is a label, such as "tenant", by whose values Each bounds the list. Conversations without it have one value together.
	Per string
	// Each bounds how many conversations of each value of the label Per are in the list: the first ones, in its order, of those that
	// all other conditions select, After and Text included. Limit counts what Each has left. 0: no bound. If Per is empty, Each
	// bounds nothing.
	Each int
}

// Info describes a stored conversation.
type Info struct {
	ID        string            `json:"id"`
	Flow      string            `json:"flow,omitempty"`
	Format    string            `json:"format,omitempty"` // the shape of the conversation: a debate's format; "": the flow names none
	State     flow.State        `json:"state"`
	Topic     string            `json:"topic,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Round     int               `json:"round"` // the current round, from 1; 0: before the first
	Seq       int64             `json:"seq"`   // the number of the last event
	StartedAt time.Time         `json:"startedAt,omitzero"`
	LastAt    time.Time         `json:"lastAt,omitzero"` // of the last event
	Since     time.Time         `json:"since,omitzero"`  // when the conversation has come to its state; zero: unknown
	// Asks is how many questions to persons are open, and AskedAt when the oldest of them was asked. Both are zero if the conversation waits
	// since before logs said so.
	Asks    int       `json:"asks,omitempty"`
	AskedAt time.Time `json:"askedAt,omitzero"`
	// Wake is when something follows although nobody answers. In the state awaitingInput it is the time of the alarm, unless
	// SetAlarm has set another one. Zero: nothing follows.
	Wake time.Time `json:"wake,omitzero"`
	// Spent is what the conversation had cost when its state changed last, as far as it is known, and Unsettled what it may have cost
	// beyond that. If the conversation is over and nothing is unsettled, that is final. Otherwise [Info.Recount] brings both up to date,
	// also in an idle state: while a person is awaited, calls go on.
	Spent flow.Money `json:"spent"`
	flow.Unsettled
	// Copied is the part of Spent that a fork has copied from its parent, and CopiedUnsettled that of Unsettled. A sum over several
	// conversations leaves both out.
	Copied          flow.Money     `json:"copied,omitempty"`
	CopiedUnsettled flow.Unsettled `json:"copiedUnsettled,omitzero"`
	// Limit is the hard limit of the cost ([flow.Budget].Hard), as it was amended last. 0: there is none, or the store has kept this
	// conversation since before it kept limits.
	Limit flow.Money `json:"limit,omitempty"`
	// Result names the result of a completed conversation, as Flow.Result does: who has won a debate. "": there is none.
	Result string `json:"result,omitempty"`
	Owner  string `json:"owner,omitempty"` // of the lease; "": there is none
	// Quarantine says that the conversation could not be opened. The zero value: it could, or nobody has tried.
	Quarantine Quarantine `json:"quarantine,omitzero"`
	// Alarm is the time from now to the alarm of the conversation, by the store's clock. Below 0: the alarm has rung. 0: there is
	// none. See [Alarms].
	Alarm flow.Duration `json:"alarm,omitzero"`
	// Err says why the log cannot be read to its end; nil: it can, as far as List has looked. The other fields, except
	// Owner, Quarantine and Alarm, describe what precedes the damage. If Seq is 0, nothing of the log can be read.
	Err error `json:"-"`
}

// Recount sets Spent and Unsettled to what the conversation has cost until now, by its record, which Engine.Record returns. If no process
// holds the lease (Owner is ""), the calls in flight count as broken off ([flow.Record.Abandoned]).
//
//	for info, err := range engine.List(ctx, debate.Filter{Labels: map[string]string{"tenant": "acme"}}) {
//		…
//		record, err := engine.Record(ctx, info.ID)
//		…
//		info.Recount(record)
//		cost += info.Spent - info.Copied
//		unsettled = unsettled.Plus(info.Less(info.CopiedUnsettled))
//	}
func (i *Info) Recount(r *flow.Record) {
	spent := r.Spent()
	i.Spent, i.Unsettled = spent.Cost, spent.Unsettled
	if i.Owner == "" {
		i.Unsettled = i.Plus(r.Abandoned())
	}
}

// Matches reports whether a conversation is selected by all conditions but three: [Filter.Finds] checks Text, [Filter.Shares] checks
// Each, and the caller applies Limit.
//
// A conversation of which nothing can be read is selected, so that it is seen, unless Labels is set.
func (f Filter) Matches(info Info) bool {
	unread := info.Err != nil && info.Seq == 0
	if unread {
		f.States, f.Unfinished, f.Working, f.Asking, f.From, f.Until = nil, false, false, false, time.Time{}, time.Time{}
	}
	switch {
	case len(f.States) > 0 && !slices.Contains(f.States, info.State),
		f.Unfinished && info.State.Final(),
		f.Working && info.State.Idle(),
		(f.Idle || f.Due) && info.Owner != "",
		f.Due && info.Quarantine.Left > 0,
		f.Due && !unread && !info.needsProcess(),
		f.Asking && info.Asks == 0 && info.State != flow.StateAwaitingInput,
		!f.From.IsZero() && info.StartedAt.Before(f.From),
		!f.Until.IsZero() && !info.StartedAt.Before(f.Until):
		return false
	}
	for key, value := range f.Labels {
		if got, ok := info.Labels[key]; !ok || got != value {
			return false
		}
	}
	switch {
	case f.After == "":
		return true
	case f.Newest:
		return info.ID < f.After
	default:
		return info.ID > f.After
	}
}

// needsProcess reports whether a conversation needs a process now, whoever holds its lease.
func (i *Info) needsProcess() bool {
	if i.Alarm < 0 {
		return !i.State.Final()
	}
	return i.Alarm == 0 && !i.State.Idle()
}

// Finds reports whether an event contains Text: the topic of a start, or the text of a turn. An empty Text is in every
// event.
func (f Filter) Finds(e *flow.Event) bool {
	if f.Text == "" {
		return true
	}
	switch body := e.Body.(type) {
	case *flow.Start:
		return containsFold(body.Settings.Topic, f.Text)
	case *flow.Turn:
		return containsFold(body.Text, f.Text)
	default:
		return false
	}
}

// Shares reports whether Each lets one more conversation into a list, in which all other conditions select it. each counts those of each
// value of the label Per; Shares adds this one. A [Store] calls it for one conversation after the other, before it applies Limit.
func (f Filter) Shares(info Info, each map[string]int) bool {
	if f.Per == "" || f.Each <= 0 {
		return true
	}
	each[info.Labels[f.Per]]++
	return each[info.Labels[f.Per]] <= f.Each
}

// containsFold reports whether a text contains a part, in letters of any case.
func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// Order compares two ids in the order of the list.
func (f Filter) Order(a, b string) int {
	if f.Newest {
		a, b = b, a
	}
	return strings.Compare(a, b)
}

// Add updates the description with the next event of the log. It sets all fields but ID, Owner, Quarantine and Alarm,
// which the store sets.
func (i *Info) Add(e *flow.Event) {
	switch body := e.Body.(type) {
	case *flow.Start:
		i.Flow, i.Format = body.Flow, body.Shape
		i.Topic, i.Labels, i.StartedAt = body.Settings.Topic, maps.Clone(body.Settings.Labels), e.At
		i.limit(body.Settings.Budget)
		if body.Parent != nil {
			i.Copied, i.CopiedUnsettled = body.Parent.Spent.Cost, body.Parent.Spent.Unsettled
		}
	case *flow.Transition:
		if body.From != body.To {
			i.Since = e.At
		}
		i.State, i.Spent, i.Unsettled, i.Result = body.To, body.Spent, body.Unsettled, body.Result
		if body.To.Final() {
			i.Asks, i.AskedAt, i.Wake = 0, time.Time{}, time.Time{}
		}
	case *flow.Questions:
		i.Asks, i.AskedAt, i.Wake = body.Open, body.Since, body.Wake
	case *flow.Round:
		i.Round = body.N
	case *flow.Amendment:
		if body.Budget != nil {
			i.limit(body.Budget)
		}
	}
	i.Seq, i.LastAt = e.Seq, e.At
}

func (i *Info) limit(b *flow.Budget) {
	i.Limit = 0
	if b != nil {
		i.Limit = b.Hard
	}
}
