package thought_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/thought"
)

// divide divides a text in pieces of some bytes. cut says that the model could not finish it.
func divide(text string, size int, cut bool) (said, thoughts string) {
	var parts [2]strings.Builder
	d := thought.Divider{
		Say:   func(text string) { parts[0].WriteString(text) },
		Think: func(text string) { parts[1].WriteString(text) },
		Recall: func() {
			if parts[1].Len() > 0 {
				parts[1].WriteString("\n\n")
			}
			parts[1].WriteString(parts[0].String())
			parts[0].Reset()
		},
	}
	for text != "" {
		n := min(size, len(text))
		d.Next(text[:n])
		text = text[n:]
	}
	d.End(cut)
	return parts[0].String(), parts[1].String()
}

// What is said and what is thought, where marks are mentioned, quoted or meant otherwise. gLLM#286 (2026-09-20) reports the
// first two kinds; the others are their neighbours.
func TestMentions(t *testing.T) {
	const said = "Trees cool the street."
	for _, tt := range []struct{ text, said, thought string }{
		// A thought that mentions its own end.
		{"<think>The tag `</think>` ends it. My weak point is X.</think>" + said, said, "The tag `</think>` ends it. My weak point is X."},
		{"<think>What \"</think>\" means.\nMy weak point is X.\n</think>\n" + said, said, "What \"</think>\" means.\nMy weak point is X."},
		{"<think>Das „</think>“-Zeichen.</think>" + said, said, "Das „</think>“-Zeichen."},
		{"<think>He says \"yes\"</think>\"Trees\" is a word.", "\"Trees\" is a word.", "He says \"yes\""},
		// A fence in the middle of a line is none.
		{
			"I could answer in a ```json block, but prose is better.\nMy weak point is X.\n</think>\n\n" + said,
			said, "I could answer in a ```json block, but prose is better.\nMy weak point is X.",
		},
		{"```json is for data.\n</think>\n```\nNo.", "```json is for data.\n</think>\n```\nNo.", ""},
		{"A list:\n- ```\n</think>\n```\n> ~~~\n</think>\n~~~\n" + said, "A list:\n- ```\n</think>\n```\n> ~~~\n</think>\n~~~\n" + said, ""},
		{"Not ~~~ this.\n</think>\n" + said, said, "Not ~~~ this."},
		// Quotations.
		{"Das Ende „</think>“ trennt. " + said, "Das Ende „</think>“ trennt. " + said, ""},
		{"The end “</think>” and «</think>» (</think>) 「</think>」.", "The end “</think>” and «</think>» (</think>) 「</think>」.", ""},
		{"The text ends with \"x</think>\", and (so </think>).", "The text ends with \"x</think>\", and (so </think>).", ""},
		{"He is weak.</think>\"Trees\" is a word.", "\"Trees\" is a word.", "He is weak."},
		{"He is weak.</think>`trees` is a word.", "`trees` is a word.", "He is weak."},
		{"<think>Er sagt »ja«</think>»Bäume« kühlen.", "»Bäume« kühlen.", "Er sagt »ja«"},
		{"<think>Il dit « oui »</think>« Les arbres » sont utiles.", "« Les arbres » sont utiles.", "Il dit « oui »"},
		{"He is weak.</think>« Les arbres » sont utiles.", "« Les arbres » sont utiles.", "He is weak."},
		{"标记“</think>”结束。", "标记“</think>”结束。", ""},
		// A name with a prefix: vllm-project/vllm#45687 (2026-06-15), smg-project/smg#2448 (2026-09-07). hermes-agent#43950 (2026-06-11).
		{"<mm:think>He is weak. </think> is no end.</mm:think>" + said, said, "He is weak. </think> is no end."},
		{"</mm:think>Hello.", "Hello.", ""},
		{"He is weak.\n</MM:Think>\n" + said, said, "He is weak."},
		// Tags that answers have, and tags with attributes.
		{"<critical_thinking>A is cheap.</critical_thinking>\n<choice>A</choice>", "<critical_thinking>A is cheap.</critical_thinking>\n<choice>A</choice>", ""},
		{"<design_thinking step=\"1\">Cheap first.</design_thinking>\nA.", "<design_thinking step=\"1\">Cheap first.</design_thinking>\nA.", ""},
		{"1: <design_thinking> is a term.\n2: </design_thinking> as well.", "1: <design_thinking> is a term.\n2: </design_thinking> as well.", ""},
		{"I vote A.\n\n<group_think>All agree.</group_think>", "I vote A.\n\n<group_think>All agree.</group_think>", ""},
		{"I vote A. <think lang=\"en\">He is weak.</think>" + said, "I vote A. " + said, "He is weak."},
		{"I vote A.\n<think " + strings.Repeat("x", 99) + ">", "I vote A.\n<think " + strings.Repeat("x", 99) + ">", ""},
		// Ends of other tags. The first two rows are of Zoo-Code-Org/Zoo-Code#324 (2026-05-26).
		{"<think>outer<thought>inner</thought> middle</think>final", "final", "outer<thought>inner</thought> middle"},
		{"<think>first</thought>second</think>final", "final", "first</thought>second"},
		{"<mm:think>He is weak.</think>" + said, said, "He is weak."},
		{"<think>He is weak.</mm:think>\n\n{\"a\":\"[THINK]\"}", "{\"a\":\"[THINK]\"}", "He is weak."},
		{"<think>He </thinking> is weak.\n</thinking>\n" + said, said, "He </thinking> is weak."},
		{"A. <thinking>He is weak.</think> " + said, "A. " + said, "He is weak."},
		{"<think>a</thinking>b\n<think>c</think>d\n<think>e</mm:think>f", "b\nd\nf", "a\n\nc\n\ne"},
		{"<seed:think>a</seed:think><longcat_think>b</longcat_think>" + said, said, "a\n\nb"},
		{"<REASONING_SCRATCHPAD>a</REASONING_SCRATCHPAD>" + said, said, "a"},
		{"Write `<mm:think>`, <mm:thinks>, <mm-think> or <think about=it>.", "Write `<mm:think>`, <mm:thinks>, <mm-think> or <think about=it>.", ""},
		{"<" + strings.Repeat("a", 30) + ":think>b", "<" + strings.Repeat("a", 30) + ":think>b", ""},
		{"Sure.\n<thought>He is weak.</thought>\nAnswer.", "Sure.\nAnswer.", "He is weak."},
		// JSON.
		{`[{"text":"a </think> b"}]`, `[{"text":"a </think> b"}]`, ""},
		{"[\n  \"a </think> b\"]", "[\n  \"a </think> b\"]", ""},
		{"[1] is wrong.\n</think>\n" + said, said, "[1] is wrong."},
		// Tags of an answer.
		{`<vote><reason weight="2">cheap</reason><choice>A</choice></vote>`, `<vote><reason weight="2">cheap</reason><choice>A</choice></vote>`, ""},
		{"<choice>A</choice><reason>It is cheap.</reason>", "<choice>A</choice><reason>It is cheap.</reason>", ""},
		{"\n<reasoning>It is cheap.</reasoning>\nA.", "A.", "It is cheap."},
		{"<reasoning>Cheap.</reasoning>\n<thought>Fast.</thought>A.", "A.", "Cheap.\n\nFast."},
		// A second beginning.
		{"Step 1 <think>a <think> b</think> c. Answer B </think> tail", "Step 1 c. Answer B </think> tail", "a <think> b"},
		{"Sure.\n<think>a\n<think>\nb</think>\nc</think>\n" + said, said, "a\n<think>\nb\n\nSure.\nc"},
	} {
		for size := 1; size <= len(tt.text); size++ {
			said, thoughts := divide(tt.text, size, false)
			require.Equal(t, tt.said, said, "%q by %d", tt.text, size)
			require.Equal(t, tt.thought, strings.TrimSpace(thoughts), "%q by %d", tt.text, size)
		}
	}
}

// Of a reply that is cut, a beginning without an end begins thoughts. Of one that is whole, it is mentioned.
func TestABeginningWithoutAnEnd(t *testing.T) {
	const text = "I vote A.\n<think>Hidden doubts"
	for size := 1; size <= len(text); size++ {
		said, thoughts := divide(text, size, true)
		require.Equal(t, "I vote A.\n", said)
		require.Equal(t, "Hidden doubts", thoughts)
		said, thoughts = divide(text, size, false)
		require.Equal(t, text, said)
		require.Empty(t, thoughts)
	}
}

// What follows the end of another tag is said, also if the model could not finish it.
func TestTheEndOfAnotherTagOfAReplyThatIsCut(t *testing.T) {
	const text = "<mm:think>He is weak.</think>Trees <b>cool"
	for size := 1; size <= len(text); size++ {
		said, thoughts := divide(text, size, true)
		require.Equal(t, "Trees <b>cool", said)
		require.Equal(t, "He is weak.", thoughts)
	}
}

// However long the white space within a thought is, a piece of it costs no more than itself.
func TestBlanksInAThought(t *testing.T) {
	const size, pieces = 1 << 20, 1000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	text := "<think>x" + strings.Repeat(" ", size) + strings.Repeat("\n", pieces) + "y</think>z"
	var thoughts strings.Builder
	d := thought.Divider{Say: func(string) {}, Think: func(text string) { thoughts.WriteString(text) }, Recall: func() {}}
	d.Next(text[:size])
	for _, piece := range text[size:] {
		d.Next(string(piece))
	}
	d.End(false)
	runtime.ReadMemStats(&after)
	require.Len(t, thoughts.String(), len("x y")-1+size+pieces)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}

// However a text is divided into pieces, what is said is the same. Nothing is said or thought that the text does not have, and a
// text without marks is said unchanged.
func FuzzDivider(f *testing.F) {
	for _, seed := range []string{
		"<think>a</think>b", "a</think>b", "<think>a<think>b</think>c</think>d", "`<think>`", "```\n</think>\n```", "a <think>b</think> c",
		"<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "analysisA assistantfinalB",
		"{\"a\":\"</think>\"}", "◁think▷a◁/think▷b", "\"<think>\" a", "<|channel|>final<|channel|>final", "<think", " \n ",
		"a ```b\n</think>c", "~~~\n</think>\n~~~", "„</think>“ a", "<think>`</think>` a</think>b", "[ {\"a\":\"</think>\"}]", "a</think>\"b",
		"<reason>a</reason>b</reason>c", "<think>a</thinking>b<think>c</think>d", "<think a=b>c</x:thought>d",
	} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		cut := size%2 == 1
		whole, _ := divide(text, max(1, len(text)), cut)
		said, thoughts := divide(text, 1+max(0, size)%16, cut)
		require.Equal(t, whole, said)
		require.LessOrEqual(t, len(strings.ReplaceAll(said+thoughts, "\n", "")), len(text))
		if !strings.ContainsAny(text, "<[◁a") {
			require.Equal(t, text, said)
		}
	})
}
