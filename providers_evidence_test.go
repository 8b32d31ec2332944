package debate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider/providertest"
)

const (
	evidenceStart = "<!-- evidence -->\n"
	evidenceEnd   = "<!-- /evidence -->\n"
)

// answerer is a vendor, as an adapter reaches it. Its fixtures are in that adapter's folder.
type answerer struct{ title, adapter, vendor string }

func answerers() []answerer {
	return []answerer{
		{"OpenAI (Responses)", "openai", "openai"},
		{"OpenAI (chat)", "openaicompat", "openai"},
		{"Azure", "openaicompat", "azure"},
		{"Anthropic", "anthropic", "anthropic"},
		{"Gemini", "google", "google"},
		{"Vertex AI (Gemini)", "vertex", "vertex"},
		{"Vertex AI (Claude)", "vertex", "vertex-claude"},
		{"Bedrock", "bedrock", "bedrock"},
		{"Gemini (compatible)", "openaicompat", "gemini"},
		{"OpenRouter", "openaicompat", "openrouter"},
		{"Mistral", "openaicompat", "mistral"},
		{"Groq", "openaicompat", "groq"},
		{"DeepSeek", "openaicompat", "deepseek"},
		{"xAI", "openaicompat", "xai"},
		{"Moonshot", "openaicompat", "moonshot"},
		{"Snowflake", "openaicompat", "snowflake"},
		{"vLLM", "openaicompat", "vllm"},
		{"LM Studio", "openaicompat", "lmstudio"},
		{"Ollama", "ollama", "ollama"},
		{"Ollama (compatible)", "openaicompat", "ollama"},
	}
}

// finding is a line of an adapter's evidence.golden.
type finding struct{ vendor, row, origin, expected, found, name string }

// readEvidence yields what the suites have found, by adapter. An adapter whose fixtures name no sources has none.
func readEvidence(t *testing.T) map[string][]finding {
	t.Helper()
	files, err := filepath.Glob("provider/*/testdata/evidence.golden")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[string][]finding{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		adapter := strings.Split(filepath.ToSlash(file), "/")[1]
		for line := range strings.Lines(string(data)) {
			f := strings.Split(strings.TrimSpace(line), " | ")
			require.Len(t, f, 6, "%s: %s", file, line)
			all[adapter] = append(all[adapter], finding{f[0], f[1], f[2], f[3], f[4], f[5]})
		}
	}
	return all
}

// TestTheProvidersPageTellsWhatIsKnownOfEachVendor draws the table of sources anew: from the golden files in which the
// adapters' suites write what each fixture came to.
func TestTheProvidersPageTellsWhatIsKnownOfEachVendor(t *testing.T) {
	page, _ := readProofs(t)
	before, rest, ok := strings.Cut(page, evidenceStart)
	require.True(t, ok)
	drawn, after, ok := strings.Cut(rest, evidenceEnd)
	require.True(t, ok)
	_, faults, ok := strings.Cut(page, faultsStart)
	require.True(t, ok)
	want := drawEvidence(t, faults)
	if stage.Update() {
		require.NoError(t, os.WriteFile(proofsPage, []byte(before+evidenceStart+want+evidenceEnd+after), 0o600))
		drawn = want
	}
	assert.Equal(t, want, drawn, "rewrite it with -update")
}

// drawEvidence draws the tables. The expected kinds are those of the fault table.
func drawEvidence(t *testing.T, faults string) string {
	t.Helper()
	expected := map[string]string{
		providertest.EvidenceReply: "a reply", providertest.EvidenceTools: "a reply that calls tools", providertest.EvidenceUsage: "the usage, charged once",
	}
	for _, row := range stage.TableAfter(t, faults, "row", "signal", "kind", "the engine")[1:] {
		expected[strings.Trim(row[0], "`")] = row[2]
	}
	evidence := readEvidence(t)
	rows := append(providertest.Signals(), providertest.EvidenceReply, providertest.EvidenceTools, providertest.EvidenceUsage)
	known, right, told := 0, 0, 0
	var b, odd strings.Builder
	list := answerers()
	for part := range slices.Chunk(list, (len(list)+1)/2) {
		b.WriteString("| row | expected |")
		for _, w := range part {
			fmt.Fprintf(&b, " %s |", w.title)
		}
		fmt.Fprintf(&b, "\n|---|---|%s\n", strings.Repeat("--:|", len(part)))
		sums := make([]evidenceCount, len(part))
		for _, row := range rows {
			fmt.Fprintf(&b, "| `%s` | %s |", row, expected[row])
			for i, w := range part {
				var cell evidenceCount
				for _, f := range evidence[w.adapter] {
					if f.vendor != w.vendor || f.row != row {
						continue
					}
					cell.add(f)
					if f.expected != f.found {
						fmt.Fprintf(&odd, "- %s, `%s`, %s: expected %s, found %s.\n", w.title, row, f.name, f.expected, f.found)
					}
				}
				sums[i].join(cell)
				fmt.Fprintf(&b, " %s |", cell.String())
			}
			b.WriteString("\n")
		}
		b.WriteString("| real answers that came to what is expected | |")
		for _, s := range sums {
			fmt.Fprintf(&b, " %d/%d |", s.right, s.recorded+s.published)
			right, told, known = right+s.right, told+s.recorded+s.published, known+s.rows
		}
		b.WriteString("\n| rows with a real source | |")
		for _, s := range sums {
			fmt.Fprintf(&b, " %d/%d |", s.rows, len(rows))
		}
		b.WriteString("\n\n")
	}
	fmt.Fprintf(&b, "In all: %d/%d real answers came to what is expected. %d of %d cells have a real source.\n",
		right, told, known, len(rows)*len(list))
	if odd.Len() > 0 {
		b.WriteString("\n" + odd.String())
	}
	return b.String()
}

// evidenceCount counts the findings of a cell, or of a column.
type evidenceCount struct{ recorded, published, inferred, right, rows int }

func (c *evidenceCount) add(f finding) {
	switch providertest.Origin(f.origin) {
	case providertest.Recorded:
		c.recorded++
	case providertest.Published:
		c.published++
	default:
		c.inferred++
		return
	}
	c.rows = 1
	if f.expected == f.found {
		c.right++
	}
}

func (c *evidenceCount) join(other evidenceCount) {
	c.recorded += other.recorded
	c.published += other.published
	c.inferred += other.inferred
	c.right += other.right
	c.rows += other.rows
}

// String returns the marks of a cell. What is inferred is shown only where nothing real is known.
func (c *evidenceCount) String() string {
	var list []string
	if c.recorded > 0 {
		list = append(list, fmt.Sprintf("● %d", c.recorded))
	}
	if c.published > 0 {
		list = append(list, fmt.Sprintf("◆ %d", c.published))
	}
	if c.right < c.recorded+c.published {
		list = append(list, "✗")
	}
	switch {
	case len(list) > 0:
		return strings.Join(list, " ")
	case c.inferred > 0:
		return "○"
	default:
		return "·"
	}
}

// TestFixturesNameKnownVendors: each fixture that names a vendor is in the table, or of no vendor in particular.
func TestFixturesNameKnownVendors(t *testing.T) {
	for adapter, findings := range readEvidence(t) {
		for _, f := range findings {
			known := slices.ContainsFunc(answerers(), func(w answerer) bool { return w.vendor == f.vendor })
			assert.True(t, known || f.vendor == "compatible", "%s: %s is of %s, which the page does not have", adapter, f.name, f.vendor)
		}
	}
}
