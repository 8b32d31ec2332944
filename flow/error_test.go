package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestErrorsOfNothing(t *testing.T) {
	var none *debate.Error
	assert.NotEmpty(t, none.Error())
	assert.NoError(t, none.Unwrap())
	assert.False(t, none.Retryable())
	assert.Empty(t, none.Hint())
	assert.NotErrorIs(t, none, &debate.Error{Kind: provider.KindState})
	data, err := none.MarshalJSON()
	require.NoError(t, err)
	assert.Equal(t, "null", string(data))

	var zero debate.Error
	assert.Equal(t, "debate: unspecified error", zero.Error())
	assert.NotEmpty(t, zero.Hint())
	assert.False(t, zero.Retryable())
	data, err = json.Marshal(&zero)
	require.NoError(t, err)
	assert.JSONEq(t, `{}`, string(data))
}

func TestErrorsAreOneLine(t *testing.T) {
	err := &debate.Error{
		Kind: provider.KindTimeout, Op: "r2.rebuttal.Ada", Field: "f", Participant: "Ada", Round: 2, Attempt: 3, Err: errors.New("no reply in time"),
	}
	assert.Equal(t, "debate: timeout: r2.rebuttal.Ada: f: attempt 3: no reply in time", err.Error())
	assert.NotContains(t, (&debate.Error{Kind: provider.KindTimeout, Attempt: 1}).Error(), "attempt", "the first is not worth a word")
}

// A log that was imported may hold anything as the model of an answer, and a name may be long.
func TestTheErrorOfASecondAnswerIsOneShortLine(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	err := &flow.AnsweredError{Answer: flow.Answer{
		Inquiry: "ask.1\n2", Option: flow.OptionRetry, Model: "x\nERROR all is lost" + strings.Repeat("!", 500),
		By: "Ben\n", Person: strings.Repeat("Mia ", 200),
	}, At: at}
	assert.NotContains(t, err.Error(), "\n")
	assert.Less(t, len(err.Error()), 500)
	err.Answer = flow.Answer{Inquiry: "ask.1", Option: flow.OptionDrop, By: "Ben", Person: "Mia"}
	assert.EqualError(t, err, `inquiry "ask.1" was answered by "Mia" at 2026-03-01T11:00:00Z with drop for "Ben"`)
	err.Answer = flow.Answer{Inquiry: "ask.1", Option: flow.OptionModel, Model: "test/spare", Rule: true}
	assert.EqualError(t, err, `inquiry "ask.1" was answered by a rule at 2026-03-01T11:00:00Z with model test/spare`)
	err.Answer = flow.Answer{Inquiry: "say.Ada", Option: flow.OptionStandIn, Model: "test/spare", Rule: true}
	assert.EqualError(t, err, `inquiry "say.Ada" is over: its time ended at 2026-03-01T11:00:00Z, and a model answers in place of the person, `+
		`who is asked again next time`)
}

func TestErrorsHoldTheirCause(t *testing.T) {
	cause := errors.New("cause")
	err := fmt.Errorf("wrapped: %w", &debate.Error{Kind: provider.KindCostLimit, Op: "limit", Err: cause})
	assert.ErrorIs(t, err, cause)
	assert.ErrorIs(t, err, &debate.Error{Kind: provider.KindCostLimit}, "a target of a kind asks for the kind")
	assert.NotErrorIs(t, err, &debate.Error{Kind: provider.KindState})
	assert.NotErrorIs(t, err, &debate.Error{})
	assert.NotErrorIs(t, err, &debate.Error{Kind: provider.KindCostLimit, Op: "limit"}, "one that says more is another error")
	assert.NotErrorIs(t, err, (*debate.Error)(nil))
	assert.NotErrorIs(t, err, debate.ErrConflict)
}

func TestEveryKindHasAHint(t *testing.T) {
	retryable := map[debate.Kind]bool{
		provider.KindNetwork: true, provider.KindRateLimit: true, provider.KindAPI: true, provider.KindTimeout: true, provider.KindInvalidResponse: true,
		provider.KindAuthentication: true, provider.KindQuota: true, provider.KindCostLimit: true, provider.KindContextOverflow: true,
		provider.KindContentFilter: true, provider.KindRefusal: true, provider.KindToolLimit: true, provider.KindUnknown: true,
	}
	other := (&debate.Error{Kind: "unheard of"}).Hint()
	seen := map[string]debate.Kind{}
	for _, kind := range stage.Kinds {
		err := &debate.Error{Kind: kind}
		assert.Equal(t, retryable[kind], err.Retryable(), "%s", kind)
		hint := err.Hint()
		assert.NotEqual(t, other, hint, "%s", kind)
		assert.Empty(t, seen[hint], "%s has the hint of another", kind)
		seen[hint] = kind
	}
	assert.Contains(t, (&debate.Error{Kind: provider.KindRateLimit, RetryAfter: 90 * time.Second}).Hint(), "1m30s")
}

func TestErrorsReadWhatTheyWrite(t *testing.T) {
	for _, kind := range append(stage.Kinds, "") {
		written := &debate.Error{
			Kind: kind, Op: "op", Field: "a[1].b", Participant: "Ada", Round: 2, Attempt: 3, RetryAfter: 90 * time.Second, Window: 8192, Err: errors.New("cause"),
		}
		data, err := json.Marshal(written)
		require.NoError(t, err)
		var read debate.Error
		require.NoError(t, json.Unmarshal(data, &read))
		assert.Equal(t, written.Error(), read.Error())
		assert.Equal(t, written.Round, read.Round)
		assert.Equal(t, written.RetryAfter, read.RetryAfter)
		assert.Equal(t, written.Hint(), read.Hint())
	}
	var read debate.Error
	assert.Error(t, json.Unmarshal([]byte(`{"kind":1}`), &read))
	require.NoError(t, json.Unmarshal([]byte(`{"retryAfter":1e300}`), &read))
	assert.Zero(t, read.RetryAfter, "a wait that does not fit is none")
}

// What a provider or a judge returns becomes one of the kinds, and one short line that prints.
func TestFailuresAreClassified(t *testing.T) {
	type failure struct {
		err  error
		kind debate.Kind
		says string
	}
	cases := map[string]failure{
		"an error of ours":      {fmt.Errorf("x: %w", &debate.Error{Kind: provider.KindRefusal, Err: errors.New("no")}), provider.KindRefusal, "no"},
		"ours without a kind":   {&debate.Error{Err: errors.New("hm")}, provider.KindUnknown, "hm"},
		"theirs without a kind": {&provider.Error{Message: "hm"}, provider.KindUnknown, "hm"},
		"a foreign error":       {errors.New("boom"), provider.KindUnknown, "boom"},
		"a deadline":            {fmt.Errorf("dial: %w", context.DeadlineExceeded), provider.KindTimeout, "dial"},
		"a cancellation":        {fmt.Errorf("dial: %w", context.Canceled), provider.KindAPI, "dial"}, // nobody had asked for that,
		"control characters":    {errors.New("a\x1b[31mred\x07\r\nb\u202ec\x00d"), provider.KindUnknown, "a [31mred   b c d"},
		"not UTF-8":             {errors.New("a\xff\xfeb"), provider.KindUnknown, "a"},
		"very long":             {errors.New(strings.Repeat("é", 100_000)), provider.KindUnknown, "…"},
	}
	for _, kind := range stage.Kinds {
		told := kind
		if kind == provider.KindCanceled { // nobody had asked for that
			told = provider.KindAPI
		}
		cases["theirs: "+string(kind)] = failure{&provider.Error{Kind: kind, Status: 500, Message: "m"}, told, "m"}
	}
	for name, c := range cases {
		for _, unattended := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/unattended: %t", name, unattended), stage.Bubbled(func(t *testing.T) {
				config := stage.Attended()
				if unattended { // what no longer fits is not made smaller
					config.Unattended, config.OnFailure = true, stage.Rules(debate.FailureRule{Do: flow.OptionFail})
				}
				engine, source := stage.Engine(config)
				source.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Err: c.err} }
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				t.Cleanup(func() { session.Close() })
				record, err := session.Wait(t.Context())
				if !unattended {
					err = stage.Question(t, record, err).Failure
				} else {
					assert.Equal(t, flow.StateError, record.State)
					require.NotNil(t, record.Failure)
					assert.Equal(t, err.Error(), record.Failure.Error())
				}
				got := stage.RequireKind(t, err, c.kind)
				assert.Equal(t, "Ada", got.Participant)
				assert.Equal(t, 1, got.Round)
				assert.Equal(t, "r1.opening.Ada", got.Op)
				assert.ErrorContains(t, err, c.says)
				assert.Less(t, len(err.Error()), 420)
				assert.True(t, utf8.ValidString(err.Error()))
				assert.NotContains(t, strings.Map(func(r rune) rune {
					if unicode.IsPrint(r) {
						return 'x'
					}
					return '!'
				}, err.Error()), "!", "it prints")
			}))
		}
	}
}

func FuzzErrorJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `null`, `{"kind":"state","retryAfter":-1e300,"message":"m"}`, `{"round":-1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var e debate.Error
		if e.UnmarshalJSON(data) != nil {
			return
		}
		_, _, _ = e.Error(), e.Hint(), e.Retryable()
		written, err := json.Marshal(&e)
		if err != nil {
			t.Fatal(err)
		}
		var again debate.Error
		if err := json.Unmarshal(written, &again); err != nil || again.Kind != e.Kind {
			t.Fatalf("%s: %v", written, err)
		}
	})
}

// A provider of the host program may return anything. What the engine keeps of it shows no URL's user or query, no header
// and no key.
func TestCausesOfForeignProvidersAreClean(t *testing.T) {
	t.Parallel()
	const secret = "kZ8canary5f1d7a0c"
	cause := &url.Error{Op: "Post", URL: "https://ada:" + secret + "@host/v1?key=" + secret, Err: errors.New("connection refused")}
	for name, err := range map[string]error{
		"its own":          fmt.Errorf("chat: %w", cause),
		"a provider's":     &provider.Error{Kind: provider.KindNetwork, Err: cause},
		"wrapped":          fmt.Errorf("x-api-key: "+secret+": %w", &provider.Error{Kind: provider.KindNetwork, Code: "sk-" + secret, Message: "no: " + cause.Error()}),
		"a flow's":         &flow.Error{Kind: provider.KindNetwork, Err: cause},
		"joined":           errors.Join(errors.New("Authorization: Bearer "+secret), cause),
		"beyond the line":  errors.New(strings.Repeat("x", 290) + " sk-" + secret),
		"a timeout":        fmt.Errorf("%w: %w", context.DeadlineExceeded, cause),
		"broken off":       fmt.Errorf("%w: %w", context.Canceled, cause),
		"with a header":    fmt.Errorf("sent %v", http.Header{"Authorization": {"Bearer " + secret}, "X-Api-Key": {secret}}),
		"a service's":      errors.New(`{"error":{"request":{"headers":{"x-goog-api-key":"` + secret + `"}}}}`),
		"without a scheme": errors.New("GET /v1beta/models?alt=sse&key=" + secret),
	} {
		engine := &debate.Engine{Providers: map[string]debate.Provider{"acme": &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
			return scripted.Reply{Err: err}
		}}}}
		var lines stage.Locked
		engine.Logger = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
		session, startErr := engine.Start(t.Context(), debate.Config{
			Topic: "Keys?", Rounds: 1, Unattended: true, Patience: time.Millisecond,
			Retry:        &flow.RetryPolicy{Max: map[flow.Kind]int{}, Base: time.Millisecond, Jitter: time.Millisecond},
			Participants: []debate.Participant{{Name: "Ada", Model: "acme/m"}, {Name: "Ben", Model: "acme/m"}},
		})
		require.NoError(t, startErr, name)
		seen := fmt.Sprint(flow.Classify(err))
		var text strings.Builder
		for event, err := range session.Events(t.Context(), 0) {
			require.NoError(t, err)
			data, err := json.Marshal(event)
			require.NoError(t, err)
			fmt.Fprintf(&text, "%s %+v %#v\n", data, event.Body, event.Body)
			if f := body.As[flow.Failure](event); f != nil {
				for err := error(f.Error); err != nil; err = errors.Unwrap(err) {
					fmt.Fprintf(&text, "%v %+v %#v\n", err, err, err)
				}
			}
			if to := body.As[flow.Transition](event); to != nil && to.To == flow.StateError {
				break
			}
		}
		snapshot, err := session.Snapshot(t.Context())
		require.NoError(t, err)
		require.NoError(t, session.Close())
		for _, place := range []string{seen, text.String(), string(snapshot), lines.String(), (&flow.Error{Err: err}).Error()} {
			assert.NotContains(t, place, "canary", name)
		}
		assert.NotEmpty(t, text.String())
	}
}
