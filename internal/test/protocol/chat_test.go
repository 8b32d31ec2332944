// Package protocol_test lets the clients that others have written talk to the endpoints of package web.
package protocol_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
	"github.com/agonist-dev/debate/web/chat"
)

// chatting is a client of an endpoint that offers a debate as the model "two".
func chatting(t *testing.T, befalls ...provider.Kind) (openai.Client, *debate.Engine) {
	t.Helper()
	config := stage.TwoDebaters()
	engine, source := stage.Engine(config)
	engine.Store = &store.Memory{}
	for _, kind := range befalls {
		stage.Befall(source, kind, stage.Said("Ben", 2))
	}
	data, err := flow.EncodeConfig(config)
	require.NoError(t, err)
	h, err := web.New(engine, web.Options{
		Presets:   []web.Preset{{Name: "two", Config: data}},
		Authorize: func(r *http.Request, _ web.Access) (string, error) { return r.Header.Get("Authorization"), nil },
	})
	require.NoError(t, err)
	server := httptest.NewServer(chat.New(h))
	t.Cleanup(server.Close)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		assert.NoError(t, engine.Shutdown(ctx))
	})
	return openai.NewClient(option.WithAPIKey("key"), option.WithBaseURL(server.URL+"/v1/"), option.WithHTTPClient(server.Client())), engine
}

// question is a request about chess.
func question(model string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model:         model,
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be brief."), openai.UserMessage("Is chess a sport?")},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
}

// TestTheOpenAIClientHoldsADebate: it lists the models, gets an answer whole and as a stream, and its accumulator finds nothing wrong.
func TestTheOpenAIClientHoldsADebate(t *testing.T) {
	client, engine := chatting(t)
	models, err := client.Models.List(t.Context())
	require.NoError(t, err)
	require.Len(t, models.Data, 1)
	assert.Equal(t, "two", models.Data[0].ID)
	one, err := client.Models.Get(t.Context(), "two")
	require.NoError(t, err)
	assert.Equal(t, "two", one.ID)

	key := option.WithHeader("Idempotency-Key", "k")
	whole, err := client.Chat.Completions.New(t.Context(), question("two"), key)
	require.NoError(t, err)
	require.Len(t, whole.Choices, 1)
	assert.Contains(t, whole.Choices[0].Message.Content, strings.TrimSpace(stage.Speech("Ben", 3)))
	assert.Equal(t, "stop", whole.Choices[0].FinishReason)
	assert.Positive(t, whole.Usage.TotalTokens)
	record := stage.StoredRecord(t, engine, whole.ID)
	assert.Equal(t, "Is chess a sport?", record.Settings().Topic)

	stream := client.Chat.Completions.NewStreaming(t.Context(), question("two"), key)
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		require.True(t, all.AddChunk(stream.Current()))
	}
	require.NoError(t, stream.Err())
	assert.Equal(t, whole.ID, all.ID)
	require.Len(t, all.Choices, 1)
	assert.Equal(t, whole.Choices[0].Message.Content, all.Choices[0].Message.Content)
	assert.Equal(t, whole.Usage.TotalTokens, all.Usage.TotalTokens)
}

// TestTheOpenAIClientReadsErrors: and starts no second conversation after one that has failed.
func TestTheOpenAIClientReadsErrors(t *testing.T) {
	client, engine := chatting(t, provider.KindAuthentication)
	_, err := client.Chat.Completions.New(t.Context(), question("three"))
	var failure *openai.Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, http.StatusNotFound, failure.StatusCode)
	assert.Equal(t, "model", failure.Param)

	_, err = client.Chat.Completions.New(t.Context(), question("two"))
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, http.StatusBadGateway, failure.StatusCode)
	stream := client.Chat.Completions.NewStreaming(t.Context(), question("two"))
	for stream.Next() {
		require.Empty(t, stream.Current().Usage.TotalTokens)
	}
	require.ErrorContains(t, stream.Err(), "has no conclusion")
	count := 0
	for _, err := range engine.List(t.Context(), store.Filter{}) {
		require.NoError(t, err)
		count++
	}
	assert.Equal(t, 2, count)
}
