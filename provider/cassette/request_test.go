package cassette_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
)

func TestWhatMakesARequest(t *testing.T) {
	tests := []struct {
		differs string // "": it is the same
		change  func(r *provider.Request)
	}{
		{"", func(r *provider.Request) { r.ID = "other" }},
		{"", func(r *provider.Request) { r.Labels = nil }},
		{`model: recorded "m", asked "n"`, func(r *provider.Request) { r.Model = "n" }},
		{`self: recorded "Ada", asked "Ben"`, func(r *provider.Request) { r.Self = "Ben" }},
		{`maxTokens: recorded "99", asked "0"`, func(r *provider.Request) { r.MaxTokens = 0 }},
		{`temperature: recorded "0.7", asked "null"`, func(r *provider.Request) { r.Temperature = nil }},
		{"system, line 2", func(r *provider.Request) { r.System = strings.Replace(r.System, "Their", "All", 1) }},
		{"messages[0].text, line 1", func(r *provider.Request) { r.Messages[0].Text = "Another." }},
		{`messages[1].speaker: recorded "Ben", asked "Cyd"`, func(r *provider.Request) { r.Messages[1].Speaker = "Cyd" }},
		{`messages[1].label: recorded "", asked "round 9"`, func(r *provider.Request) { r.Messages[1].Label = "round 9" }},
		{`messages[1].fence: recorded "⟦fence 1⟧", asked ""`, func(r *provider.Request) { r.Messages[1].Fence = "" }},
		{"messages[1].text, line 3", func(r *provider.Request) { r.Messages[1].Text = "No & <never>.\n\nElse" }},
		{"messages[2].toolCalls, line 1", func(r *provider.Request) { r.Messages[2].ToolCalls[0].Opaque = nil }},
		{"messages[3].toolResult, line 1", func(r *provider.Request) { r.Messages[3].ToolResult.Error = false }},
		{"messages[3].speaker, which is not asked", func(r *provider.Request) { r.Messages = r.Messages[:3] }},
		{"messages[4].speaker, which is not recorded", func(r *provider.Request) { r.Messages = append(r.Messages, provider.Message{Text: "more"}) }},
		{"messages[0].parts, line 1", func(r *provider.Request) { r.Messages[0].Parts = []provider.Part{{Data: []byte("a")}} }},
		{"last.text, line 1", func(r *provider.Request) { r.Last.Text = "Stop." }},
		{"schema, line 1", func(r *provider.Request) { r.Schema = nil }},
		{"schema, line 1", func(r *provider.Request) { r.Schema.JSON = []byte(`{}`) }},
		{"tools, line 1", func(r *provider.Request) { r.Tools[0].Name = "see" }},
		{"tools, line 1", func(r *provider.Request) { r.Tools = nil }},
	}
	tape, file := recording(t, cassette.Options{})
	ask(tape.Wrap("v", saying(said("yes"))), full(fence))
	for _, test := range tests {
		req := full(fence)
		test.change(req)
		got := ask(open(t, file, cassette.Options{}).Wrap("v", nil), req)
		if test.differs == "" {
			assert.NoError(t, got.err)
			continue
		}
		message := unseen(t, got.err)
		assert.Contains(t, message, `"d/r2.ada/1", differs first in `+test.differs)
		assert.NotContains(t, message, "never", "no text is shown")
	}
}

func TestTheNearestRequest(t *testing.T) {
	tape, file := recording(t, cassette.Options{})
	p := tape.Wrap("v", saying(said("yes")))
	for i, text := range []string{"one", "two", "three"} {
		ask(p, &provider.Request{ID: fmt.Sprint("d/", i), Self: "Ada", Messages: []provider.Message{{Text: text}}, Last: provider.Message{Text: "Go."}})
	}
	p = open(t, file, cassette.Options{}).Wrap("v", nil)
	req := &provider.Request{ID: "e/1", Self: "Ada", Messages: []provider.Message{{Text: "two"}}, Last: provider.Message{Text: "Stop."}}
	assert.Contains(t, unseen(t, ask(p, req).err), `the nearest, "d/1", differs first in last.text`)
	req.Messages[0].Text, req.Last.Text, req.ID = "four", "Go.", "d/2"
	assert.Contains(t, unseen(t, ask(p, req).err), `the nearest, "d/2", differs first in messages[0].text`)
	other := open(t, file, cassette.Options{}).Wrap("w", nil)
	assert.Contains(t, unseen(t, ask(other, req).err), "none of this provider")
}
