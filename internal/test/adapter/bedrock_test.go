package adapter_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/bedrock"
)

// TestBedrockWritesWhatItsSDKWrites: the adapter's request is that of AWS's own client, in path, body and the names of the
// headers that are signed.
func TestBedrockWritesWhatItsSDKWrites(t *testing.T) {
	type seen struct{ path, body, signed string }
	var got []seen
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, signed, _ := strings.Cut(r.Header.Get("Authorization"), "SignedHeaders=")
		signed, _, _ = strings.Cut(signed, ",")
		got = append(got, seen{r.Method + " " + r.URL.EscapedPath(), string(body), signed})
	}))
	defer server.Close()
	cfg := aws.Config{
		Region: "eu-central-1", BaseEndpoint: &server.URL, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("AKIACANARY", "secret", "session"),
	}
	const model = "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
	zero := 0.0
	p := bedrock.New(cfg)
	p.ModelFields = json.RawMessage(`{"thinking":{"type":"enabled","budget_tokens":1024}}`)
	p.Guardrail = &bedrock.Guardrail{ID: "gr1", Version: "DRAFT"}
	p.ServiceTier = "flex"
	_, _ = p.Generate(t.Context(), &provider.Request{
		Model: model, System: "You are <Ada>.", Self: "Ada", MaxTokens: 2000, Temperature: &zero,
		Messages: []provider.Message{
			{Speaker: "Ada", Text: "Let me see.", ToolCalls: []provider.ToolCall{{
				ID: "a", Name: "lookup", Arguments: json.RawMessage(`{"word":"kerb"}`),
				Opaque: json.RawMessage(`{"host":"` + server.Listener.Addr().String() + `","model":"anthropic.claude-sonnet-4-5-20250929-v1:0","kept":` +
					`{"thoughts":[{"text":"Hm.","signature":"Eu0C"},{"redacted":"RXRr"}]}}`),
			}}},
			{Speaker: "Ada", ToolResult: &provider.ToolResult{ID: "a", Text: "Closed.", Error: true}},
		},
		Last:   provider.Message{Text: "Open."},
		Tools:  []provider.Tool{{Name: "lookup", Description: "Looks a word up.", Parameters: json.RawMessage(`{"type":"object","properties":{"word":{"type":"string"}}}`)}},
		Schema: &provider.Schema{Name: "reply", JSON: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)},
	}, func(provider.Chunk) {})
	require.Len(t, got, 1)

	point := types.CachePointBlock{Type: types.CachePointTypeDefault}
	var written struct {
		OutputConfig struct {
			TextFormat struct {
				Structure struct{ JSONSchema struct{ Schema string } }
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(got[0].body), &written))
	_, _ = bedrockruntime.NewFromConfig(cfg).ConverseStream(t.Context(), &bedrockruntime.ConverseStreamInput{
		ModelId: aws.String(model),
		System: []types.SystemContentBlock{
			&types.SystemContentBlockMemberText{Value: "You are <Ada>."}, &types.SystemContentBlockMemberCachePoint{Value: point},
		},
		InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(2000), Temperature: aws.Float32(0)},
		Messages: []types.Message{
			{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "(The conversation begins with your own words.)"}}},
			{Role: types.ConversationRoleAssistant, Content: []types.ContentBlock{
				&types.ContentBlockMemberReasoningContent{Value: &types.ReasoningContentBlockMemberReasoningText{
					Value: types.ReasoningTextBlock{Text: aws.String("Hm."), Signature: aws.String("Eu0C")},
				}},
				&types.ContentBlockMemberReasoningContent{Value: &types.ReasoningContentBlockMemberRedactedContent{Value: []byte("Etk")}},
				&types.ContentBlockMemberText{Value: "Let me see."},
				&types.ContentBlockMemberToolUse{Value: types.ToolUseBlock{
					ToolUseId: aws.String("a"), Name: aws.String("lookup"), Input: document.NewLazyDocument(map[string]any{"word": "kerb"}),
				}},
			}},
			{Role: types.ConversationRoleUser, Content: []types.ContentBlock{
				&types.ContentBlockMemberToolResult{Value: types.ToolResultBlock{
					ToolUseId: aws.String("a"), Status: types.ToolResultStatusError,
					Content: []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: "Closed."}},
				}},
				&types.ContentBlockMemberCachePoint{Value: point},
				&types.ContentBlockMemberText{Value: "Open."},
			}},
		},
		ToolConfig: &types.ToolConfiguration{Tools: []types.Tool{&types.ToolMemberToolSpec{Value: types.ToolSpecification{
			Name: aws.String("lookup"), Description: aws.String("Looks a word up."),
			InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(map[string]any{
				"type": "object", "properties": map[string]any{"word": map[string]any{"type": "string"}},
			})},
		}}}},
		OutputConfig: &types.OutputConfig{TextFormat: &types.OutputFormat{
			Type: types.OutputFormatTypeJsonSchema,
			Structure: &types.OutputFormatStructureMemberJsonSchema{Value: types.JsonSchemaDefinition{
				Name: aws.String("reply"), Schema: aws.String(written.OutputConfig.TextFormat.Structure.JSONSchema.Schema),
			}},
		}},
		GuardrailConfig:              &types.GuardrailStreamConfiguration{GuardrailIdentifier: aws.String("gr1"), GuardrailVersion: aws.String("DRAFT")},
		ServiceTier:                  &types.ServiceTier{Type: types.ServiceTierTypeFlex},
		AdditionalModelRequestFields: document.NewLazyDocument(map[string]any{"thinking": map[string]any{"type": "enabled", "budget_tokens": 1024}}),
	})
	require.Len(t, got, 2)
	assert.Equal(t, got[1].path, got[0].path)
	assert.JSONEq(t, got[1].body, got[0].body)
	for name := range strings.SplitSeq(got[1].signed, ";") {
		if !strings.HasPrefix(name, "amz-sdk-") { // about the client's own retries
			assert.Contains(t, strings.Split(got[0].signed, ";"), name)
		}
	}
}
