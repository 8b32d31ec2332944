package web

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
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
}

// speaker is a participant in an [outline].
type speaker struct {
	Name   string      `json:"name"`
	Status flow.Status `json:"status"`
	Turns  int         `json:"turns"`
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
		out.Participants = append(out.Participants, speaker{p.Name, p.Status, p.Turns})
	}
	return out
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
	add("export", x.may(Export, ""))
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
