package providertest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

// model is a provider that does all it should; a test spoils one thing.
type model struct {
	s providertest.Scenario

	twice        bool                    // asks the vendor twice
	noReport     bool                    // nothing reaches the vendor
	edit         func(*provider.Request) // changes the request
	sent         func(*providertest.Sent)
	begin        func(emit func(provider.Chunk))
	reply        func(*provider.Response)
	fault        func(*provider.Error) // changes a failure of the vendor's
	late         bool                  // emits all at the end
	elsewhere    bool                  // emits on another goroutine
	deaf         bool                  // does not look at ctx
	keepsFailure bool                  // shows the key
	plainError   bool
	quit         <-chan struct{} // the test's end
	swallow      bool            // a failure is a reply
	kind         provider.Kind
}

func (m *model) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if m.edit != nil {
		m.edit(req)
	}
	if err := ctx.Err(); err != nil && !m.deaf {
		return nil, m.ended(err)
	}
	m.report(req)
	if m.begin != nil {
		m.begin(emit)
	}
	var text strings.Builder
	out := func(s string) {
		text.WriteString(s)
		if m.elsewhere {
			done := make(chan struct{})
			go func() { defer close(done); emit(provider.Chunk{Text: s}) }()
			<-done
			return
		}
		emit(provider.Chunk{Text: s})
	}
	for i, piece := range m.s.Reply {
		if !m.late {
			out(piece)
		}
		if i == 0 && m.s.Hold != nil {
			done := ctx.Done()
			if m.deaf {
				done = m.quit
			}
			select {
			case <-m.s.Hold:
			case <-done:
				return nil, m.ended(ctx.Err())
			}
		}
	}
	if m.late {
		out(strings.Join(m.s.Reply, ""))
	}
	if err := m.failure(); err != nil {
		return nil, err
	}
	r := &provider.Response{Text: text.String(), Stop: m.s.Stop, Usage: m.s.Usage, Model: m.s.Model, Calls: m.s.Calls}
	if m.reply != nil {
		m.reply(r)
	}
	return r, nil
}

func (m *model) report(req *provider.Request) {
	if m.s.Sent == nil || m.noReport {
		return
	}
	sent := providertest.Direct(req)
	var turns []providertest.Turn
	for _, turn := range sent.Turns {
		if n := len(turns) - 1; n >= 0 && turns[n].Role == turn.Role { // as vendors want it that alternate
			turns[n].Text += "\n\n" + turn.Text
			continue
		}
		turns = append(turns, turn)
	}
	sent.Turns = turns
	if m.sent != nil {
		m.sent(&sent)
	}
	m.s.Sent(sent)
	if m.twice {
		m.s.Sent(sent)
	}
}

func (m *model) ended(err error) error {
	e := &provider.Error{Kind: provider.KindCanceled, Err: err}
	if errors.Is(err, context.DeadlineExceeded) {
		e.Kind = provider.KindTimeout
	}
	if m.kind != "" {
		e.Kind = m.kind
	}
	return e
}

func (m *model) failure() error {
	e := &provider.Error{Kind: m.s.Fail, RetryAfter: m.s.RetryAfter}
	if m.s.Cut {
		e.Kind = provider.KindNetwork
	}
	if e.Kind == "" || m.swallow {
		return nil
	}
	if m.kind != "" {
		e.Kind = m.kind
	}
	if m.keepsFailure {
		e.Err = fmt.Errorf("request with %s failed", m.s.Key)
		e.Message = "failed"
	}
	if m.plainError {
		return errors.New("failed")
	}
	if m.fault != nil {
		m.fault(e)
	}
	return e
}

func connect(spoil func(*model)) providertest.Connect {
	return func(t *testing.T, s providertest.Scenario) provider.Provider {
		m := &model{s: s, quit: t.Context().Done()}
		if spoil != nil {
			spoil(m)
		}
		return m
	}
}

func TestAGoodProviderPasses(t *testing.T) {
	providertest.Run(t, connect(nil))
}

func TestSkippingIsAllowed(t *testing.T) {
	good := connect(nil)
	providertest.Run(t, func(t *testing.T, s providertest.Scenario) provider.Provider {
		if len(s.Calls) > 0 {
			t.Skip("no tools")
		}
		return good(t, s)
	})
}

// Each demand of the suite is one that a provider can fail.
func TestABadProviderFails(t *testing.T) {
	text := func(r *provider.Response) { r.Text += "!" }
	nameless := func(at int) func(*model) {
		return func(m *model) {
			m.reply = func(r *provider.Response) {
				if r.Calls = slices.Clone(r.Calls); len(r.Calls) > at {
					r.Calls[at].ID = ""
				}
			}
		}
	}
	// sending lets the server report these bytes as the body.
	sending := func(body string) func(*model) {
		return func(m *model) { m.sent = func(s *providertest.Sent) { s.Body = json.RawMessage(body) } }
	}
	var kept func(provider.Chunk)
	tests := []struct {
		name  string
		cases []string
		spoil func(m *model)
		want  string
	}{
		{"invents text", []string{"plain", "chunks"}, func(m *model) { m.reply = text }, "the chunks add up to"},
		{"loses the stop", []string{"plain", "stop length", "tools"}, func(m *model) { m.reply = func(r *provider.Response) { r.Stop = "" } }, "the stop reason is"},
		{"buffers", []string{"first chunk before the end"}, func(m *model) { m.late = true }, "no chunk came before"},
		{"emits elsewhere", []string{"plain", "concurrent"}, func(m *model) { m.elsewhere = true }, "on another goroutine"},
		{"emits in another call", []string{"temperature"}, func(m *model) {
			m.begin = func(emit func(provider.Chunk)) {
				if kept != nil {
					kept(provider.Chunk{Text: "late"})
				}
				kept = emit
			}
		}, "after Generate had returned"},
		{"retries", []string{"prompt"}, func(m *model) { m.twice = true }, "2 requests"},
		{"retries failures", []string{"failure api_error"}, func(m *model) { m.twice = true }, "2 requests"},
		{"does not report", []string{"prompt", "temperature"}, func(m *model) { m.noReport = true }, "0 requests"},
		{"drops the system", []string{"prompt"}, func(m *model) { m.sent = func(s *providertest.Sent) { s.System = "" } }, "the system prompt"},
		{"makes a system up", []string{"empty system"}, func(m *model) { m.sent = func(s *providertest.Sent) { s.System = "Be kind." } }, "made up"},
		{"drops the last turn", []string{"prompt"}, func(m *model) { m.sent = func(s *providertest.Sent) { s.Turns = s.Turns[:2] } }, "did not reach the vendor"},
		{"mixes up roles", []string{"prompt"}, func(m *model) { m.sent = func(s *providertest.Sent) { s.Turns[1].Role = provider.RoleUser } }, "did not reach the vendor"},
		{"drops the fence", []string{"prompt"}, func(m *model) {
			m.sent = func(s *providertest.Sent) { s.Turns[0].Text = strings.ReplaceAll(s.Turns[0].Text, "<<<", "") }
		}, "did not reach the vendor"},
		{"another model", []string{"prompt"}, func(m *model) { m.sent = func(s *providertest.Sent) { s.Model = "" } }, "the model is"},
		{"no limit", []string{"prompt"}, func(m *model) { m.sent = func(s *providertest.Sent) { s.MaxTokens = 0 } }, "the limit of output tokens"},
		{"tools of its own", []string{"prompt"}, func(m *model) { m.sent = func(s *providertest.Sent) { s.Tools = []string{"x"} } }, "nobody asked for"},
		{"zero is unset", []string{"temperature"}, func(m *model) { m.sent = func(s *providertest.Sent) { s.Temperature = nil } }, "temperature of 0"},
		{"unset is one", []string{"temperature"}, func(m *model) {
			m.sent = func(s *providertest.Sent) {
				if one := 1.0; s.Temperature == nil {
					s.Temperature = &one
				}
			}
		}, "was made up"},
		{"no usage", []string{"usage and model"}, func(m *model) { m.reply = func(r *provider.Response) { r.Usage = provider.Usage{} } }, "the usage is"},
		{"own model name", []string{"usage and model"}, func(m *model) { m.reply = func(r *provider.Response) { r.Model = "mine" } }, "the vendor reported another"},
		{"drops the schema", []string{"schema"}, func(m *model) { m.sent = func(s *providertest.Sent) { s.Schema = false } }, "the schema was not sent"},
		{"drops the tools", []string{"tools"}, func(m *model) { m.sent = func(s *providertest.Sent) { s.Tools = nil } }, "the tools sent"},
		{"loses a call", []string{"tools"}, func(m *model) { m.reply = func(r *provider.Response) { r.Calls = r.Calls[:1] } }, "1 tool calls"},
		{"mixes up calls", []string{"tools"}, func(m *model) {
			m.reply = func(r *provider.Response) { r.Calls = []provider.ToolCall{r.Calls[1], r.Calls[0]} }
		}, "tool call 0 is"},
		{"same ids", []string{"tools"}, func(m *model) {
			m.reply = func(r *provider.Response) {
				r.Calls = append([]provider.ToolCall(nil), r.Calls...)
				r.Calls[1].ID = r.Calls[0].ID
			}
		}, "told apart"},
		{"no id", []string{"tools"}, nameless(0), "told apart"},
		{"no id for the last", []string{"tools"}, nameless(1), "told apart"},
		{"calls half a reply unsent", []string{"cut stream", "failure in mid-stream"}, func(m *model) {
			m.fault = func(e *provider.Error) { e.NotSent = true }
		}, "would count as free"},
		{"calls half a reply refused", []string{"cut stream", "failure in mid-stream"}, func(m *model) {
			m.fault = func(e *provider.Error) { e.Status = 400 }
		}, "would count as free"},
		{"loses what was cached", []string{"usage of a cache"}, func(m *model) { m.reply = func(r *provider.Response) { r.Usage.Input -= 64 } }, "the usage is"},
		{"loses the text beside calls", []string{"text before tools"}, func(m *model) { m.s.Reply = nil }, "the text beside the tool calls"},
		{"loses calls beside text", []string{"text before tools"}, func(m *model) { m.s.Calls = m.s.Calls[:1] }, "there are 1 tool calls"},
		{"forgets its calls", []string{"tool results"}, func(m *model) { m.sent = func(s *providertest.Sent) { s.Calls = nil } }, "0 tool calls went back"},
		{"forgets an answer", []string{"tool results"}, func(m *model) {
			m.sent = func(s *providertest.Sent) { s.Results = s.Results[:min(1, len(s.Results))] }
		}, "1 tool results were sent"},
		{"takes others' calls", []string{"tool results"}, func(m *model) {
			m.sent = func(s *providertest.Sent) {
				s.Calls = append([]provider.ToolCall{{ID: "call_z", Name: "lookup"}}, s.Calls...)
			}
		}, "3 tool calls went back"},
		{"changes its calls", []string{"tool results"}, func(m *model) {
			m.sent = func(s *providertest.Sent) {
				if len(s.Calls) > 0 {
					s.Calls[0].Name = "look"
				}
			}
		}, "went back as look("},
		{"mixes up answers", []string{"tool results"}, func(m *model) { m.sent = func(s *providertest.Sent) { slices.Reverse(s.Results) } }, "tool result 0 is"},
		{"loses the tie", []string{"tool results"}, func(m *model) {
			m.sent = func(s *providertest.Sent) {
				for i := range s.Results {
					s.Results[i].ID = "?"
				}
			}
		}, `is for the call "?"`},
		{"hides that a tool failed", []string{"tool results"}, func(m *model) {
			m.sent = func(s *providertest.Sent) {
				for i := range s.Results {
					s.Results[i].Error = false
				}
			}
		}, "that a tool failed"},
		{"lets all tools fail", []string{"tool results"}, func(m *model) {
			m.sent = func(s *providertest.Sent) {
				for i := range s.Results {
					s.Results[i].Error = true
				}
			}
		}, "sent as a failure"},
		{"breaks a seal", []string{"tool results"}, func(m *model) {
			m.reply = func(r *provider.Response) {
				r.Calls = slices.Clone(r.Calls)
				r.Calls[1].Opaque = json.RawMessage(`{"s":1}`)
			}
			m.sent = func(s *providertest.Sent) {
				if len(s.Calls) > 1 {
					s.Calls[1].Opaque = nil
				}
			}
		}, "the Opaque of tool call 1"},
		{"cannot bear another's seal", []string{"sealed calls of another vendor"}, func(m *model) { m.s.Fail = provider.KindValidation }, "Generate failed"},
		{"believes its model", []string{"names of tools that are none"}, sending(`{}`), "which vendors refuse in all further requests"},
		{"sends any arguments", []string{"arguments that are no objects"}, sending(`{}`), "which is no object"},
		{"sends any id", []string{"ids of tool calls"}, sending(`{}`), `two calls went back with the id "call_1"`},
		{"believes its record", []string{"results follow their calls"}, sending(`{}`), `is for the call "c1"`},
		{"repeats ids", []string{"results follow their calls"}, sending(`{}`), `two calls went back with the id "c"`},
		{"drops results", []string{"results follow their calls", "any history"}, func(m *model) {
			m.sent = func(s *providertest.Sent) {
				s.Body, _ = json.Marshal(s.Turns)
				s.Results = nil
			}
		}, "0 results went back"},
		{"turns words round", []string{"any history"}, func(m *model) {
			m.edit = func(r *provider.Request) { r.Messages = slices.Clone(r.Messages); slices.Reverse(r.Messages) }
			m.sent = func(s *providertest.Sent) { s.Body, _ = json.Marshal(s.Turns) }
		}, "or before what was said earlier"},
		{"sends long ids", []string{"ids of tool calls"}, sending(`{}`), "which vendors refuse"},
		{"sends blank texts", []string{"blank texts"}, sending(`{"messages":[{"content":"\n\n"}]}`), `body.messages[0].content is the blank text`},
		{"sends what controls", []string{"control characters"}, sending(`{"messages":[{"content":"a\u0000"}]}`), "has control characters"},
		{"speaks after a tool", []string{"what follows tool results"}, sending(`{"messages":[{"role":"tool"},{"role":"user","content":"Ban them. Round 2: rebut."}]}`), "right after the result"},
		{"speaks after an output", []string{"what follows tool results"}, sending(`{"input":[{"type":"function_call_output"},{"role":"user"}]}`), "right after the result"},
		{"drops what follows", []string{"what follows tool results"}, sending(`{"messages":[{"role":"tool"}]}`), `"Ban them." did not reach the vendor`},
		{"sends schemas as they are", []string{"schemas of tools"}, sending(`{"tools":[{"parameters":{"type":"object"}}]}`), "there are no properties"},
		{"sends alternatives", []string{"schemas of tools"}, sending(`{"tools":[{"input_schema":{"type":"object","properties":{},"anyOf":[{}]}}]}`), "anyOf stands at the root"},
		{"sends lists of nothing", []string{"schemas of tools"}, sending(`{"tools":[{"parameters":{"type":"object","properties":{"a":{"type":"array"}}}}]}`), "a list without items"},
		{"forgets a refusal", []string{"no system role"}, func(m *model) {
			n := 0
			m.sent = func(s *providertest.Sent) {
				if n++; n > 1 {
					s.System = ""
				}
			}
		}, "a refusal of the system role is remembered"},
		{"sends roles in any order", []string{"roles that alternate"}, func(m *model) {
			n := 0
			m.sent = func(s *providertest.Sent) {
				if n++; n > 1 {
					s.Turns = append(s.Turns, s.Turns[len(s.Turns)-1])
				}
			}
			m.twice = true
		}, "want one refusal, which is remembered"},
		{"prices the cache", []string{"usage that does not add up"}, func(m *model) {
			m.reply = func(r *provider.Response) { r.Usage = provider.Usage{Input: 12, Output: 9003} }
		}, "the server reported 3 output tokens"},
		{"drops a tool", []string{"schemas of tools"}, func(m *model) {
			m.sent = func(s *providertest.Sent) { s.Body, s.Tools = json.RawMessage(`{}`), s.Tools[1:] }
		}, "the tool tool_0 was dropped"},
		{"tells the body", []string{"failure api_error"}, func(m *model) { m.fault = func(e *provider.Error) { e.Message = `{"oops":"no"}` } }, "wire.Endpoint.Explain can read"},
		{"edits the request", []string{"request untouched"}, func(m *model) { m.edit = func(r *provider.Request) { r.Model = "x" } }, "a field"},
		{"edits a message", []string{"request untouched"}, func(m *model) { m.edit = func(r *provider.Request) { r.Messages[0].Text = "x" } }, "a field"},
		{"appends to the view", []string{"request untouched"}, func(m *model) { m.edit = func(r *provider.Request) { _ = append(r.Messages, r.Last) } }, "beyond its end"},
		{"deaf", []string{"canceled in mid-stream", "deadline in mid-stream"}, func(m *model) { m.deaf = true }, "did not return"},
		{"deaf at first", []string{"canceled before"}, func(m *model) { m.deaf = true }, "want an error of kind canceled"},
		{"wrong kind", []string{
			"canceled before", "canceled in mid-stream", "deadline in mid-stream", "cut stream", "cut before the first word",
			"failure in mid-stream", "failure quota", "failure invalid_response",
		}, func(m *model) { m.kind = provider.KindConflict }, `is of kind "conflict"`},
		{"takes half for whole", []string{"cut stream", "failure in mid-stream", "failure timeout"}, func(m *model) { m.swallow = true }, "want an error of kind"},
		{"shows the key", []string{"failure authentication", "failure in mid-stream"}, func(m *model) { m.keepsFailure = true }, "shows the key"},
		{"another error type", []string{"failure authentication"}, func(m *model) { m.plainError = true }, "want a *provider.Error"},
		{"no wait", []string{"failure rate_limit"}, func(m *model) { m.s.RetryAfter = 0 }, "RetryAfter is 0s"},
		{"fails for nothing", []string{"plain", "first chunk before the end", "stop end", "concurrent"}, func(m *model) { m.s.Fail = provider.KindAPI }, "Generate failed"},
	}
	for _, tt := range tests {
		for _, name := range tt.cases {
			t.Run(tt.name+"/"+name, func(t *testing.T) {
				faults := providertest.Examine(t, name, connect(tt.spoil))
				require.NotEmpty(t, faults, "the suite noticed nothing")
				assert.Contains(t, strings.Join(faults, "\n"), tt.want)
			})
		}
	}
}

type nothing struct{}

func (nothing) Generate(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
	return nil, nil //nolint:nilnil // the fault that the suite must find
}

func TestNothingIsNoAnswer(t *testing.T) {
	for _, name := range providertest.Names() {
		faults := providertest.Examine(t, name, func(*testing.T, providertest.Scenario) provider.Provider { return nothing{} })
		assert.NotEmpty(t, faults, name)
	}
}

func TestLeaksAreSeen(t *testing.T) {
	before := providertest.Goroutines()
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() { <-stop })
	assert.Contains(t, providertest.Leaked(before, 20*time.Millisecond), "TestLeaksAreSeen")
	close(stop)
	group.Wait()
	assert.Empty(t, providertest.Leaked(before, 2*time.Minute))
}
