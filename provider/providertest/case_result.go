package providertest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/agonist-dev/debate/provider"
)

// history is what a record may hold of a speaker's tool calls, and what goes back of their results, in the order of the calls.
type history struct {
	name     string
	messages []provider.Message
	want     []string // a part of each result; "": any
	never    string   // what no result says
}

// histories are records that vendors refuse as they are: they want each call with one result, directly behind it and under an id of its
// own, and no result without its call.
func histories() []history {
	calls := func(ids ...string) provider.Message {
		m := provider.Message{Speaker: ada}
		for _, id := range ids {
			m.ToolCalls = append(m.ToolCalls, provider.ToolCall{ID: id, Name: lookup, Arguments: json.RawMessage(`{"word":"kerb"}`)})
		}
		return m
	}
	gives := func(id, text string) provider.Message {
		return provider.Message{Speaker: ada, ToolResult: &provider.ToolResult{ID: id, Text: text}}
	}
	theirs := calls("c1")
	theirs.Speaker = ben
	hidden := gives("c1", "hidden")
	hidden.Speaker = ben
	const one, stray = "one", "none" // stray: a result without a call
	return []history{
		{
			"somebody speaks between",
			[]provider.Message{calls("c1"), {Speaker: ben, Text: "Meanwhile."}, gives("c1", one)},
			[]string{one},
			stray,
		},
		{"another order", []provider.Message{calls("c1", "c2"), gives("c2", "two"), gives("c1", one)}, []string{one, "two"}, stray},
		{"a result is missing", []provider.Message{calls("c1", "c2"), gives("c2", "two")}, []string{"", "two"}, stray},
		{
			"a result comes too late",
			[]provider.Message{calls("c1"), calls("c2"), gives("c1", one), gives("c2", "two")},
			[]string{"", "two"},
			one,
		},
		{
			"results without a call",
			[]provider.Message{gives("c0", stray), calls("c1"), gives("c1", one), gives("c1", stray), gives("c9", stray)},
			[]string{one},
			stray,
		},
		{"calls of another speaker", []provider.Message{theirs, hidden, calls("c1"), gives("c1", one)}, []string{one}, "hidden"},
		{"the same id again", []provider.Message{calls("c"), gives("c", one), calls("c"), gives("c", "two")}, []string{one, "two"}, stray},
	}
}

// resultsFollow sends histories.
func resultsFollow(x *exam) {
	for _, h := range histories() {
		req := x.exchanged()
		req.Messages = append(req.Messages, h.messages...)
		sent, ok := x.sent(Scenario{Name: h.name}, req)
		if !ok {
			return
		}
		if !x.paired(sent, len(h.want)) {
			continue
		}
		for i, want := range h.want {
			if got := sent.Results[i].Text; !strings.Contains(got, want) || strings.Contains(got, h.never) {
				x.errorf("%s: result %d is %q, want %q", h.name, i, got, want)
			}
			for _, before := range sent.Calls[:i] {
				if id := sent.Calls[i].ID; id != "" && id == before.ID {
					x.errorf("%s: two calls went back with the id %q", h.name, id)
				}
			}
		}
	}
}

// anyHistory sends histories that are drawn. Each call goes back with a result, and no words are lost or change their order.
func anyHistory(x *exam) {
	const many = 40
	var mu sync.Mutex
	var sent []Sent
	p := x.open(Scenario{Name: "any history", Reply: []string{yes}, Sent: func(one Sent) {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, one)
	}})
	tooled := x.exchanged()
	random := rand.New(rand.NewPCG(7, 11)) //nolint:gosec // the same each time
	for n := range many {
		req := *tooled
		req.Messages = slices.Clone(tooled.Messages)
		texts, calls := draw(random, &req)
		if x.succeed(p, &req) == nil {
			return
		}
		mu.Lock()
		if len(sent) != n+1 {
			x.errorf("%d questions took %d requests", n+1, len(sent))
			mu.Unlock()
			return
		}
		last := sent[n]
		mu.Unlock()
		x.paired(last, calls)
		rest := string(last.Body)
		for _, text := range append(texts, req.Last.Text) {
			_, after, ok := strings.Cut(rest, text)
			if !ok {
				x.errorf("%q did not reach the vendor, or before what was said earlier", text)
				return
			}
			rest = after
		}
	}
}

// draw adds messages, calls and results at random. It returns the texts and the number of the speaker's own calls.
func draw(random *rand.Rand, req *provider.Request) (texts []string, calls int) {
	ids := []string{"abcDEF123", "call_0", "toolu_01", ""}
	for i := range random.IntN(8) {
		m := provider.Message{Speaker: []string{"", ada, ben}[random.IntN(3)]}
		switch random.IntN(3) {
		case 0:
			for _, id := range ids[:1+random.IntN(3)] {
				m.ToolCalls = append(m.ToolCalls, provider.ToolCall{ID: id, Name: lookup, Arguments: json.RawMessage(`{"word":"kerb"}`)})
			}
			if m.Speaker == ada {
				calls += len(m.ToolCalls)
			}
		case 1:
			m.ToolResult = &provider.ToolResult{ID: ids[random.IntN(4)], Text: "A result."}
		}
		if m.ToolResult == nil && random.IntN(4) > 0 {
			m.Text = fmt.Sprintf("Text %d here.", i)
			texts = append(texts, m.Text)
		}
		req.Messages = append(req.Messages, m)
	}
	return texts, calls
}
