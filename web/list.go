package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

const (
	mostListed = 100
	usualList  = 50
)

// listing is a page of a list.
type listing struct {
	Conversations []item `json:"conversations"`
	Next          string `json:"next,omitempty"` // the parameter after of the next page; "": there is none
}

// item is a conversation in a list.
type item struct {
	brief
	*detail // nil: the caller may not see it
}

// brief is what all see of a conversation in a list.
type brief struct {
	ID        string     `json:"id"`
	Flow      string     `json:"flow,omitempty"`
	Format    string     `json:"format,omitempty"`
	State     flow.State `json:"state"`
	Topic     string     `json:"topic,omitempty"`
	Round     int        `json:"round"`
	Seq       int64      `json:"seq"` // of the last event
	StartedAt time.Time  `json:"startedAt,omitzero"`
	LastAt    time.Time  `json:"lastAt,omitzero"`
	Since     time.Time  `json:"since,omitzero"`   // when it has come to its state
	Asks      int        `json:"asks,omitempty"`   // open questions
	AskedAt   time.Time  `json:"askedAt,omitzero"` // of the oldest of them
	Result    string     `json:"result,omitempty"`
}

// detail is what those see of a conversation in a list who may inspect it; see [store.Info].
type detail struct {
	Labels map[string]string `json:"labels,omitempty"`
	Spent  flow.Money        `json:"spent"`
	flow.Unsettled

	Copied          flow.Money       `json:"copied,omitempty"`
	CopiedUnsettled flow.Unsettled   `json:"copiedUnsettled,omitzero"`
	Limit           flow.Money       `json:"limit,omitempty"`
	Owner           string           `json:"owner,omitempty"`
	Quarantine      store.Quarantine `json:"quarantine,omitzero"`
	Error           string           `json:"error,omitempty"` // why it cannot be read
}

// itemOf returns what a caller sees of a conversation in a list.
func itemOf(info *store.Info, inspects bool) item {
	one := item{brief: brief{
		info.ID, info.Flow, info.Format, info.State, info.Topic, info.Round, info.Seq, info.StartedAt, info.LastAt, info.Since, info.Asks,
		info.AskedAt, info.Result,
	}}
	if !inspects {
		return one
	}
	one.detail = &detail{
		Labels: info.Labels, Spent: info.Spent, Unsettled: info.Unsettled, Copied: info.Copied, CopiedUnsettled: info.CopiedUnsettled,
		Limit: info.Limit, Owner: info.Owner, Quarantine: info.Quarantine,
	}
	if info.Err != nil {
		one.Error = text.OneLine(redact.Foreign(info.Err.Error()), mostDetail)
	}
	return one
}

// filter returns what selects conversations of the scope. ok is false if the query contradicts the scope: then there is none.
func (x *exchange) filter() (f store.Filter, ok bool, err error) {
	f = store.Filter{Labels: maps.Clone(x.caller.Labels), Text: x.query.Get("q"), After: x.query.Get("after"), Newest: true}
	for _, state := range x.query["state"] {
		f.States = append(f.States, flow.State(state))
	}
	ok = true
	for name, values := range x.query {
		label, is := strings.CutPrefix(name, "label.")
		if !is {
			continue
		}
		switch bound, has := x.caller.Labels[label]; {
		case has && bound != values[0]:
			ok = false
		case !has && !x.may(Inspect, ""): // who does not see labels could guess them
			return f, ok, &DeniedError{Err: errors.New("to select by labels is not allowed")}
		}
		if f.Labels == nil {
			f.Labels = make(map[string]string)
		}
		f.Labels[label] = values[0]
	}
	if f.Asking, err = x.yes("asking"); err != nil {
		return f, ok, err
	}
	f.Unfinished, err = x.yes("unfinished")
	return f, ok, err
}

// search does something that may read whole logs, if a text is searched for: only few do so at a time, and only who may inspect.
func (x *exchange) search(f *store.Filter, do func() error) error {
	if f.Text == "" {
		return do()
	}
	if !x.may(Inspect, "") {
		return &DeniedError{Err: errors.New("to search in texts is not allowed")}
	}
	select {
	case x.handler.searches <- struct{}{}:
		defer func() { <-x.handler.searches }()
		return do()
	default:
		err := errors.New("others are searching: try again")
		return &refusal{status: http.StatusServiceUnavailable, after: time.Second, err: err}
	}
}

// list returns conversations.
func (x *exchange) list() error {
	limit, err := x.number("limit", usualList, mostListed)
	if err != nil {
		return err
	}
	filter, some, err := x.filter()
	if err != nil {
		return err
	}
	filter.Limit = int(limit) + 1 // one more tells whether there is another page
	out, inspects := listing{Conversations: []item{}}, x.may(Inspect, "")
	if !some || limit == 0 {
		return x.reply(x.operation.status, out)
	}
	err = x.search(&filter, func() error {
		for info, err := range x.handler.engine.List(x.request.Context(), filter) {
			if err != nil {
				return &flow.Error{Kind: provider.KindStore, Op: "list", Err: err}
			}
			if len(out.Conversations) == int(limit) {
				out.Next = out.Conversations[limit-1].ID
				break
			}
			out.Conversations = append(out.Conversations, itemOf(&info, inspects))
		}
		return nil
	})
	if err != nil {
		return err
	}
	return x.reply(x.operation.status, out)
}

// summed is what conversations have cost, and may still cost.
type summed struct {
	Sum  store.Sum  `json:"sum"`
	Most flow.Money `json:"most"` // what they cost in the end at most, unless some are unlimited
	// Quota is what all conversations of the scope may cost together, and Remains what is left of it.
	Quota   flow.Money  `json:"quota,omitempty"`
	Remains *flow.Money `json:"remains,omitempty"` // nil: there is no quota
}

// sum adds up conversations.
func (x *exchange) sum() error {
	filter, some, err := x.filter()
	if err != nil {
		return err
	}
	var out summed
	err = x.search(&filter, func() error {
		if !some {
			return nil
		}
		sum, err := store.SumOf(x.request.Context(), x.handler.engine.Store, filter)
		if err != nil {
			return &flow.Error{Kind: provider.KindStore, Op: "sum", Err: err}
		}
		out.Sum, out.Most = sum, sum.Most()
		return nil
	})
	if err != nil {
		return err
	}
	if out.Remains, out.Quota, err = x.remains(); err != nil {
		return err
	}
	return x.reply(x.operation.status, out)
}

// remains returns what is left of the quota of the scope, and the quota. nil: there is none.
func (x *exchange) remains() (left *flow.Money, quota flow.Money, err error) {
	if x.handler.options.Quota == nil {
		return nil, 0, nil
	}
	of, err := x.handler.accountOf(x.request.Context(), x.caller.Labels)
	if err != nil || of.quota <= 0 {
		return nil, 0, err
	}
	return new(of.remains()), of.quota, nil
}

// inbox is the open questions of many conversations.
type inbox struct {
	Questions []asked `json:"questions"`
	Next      string  `json:"next,omitempty"` // the parameter after of the next page; "": there is none
}

// asked is an open question, with the conversation that waits for its answer.
type asked struct {
	Conversation item          `json:"conversation"`
	Question     flow.Question `json:"question"`
}

// inbox returns the open questions that the caller may answer: those of one page of conversations, the oldest first.
func (x *exchange) inbox() error {
	filter := store.Filter{Labels: x.caller.Labels, Asking: true, After: x.query.Get("after"), Limit: usualList}
	var found []store.Info
	for info, err := range x.handler.engine.List(x.request.Context(), filter) {
		if err != nil {
			return &flow.Error{Kind: provider.KindStore, Op: "list", Err: err}
		}
		found = append(found, info)
	}
	out := inbox{Questions: []asked{}}
	if len(found) == usualList {
		out.Next = found[usualList-1].ID
	}
	slices.SortStableFunc(found, func(a, b store.Info) int { return a.AskedAt.Compare(b.AskedAt) })
	for i := range found {
		x.info = found[i]
		f, err := x.record()
		if err != nil {
			continue // it is damaged, or was deleted meanwhile: the list says so
		}
		for _, q := range x.questions(f.Record) {
			out.Questions = append(out.Questions, asked{itemOf(&found[i], false), q})
		}
	}
	x.info = store.Info{}
	return x.reply(x.operation.status, out)
}

// kinds are the kinds of conversations.
type kinds struct {
	Flows   []kind                 `json:"flows"`
	Options map[flow.Option]string `json:"options"` // what the options of questions do
}

// kind is a flow.
type kind struct {
	Name    string          `json:"name"`
	Schema  json.RawMessage `json:"schema,omitempty"` // of its configs; nil: the flow has none
	Mermaid string          `json:"mermaid"`          // its states
}

// flows returns the kinds of conversations that the engine has.
func (x *exchange) flows() error {
	all := map[string]*flow.Flow{debate.FlowName: debate.DebateFlow()}
	maps.Copy(all, x.handler.engine.Flows)
	out := kinds{Options: make(map[flow.Option]string)}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] == nil {
			continue // the engine refuses to run
		}
		one := kind{Name: name, Mermaid: all[name].Mermaid()}
		if schema, err := x.handler.engine.ConfigSchema(name); err == nil {
			one.Schema = schema
		}
		out.Flows = append(out.Flows, one)
	}
	for _, option := range []flow.Option{
		flow.OptionRetry, flow.OptionWait, flow.OptionModel, flow.OptionStandIn, flow.OptionSummarize, flow.OptionTruncate, flow.OptionSkip,
		flow.OptionDrop, flow.OptionEnd, flow.OptionContinue, flow.OptionApprove, flow.OptionAlways, flow.OptionDeny, flow.OptionAgain,
		flow.OptionDone, flow.OptionTell,
	} {
		out.Options[option] = option.Meaning()
	}
	return x.reply(x.operation.status, out)
}

// shapes are the formats of debates.
type shapes struct {
	Formats []shape `json:"formats"`
}

// shape is a format.
type shape struct {
	Format format.Format `json:"format"`
	Least  int           `json:"least"` // participants
	Most   int           `json:"most"`
}

// formats returns the formats of debates that the engine has.
func (x *exchange) formats() error {
	all := make(map[string]format.Format)
	for _, one := range format.Builtin() {
		all[one.Name] = one
	}
	for name, one := range x.handler.engine.Formats {
		one.Name = name
		all[name] = one
	}
	var out shapes
	for _, one := range slices.SortedFunc(maps.Values(all), func(a, b format.Format) int { return cmp.Compare(a.Name, b.Name) }) {
		least, most := one.Participants()
		out.Formats = append(out.Formats, shape{one, least, most})
	}
	return x.reply(x.operation.status, out)
}

// offers are the presets.
type offers struct {
	Presets []Preset `json:"presets"`
}

// presets returns the configs to begin with.
func (x *exchange) presets() error {
	return x.reply(x.operation.status, offers{append([]Preset{}, x.handler.options.Presets...)})
}
