package thought_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/thought"
)

// divide divides a text in pieces of some bytes.
func divide(text string, size int) (said, thoughts string) {
	var parts [2]strings.Builder
	d := thought.Divider{
		Say:    func(text string) { parts[0].WriteString(text) },
		Think:  func(text string) { parts[1].WriteString(text) },
		Recall: func() { parts[1].WriteString(parts[0].String()); parts[0].Reset() },
	}
	for text != "" {
		n := min(size, len(text))
		d.Next(text[:n])
		text = text[n:]
	}
	d.End()
	return parts[0].String(), parts[1].String()
}

// However a text is divided into pieces, what is said is the same. Nothing is said or thought that the text does not have, and a
// text without marks is said unchanged.
func FuzzDivider(f *testing.F) {
	for _, seed := range []string{
		"<think>a</think>b", "a</think>b", "<think>a<think>b</think>c</think>d", "`<think>`", "```\n</think>\n```", "a <think>b</think> c",
		"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "analysisA assistantfinalB",
		"{\"a\":\"</think>\"}", "◁think▷a◁/think▷b", "\"<think>\" a", "<|channel|>final<|channel|>final", "<think", " \n ",
	} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		whole, _ := divide(text, max(1, len(text)))
		said, thoughts := divide(text, 1+max(0, size)%16)
		require.Equal(t, whole, said)
		require.LessOrEqual(t, len(strings.ReplaceAll(said+thoughts, "\n", "")), len(text))
		if !strings.ContainsAny(text, "<[◁a") {
			require.Equal(t, text, said)
		}
	})
}
