package web

import (
	"net/http"
	"slices"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// operation is one row of the API: its address, the right that it needs, what it takes and what it answers. Routes, rights, limits and
// descriptions come from the rows, and there is no other way in.
type operation struct {
	id      string
	method  string
	path    string // below /api/
	summary string
	action  Action
	// or are other rights, each of which is enough too. An operation for questions asks for the right to the one that it concerns itself.
	or     []Action
	query  []parameter
	out    any      // a sample of the answer; nil: it is no JSON
	media  []string // of the answer, where that is no JSON
	status int      // of success
	also   int      // another status of success: 200 if what is begun was there, 204 if there is nothing to send; 0: there is none
	errors []int    // beside those that every operation can have
	limit  int64    // largest body, in bytes; 0: Options.Bodies
	service
}

// parameter is a part of the query of an address.
type parameter struct {
	name  string // one that ends with a dot is the beginning of a name
	about string
	kind  string // the type of its values in JSON; "": text
	most  int64  // of a number; 0: there is no bound
	many  bool
}

// service does the work of an operation.
type service struct {
	in any // a sample of the body; nil: there is none, or it is a config or a log, which the operation reads itself
	do func(x *exchange) error
}

// plain is an operation whose body has no type, if it has one.
func plain(do func(x *exchange) error) service { return service{do: do} }

// takes is an operation with a body of a type.
func takes[T any](do func(x *exchange, in *T) error) service {
	return service{in: *new(T), do: func(x *exchange) error {
		in := new(T)
		if err := x.decode(in); err != nil {
			return err
		}
		return do(x, in)
	}}
}

// Parts of the table.
const (
	get  = http.MethodGet
	post = http.MethodPost

	conversation = "conversations/{id}"

	controlBytes = 64 << 10 // the largest body of a control
	changeBytes  = 1 << 20  // and of one that brings settings or words

	whole = "integer"
	truth = "boolean"

	created  = http.StatusCreated
	accepted = http.StatusAccepted
	conflict = http.StatusConflict
	invalid  = http.StatusUnprocessableEntity
	unpaid   = http.StatusPaymentRequired
	busy     = http.StatusServiceUnavailable
)

// selecting are the parameters that select conversations.
func selecting(more ...parameter) []parameter {
	return append([]parameter{
		{name: "state", about: "the conversation is in one of these states", many: true},
		{name: "label.", about: "the conversation has this label with this value"},
		{name: "q", about: "words of the topic or of a turn"},
		{name: "asking", about: "true: the conversation has open questions", kind: truth},
		{name: "unfinished", about: "true: the conversation is not over", kind: truth},
	}, more...)
}

// operations returns the rows of the API.
func operations() []operation {
	return slices.Concat(beginning(), listingAll(), readingOne(), offering(), steering(), continuing())
}

// nextID says what the parameter after of a list is.
const nextID = "an id: the list begins behind it"

// beginning are the operations that begin conversations.
func beginning() []operation {
	return []operation{
		{
			id: opStart, method: post, path: "conversations", action: Start,
			summary: "starts a conversation; the same config with the same id is started once",
			out:     standing{}, status: created, also: http.StatusOK, errors: []int{conflict, invalid, unpaid, busy},
			service: plain((*exchange).start),
		},
		{
			id: "validate", method: post, path: "validate", action: Start,
			summary: "checks a config, and returns it as it would be started",
			out:     checked{}, status: http.StatusOK, errors: []int{invalid}, service: plain((*exchange).validate),
		},
		{
			id: "estimate", method: post, path: "estimate", action: Start,
			summary: "says what a config may cost, and the steps of its first round",
			out:     priced{}, status: http.StatusOK, errors: []int{invalid, busy}, service: plain((*exchange).estimate),
		},
		{
			id: opImport, method: post, path: "import", action: Start, summary: "stores a log that was exported",
			out: standing{}, status: created, also: http.StatusOK, errors: []int{conflict, invalid, unpaid, busy}, limit: debate.MaxSnapshot,
			service: plain((*exchange).restore),
		},
	}
}

// listingAll are the operations on all conversations of a scope.
func listingAll() []operation {
	return []operation{
		{
			id: "list", method: get, path: "conversations", action: View, summary: "lists conversations, the newest first",
			query: selecting(
				parameter{name: "after", about: nextID}, parameter{name: "limit", about: "how many there are at most", kind: whole, most: mostListed},
			),
			out: listing{}, status: http.StatusOK, errors: []int{busy}, service: plain((*exchange).list),
		},
		{
			id: "sum", method: get, path: "sum", action: Inspect,
			summary: "adds up what conversations have cost, and may still cost",
			query:   selecting(), out: summed{}, status: http.StatusOK, errors: []int{busy}, service: plain((*exchange).sum),
		},
		{
			id: "inbox", method: get, path: "questions", action: Answer, or: []Action{Approve},
			summary: "lists the open questions of all conversations",
			query:   []parameter{{name: "after", about: nextID}}, out: inbox{}, status: http.StatusOK, errors: []int{busy},
			service: plain((*exchange).inbox),
		},
	}
}

// readingOne are the operations that read a conversation.
func readingOne() []operation {
	return []operation{
		{
			id: "read", method: get, path: conversation, action: View,
			summary: "returns a conversation as it is now, and what may be done with it",
			query:   []parameter{{name: "fields", about: "the keys of the record, with commas between them; all, if it is missing"}},
			out:     reading{}, status: http.StatusOK, errors: []int{busy}, service: plain((*exchange).read),
		},
		{
			id: "events", method: get, path: conversation + "/events", action: View,
			summary: "returns facts of the log, as far as they are saved",
			query: []parameter{
				{name: "after", about: "the number of an event: the facts begin behind it", kind: whole},
				{name: "limit", about: "how many numbers the page covers, but for turns that are shown together", kind: whole, most: mostFacts},
			},
			out: facts{}, status: http.StatusOK, errors: []int{busy}, service: plain((*exchange).events),
		},
		{
			id: "stream", method: get, path: conversation + "/stream", action: View,
			summary: "streams events as they happen; 204 if none can follow",
			query:   []parameter{{name: "after", about: "the number of an event, if there is no Last-Event-ID", kind: whole}},
			media:   []string{"text/event-stream"}, status: http.StatusOK, also: http.StatusNoContent, errors: []int{busy},
			service: plain((*exchange).stream),
		},
		{
			id: "exportJSON", method: get, path: conversation + "/export.json", action: Export,
			summary: "returns the log, for import",
			media:   []string{"application/json"}, status: http.StatusOK, errors: []int{busy}, service: plain((*exchange).exportLog),
		},
		{
			id: "exportMarkdown", method: get, path: conversation + "/export.md", action: Export,
			summary: "returns a report in Markdown",
			media:   []string{"text/markdown; charset=utf-8"}, status: http.StatusOK, errors: []int{busy},
			service: plain((*exchange).exportMarkdown),
		},
		{
			id: "exportHTML", method: get, path: conversation + "/export.html", action: Export,
			summary: "returns a report as a page",
			media:   []string{"text/html; charset=utf-8"}, status: http.StatusOK, errors: []int{busy}, service: plain((*exchange).exportHTML),
		},
		{
			id: "file", method: get, path: conversation + "/files/{hash}", action: Inspect, or: []Action{Answer, Approve},
			summary: "returns a file of the conversation",
			media:   []string{"application/octet-stream", "image/png", "image/jpeg", "image/gif", "image/webp"}, status: http.StatusOK,
			errors: []int{busy}, service: plain((*exchange).file),
		},
	}
}

// offering are the operations that say what can be started.
func offering() []operation {
	return []operation{
		{
			id: "flows", method: get, path: "flows", action: View,
			summary: "lists the kinds of conversations, with the schemas of their configs",
			out:     kinds{}, status: http.StatusOK, service: plain((*exchange).flows),
		},
		{
			id: "formats", method: get, path: "formats", action: View, summary: "lists the formats of debates",
			out: shapes{}, status: http.StatusOK, service: plain((*exchange).formats),
		},
		{
			id: "presets", method: get, path: "presets", action: Start, summary: "lists configs to begin with",
			out: offers{}, status: http.StatusOK, service: plain((*exchange).presets),
		},
		{
			id: "openapi", method: get, path: "openapi.json", action: View, summary: "describes this API (OpenAPI 3.1)",
			media: []string{"application/json"}, status: http.StatusOK, service: plain((*exchange).openapi),
		},
	}
}

// steering are the operations that control a conversation.
func steering() []operation {
	return []operation{
		{
			id: "pause", method: post, path: conversation + "/pause", action: Operate, limit: controlBytes, summary: "starts no further call",
			out: standing{}, status: accepted, errors: []int{conflict, invalid, busy}, service: takes((*exchange).pause),
		},
		{
			id: "resume", method: post, path: conversation + "/resume", action: Operate, limit: controlBytes, summary: "continues after a pause",
			out: standing{}, status: accepted, errors: []int{conflict, invalid, busy},
			service: takes(controls(func(c *control, who string) flow.Signal { return flow.Resume{Reason: c.Reason, Person: who} })),
		},
		{
			id: "stop", method: post, path: conversation + "/stop", action: Operate, limit: controlBytes, summary: "concludes with what there is",
			out: standing{}, status: accepted, errors: []int{conflict, invalid, busy},
			service: takes(controls(func(c *control, who string) flow.Signal { return flow.Stop{Reason: c.Reason, Person: who} })),
		},
		{
			id: "cancel", method: post, path: conversation + "/cancel", action: Operate, limit: controlBytes,
			summary: "ends the conversation without a conclusion",
			out:     standing{}, status: accepted, errors: []int{conflict, invalid, busy},
			service: takes(controls(func(c *control, who string) flow.Signal { return flow.Cancel{Reason: c.Reason, Person: who} })),
		},
		{
			id: "retry", method: post, path: conversation + "/retry", action: Operate, limit: controlBytes, summary: "tries again what has failed",
			out: standing{}, status: accepted, errors: []int{conflict, invalid, busy},
			service: takes(controls(func(c *control, who string) flow.Signal { return flow.Retry{Reason: c.Reason, Person: who} })),
		},
	}
}

// continuing are the operations that add to a conversation, continue it elsewhere, or remove it.
func continuing() []operation {
	return []operation{
		{
			id: "amend", method: post, path: conversation + "/amend", action: Operate, limit: changeBytes,
			summary: "changes settings of a conversation that is not over",
			out:     standing{}, status: accepted, errors: []int{conflict, invalid, unpaid, busy}, service: takes((*exchange).amend),
		},
		{
			id: "send", method: post, path: conversation + "/send", action: Operate, limit: changeBytes,
			summary: "sends an input of the flow's own",
			out:     standing{}, status: accepted, errors: []int{conflict, invalid, busy}, service: takes((*exchange).send),
		},
		{
			id: "answer", method: post, path: conversation + "/questions/{question}", action: Answer, or: []Action{Approve},
			summary: "answers an open question",
			out:     standing{}, status: accepted, errors: []int{conflict, invalid, busy}, service: takes((*exchange).answer),
		},
		{
			id: "say", method: post, path: conversation + "/say", action: Say, summary: "says something in between",
			out: said{}, status: accepted, errors: []int{conflict, invalid, busy}, service: takes((*exchange).say),
		},
		{
			id: "fork", method: post, path: conversation + "/fork", action: Start,
			summary: "starts a conversation that continues from an event of this one; with the same id once",
			out:     standing{}, status: created, also: http.StatusOK, errors: []int{conflict, invalid, unpaid, busy},
			service: takes((*exchange).fork),
		},
		{
			id: "reopen", method: post, path: conversation + "/reopen", action: Start, limit: changeBytes,
			summary: "goes on after the conclusion, in a new conversation; with the same id once",
			out:     standing{}, status: created, also: http.StatusOK, errors: []int{conflict, invalid, unpaid, busy},
			service: takes((*exchange).reopen),
		},
		{
			id: "delete", method: http.MethodDelete, path: conversation, action: Delete,
			summary: "removes the conversation with its files",
			status:  http.StatusNoContent, errors: []int{conflict, busy}, service: plain((*exchange).remove),
		},
	}
}
