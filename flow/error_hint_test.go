package flow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// causes are failures of all kinds, each with another mend.
func causes() []*flow.Error {
	var all []*flow.Error
	for _, kind := range []flow.Kind{
		provider.KindNetwork, provider.KindRateLimit, provider.KindQuota, provider.KindAPI, provider.KindTimeout,
		provider.KindContextOverflow, provider.KindAuthentication, provider.KindContentFilter, provider.KindRefusal,
		provider.KindInvalidResponse, provider.KindValidation, provider.KindToolLimit, provider.KindUnknown,
	} {
		for _, who := range []string{"Ada", "summarizer"} {
			all = append(all, &flow.Error{Kind: kind, Op: "r1.opening." + who, Participant: who, Round: 1, Attempt: 1})
		}
	}
	one := func(e flow.Error) { all = append(all, &e) }
	one(flow.Error{Kind: provider.KindRateLimit, Participant: "Ada", Attempt: 1, RetryAfter: 90 * time.Second})
	one(flow.Error{Kind: provider.KindInvalidResponse, Participant: "Ada", Attempt: 1, Capped: true})
	one(flow.Error{Kind: provider.KindValidation, Field: "context", Participant: "Ada", Attempt: 1})
	one(flow.Error{Kind: provider.KindTimeout, Op: "round", Field: "roundTimeout"})
	one(flow.Error{Kind: provider.KindTimeout, Participant: "Ada", Field: "turnTimeout", Attempt: 1})
	one(flow.Error{Kind: provider.KindTimeout, Participant: "Ada", Field: "timeouts.verdict", Attempt: 1})
	for _, kind := range []flow.Kind{provider.KindNetwork, provider.KindQuota, provider.KindValidation, provider.KindUnknown} {
		one(flow.Error{Kind: kind, Participant: "sums", Field: "function", Attempt: 1})
	}
	one(flow.Error{Kind: provider.KindAuthentication, Op: "config", Field: "participants[0].model"})
	for _, limit := range []string{"hard", "hardTokens", "hardCalls", "hardTime"} {
		one(flow.Error{Kind: provider.KindCostLimit, Op: "limit", Field: "budget." + limit})
	}
	one(flow.Error{Kind: provider.KindCostLimit, Op: "limit", Err: errors.New("of an older log")})
	one(flow.Error{Kind: provider.KindState, Op: "flow arbiter", Field: "maxFailures"})
	one(flow.Error{Kind: provider.KindState, Op: "critiquing", Field: "unattended"})
	one(flow.Error{Kind: provider.KindState, Op: "r1.tool", Participant: "Ada", Field: "toolPolicy.unknown"})
	one(flow.Error{Kind: provider.KindState, Op: string(flow.KindConfirm)})
	one(flow.Error{Kind: provider.KindState, Op: "flow debate", Err: errors.New("it waits in vain")})
	one(flow.Error{Kind: provider.KindState, Op: "pause"})
	one(flow.Error{Kind: provider.KindState, Op: "run", Err: flow.WithMend(errors.New("twice"), "call Run again")})
	one(flow.Error{Kind: provider.KindConflict, Field: "id", Err: flow.ErrLeased})
	one(flow.Error{Kind: provider.KindConflict, Field: "id"})
	one(flow.Error{Kind: provider.KindConflict, Field: "rounds"})
	one(flow.Error{Kind: provider.KindConflict, Err: flow.ErrConflict})
	one(flow.Error{Kind: provider.KindStore})
	one(flow.Error{Kind: provider.KindStore, Err: flow.ErrNoFile})
	one(flow.Error{Kind: provider.KindCanceled})
	one(flow.Error{Kind: provider.KindValidation, Field: "rounds", Err: errors.New("is negative")})
	one(flow.Error{Kind: provider.KindValidation, Field: "topic", Err: errors.New("is empty")})
	one(flow.Error{Kind: provider.KindValidation, Op: "amend", Err: errors.New("is empty")})
	one(flow.Error{Kind: provider.KindValidation, Op: "open", Field: "id", Err: flow.ErrNotFound})
	one(flow.Error{Kind: provider.KindValidation, Op: "open", Field: "flowVersion", Err: flow.ErrMissing})
	one(flow.Error{
		Kind: provider.KindValidation, Op: "open", Field: "Providers",
		Err: fmt.Errorf("%w: %w", flow.ErrMissing, flow.Unregistered("provider", "Engine.Providers", "opnai", "openai")),
	})
	one(flow.Error{
		Kind: provider.KindValidation, Op: "config", Field: "participants[0].model",
		Err: flow.Unregistered("provider", "Engine.Providers", "opnai", "openai"),
	})
	return all
}

// TestNoTwoCausesHaveTheSameHint: each hint says what helps against its cause, and so is that of no other cause. What a failure of a
// log says is the same once it is read again.
func TestNoTwoCausesHaveTheSameHint(t *testing.T) {
	seen := make(map[string]*flow.Error)
	for _, cause := range causes() {
		hint := cause.Hint()
		assert.Nil(t, seen[hint], "%v and %v: %s", cause, seen[hint], hint)
		seen[hint] = cause
		assert.Regexp(t, `^[A-Z].*[^.]\.$`, hint)
		retries := regexp.MustCompile(`(?i)\bretry\b|\bstart again\b|^choose a model\b|^reword\b|^raise maxTokens\b`).MatchString(hint)
		assert.Equal(t, cause.Retryable(), retries || len(cause.Amends()) > 0, "%v: %s", cause, hint)
		if len(cause.Amends()) > 0 {
			assert.Contains(t, strings.ToLower(hint), "amend ", "%v", cause)
			assert.Contains(t, hint, cause.Amends()[0])
		}
		if cause.Attempt > 0 {
			data, err := json.Marshal(cause)
			require.NoError(t, err)
			var read flow.Error
			require.NoError(t, json.Unmarshal(data, &read))
			assert.Equal(t, hint, read.Hint())
			assert.Equal(t, cause.Amends(), read.Amends())
			assert.Equal(t, cause.Retryable(), read.Retryable())
			assert.True(t, cause.Retryable(), "%v", cause)
		}
	}
}

// values are what the fields of an amendment may be, by their keys.
func values() map[string]string {
	return map[string]string{
		"models": `{"Ada":{"model":"a/b"}}`, "summarizer": `"a/b"`, "context": `"sliding"`, "turnTimeout": `"5m"`, "roundTimeout": `"5m"`,
		"timeouts.verdict": `{"verdict":"5m"}`, "unattended": `false`, "toolPolicy": `{"unknown":"tell"}`, "budget": `{}`,
		"budget.hard": `{"hard":1}`, "budget.hardTokens": `{"hardTokens":1}`, "budget.hardCalls": `{"hardCalls":1}`,
		"budget.hardTime": `{"hardTime":"1h"}`,
	}
}

// TestHintsNameWhatThereIs: the fields to amend are those of an Amendment, other fields are those of a config, and only what a host
// program registers is named by its name in Go: the hint of a conversation's failure is read by its users.
func TestHintsNameWhatThereIs(t *testing.T) {
	member := regexp.MustCompile(`\b(Engine|Record)\.(\w+)`)
	setting := regexp.MustCompile(`\b(reserve|maxTokens|truncateTurns|toolCalls|maxIterations|maxFailures)\b`)
	types := map[string]reflect.Type{"Engine": reflect.TypeFor[*debate.Engine](), "Record": reflect.TypeFor[*flow.Record]()}
	known := func(config any, key string) bool {
		return !strings.Contains(fmt.Sprint(json.Unmarshal([]byte(`{"`+key+`":1}`), config)), "known key")
	}
	for _, cause := range causes() {
		for _, field := range cause.Amends() {
			key, rest, _ := strings.Cut(field, ".")
			value := values()[field]
			if value == "" {
				value = values()[key]
			}
			require.NotEmpty(t, value, field)
			if key == "models" {
				assert.Equal(t, cause.Participant, rest)
			}
			var a flow.Amendment
			assert.NoError(t, flow.DecodeStrict("amend", []byte(`{"`+key+`":`+value+`}`), &a), field)
		}
		if cause.Participant != "" || len(cause.Amends()) > 0 {
			assert.NotRegexp(t, `\b(Engine|Record|Session)\.|\*provider`, cause.Hint())
		}
		for _, m := range member.FindAllStringSubmatch(cause.Hint(), -1) {
			of := types[m[1]]
			_, is := of.Elem().FieldByName(m[2])
			_, does := of.MethodByName(m[2])
			assert.True(t, is || does, cause.Hint())
		}
		for _, m := range setting.FindAllString(cause.Hint(), -1) {
			there := known(new(debate.Config), m) || known(new(deliberation.Config), m) || known(new(arbiter.Config), m) ||
				strings.Contains(fmt.Sprintf("%+v", arbiter.Agent{}), strings.ToUpper(m[:1])+m[1:])
			assert.True(t, there, "%s: %s", m, cause.Hint())
		}
	}
}

// What has gone wrong may be quoted from anywhere.
func TestHintsAreOneLine(t *testing.T) {
	hostile := "Ada\x1b[2J\nERROR " + strings.Repeat("x", 5000)
	for _, cause := range append(causes(), &flow.Error{Kind: provider.KindState, Err: flow.WithMend(errors.New("no"), hostile)}) {
		e := *cause
		e.Op, e.Field, e.Participant = hostile, hostile, hostile
		for _, said := range append(e.Amends(), e.Hint()) {
			assert.NotContains(t, said, "\n")
			assert.NotContains(t, said, "\x1b")
			assert.Less(t, len(said), 1500)
		}
	}
}
