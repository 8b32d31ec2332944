package vote_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/vote"
)

// sound checks what holds for every input: either a result that accounts for all ballots, or an error
// and nothing else.
func sound(t *testing.T, ballots int, r vote.Result, err error) {
	t.Helper()
	if err != nil {
		assert.Zero(t, r)
		if broken, ok := errors.AsType[*vote.BallotError](err); ok {
			assert.GreaterOrEqual(t, broken.Ballot, 0)
			assert.Less(t, broken.Ballot, ballots)
			assert.NotContains(t, err.Error(), "\x1b")
			assert.Less(t, len(err.Error()), 600)
		}
		return
	}
	assert.Equal(t, ballots, r.Cast+r.Abstained)
	if r.Winner != "" {
		assert.Equal(t, []string{r.Winner}, r.Leaders)
	}
	assert.LessOrEqual(t, len(r.Leaders), len(r.Tally))
}

// A ballot is a line, an entry is between commas.
func FuzzLists(f *testing.F) {
	for _, seed := range []string{"", "a", "a,b\nb,a", "a,a", "a,,b", "\n\n", "a\nb\nc,a\n\nb", "\xff,\x1b[2J\n\x1b[2J,\x1b[2J"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var ballots [][]string
		broken := false
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if line == "" {
				ballots = append(ballots, nil)
				continue
			}
			ballot := strings.Split(line, ",")
			names := map[string]bool{}
			for _, name := range ballot {
				broken = broken || name == "" || names[name]
				names[name] = true
			}
			ballots = append(ballots, ballot)
		}
		for name, count := range map[string]func([][]string) (vote.Result, error){
			"approval": vote.Approval, "borda": vote.Borda, "run-off": vote.InstantRunoff,
		} {
			r, err := count(ballots)
			assert.Equal(t, broken, err != nil, name)
			sound(t, len(ballots), r, err)
		}
	})
}

func FuzzSupermajority(f *testing.F) {
	f.Add("a b a", 2, 3)
	f.Add("", 1, 1)
	f.Add("a", 1, 2)
	f.Add("a b", -1<<63, -1<<63)
	f.Fuzz(func(t *testing.T, text string, num, den int) {
		choices := strings.Split(text, " ")
		r, err := vote.Supermajority(choices, num, den)
		sound(t, len(choices), r, err)
		if err == nil {
			assert.LessOrEqual(t, r.Needed, r.Cast)
			assert.True(t, r.Cast == 0 || 2*r.Needed > r.Cast)
			assert.True(t, r.Winner == "" || r.Winner == vote.Majority(choices).Winner)
		}
	})
}

func FuzzCumulative(f *testing.F) {
	f.Add([]byte(`[{"a":1,"b":2},{},null]`), 3)
	f.Add([]byte(`[{"a":-1},{"":1}]`), 3)
	f.Add([]byte(`[{"a":9223372036854775807,"b":9223372036854775807}]`), 10000)
	f.Add([]byte(`[{"a":0}]`), 0)
	f.Fuzz(func(t *testing.T, data []byte, budget int) {
		var ballots []map[string]int
		if json.Unmarshal(data, &ballots) != nil {
			return
		}
		r, err := vote.Cumulative(ballots, budget)
		sound(t, len(ballots), r, err)
		if err == nil {
			for _, c := range r.Tally {
				assert.Positive(t, c.Votes)
				assert.LessOrEqual(t, c.Votes, budget*r.Cast)
			}
		}
		_, again := vote.Cumulative(ballots, budget)
		assert.Equal(t, err, again, "of several faults always the same is told")
	})
}

func FuzzWeighted(f *testing.F) {
	f.Add("a", 0.5, "b", 0.5)
	f.Add("", 1.0, "b", 1e-300)
	f.Add("a", -0.1, "b", 80.0)
	f.Fuzz(func(t *testing.T, a string, x float64, b string, y float64) {
		choices := []vote.Choice{{For: a, Confidence: x}, {For: b, Confidence: y}}
		r, err := vote.Weighted(choices)
		sound(t, 2, r, err)
		fits := x >= 0 && x <= 1 && y >= 0 && y <= 1
		assert.Equal(t, fits, err == nil)
		for _, c := range r.Tally {
			require.Positive(t, c.Votes)
			require.LessOrEqual(t, c.Votes, 2*vote.FullConfidence)
		}
	})
}
