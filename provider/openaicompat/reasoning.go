package openaicompat

import (
	"encoding/json"
	"strings"

	"github.com/agonist-dev/debate/provider/wire"
)

// thoughts are the fields in which servers send the text of thoughts. A message may have several of them with one text.
type thoughts struct {
	Content json.RawMessage `json:"reasoning_content"` // DeepSeek, Moonshot, xAI, vLLM, LM Studio
	Plain   json.RawMessage `json:"reasoning"`         // Groq, OpenRouter, Ollama, newer vLLM
	Details json.RawMessage `json:"reasoning_details"` // OpenRouter
}

// reflect adds the thoughts of a message. Some servers put tags around them although they have a field (Groq's compound
// systems).
func (r *reply) reflect(t *thoughts, inContent string) {
	text := said(t.Content)
	if text == "" {
		text = said(t.Plain)
	}
	if text == "" {
		text = detailed(t.Details)
	}
	shown, thought := r.tags.Next(text)
	r.Think(shown + thought + inContent)
}

// endThoughts adds what was held back of the thoughts.
func (r *reply) endThoughts() {
	shown, thought := r.tags.End()
	r.Think(shown + thought)
}

// detailed returns the text of OpenRouter's details. Encrypted thoughts have none.
func detailed(data json.RawMessage) string {
	var details []struct {
		Text    json.RawMessage `json:"text"`
		Summary json.RawMessage `json:"summary"`
	}
	if !wire.Present(data) || wire.Longer(data, maxParts) || json.Unmarshal(data, &details) != nil {
		return ""
	}
	var text strings.Builder
	for _, d := range details {
		text.WriteString(said(d.Text))
		text.WriteString(said(d.Summary))
	}
	return text.String()
}

// said returns a JSON string, "" for anything else.
func said(data json.RawMessage) string {
	var s string
	if len(data) == 0 || data[0] != '"' || json.Unmarshal(data, &s) != nil {
		return ""
	}
	return s
}
