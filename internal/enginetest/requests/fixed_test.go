package requests_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
)

// What a debate may send of fixed text, in tokens: system prompts, instructions and schemas of all calls, without what was said.
const (
	mostFixed = 7_000  // three rounds of two speakers, with a judge who has a rubric
	mostPanel = 15_000 // two rounds of two speakers, with three judges who judge in both orders
)

// fixed are the tokens of fixed text in the requests of a debate.
type fixed struct {
	all      int
	speeches [2]int // the least and the most of one
	assess   int    // the most of one
	verdict  int
	votes    int
}

// fixedIn counts the fixed text of a debate's requests, as current models of OpenAI count it.
func fixedIn(t *testing.T, c debate.Config) (f fixed) {
	t.Helper()
	counter := token.ForModel("gpt-4.1")
	all := asked(t, &conversation{config: c})
	for i := range all {
		req := &all[i]
		n := counter.Count(req.System) + counter.Count(req.Last.Text)
		kind := ""
		if req.Schema != nil {
			n += counter.Count(string(req.Schema.JSON))
			kind, _, _ = strings.Cut(req.Schema.Name, "-")
		}
		f.all += n
		switch kind {
		case "":
			if f.speeches[0] == 0 {
				f.speeches[0] = n
			}
			f.speeches[0], f.speeches[1] = min(f.speeches[0], n), max(f.speeches[1], n)
		case "assessment":
			f.assess = max(f.assess, n)
		case "verdict":
			f.verdict = max(f.verdict, n)
		default:
			f.votes = max(f.votes, n)
		}
	}
	return f
}

// row writes a line of the page's table.
func (f *fixed) row(what string) string {
	votes := "–"
	if f.votes > 0 {
		votes = fmt.Sprint(f.votes)
	}
	return fmt.Sprintf("| %s | %d | %d–%d | %d | %d | %s |\n", what, f.all, f.speeches[0], f.speeches[1], f.assess, f.verdict, votes)
}

const fixedTable = "| debate | all | a speech | an assessment | a verdict | a vote |\n|---|---|---|---|---|---|\n"

// TestFixedTokens counts what each format sends beside what was said, and bounds it for the usual debate and for a panel. With -update the
// page gets the table.
func TestFixedTokens(t *testing.T) {
	var rows strings.Builder
	for _, b := range format.Builtin() {
		c := stage.CastFor(b)
		if b.Rounds == 0 {
			c.Rounds = 3
		}
		if b.Name == format.FreeForm {
			c = stage.TwoDebaters()
			c.Format = format.FreeForm
		}
		c.Topic, c.Unattended = topics()[0], true
		c.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Model: "test/judge"}}, Rubric: debate.DefaultRubric()}
		f := fixedIn(t, c)
		rows.WriteString(f.row(fmt.Sprintf("%s, %d rounds", b.Name, c.Rounds)))
		if b.Name == format.FreeForm {
			assert.LessOrEqual(t, f.all, mostFixed)
		}
	}
	c := stage.TwoDebaters()
	c.Format, c.Rounds = format.FreeForm, 2
	stage.PanelOf(3)(&c)
	c.Judging.Rubric, c.Judging.BothOrders = debate.DefaultRubric(), true
	f := fixedIn(t, c)
	rows.WriteString(f.row("free-form, 2 rounds, three judges, both orders"))
	assert.LessOrEqual(t, f.all, mostPanel)

	path := filepath.Join("..", "..", "..", "docs", "internal", "benchmarks.md")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(data), fixedTable)
	require.True(t, ok, "docs/internal/benchmarks.md has no table of fixed text")
	was, after, _ := strings.Cut(rest, "\n\n")
	if stage.Update() {
		require.NoError(t, os.WriteFile(path, []byte(before+fixedTable+rows.String()+"\n"+after), 0o600))
		return
	}
	assert.Equal(t, strings.TrimSuffix(rows.String(), "\n"), was, "rewrite it with -update")
}
