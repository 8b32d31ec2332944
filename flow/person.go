package flow

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate/internal/fieldname"
)

// Term bounds how long a person has for an answer, and says what follows if none comes. A config has it beside the field that says that
// a person takes a seat.
type Term struct {
	// Within is how long a question to the person is open. 0: until it is answered. While a person is asked, the time of the round
	// stands still. After a pause or an error, at least a tenth of Within is left, and no less than a minute if Within has that.
	Within Duration `json:"within,omitempty"`
	// Overdue is what follows if no answer has come by then: OptionStandIn, OptionSkip, OptionFail, or OptionWait, which keeps the
	// question open and only shows that the answer is late. If it is empty: OptionStandIn with a StandIn. Without one, OnFailure decides,
	// as about any other call that has failed with the kind timeout. So it does where the conversation cannot skip the result, unless it
	// does without the result of such a call in any case.
	Overdue Option `json:"overdue,omitempty" redact:"-"`
	// StandIn is the "provider/model" that answers in the person's place, this once. The person is asked again next time.
	StandIn string `json:"standIn,omitempty" redact:"-"`
}

// ForPerson is how a call is put to a person.
type ForPerson struct {
	// Ask makes the question in words for a person. nil: Call.Last does. It must be pure.
	Ask  func(r *Record) string
	Term Term
	// Most bounds an answer without a schema, in bytes, where it is less than what the call's tokens may take. 0: it does not.
	Most int
}

// checkTerm refuses a term where no person is asked, and one that says what follows without saying when.
func (s Seat) checkTerm(f *Findings) {
	t := value(s.Term)
	if !s.Person {
		for _, one := range []struct {
			field string
			set   bool
		}{{fieldname.Within, t.Within != 0}, {"overdue", t.Overdue != ""}, {"standIn", t.StandIn != ""}} {
			if one.set {
				f.Addf(s.at(one.field), "is possible for a person only")
			}
		}
		return
	}
	if t.Within < 0 {
		f.Addf(s.at(fieldname.Within), "is negative")
	}
	switch choices := []Option{"", OptionStandIn, OptionSkip, OptionFail, OptionWait}; {
	case !slices.Contains(choices, t.Overdue):
		f.Addf(s.at("overdue"), "%w", Unknown("option", t.Overdue, choices...))
	case t.Overdue == OptionStandIn && t.StandIn == "":
		f.Addf(s.at("standIn"), "is empty, but overdue is %s", OptionStandIn)
	case t.Overdue != "" && t.Within == 0:
		f.Addf(s.at(fieldname.Within), "is missing: without it no answer is overdue")
	}
	if t.StandIn != "" && t.Within == 0 {
		f.Addf(s.at("standIn"), "needs within: without it nobody stands in")
	}
}

// Waits reports whether a person takes the seat who may let a conversation wait for ever: nothing follows if no answer comes.
func (s Seat) Waits() bool {
	t := value(s.Term)
	return s.Person && (t.Within <= 0 || t.Overdue == OptionWait)
}

// AskIn is Ask for a call of a running conversation, which has its ID. A person or a function is asked as a model if the actor was given
// one since, or if a model stands in for the person in this call. Whoever is asked already ends the attempt, whatever the seat says now.
// In a call that is only foreseen, for a budget, each model stands in that can. So a flow calls AskIn before it chooses a schema and words
// by Call.Performer.
func (s Seat) AskIn(r *Record, call *Call) {
	s.Ask(call)
	model, state := r.Replacement(s.By), r.calls[call.ID]
	switch {
	case state == nil:
	case state.status == callInFlight && state.person:
		model = ""
	case model == "" && state.special.standIn != "":
		model = state.special.standIn
	case model == "" && state.status == callInFlight && call.Performer != ByModel:
		model = state.intent.Model // "": a person or a function is asked
	}
	if model == "" && r.foreseen && call.Person != nil {
		model = call.Person.Term.StandIn
	}
	if model != "" {
		call.Performer, call.Model, call.Function, call.Person, call.standsIn = ByModel, model, "", nil, s.Person
	}
}

// inquire asks a person to perform a call.
func (c *Core) inquire(ready *prepared, intent *Intent) error {
	call, r := ready.call, c.record
	q := &Inquiry{ID: intent.Call, Kind: intent.Kind, To: intent.By, Question: ready.last, Schema: wireJSON(ready.wire)}
	if intent.Schema == "" {
		q.Max = maxReplyBytes(cmp.Or(visibleTokens(intent), r.settings.MaxTokens))
		if p := call.Person; p != nil && p.Most > 0 {
			q.Max = min(q.Max, p.Most)
		}
	}
	if !call.View.None {
		v, _ := r.view(call.View)
		q.Reads = &Reading{View: v.Key, From: call.View.From}
	}
	if p := call.Person; p != nil {
		q.Within, q.Overdue = p.Term.Within, p.Term.overdue()
		if q.Within > 0 {
			q.Until = c.in.At.Add(time.Duration(q.Within))
		}
	}
	return c.emit(Event{Body: q})
}

// overdue returns what follows if no answer comes; "": the rules for failures decide.
func (t *Term) overdue() Option {
	if t.Overdue == "" && t.StandIn != "" {
		return OptionStandIn
	}
	return t.Overdue
}

// performed reports whether the inquiry asks a person to perform a call.
func (q *Inquiry) performed() bool { return len(q.Options) == 0 }

// ends returns when the time of an inquiry is over and something follows. Zero: nothing does.
func (q *Inquiry) ends() time.Time {
	if !q.performed() || q.Overdue == OptionWait {
		return time.Time{}
	}
	return q.Until
}

// asksPerson reports whether a person is asked to perform a call.
func (r *Record) asksPerson() bool {
	for i := range r.Inquiries {
		if r.Inquiries[i].performed() {
			return true
		}
	}
	return false
}

// tooLong returns why a person's free text is not accepted. nil: it is.
func (q *Inquiry) tooLong(size int) error {
	most := min(cmp.Or(q.Max, maxAnswer), maxAnswer)
	if size <= most {
		return nil
	}
	return WithMend(fmt.Errorf("the answer has %d bytes: at most %d are accepted", size, most), "shorten the answer")
}
