package provider_test

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

type line struct {
	role provider.Role
	text string
}

func chat(r *provider.Request) []line {
	var lines []line
	for role, text := range r.Chat() {
		lines = append(lines, line{role, text})
	}
	return lines
}

func TestChat(t *testing.T) {
	tests := []struct {
		name string
		req  provider.Request
		want []line
	}{
		{"nothing", provider.Request{}, nil},
		{"system only", provider.Request{System: "s"}, []line{{provider.RoleSystem, "s"}}},
		{
			"everybody",
			provider.Request{
				System: "s", Self: "Ada",
				Messages: []provider.Message{
					{Text: "topic"},
					{Speaker: "Ben", Text: "no"},
					{Speaker: "Ada", Text: "yes"},
					{Speaker: "Ben", Fence: "q7", Text: "never"},
				},
				Last: provider.Message{Text: "go on"},
			},
			[]line{
				{provider.RoleSystem, "s"},
				{provider.RoleUser, "topic"},
				{provider.RoleUser, "Ben: no"},
				{provider.RoleAssistant, "yes"},
				{provider.RoleUser, "<<<q7 Ben>>>\nnever\n<<<end q7>>>"},
				{provider.RoleUser, "go on"},
			},
		},
		{
			"own turns need no fence",
			provider.Request{Self: "Ada", Messages: []provider.Message{{Speaker: "Ada", Fence: "q7", Text: "yes"}}},
			[]line{{provider.RoleAssistant, "yes"}},
		},
		{
			"the engine's words are nobody's own",
			provider.Request{Messages: []provider.Message{{Text: "topic"}}},
			[]line{{provider.RoleUser, "topic"}},
		},
		{
			"what has no text is left out", provider.Request{Self: "Ada", Messages: []provider.Message{
				{Speaker: "Ada", ToolCalls: []provider.ToolCall{{ID: "1"}}}, {ToolResult: &provider.ToolResult{ID: "1", Text: "r"}},
			}}, nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, chat(&tt.req))
		})
	}
}

func TestChatStopsWhereItsReaderStops(t *testing.T) {
	req := provider.Request{
		System: "s", Self: "Ada",
		Messages: []provider.Message{{Speaker: "Ada", Text: "a"}, {Speaker: "Ben", Text: "b"}},
		Last:     provider.Message{Text: "l"},
	}
	all := chat(&req)
	for n := 1; n <= len(all); n++ {
		var got []line
		for role, text := range req.Chat() {
			got = append(got, line{role, text})
			if len(got) == n {
				break
			}
		}
		assert.Equal(t, all[:n], got)
	}
}

func TestError(t *testing.T) {
	cause := io.ErrUnexpectedEOF
	tests := []struct {
		name string
		err  *provider.Error
		want string
	}{
		{"nil", nil, "provider: no error"},
		{"zero", &provider.Error{}, "provider: unclassified"},
		{"kind", &provider.Error{Kind: provider.KindQuota}, "provider: quota"},
		{
			"full", &provider.Error{Kind: provider.KindAPI, Status: 502, Code: "bad_gateway", Message: "try later", Err: cause},
			"provider: api_error, status 502, bad_gateway: try later",
		},
		{"cause", &provider.Error{Kind: provider.KindNetwork, Err: cause}, "provider: network: unexpected EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, tt.err.Error()) })
	}
}

func TestErrorUnwraps(t *testing.T) {
	var none *provider.Error
	require.NoError(t, none.Unwrap())
	wrapped := fmt.Errorf("asking: %w", &provider.Error{Kind: provider.KindCanceled, Err: context.Canceled})
	require.ErrorIs(t, wrapped, context.Canceled)
	var e *provider.Error
	require.ErrorAs(t, wrapped, &e)
	assert.Equal(t, provider.KindCanceled, e.Kind)
	assert.NotErrorIs(t, &provider.Error{RetryAfter: time.Second}, context.Canceled)
}

func TestUsage(t *testing.T) {
	assert.True(t, provider.Usage{}.IsZero())
	assert.False(t, provider.Usage{CacheWrite: 1}.IsZero())
	// Each field is counted: a new one that Add forgets shows here.
	var u, double provider.Usage
	for i := range reflect.TypeFor[provider.Usage]().NumField() {
		reflect.ValueOf(&u).Elem().Field(i).SetInt(int64(i + 1))
		reflect.ValueOf(&double).Elem().Field(i).SetInt(int64(2 * (i + 1)))
	}
	assert.Equal(t, double, u.Add(u))
	assert.Equal(t, u, u.Add(provider.Usage{}))
}

func TestStaticKey(t *testing.T) {
	key, err := provider.StaticKey("k-1")(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "k-1", key)
}

func ExampleRequest_Chat() {
	req := provider.Request{
		System:   "You are Ada.",
		Self:     "Ada",
		Messages: []provider.Message{{Speaker: "Ben", Text: "Ban cars."}, {Speaker: "Ada", Text: "Price them."}},
		Last:     provider.Message{Text: "Close."},
	}
	for role, text := range req.Chat() {
		fmt.Println(role, "|", text)
	}
	// Output:
	// system | You are Ada.
	// user | Ben: Ban cars.
	// assistant | Price them.
	// user | Close.
}
