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

// thought returns the text of the thoughts of a message.
func (m *message) thought() string {
	text := said(m.thoughts.Content)
	if text == "" {
		text = said(m.thoughts.Plain)
	}
	if text == "" {
		text = detailed(m.thoughts.Details)
	}
	return text + m.Content.thought
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
	var s wire.Text
	if len(data) == 0 || data[0] != '"' || json.Unmarshal(data, &s) != nil {
		return ""
	}
	return string(s)
}
