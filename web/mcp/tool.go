package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/web"
	"github.com/agonist-dev/debate/web/internal/protocol"
)

type start struct {
	Preset string         `json:"preset,omitempty" jsonschema:"the name of a preset; it may be missing if there is one"`
	Topic  string         `json:"topic,omitempty" jsonschema:"what the conversation is about: the topic, problem or task of the preset"`
	ID     string         `json:"id,omitempty" jsonschema:"an id of your own, such as a UUID: the same start with the same id starts once"`
	Config map[string]any `json:"config,omitempty" jsonschema:"a whole config, in place of preset, topic and id"`
}

type started struct {
	ID    string `json:"id"`
	After int64  `json:"after"` // for debate_wait
}

// start starts a conversation.
func (s *service) start(c *call, in start) (any, error) {
	if in.Config != nil {
		if in.Preset != "" || in.Topic != "" || in.ID != "" {
			return nil, protocol.Invalid("mcp", "config", "stands in place of preset, topic and id: leave them out")
		}
		data, err := protocol.Post(s.web, c.request, "conversations", in.Config)
		if err != nil {
			return nil, err
		}
		var out started
		return &out, json.Unmarshal(data, &out)
	}
	if presets := s.web.Presets(); in.Preset == "" && len(presets) == 1 {
		in.Preset = presets[0].Name
	}
	config, err := s.web.About(in.Preset, in.Topic, in.ID)
	if err != nil {
		return nil, err
	}
	id, err := s.web.Start(c.request, config)
	return &started{ID: id}, err
}

type read struct {
	ID     string   `json:"id"`
	Fields []string `json:"fields,omitempty" jsonschema:"the keys of the record, such as turns, verdict, outcome, spent; none: all"`
}

// read returns a conversation as it is now.
func (s *service) read(c *call, in read) (any, error) {
	path := protocol.Path(in.ID)
	if len(in.Fields) > 0 {
		path += "?fields=" + url.QueryEscape(strings.Join(in.Fields, ","))
	}
	return s.web.Do(c.request, http.MethodGet, path, nil)
}

type control struct {
	ID     string `json:"id"`
	Action string `json:"action" jsonschema:"what to do"`
	Reason string `json:"reason,omitempty" jsonschema:"why, in one line"`
	Drain  bool   `json:"drain,omitempty" jsonschema:"of a pause: the calls in flight finish"`
}

// pause is the action that can be given more than a reason.
const pause = "pause"

// control gives a control to a conversation. The schema of the tool has the actions.
func (s *service) control(c *call, in control) (any, error) {
	body := map[string]any{"reason": in.Reason}
	if in.Action == pause {
		body["drain"] = in.Drain
	}
	return protocol.Post(s.web, c.request, protocol.Path(in.ID, in.Action), body)
}

type answer struct {
	ID       string `json:"id"`
	Question string `json:"question" jsonschema:"the id of the question"`
	Text     string `json:"text,omitempty" jsonschema:"the answer, where somebody's turn is asked for; JSON, if the question has a schema"`
	Option   string `json:"option,omitempty" jsonschema:"one of the options of the question"`
	Model    string `json:"model,omitempty" jsonschema:"of the option model, as provider/model"`
	By       string `json:"by,omitempty" jsonschema:"for whom the option is chosen, if the question is about several"`
}

// answer answers a question.
func (s *service) answer(c *call, in answer) (any, error) {
	body := protocol.Answer{Text: in.Text, Option: in.Option, Model: in.Model, By: in.By}
	return protocol.Post(s.web, c.request, protocol.Path(in.ID, "questions", in.Question), body)
}

// The bounds of debate_wait.
const (
	usualWait = 30 // seconds
	mostWait  = 50 // seconds: many clients give a call a minute
	mostSaid  = 200
	silence   = time.Second // after which all that is stored has been read
)

type wait struct {
	ID      string `json:"id"`
	After   int64  `json:"after,omitempty" jsonschema:"the after of the last result: what was said before is left out"`
	Seconds int    `json:"seconds,omitempty" jsonschema:"how long to wait at most; 30 if it is missing"`
}

// waited is what a conversation has come to.
type waited struct {
	State     flow.State      `json:"state"`
	Over      bool            `json:"over"`
	Said      []said          `json:"said"`
	After     int64           `json:"after"`               // for the next call
	Questions []flow.Question `json:"questions,omitempty"` // for debate_answer
	Failure   *flow.Error     `json:"failure,omitempty"`   // why it is in the state error
}

// said is a turn, or something else that the flow shows to everybody.
type said struct {
	Seq   int64          `json:"seq"`
	Kind  flow.EventKind `json:"kind"`
	By    string         `json:"by,omitempty"`
	Round int            `json:"round,omitempty"`
	Text  string         `json:"text,omitempty"`
	Body  flow.Body      `json:"body,omitempty"` // of all but turns
}

// saidIn returns what an event says.
func saidIn(e *flow.Event) (said, bool) {
	switch body := e.Body.(type) {
	case *flow.Turn:
		return said{Seq: e.Seq, Kind: e.Kind(), By: body.Speaker, Round: body.Round, Text: body.Text}, true
	case flow.Spectated:
		return said{Seq: e.Seq, Kind: e.Kind(), Body: body.Spectator()}, true
	default:
		return said{}, false
	}
}

// rests reports whether nothing is said any more until the client, or somebody else, does something.
func rests(s *protocol.Conversation) bool {
	switch s.Record.State {
	case flow.StateAwaitingInput: // the question may be one for others, or just answered
		return len(s.Questions) > 0
	case flow.StatePaused, flow.StateError:
		return true
	default:
		return s.Record.State.Final()
	}
}

// stands reads how a conversation stands.
func (s *service) stands(c *call, id string) (*protocol.Conversation, error) {
	return protocol.Read(s.web, c.request, id, "state,seq,failure")
}

// wait waits until a conversation is over, or does nothing by itself, or for a time. Questions are put to the person at the client, once:
// what is not answered then stands in the result.
func (s *service) wait(c *call, in wait) (any, error) {
	in.Seconds = cmp.Or(in.Seconds, usualWait) // the schema has the bounds
	replies, told := c.Params.InputResponses, in.After
	if replies != nil { // the call goes on: the client was told of what there is, and questions may be closed by now
		before, err := s.stands(c, in.ID)
		if err != nil {
			return nil, err
		}
		told = max(told, before.Record.Seq)
		for i := range before.Questions {
			question := before.Questions[i].ID
			if err := s.reply(c, in.ID, question, replies[question]); err != nil {
				return nil, err
			}
		}
	}
	out, err := s.follow(c, in, told)
	if err != nil {
		return nil, err
	}
	if len(out.Questions) > 0 && replies == nil && elicits(c) {
		asks := make(sdk.InputRequestMap)
		for i := range out.Questions {
			asks[out.Questions[i].ID] = elicitation(&out.Questions[i])
		}
		return asks, nil
	}
	return out, nil
}

// follow gathers what is said while the call waits. The client is told of what comes after a fact.
func (s *service) follow(c *call, in wait, told int64) (*waited, error) {
	stands, err := s.stands(c, in.ID)
	if err != nil {
		return nil, err
	}
	out := &waited{Said: []said{}, After: in.After}
	within, cancel := context.WithTimeout(c.request.Context(), time.Duration(in.Seconds)*time.Second)
	defer cancel()
	all := true // that can be read was read
	for e, err := range s.web.Events(c.request.WithContext(within), in.ID, in.After, silence) {
		if err != nil && within.Err() != nil && c.request.Context().Err() == nil {
			all = false
			break // the time is up
		}
		if err != nil {
			return nil, err
		}
		if e.Kind() == flow.EventChunk {
			continue
		}
		s.hears(c, out, &e, told)
		silent := e.Kind() == flow.EventHeartbeat
		if t, ok := e.Body.(*flow.Transition); silent || ok && t.To.Idle() && e.Seq > stands.Record.Seq {
			if stands, err = s.stands(c, in.ID); err != nil {
				return nil, err
			}
		}
		read := silent || e.Seq >= stands.Record.Seq // those who only view do not see each fact
		if len(out.Said) == mostSaid || rests(stands) && read {
			all = read
			break
		}
	}
	if stands, err = s.stands(c, in.ID); err != nil {
		return nil, err
	}
	out.State, out.Over = stands.Record.State, stands.Record.State.Final() && all
	out.Questions, out.Failure = stands.Questions, stands.Record.Failure
	return out, nil
}

// hears adds what an event says. The client is told at once of what comes after a fact.
func (s *service) hears(c *call, out *waited, e *flow.Event, told int64) {
	out.After = max(out.After, e.Seq)
	if one, ok := saidIn(e); ok {
		out.Said = append(out.Said, one)
		if one.Seq > told {
			s.progress(c, &one)
		}
	}
}

// progress tells the client of something that was said, if it has asked for that.
func (s *service) progress(c *call, one *said) {
	token := c.Params.GetProgressToken()
	if token == nil {
		return
	}
	message := string(one.Kind)
	if one.By != "" {
		message = fmt.Sprintf("%s has spoken in round %d", one.By, one.Round)
	}
	_ = c.Session.NotifyProgress(c.ctx, &sdk.ProgressNotificationParams{ // a client that has left gets none
		ProgressToken: token, Progress: float64(one.Seq), Message: message,
	})
}

// elicits reports whether the client can ask its person.
func elicits(c *call) bool {
	all := c.ClientCapabilities()
	return all != nil && all.Elicitation != nil && (all.Elicitation.Form != nil || all.Elicitation.URL == nil)
}

// elicitation is a question as a client asks it: it has the fields of debate_answer that the question needs.
func elicitation(q *flow.Question) *sdk.ElicitParams {
	text := func(title string) map[string]any { return map[string]any{"type": "string", "title": title} }
	choice := func(title string, options []string) map[string]any {
		return map[string]any{"type": "string", "title": title, "enum": options}
	}
	fields, required := make(map[string]any), "text"
	message := q.Question
	switch {
	case len(q.Options) > 0:
		required = "option"
		var options, meanings []string
		for _, option := range q.Options {
			options = append(options, string(option))
			meanings = append(meanings, fmt.Sprintf("\n%s: %s", option, option.Meaning()))
		}
		message += "\n" + strings.Join(meanings, "")
		fields[required] = choice("What to do", options)
		if slices.Contains(q.Options, flow.OptionModel) {
			fields["model"] = text("The model, as provider/model, of the option model")
		}
		if q.Use != nil {
			fields["text"] = text("Why, or what the tool has answered")
			message += fmt.Sprintf("\n\n%s %s", q.Use.Tool, q.Use.Arguments)
		}
		if len(q.About) > 1 {
			var names []string
			for i := range q.About {
				if by := q.About[i].By; !slices.Contains(names, by) {
					names = append(names, by)
				}
			}
			fields["by"] = choice("For whom, of the options skip and drop", names)
		}
	case len(q.Schema) > 0:
		fields[required] = text("The answer, as JSON")
		message += "\n\nThe answer is JSON of this schema:\n" + string(q.Schema)
	default:
		fields[required] = text("The answer")
	}
	return &sdk.ElicitParams{
		Mode: "form", Message: message,
		RequestedSchema: map[string]any{"type": "object", "properties": fields, "required": []string{required}},
	}
}

// reply answers a question with what the person at the client has said. A question that they have declined stays open.
func (s *service) reply(c *call, id, question string, r sdk.InputResponse) error {
	given, ok := r.(*sdk.ElicitResult)
	if !ok || given.Action != "accept" {
		return nil
	}
	field := func(name string) string {
		value, _ := given.Content[name].(string)
		return value
	}
	in := answer{ID: id, Question: question, Text: field("text"), Option: field("option"), Model: field("model"), By: field("by")}
	if in.Option != string(flow.OptionModel) {
		in.Model = "" // forms have all fields
	}
	_, err := s.answer(c, in)
	if err != nil && web.Explain(err).Kind == provider.KindState {
		return nil // it was closed meanwhile: the result has what came of it
	}
	return err
}
