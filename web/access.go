package web

import (
	"net/http"

	"github.com/agonist-dev/debate/flow"
)

// Action is what a request wants to do. Each operation of the API has one.
type Action string

// The actions.
const (
	// View is to see what spectators may see: what was said, by whom, how it was judged, states and rounds ([flow.Event.Spectator]), and
	// hidden turns only once they are revealed ([flow.Veil]).
	View Action = "view"
	// Inspect is to see the rest: models, money, failures, settings, files and labels, without the seed and the prompts
	// ([flow.Event.Public]). A request that only needs View is asked for Inspect too, to learn how much it shows.
	Inspect Action = "inspect"
	// Answer is to answer a question. Access.To is the actor whom it is put to. A request is asked first whether it may answer at all: ID
	// and To are empty then.
	Answer Action = "answer"
	// Approve is to decide about the use of a tool. Access.To is the actor whose model asks for it. See Answer: a request may decide if it
	// may answer nothing else.
	Approve Action = "approve"
	// Operate is to pause, resume, stop, cancel, retry and amend, and to send the flow's own inputs.
	Operate Action = "operate"
	// Say is to say something in between ([flow.Note]).
	Say Action = "say"
	// Start is to start, fork, reopen and import, to check a config and to estimate its price, and to see the presets.
	Start Action = "start"
	// Export is to get reports, and the log as a file.
	Export Action = "export"
	// Delete is to remove a conversation with its files.
	Delete Action = "delete"
)

// Access is what a request wants.
type Access struct {
	Action Action
	ID     string // of the conversation; "": the request concerns none, or a list of them
	To     string // the actor that a question is put to, of Answer and Approve; "": of none in particular, or of one that is closed
}

// Caller is who asks.
type Caller struct {
	Who    string            // as Options.Authorize says; it becomes the Person of controls, answers and notes
	Labels map[string]string // of the scope; nil: all conversations are in it
}

// allow says who asks, if they may do what they want.
func (h *Handler) allow(r *http.Request, a Access) (c Caller, err error) {
	if err := h.origin.Check(r); err != nil {
		return c, &DeniedError{Err: err}
	}
	if c.Who, err = h.who(r, a); err != nil {
		return c, err
	}
	if h.options.Scope != nil {
		c.Labels = h.options.Scope(r, c.Who)
	}
	return c, nil
}

// may reports whether who asks may do something else with the same conversation.
func (x *exchange) may(a Action, to string) bool {
	_, err := x.handler.who(x.request, Access{Action: a, ID: x.info.ID, To: to})
	return err == nil
}

// answers returns the right that the answer to a question needs.
func answers(q *flow.Inquiry) Action {
	if q.Use != nil {
		return Approve
	}
	return Answer
}
