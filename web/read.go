package web

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// reading is a conversation as it is now, and what its reader may do with it.
type reading struct {
	Record json.RawMessage `json:"record"` // as its flow writes it; of those who only view, an [outline]
	// Legal are the operations that are possible now, and for which the reader has the right.
	Legal []string `json:"legal,omitempty"`
	// Inputs are the flow's own that are possible now: the triggers of the operation send.
	Inputs    []flow.Trigger  `json:"inputs,omitempty"`
	Questions []flow.Question `json:"questions,omitempty"` // the open ones that the reader may answer
	Degraded  []string        `json:"degraded,omitempty"`  // where the conversation fell short of its config
	Owner     string          `json:"owner,omitempty"`     // the process that works on it
	Limit     flow.Money      `json:"limit,omitempty"`     // the hard limit of the cost in force
}

// outline is a record as those see it who only view.
type outline struct {
	ID           string     `json:"id"`
	Flow         string     `json:"flow"`
	Format       string     `json:"format,omitempty"`
	State        flow.State `json:"state"`
	Topic        string     `json:"topic"`
	Language     string     `json:"language,omitempty"`
	Round        int        `json:"round"`
	Rounds       int        `json:"rounds,omitempty"` // at most
	StartedAt    time.Time  `json:"startedAt,omitzero"`
	LastAt       time.Time  `json:"lastAt,omitzero"`
	Seq          int64      `json:"seq"`
	Participants []speaker  `json:"participants,omitempty"`
	Result       string     `json:"result,omitempty"`
	// Schedule is who speaks in the present round of a debate, and Outcome what one has come to that is over.
	Schedule []format.Speech `json:"schedule,omitempty"`
	Outcome  *decided        `json:"outcome,omitempty"`
}

// speaker is a participant in an [outline].
type speaker struct {
	Name   string      `json:"name"`
	Side   format.Side `json:"side,omitempty"` // of a debate
	Status flow.Status `json:"status"`
	Turns  int         `json:"turns"`
}

// decided is how a debate was decided, in an [outline]; see [debate.Outcome].
type decided struct {
	Decision format.Decision  `json:"decision"`
	Winner   string           `json:"winner,omitempty"`
	Side     format.Side      `json:"side,omitempty"`
	Votes    []votes          `json:"votes,omitempty"`
	Dissent  []debate.Dissent `json:"dissent,omitempty"`
}

// votes are those for one participant, or for one side.
type votes struct {
	Name  string `json:"name"`
	Votes int    `json:"votes"`
}

// record returns the record of the conversation that the address names.
func (x *exchange) record() (*fold, error) {
	return x.handler.cache.record(x.request.Context(), x.handler.engine, &x.info)
}

// read returns the conversation.
func (x *exchange) read() error {
	out, err := x.reading()
	if err != nil {
		return err
	}
	return x.reply(x.operation.status, out)
}

// reading returns what the caller may see of the conversation.
func (x *exchange) reading() (out reading, err error) {
	f, err := x.record()
	if err != nil {
		return out, err
	}
	out = reading{Questions: x.questions(f.Record)}
	if !x.may(Inspect, "") {
		if out.Record, err = json.Marshal(x.outlineOf(f.Record)); err != nil {
			return out, err
		}
	} else {
		if out.Record, err = f.JSON(); err != nil {
			return out, err
		}
		out.Degraded, out.Owner, out.Limit = degraded(f.Record), x.info.Owner, hardLimit(f.Settings())
	}
	if fields := x.query.Get("fields"); fields != "" {
		if out.Record, err = selected(out.Record, strings.Split(fields, ",")); err != nil {
			return out, err
		}
	}
	out.Legal, out.Inputs = x.legal(f.Record)
	return out, nil
}

// outlineOf returns what those see of a record who only view.
func (x *exchange) outlineOf(r *flow.Record) outline {
	t := r.Settings()
	out := outline{
		ID: r.ID, Flow: r.Flow(), Format: x.info.Format, State: r.State, Topic: t.Topic, Language: t.Language, Round: r.Round, Rounds: t.Rounds,
		StartedAt: r.StartedAt, LastAt: r.LastAt, Seq: r.Seq, Result: x.info.Result,
	}
	for _, p := range r.Participants() {
		out.Participants = append(out.Participants, speaker{Name: p.Name, Status: p.Status, Turns: p.Turns})
	}
	if d, ok := debate.Of(r); ok {
		out.addDebate(d)
	}
	return out
}

// addDebate adds what a debate has beside other conversations: sides, who speaks in the present round, and how it was decided.
func (o *outline) addDebate(d *debate.Debate) {
	for i := range o.Participants {
		for k := range d.Config().Participants {
			if p := &d.Config().Participants[k]; p.Name == o.Participants[i].Name {
				o.Participants[i].Side = p.Side
			}
		}
	}
	for _, s := range d.Schedule() {
		o.Schedule = append(o.Schedule, format.Speech{Slot: s.Slot, Kind: s.Kind, Speaker: s.Speaker, Target: s.Target, Group: s.Group})
	}
	if d.Final() {
		outcome := d.Outcome()
		o.Outcome = &decided{Decision: outcome.Decision, Winner: outcome.Winner, Side: outcome.Side, Dissent: outcome.Dissent}
		for _, count := range outcome.Votes {
			o.Outcome.Votes = append(o.Outcome.Votes, votes{count.Name, count.Votes})
		}
	}
}

// selected returns an object with these of its keys.
func selected(object []byte, keys []string) ([]byte, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(object, &all); err != nil {
		return nil, err
	}
	for key := range all {
		if !slices.Contains(keys, key) {
			delete(all, key)
		}
	}
	return json.Marshal(all)
}

// degraded returns where a conversation fell short of its config, as its flow says it.
func degraded(r *flow.Record) []string {
	switch p := r.Projection().(type) {
	case interface{ Degraded() []string }:
		return p.Degraded()
	case *debate.Debate:
		return p.Outcome().Degraded
	default:
		return r.Degraded(nil, nil)
	}
}

// hardLimit returns the hard limit of the cost; 0: there is none.
func hardLimit(t *flow.Settings) flow.Money {
	if t == nil || t.Budget == nil {
		return 0
	}
	return t.Budget.Hard
}

// questions returns the open questions that the caller may answer, each with what its person may read.
func (x *exchange) questions(r *flow.Record) []flow.Question {
	var out []flow.Question
	for i := range r.Inquiries {
		q := &r.Inquiries[i]
		if !x.may(answers(q), q.To) {
			continue
		}
		if asked, ok := r.Question(q.ID); ok {
			out = append(out, *asked)
		} else {
			out = append(out, flow.Question{Inquiry: *q})
		}
	}
	return out
}

// legal returns the operations that are possible now and for which the caller has the right, and the inputs of the flow for send.
func (x *exchange) legal(r *flow.Record) (legal []string, inputs []flow.Trigger) {
	operate, start := x.may(Operate, ""), x.may(Start, "")
	reopens := false
	for _, on := range r.Legal() {
		switch on {
		case flow.TriggerPause, flow.TriggerResume, flow.TriggerRetry, flow.TriggerStop, flow.TriggerCancel:
			if operate {
				legal = append(legal, string(on))
			}
		case flow.TriggerReopen:
			reopens = true
		default:
			if operate {
				inputs = append(inputs, on)
			}
		}
	}
	add := func(operation string, possible bool) {
		if possible {
			legal = append(legal, operation)
		}
	}
	add("amend", operate && !r.Final())
	add("send", len(inputs) > 0)
	add("say", !r.Final() && x.may(Say, ""))
	add("fork", start)
	add("reopen", start && reopens)
	exports := x.may(Export, "")
	for _, one := range []string{"exportJSON", "exportMarkdown", "exportHTML"} {
		add(one, exports)
	}
	add("delete", x.may(Delete, ""))
	return legal, inputs
}

// explain adds to a problem how the conversation stands that refuses, and what is possible in place of it.
func (x *exchange) explain(p *problem) {
	info, err := x.handler.find(x.request.Context(), x.info.ID, x.caller.Labels)
	if err != nil {
		return
	}
	x.info = info
	f, err := x.record()
	if err != nil {
		return
	}
	p.State, p.Seq = f.State, f.Seq
	p.Legal, _ = x.legal(f.Record)
}
