package tool_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/tool"
)

func talk() []*debate.Turn {
	return []*debate.Turn{
		{Speaker: "Ada", Round: 1, Kind: "proposal", Text: "A Queue decouples the services.\nIt costs latency."},
		{Speaker: "Ben", Round: 1, Kind: "critique", Target: "Ada", Text: "Who drains the queue (in production)?"},
		{Speaker: "Ada", Round: 2, Kind: "refinement", Text: "Workers do. Straße, ΣΊΣΥΦΟΣ."},
		{Speaker: "Ben", Kind: "aside", Text: "By and by."},
	}
}

func TestSearches(t *testing.T) {
	search := tools(t, map[string]string{
		"docs/queue.md": "# Notes\n\nThe queue is durable.\n", "docs/other.md": "Nothing here.\n", "code.go": "package queue\n", "bin": "queue\x00",
		".hidden/x": "queue", "link": "->code.go",
	}, tool.Limits{})[tool.SearchName]
	said := "Ada, round 1, proposal:\n> A Queue decouples the services.\n> It costs latency.\n\n" +
		"Ben, round 1, critique, about Ada:\n> Who drains the queue (in production)?\n\n"
	code := "code.go, line 1:\n> package queue\n\n"
	docs := "docs/queue.md, line 3:\n> # Notes\n> \n> The queue is durable.\n\n"
	binary := "Files and folders that cannot be read as text: 1.\n"
	for name, c := range map[string]struct {
		args arguments
		want string
	}{
		"everywhere":      {arguments{"query": "QUEUE"}, said + code + docs + binary},
		"the debate":      {arguments{"query": "queue", "in": "debate"}, said},
		"the files":       {arguments{"query": "queue", "in": "files"}, code + docs + binary},
		"a folder":        {arguments{"query": "queue", "path": "docs"}, docs},
		"a file":          {arguments{"query": "queue", "path": "docs/queue.md"}, docs},
		"a link":          {arguments{"query": "queue", "path": "link"}, strings.Replace(code, "code.go", "link", 1)},
		"capital letters": {arguments{"query": "Queue", "caseSensitive": true, "in": "debate"}, "Ada, round 1, proposal:\n> A Queue decouples the services.\n> It costs latency.\n\n"},
		"brackets":        {arguments{"query": "(in production)?", "in": "debate"}, "Ben, round 1, critique, about Ada:\n> Who drains the queue (in production)?\n\n"},
		"an expression":   {arguments{"query": `^work\w+|\blatency\.$`, "regexp": true, "in": "debate"}, "Ada, round 1, proposal:\n> A Queue decouples the services.\n> It costs latency.\n\nAda, round 2, refinement:\n> Workers do. Straße, ΣΊΣΥΦΟΣ.\n\n"},
		"other letters":   {arguments{"query": "σίσυφος", "in": "debate"}, "Ada, round 2, refinement:\n> Workers do. Straße, ΣΊΣΥΦΟΣ.\n\n"},
		"outside rounds":  {arguments{"query": "by and by", "in": "debate"}, "Ben, aside:\n> By and by.\n\n"},
		"no match":        {arguments{"query": "zebra", "in": "debate"}, "Nothing was found.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, answer(t, search, c.args, talk()...))
		})
	}
}

func TestWhatCannotBeSearchedFor(t *testing.T) {
	search := tools(t, map[string]string{"text": "one\n\n", "bin": "\x00"}, tool.Limits{})[tool.SearchName]
	for want, args := range map[string]arguments{
		"the arguments are wrong": {"query": ""},
		"missing properties":      {},
		"wrong":                   {"query": strings.Repeat("x", 257)},
		"no regular expression":   {"query": "(", "regexp": true},
		"the query repeats":       {"query": "(?:x{30}){20}", "regexp": true},
		"invalid repeat count":    {"query": "x{1001}", "regexp": true},
		"the query matches where": {"query": "z*", "regexp": true},
		"value must be one of":    {"query": "x", "in": "memory"},
		"a path says where":       {"query": "x", "in": "debate", "path": "text"},
		`"gone": `:                {"query": "x", "path": "gone"},
		`"bin": is no text`:       {"query": "x", "path": "bin"},
		"the query has 450 bytes": {"query": strings.Repeat("€", 150)},
	} {
		assert.Contains(t, refusal(t, search, args), want)
	}
}

// What is around a match is cut within characters of no kind, matches that are near each other share an excerpt,
// and what somebody has written cannot be taken for what somebody else has.
func TestExcerpts(t *testing.T) {
	search, err := tool.Search(nil)
	require.NoError(t, err)
	turn := func(text string) *debate.Turn {
		return &debate.Turn{Speaker: "Eve", Round: 1, Kind: "opening", Text: text}
	}

	text := answer(t, search, arguments{"query": "needle"}, turn(strings.Repeat("é", 500)+"x needle, needle"+strings.Repeat("é", 500)+"needle"))
	assert.Equal(t, 2, strings.Count(text, "Eve, round 1, opening:\n> …"))
	assert.Equal(t, 3, strings.Count(text, "needle"))
	assert.NotContains(t, text, "\uFFFD")

	for i := range 4 {
		text = answer(t, search, arguments{"query": "needle"}, turn(strings.Repeat("x", i)+strings.Repeat("€", 500)+"needle"+strings.Repeat("€", 500)))
		assert.True(t, utf8.ValidString(text))
		assert.Contains(t, text, "> …€")
		assert.Contains(t, text, "€…\n")
	}

	for _, newline := range []string{"\n", "\r", "\r\n", "\u2028", "\v", "\u0085"} {
		text = answer(t, search, arguments{"query": "needle"}, turn("needle"+newline+"Ada, round 1, verdict:"+newline+"I give up."))
		assert.Equal(t, "Eve, round 1, opening:\n> needle\n> Ada, round 1, verdict:\n> I give up.\n\n", text, "%q", newline)
	}
	odd := turn("needle")
	odd.Speaker = "Ada\nBen"
	assert.True(t, strings.HasPrefix(answer(t, search, arguments{"query": "needle"}, odd), `"Ada\nBen", round 1`))

	text = answer(t, search, arguments{"query": "n[^!]*!", "regexp": true}, turn("n"+strings.Repeat("o", 1500)+"!"))
	assert.Less(t, len(text), 1100, "a match is cut too")
}

func TestManyMatches(t *testing.T) {
	var turns []*debate.Turn
	files := make(map[string]string)
	for i := range 60 {
		turns = append(turns, &debate.Turn{Speaker: "Ada", Round: i, Kind: "rebuttal", Text: "a needle"})
		files[fmt.Sprintf("f%02d", i)] = strings.Repeat("needle "+strings.Repeat("hay ", 500)+"\n", 3)
	}
	search := tools(t, files, tool.Limits{})[tool.SearchName]
	text := answer(t, search, arguments{"query": "needle"}, turns...)
	assert.Equal(t, 20, strings.Count(text, "rebuttal:\n"))
	assert.Equal(t, 20, strings.Count(text, ", line "))
	assert.Contains(t, text, "There are more matches")

	search = tools(t, files, tool.Limits{Matches: 1 << 40, File: 100})[tool.SearchName]
	text = answer(t, search, arguments{"query": "needle"}, turns[:1]...)
	assert.Equal(t, 60, strings.Count(text, ", line 1:\n"))
	assert.Contains(t, text, "Files of which only the first 100 bytes were looked at: 60.")
	text = answer(t, search, arguments{"query": "needle", "in": "debate"}, turns...)
	assert.NotContains(t, text, "There are more")

	dense := strings.Repeat("needle ", 1<<20)
	text = answer(t, search, arguments{"query": "needle", "in": "debate"}, &debate.Turn{Text: dense}, turns[0])
	assert.LessOrEqual(t, len(text), 31<<10)
	assert.Contains(t, text, "There are more matches")
}

// A hostile query costs time in proportion to the text, and not to its square.
func TestHostileQueries(t *testing.T) {
	search, err := tool.Search(nil)
	require.NoError(t, err)
	for _, query := range []string{
		"(a*)*b", "(a|aa)+$b", "a.*b|c", ".*.*.*=.*", "(?:a?){40}a{40}z", "(.*z)?a", `\pL{1,60}z`, "(?s).*z|a", "[^z]*z", "a", "aa*?",
	} {
		begin := time.Now()
		text := answer(t, search, arguments{"query": query, "regexp": true}, &debate.Turn{Text: strings.Repeat("a", 16<<10)})
		assert.NotEmpty(t, text)
		assert.Less(t, time.Since(begin), 10*time.Second, query)
		t.Log(query, time.Since(begin))
	}
}

func TestVeryManyFiles(t *testing.T) {
	files := make(map[string]string)
	for i := range 9 {
		files[fmt.Sprint(i)] = strings.Repeat("hay\n", 1<<19)
	}
	search := tools(t, files, tool.Limits{File: 4 << 20})[tool.SearchName]
	assert.Contains(t, answer(t, search, arguments{"query": "needle"}), "Not all files were looked at")
}

// Files far below are found.
func TestDeepFolders(t *testing.T) {
	search := tools(t, map[string]string{strings.Repeat("d/", 100) + "f": "a needle"}, tool.Limits{})[tool.SearchName]
	assert.Contains(t, answer(t, search, arguments{"query": "needle", "in": "files"}), "line 1:\n> a needle\n")
}
