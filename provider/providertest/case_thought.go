package providertest

import (
	"context"
	"strings"
	"testing"

	"github.com/agonist-dev/debate/provider"
)

// RunThoughts tests that a provider keeps thoughts apart that a model writes into the text of its reply, in each form in which
// models do so: no other model may read them. It is for adapters that ask a model. A provider that wraps another one, or that
// says what its host program wrote, passes texts on as they are.
//
// It also asks for requests whose Options.Reasoning hides thoughts or leaves them in the text, which wire.Reply.Heed reads. A provider may
// report no thoughts at all, but none that the model did not have.
//
// The server that connect starts sends Scenario.Reply as text. The rules of [Run] apply.
func RunThoughts(t *testing.T, connect Connect) {
	t.Helper()
	run(t, connect, speeches())
}

func speeches() []testCase {
	return []testCase{{"thoughts in the text", thoughtsInText}, {"texts about thoughts", aboutThoughts}}
}

// writing is a text as a model writes it.
type writing struct{ name, raw, said, thought string }

// thoughtful are texts with thoughts in them.
func thoughtful() []writing {
	const said, thought = "Trees cool the street.", "He is weak on cost."
	return []writing{
		{"a block", "<think>" + thought + "</think>\n\n" + said, said, thought},
		{"another tag", "<thinking>\nHe is weak on cost.\n</thinking>\n" + said, said, thought},
		{"a tag in another case", "<Thought>He is weak on cost.</Thought>" + said, said, thought},
		{"a tag with a prefix", "<mm:think>" + thought + "</mm:think>" + said, said, thought},
		{"the end of another tag", "<mm:think>" + thought + "</think>\n\n" + said, said, thought},
		{"its end alone", thought + "\n</mm:think>" + said, said, thought},
		{"several blocks", "<think>One.</think>\n<think>Two.</think>\n\n" + said, said, "One.\n\nTwo."},
		{"an empty block", "<think>\n\n</think>\n\n" + said, said, ""},
		{"an end alone", "He is weak on cost. I will hit that.\n</think>\n\n" + said, said, "He is weak on cost. I will hit that."},
		{"an end alone, at once", "</think>\n\n" + said, said, ""},
		{"a quoted beginning", "<think>Do I close <think> again?</think> No.</think>" + said, said, "Do I close <think> again?\n\nNo."},
		{"behind a text", said + "\n\n<think>Was that too short?</think>", said + "\n\n", "Was that too short?"},
		{"within a text", "Trees cool <think>how?</think> the street.", said, "how?"},
		{"capital marks", "[THINK]" + thought + "[/THINK]" + said, said, thought},
		{"triangles", "◁think▷" + thought + "◁/think▷" + said, said, thought},
		{
			"channels", "<|channel|>analysis<|message|>He is weak.<|end|><|start|>assistant<|channel|>final<|message|>" + said + "<|return|>",
			said, "He is weak.",
		},
		{"channels, the first unmarked", "He is weak.<|end|><|start|>assistant<|channel|>final<|message|>" + said, said, "He is weak."},
		{"channels without marks", "analysisWe know that he is weak.assistantfinal" + said, said, "We know that he is weak."},
	}
}

// spoken divides a text into pieces of so many characters.
func spoken(text string, size int) []string {
	var pieces []string
	for rest := []rune(text); len(rest) > 0; {
		n := min(size, len(rest))
		pieces, rest = append(pieces, string(rest[:n])), rest[n:]
	}
	return pieces
}

func thoughtsInText(x *exam) {
	for _, w := range thoughtful() {
		for _, size := range []int{len(w.raw), 5, 1} {
			p := x.open(Scenario{Name: w.name, Reply: spoken(w.raw, size)})
			r := x.succeed(p, request())
			if r == nil {
				return
			}
			if r.Text != w.said {
				x.errorf("%s, in pieces of %d: the text is %q, want %q", w.name, size, r.Text, w.said)
			}
			if got := strings.TrimSpace(r.Reasoning); got != "" && got != w.thought {
				x.errorf("%s, in pieces of %d: the thoughts are %q, want %q", w.name, size, got, w.thought)
			}
		}
		req := request()
		req.Options = &provider.Options{Reasoning: provider.ReasoningHide}
		a := x.ask(context.Background(), x.open(Scenario{Name: w.name, Reply: spoken(w.raw, 5)}), req, nil)
		if a.response != nil && (a.response.Text != w.said || a.response.Reasoning != "") {
			x.errorf("%s, hidden: the text is %q and the thoughts are %q", w.name, a.response.Text, a.response.Reasoning)
		}
		req.Options = &provider.Options{Reasoning: provider.ReasoningInText}
		a = x.ask(context.Background(), x.open(Scenario{Name: w.name, Reply: spoken(w.raw, 5)}), req, nil)
		if a.response != nil && a.response.Text != w.raw {
			x.errorf("%s, left in the text: it is %q, want %q", w.name, a.response.Text, w.raw)
		}
	}
}

// aboutThoughts lets the model write what only looks like marks.
func aboutThoughts(x *exam) {
	for _, text := range []string{
		"Models end their thoughts with `</think>`.", "Write `<think>a</think>` first.", "It said \"<think>\" and then \"</think>\".",
		"```\n<think>a</think>\n```\nThat is all.", `{"winner":"Ada","why":"<think>a</think> b</think>"}`, "1 < 2, and 2 <t", "A <thin line.",
		"The tag <think> has no end here.", "[1] and [THIN] and ◁", "analysis of costs", "<|end|> is a token.",
	} {
		for _, size := range []int{len(text), 3, 1} {
			p := x.open(Scenario{Name: text, Reply: spoken(text, size)})
			if r := x.succeed(p, request()); r != nil && r.Text != text {
				x.errorf("in pieces of %d: the text is %q, want %q", size, r.Text, text)
			}
		}
	}
}
