package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/detect"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// mistake is what somebody has of a config and an engine before something goes wrong.
type mistake struct {
	t      *testing.T
	config debate.Config
	engine *debate.Engine
}

// started starts the debate.
func (m *mistake) started() *debate.Session {
	m.t.Helper()
	session, err := m.engine.Start(m.t.Context(), m.config)
	require.NoError(m.t, err)
	return session
}

// silence lets no model answer before its context ends.
func (m *mistake) silence() {
	m.engine.Providers["test"] = stage.ProviderFunc(
		func(ctx context.Context, _ *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
}

// validated changes the config, and validates it.
func validated(change func(m *mistake)) func(m *mistake) error {
	return func(m *mistake) error {
		change(m)
		return m.engine.Validate(m.t.Context(), m.config)
	}
}

// answering validates nothing, and runs a debate whose provider does this.
func answering(generate func() (*provider.Response, error)) func(m *mistake) error {
	return func(m *mistake) error {
		m.engine.Providers["test"] = stage.ProviderFunc(
			func(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
				return generate()
			})
		m.config.Unattended = true
		_, err := m.started().Wait(m.t.Context())
		return err
	}
}

// decoded reads the JSON of a config.
func decoded(text string) func(m *mistake) error {
	return func(m *mistake) error { return json.Unmarshal([]byte(text), &m.config) }
}

// told returns an error with all that is said of what helps against it.
func told(err error) string {
	if err == nil {
		return "no error"
	}
	text := err.Error()
	var hints func(err error)
	hints = func(err error) {
		if own, ok := err.(*debate.Error); ok { //nolint:errorlint // each is visited
			text += " | " + own.Hint()
		}
		switch wraps := err.(type) { //nolint:errorlint // likewise
		case interface{ Unwrap() []error }:
			for _, each := range wraps.Unwrap() {
				hints(each)
			}
		case interface{ Unwrap() error }:
			hints(wraps.Unwrap())
		}
	}
	hints(err)
	return text
}

// TestAMistakeIsToldWithWhatHelps: whoever reads what is said knows what to do, without the source. says are parts of it.
func TestAMistakeIsToldWithWhatHelps(t *testing.T) {
	for _, c := range []struct {
		mistake string
		make    func(m *mistake) error
		says    []string
	}{
		{
			"a model without its provider", validated(func(m *mistake) { m.config.Participants[0].Model = "gpt-4.1-mini" }),
			[]string{"participants[0].model", `"gpt-4.1-mini" is not "provider/model"`, `such as "test/a-model"`},
		},
		{
			"a provider misspelt", validated(func(m *mistake) { m.config.Participants[0].Model = "tset/debater" }),
			[]string{`no provider "tset" is registered: there is only test`, `Engine.Providers["tset"] before the engine is first used`},
		},
		{
			"an engine without providers", func(m *mistake) error { return (&debate.Engine{}).Validate(m.t.Context(), m.config) },
			[]string{`no provider "test" is registered: there is none`, `set Engine.Providers["test"]`},
		},
		{
			"a provider that is nil", validated(func(m *mistake) { m.engine.Providers["test"] = nil }),
			[]string{`the provider "test" is nil: set Engine.Providers["test"]`},
		},
		{
			"a provider that is a nil pointer", validated(func(m *mistake) { m.engine.Providers["test"] = (*scripted.Provider)(nil) }),
			[]string{`the provider "test" is nil: set Engine.Providers["test"]`},
		},
		{"a judge that is a nil function", validated(func(m *mistake) {
			m.engine.Judges = map[string]debate.Judge{"cato": debate.JudgeFunc(nil)}
		}), []string{"Judges[cato]: is nil: set it to a judge"}},
		{"a tool that is nil", validated(func(m *mistake) {
			m.engine.Tools = map[string]flow.Tool{"look": nil}
		}), []string{"Tools[look]: is nil: set it to a tool"}},
		{"a detector that is nil", validated(func(m *mistake) {
			m.engine.Detectors = map[string]debate.Detector{"loud": debate.DetectorFunc(nil)}
		}), []string{"Detectors[loud]", "is nil: set it to a detector"}},
		{"a detector of a built-in name", validated(func(m *mistake) {
			m.engine.Detectors = map[string]debate.Detector{string(format.DetectRepetition): debate.DetectorFunc(func(*debate.Debate, int) detect.Finding { return detect.Finding{} })}
		}), []string{"has the name of a built-in detector: give it another"}},
		{
			"a store that could not be opened", validated(func(m *mistake) { m.engine.Store = (*store.Memory)(nil) }),
			[]string{"Store", "is a nil *store.Memory: open it before, and check the error"},
		},
		{"a flow under another name", validated(func(m *mistake) {
			m.engine.Flows = map[string]*flow.Flow{"work": arbiter.Flow()}
		}), []string{`the flow under "work" has the name "` + arbiter.FlowName + `"`}},
		{
			"a flow that is nil", validated(func(m *mistake) { m.engine.Flows = map[string]*flow.Flow{"work": nil} }),
			[]string{`the flow under "work" is nil: set Engine.Flows["work"] to one`},
		},
		{"a flow that is not registered", func(m *mistake) error {
			return m.engine.Validate(m.t.Context(), &deliberation.Config{Problem: "Tea?"})
		}, []string{`no flow "deliberation" is registered`, `Engine.Flows["deliberation"]`}},
		{"a config that is nil", func(m *mistake) error { return m.engine.Validate(m.t.Context(), nil) }, []string{"config: there is none"}},
		{
			"a config that is a nil pointer", func(m *mistake) error { return m.engine.Validate(m.t.Context(), (*debate.Config)(nil)) },
			[]string{"config: there is none"},
		},
		{"no topic", validated(func(m *mistake) { m.config.Topic = " " }), []string{"topic: is empty"}},
		{"nobody", validated(func(m *mistake) { m.config.Participants = nil }), []string{"participants: there are 0", "has 2 to"}},
		{"two of one name", validated(func(m *mistake) { m.config.Participants[1].Name = "Ada" }), []string{"participants[1].name", `"Ada"`}},
		{"a format misspelt", validated(func(m *mistake) { m.config.Format = "oxfrod" }), []string{`no format "oxfrod" is registered`, "oxford"}},
		{
			"a limit below one round", validated(func(m *mistake) { m.config.Budget = &debate.Budget{Hard: 5} }),
			[]string{"budget.hard", "$0.000000000005", "is below what"},
		},
		{"a soft limit above the hard one", validated(func(m *mistake) {
			m.config.Budget = &debate.Budget{Soft: 2 * debate.USD, Hard: debate.USD}
		}), []string{"budget.soft", "is above the hard limit", "lower it to budget.hard or less, or raise budget.hard"}},
		{
			"a negative limit", validated(func(m *mistake) { m.config.Budget = &debate.Budget{HardCalls: -1} }),
			[]string{"budget.hardCalls", "negative"},
		},
		{"a limit of time in seconds, without their unit", func(m *mistake) error {
			m.silence()
			m.config.Budget = &debate.Budget{HardTime: 30}
			_, err := m.started().Wait(m.t.Context())
			return err
		}, []string{"budget.hardTime: the hard limit of the budget is reached", "of 30ns", "Amend budget.hardTime to a higher limit"}},
		{"a limit of cost without a price", validated(func(m *mistake) {
			m.config.Participants[0].Model, m.config.Budget = "test/free", &debate.Budget{Hard: debate.USD}
		}), []string{"test/free", "price", "Engine.Models"}},
		{"a key misspelt", decoded(`{"particpants":[]}`), []string{"particpants: is not a known key", "participants"}},
		{"a number for a text", decoded(`{"topic":3}`), []string{"topic: is a number, not a text"}},
		{"an amount with its currency", decoded(`{"budget":{"hard":"1 USD"}}`), []string{`budget.hard: "1 USD" is not an amount of USD: write a number such as 1.5`}},
		{"a duration as a number", decoded(`{"patience":30}`), []string{"patience: is a number, not a text", `write a text such as "90s"`}},
		{"a limit of time as a number", decoded(`{"budget":{"hardTime":30}}`), []string{"budget.hardTime: is a number, not a text", `write a text such as "90s"`}},
		{"quotations of nothing", validated(func(m *mistake) { m.config.Quotes = true }), []string{"quotes", "there are none", "leave it out"}},
		{"uses of no tools", validated(func(m *mistake) { m.config.ToolUses = 3 }), []string{"toolUses", "there are none", "leave it out"}},

		{"a context that has ended", func(m *mistake) error {
			ctx, cancel := context.WithCancel(m.t.Context())
			cancel()
			_, err := m.engine.Start(ctx, m.config)
			return err
		}, []string{"context canceled"}},
		{"a wait with a context that has ended", func(m *mistake) error {
			m.silence()
			session := m.started()
			defer session.Close()
			ctx, cancel := context.WithCancel(m.t.Context())
			cancel()
			record, err := session.Wait(ctx)
			assert.Nil(m.t, record)
			return err
		}, []string{"context canceled"}},
		{"a provider registered after the first use", func(m *mistake) error {
			_ = m.engine.Validate(m.t.Context(), m.config)
			m.engine.Providers["late"] = &scripted.Provider{}
			m.config.Participants[0].Model = "late/m"
			return m.engine.Validate(m.t.Context(), m.config)
		}, []string{`no provider "late" is registered`, "before the engine is first used"}},
		{"a second range over one Run", func(m *mistake) (last error) {
			events := m.engine.Run(m.t.Context(), m.config)
			for range 2 {
				for _, err := range events {
					last = err
				}
			}
			return last
		}, []string{"can be ranged over once: call Run again"}},
		{"an id that there is not", func(m *mistake) error {
			_, err := m.engine.Open(m.t.Context(), "nothing")
			return err
		}, []string{`no such conversation: "nothing"`}},
		{"an id that is a path", func(m *mistake) error {
			m.config.ID = "../a"
			return m.engine.Validate(m.t.Context(), m.config)
		}, []string{"id: is not 1 to 128 letters"}},
		{"one id for two configs", func(m *mistake) error {
			m.config.ID = "one"
			m.started()
			m.config.Topic = "Tea?"
			_, err := m.engine.Start(m.t.Context(), m.config)
			return err
		}, []string{"conflict", "topic", "Tea?"}},
		{"two engines for one id", func(m *mistake) error {
			m.config.ID = "one"
			m.silence()
			defer m.started().Close()
			other := &debate.Engine{Store: m.engine.Store, Providers: m.engine.Providers, Models: m.engine.Models}
			_, err := other.Open(m.t.Context(), "one")
			return err
		}, []string{"another owner holds the conversation's lease", "Wait until"}},
		{"a pause of what is over", func(m *mistake) error {
			session := m.started()
			if _, err := session.Wait(m.t.Context()); err != nil {
				return err
			}
			return session.Pause(m.t.Context())
		}, []string{"pause: not possible in state completed"}},
		{"a start before the validation", func(m *mistake) error {
			session, err := m.engine.New(m.config)
			if err != nil {
				return err
			}
			return session.Start(m.t.Context())
		}, []string{"start: not possible in state configuring", "Validate the config first"}},
		{"an answer to nothing", func(m *mistake) error {
			session := m.started()
			defer session.Close()
			return session.Answer(m.t.Context(), flow.Answer{Inquiry: "cost", Text: "yes"})
		}, []string{`answer: no inquiry "cost" is open`}},
		{"an input that the flow does not have", func(m *mistake) error {
			session := m.started()
			defer session.Close()
			return session.Send(m.t.Context(), "note", "Speak of fatigue.")
		}, []string{`no input "note" is known to flow debate`}},
		{"a payload that is no JSON", func(m *mistake) error {
			session := m.started()
			defer session.Close()
			return session.Send(m.t.Context(), "note", func() {})
		}, []string{"send: payload", "unsupported type"}},
		{"a control of a closed session", func(m *mistake) error {
			session := m.started()
			_ = session.Close()
			return session.Pause(m.t.Context())
		}, []string{"the session is closed: open the conversation again"}},
		{"a start after the shutdown", func(m *mistake) error {
			require.NoError(m.t, m.engine.Shutdown(m.t.Context()))
			_, err := m.engine.Start(m.t.Context(), m.config)
			return err
		}, []string{"the engine is shut down: use another one"}},
		{"an engine that lacks what a stored debate needs", func(m *mistake) error {
			m.config.ID = "one"
			_ = m.started().Close()
			other := &debate.Engine{Store: m.engine.Store, Providers: map[string]debate.Provider{"renamed": &scripted.Provider{}}}
			_, err := other.Open(m.t.Context(), "one")
			return err
		}, []string{`no provider "test" is registered: there is only renamed`, `Set Engine.Providers["test"] before`}},
		{"a fork from behind the end", func(m *mistake) error {
			m.config.ID = "one"
			if _, err := m.started().Wait(m.t.Context()); err != nil {
				return err
			}
			_, err := m.engine.Fork(m.t.Context(), "one", 10_000, nil)
			return err
		}, []string{"fork: seq: is 10000: the debate has the events 1 to"}},
		{"an import of something else", func(m *mistake) error {
			_, err := m.engine.Import(m.t.Context(), strings.NewReader(`{"hello":1}`))
			return err
		}, []string{"this is no snapshot", "what a snapshot or an export has written"}},

		{"a provider that returns nil", answering(func() (*provider.Response, error) {
			return nil, nil //nolint:nilnil // the mistake
		}), []string{"the provider returned neither a reply nor an error"}},
		{"a provider whose replies are blank", answering(func() (*provider.Response, error) {
			return &provider.Response{Text: " \n"}, nil
		}), []string{"the reply is blank"}},
		{"a provider with errors of its own", answering(func() (*provider.Response, error) {
			return nil, errors.New("boom")
		}), []string{"boom", "retry; or amend models.Ada"}},
		{"a judge who answers in prose", func(m *mistake) error {
			m.engine.Judges = map[string]debate.Judge{"cato": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
				return json.RawMessage("Well argued."), nil
			})}
			m.config.Judging.Judges[0], m.config.Unattended = debate.JudgeConfig{Judge: "cato"}, true
			_, err := m.started().Wait(m.t.Context())
			return err
		}, []string{"JSON"}},
		{"a failure that nobody answers", func(m *mistake) error {
			m.config.Unattended = false
			m.engine.Providers["test"] = stage.ProviderFunc(
				func(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
					return nil, &provider.Error{Kind: provider.KindAuthentication, Message: "no such key"}
				})
			_, err := m.started().Wait(m.t.Context())
			return err
		}, []string{"no such key", "authentication", "Renew the API key"}},
	} {
		t.Run(c.mistake, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &mistake{t: t, config: stage.TwoDebaters()}
				m.engine, _ = stage.Engine(m.config)
				m.engine.Store, m.config.Patience = &store.Memory{}, time.Second
				err := c.make(m)
				require.Error(t, err)
				for _, part := range c.says {
					assert.Contains(t, told(err), part)
				}
				_ = m.engine.Shutdown(context.WithoutCancel(t.Context())) // of an engine that is wrong, there is nothing to end
			})
		})
	}
}
