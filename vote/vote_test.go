package vote_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/vote"
)

// list reads "2A>B C -" as two ballots that rank A before B, one for C and an empty one.
func list(text string) [][]string {
	var ballots [][]string
	for entry := range strings.FieldsSeq(text) {
		times, names := 1, strings.TrimLeft(entry, "0123456789")
		if names != entry {
			times, _ = strconv.Atoi(strings.TrimSuffix(entry, names))
		}
		var ballot []string
		if names != "-" {
			ballot = strings.Split(names, ">")
		}
		ballots = append(ballots, slices.Repeat([][]string{ballot}, times)...)
	}
	return ballots
}

// single reads "2A B -" as two choices of A, one of B and an abstention.
func single(text string) []string {
	var choices []string
	for _, ballot := range list(text) {
		choices = append(choices, strings.Join(ballot, ""))
	}
	return choices
}

// shown is a result in one line.
func shown(r vote.Result) string {
	var b strings.Builder
	switch {
	case r.Winner != "":
		b.WriteString(r.Winner)
	case r.Tie():
		b.WriteString("tie of " + strings.Join(r.Leaders, ","))
	default:
		b.WriteString("nobody")
	}
	b.WriteString(":" + counts(r.Tally))
	fmt.Fprintf(&b, " of %d+%d, needs %d", r.Cast, r.Abstained, r.Needed)
	for _, round := range r.Rounds {
		fmt.Fprintf(&b, " |%s -%s exhausted %d", counts(round.Tally), strings.Join(round.Eliminated, ","), round.Exhausted)
	}
	return b.String()
}

func counts(tally []vote.Count) string {
	var b strings.Builder
	for _, count := range tally {
		fmt.Fprintf(&b, " %s%d", count.Name, count.Votes)
	}
	return b.String()
}

func TestOneChoice(t *testing.T) {
	twoThirds := func(choices []string) vote.Result {
		result, err := vote.Supermajority(choices, 2, 3)
		require.NoError(t, err)
		return result
	}
	for _, c := range []struct {
		name    string
		count   func([]string) vote.Result
		choices string
		want    string
	}{
		{"nobody voted", vote.Plurality, "", "nobody: of 0+0, needs 0"},
		{"all abstain", vote.Plurality, "2-", "nobody: of 0+2, needs 0"},
		{"the most are enough", vote.Plurality, "2A B C -", "A: A2 B1 C1 of 4+1, needs 0"},
		{"a tie has no winner", vote.Plurality, "B 2A B C", "tie of A,B: A2 B2 C1 of 5+0, needs 0"},

		{"nobody voted", vote.Majority, "", "nobody: of 0+0, needs 1"},
		{"all abstain", vote.Majority, "3-", "nobody: of 0+3, needs 1"},
		{"one vote", vote.Majority, "A 2-", "A: A1 of 1+2, needs 1"},
		{"more than half", vote.Majority, "2A B", "A: A2 B1 of 3+0, needs 2"},
		{"half is not more", vote.Majority, "2A B C", "nobody: A2 B1 C1 of 4+0, needs 3"},
		{"two halves", vote.Majority, "B 2A B", "tie of A,B: A2 B2 of 4+0, needs 3"},
		{"abstentions do not count", vote.Majority, "2A B 3-", "A: A2 B1 of 3+3, needs 2"},
		{"names are compared byte for byte", vote.Majority, "A a А", "tie of A,a,А: A1 a1 А1 of 3+0, needs 2"},

		{"nobody voted", twoThirds, "", "nobody: of 0+0, needs 0"},
		{"exactly the fraction", twoThirds, "2A B", "A: A2 B1 of 3+0, needs 2"},
		{"rounded up", twoThirds, "2A 2B 2A B", "nobody: A4 B3 of 7+0, needs 5"},
		{"rounded up from a third", twoThirds, "3A 2B", "nobody: A3 B2 of 5+0, needs 4"},
		{"rounded up and reached", twoThirds, "2A B 3A B -", "A: A5 B2 of 7+1, needs 5"},

		{"nobody voted", vote.Unanimity, "", "nobody: of 0+0, needs 0"},
		{"all abstain", vote.Unanimity, "2-", "nobody: of 0+2, needs 0"},
		{"everybody who voted", vote.Unanimity, "2A - A", "A: A3 of 3+1, needs 3"},
		{"one dissents", vote.Unanimity, "2A B", "nobody: A2 B1 of 3+0, needs 3"},
		{"two of two", vote.Unanimity, "B A", "tie of A,B: A1 B1 of 2+0, needs 2"},
	} {
		assert.Equal(t, c.want, shown(c.count(single(c.choices))), "%s: %s", c.name, c.choices)
	}
}

func TestSupermajorityFraction(t *testing.T) {
	for _, c := range [][2]int{
		{1, 2},
		{2, 4},
		{0, 1},
		{0, 0},
		{1, 0},
		{-2, -3},
		{-2, 3},
		{2, -3},
		{4, 3},
		{1, 3},
		{math.MaxInt/2 - 1, math.MaxInt},
		{math.MaxInt, 1},
		{math.MinInt, math.MinInt},
		{math.MaxInt, math.MinInt},
	} {
		result, err := vote.Supermajority([]string{"A"}, c[0], c[1])
		assert.ErrorContains(t, err, "more than 1/2 and at most 1", "%d/%d", c[0], c[1])
		assert.Zero(t, result)
	}
	for _, c := range []struct{ num, den, needed int }{
		{51, 100, 6},
		{1, 1, 10},
		{3, 4, 8},
		{3, 5, 6},
		{9, 10, 9},
		{901, 1000, 10},
		{math.MaxInt, math.MaxInt, 10},
		{math.MaxInt - 1, math.MaxInt, 10},
		{math.MaxInt/2 + 1, math.MaxInt, 6},
	} {
		result, err := vote.Supermajority(slices.Repeat([]string{"A"}, 10), c.num, c.den)
		require.NoError(t, err)
		assert.Equal(t, c.needed, result.Needed, "%d/%d", c.num, c.den)
	}
}

func TestSeveralChoices(t *testing.T) {
	for _, c := range []struct {
		name    string
		count   func([][]string) (vote.Result, error)
		ballots string
		want    string
	}{
		{"nobody voted", vote.Approval, "", "nobody: of 0+0, needs 0"},
		{"all abstain", vote.Approval, "2-", "nobody: of 0+2, needs 0"},
		{"the most approved", vote.Approval, "A>B B>C B - A", "B: B3 A2 C1 of 4+1, needs 0"},
		{"a tie", vote.Approval, "B>A A>B C", "tie of A,B: A2 B2 C1 of 3+0, needs 0"},

		{"nobody voted", vote.Borda, "", "nobody: of 0+0, needs 0"},
		{"all abstain", vote.Borda, "2-", "nobody: of 0+2, needs 0"},
		{"one candidate", vote.Borda, "2A -", "A: A0 of 2+1, needs 0"},
		{"twice 2, 1 and 0", vote.Borda, "A>B>C", "A: A4 B2 C0 of 1+0, needs 0"},
		{"the consensus before the majority", vote.Borda, "3A>B>C 2B>C>A", "B: B14 A12 C4 of 5+0, needs 0"},
		{"the unranked share the rest", vote.Borda, "A C>B -", "C: C5 A4 B3 of 2+1, needs 0"},
		{"a Condorcet circle", vote.Borda, "A>B>C B>C>A C>A>B", "tie of A,B,C: A6 B6 C6 of 3+0, needs 0"},

		{"nobody voted", vote.InstantRunoff, "", "nobody: of 0+0, needs 0"},
		{"all abstain", vote.InstantRunoff, "2-", "nobody: of 0+2, needs 0"},
		{"a majority at once", vote.InstantRunoff, "A>B A>C B", "A: A2 B1 C0 of 3+0, needs 2 | A2 B1 C0 - exhausted 0"},
		{
			"the last one's votes decide", vote.InstantRunoff, "3A 2B>C 3C>B 2D>B",
			"C: C5 A3 of 10+0, needs 5 | A3 C3 B2 D2 -B,D exhausted 0 | C5 A3 - exhausted 2",
		},
		{"two are left with the same", vote.InstantRunoff, "A B A B C -", "tie of A,B: A2 B2 of 5+1, needs 3 | A2 B2 C1 -C exhausted 0 | A2 B2 - exhausted 1"},
		{"all are last", vote.InstantRunoff, "A>B B>C C>A", "tie of A,B,C: A1 B1 C1 of 3+0, needs 2 | A1 B1 C1 - exhausted 0"},
		{"all but the leader are last", vote.InstantRunoff, "2A B>C C>B", "A: A2 of 4+0, needs 2 | A2 B1 C1 -B,C exhausted 0 | A2 - exhausted 2"},
	} {
		result, err := c.count(list(c.ballots))
		require.NoError(t, err, c.ballots)
		assert.Equal(t, c.want, shown(result), "%s: %s", c.name, c.ballots)
	}
}

func TestBrokenList(t *testing.T) {
	for name, count := range map[string]func([][]string) (vote.Result, error){
		"approval": vote.Approval, "borda": vote.Borda, "run-off": vote.InstantRunoff,
	} {
		for _, c := range []struct {
			ballots [][]string
			want    vote.BallotError
		}{
			{[][]string{{"A", "B"}, nil, {"A", "B", "A"}}, vote.BallotError{Ballot: 2, Reason: `names "A" twice`}},
			{[][]string{{"A", "A"}, {""}}, vote.BallotError{Ballot: 0, Reason: `names "A" twice`}},
			{[][]string{{"A"}, {"A", ""}}, vote.BallotError{Ballot: 1, Reason: "has an entry without a name"}},
			{
				[][]string{{"\x1b[2J" + strings.Repeat("x", 100), "\x1b[2J" + strings.Repeat("x", 100)}},
				vote.BallotError{Ballot: 0, Reason: `names "\x1b[2J` + strings.Repeat("x", 36) + `" twice`},
			},
		} {
			result, err := count(c.ballots)
			var broken *vote.BallotError
			require.ErrorAs(t, err, &broken, name)
			assert.Equal(t, c.want, *broken, name)
			assert.Zero(t, result, name)
		}
	}
	err := &vote.BallotError{Ballot: 2, Reason: "is torn"}
	assert.EqualError(t, err, "ballot 2 (the first is 0) is torn")
}

func TestCumulative(t *testing.T) {
	type points = map[string]int
	for _, c := range []struct {
		name    string
		ballots []points
		want    string
	}{
		{"nobody voted", nil, "nobody: of 0+0, needs 0"},
		{"all abstain", []points{nil, {}, {"A": 0, "": 0}}, "nobody: of 0+3, needs 0"},
		{"the most points", []points{{"A": 5}, {"B": 3, "C": 2}, {"B": 3}}, "B: B6 A5 C2 of 3+0, needs 0"},
		{"no points are no entry", []points{{"A": 1, "B": 0}}, "A: A1 of 1+0, needs 0"},
		{"a tie", []points{{"A": 2, "B": 2}, {"C": 1}}, "tie of A,B: A2 B2 C1 of 2+0, needs 0"},
	} {
		result, err := vote.Cumulative(c.ballots, 5)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, shown(result), c.name)
	}

	for _, c := range []struct {
		ballot points
		reason string
	}{
		{points{"": 1}, "gives points to an empty name"},
		{points{"": -1}, "gives points to an empty name"},
		{points{"A": -1}, `gives "A" -1 points`},
		{points{"A": 6}, "gives more than 5 points"},
		{points{"A": 2, "B": 2, "C": 2}, "gives more than 5 points"},
		{points{"A": math.MaxInt, "B": math.MaxInt}, "gives more than 5 points"},
		{points{"A": math.MinInt}, fmt.Sprintf(`gives "A" %d points`, math.MinInt)},
		{points{"A": 9, "B": -9}, "gives more than 5 points"},
		{points{"A": -9, "B": 9}, `gives "A" -9 points`},
	} {
		result, err := vote.Cumulative([]points{{"A": 5}, c.ballot}, 5)
		var broken *vote.BallotError
		require.ErrorAs(t, err, &broken)
		assert.Equal(t, vote.BallotError{Ballot: 1, Reason: c.reason}, *broken)
		assert.Zero(t, result)
	}

	want := vote.BallotError{Ballot: 0, Reason: `gives "A" -1 points`}
	for range 50 {
		_, err := vote.Cumulative([]points{{"D": -4, "C": -3, "B": -2, "A": -1}}, 5)
		assert.Equal(t, &want, err, "of several faults always the same is told")
	}

	for _, budget := range []int{0, -1, vote.MaxBudget + 1, math.MaxInt, math.MinInt} {
		result, err := vote.Cumulative([]points{{"A": 0}}, budget)
		assert.ErrorContains(t, err, "it must be 1 to 10000", budget)
		assert.Zero(t, result)
	}
	for _, budget := range []int{1, vote.MaxBudget} {
		result, err := vote.Cumulative([]points{{"A": budget}}, budget)
		require.NoError(t, err)
		assert.Equal(t, "A", result.Winner)
	}
}

func TestWeighted(t *testing.T) {
	type choices = []vote.Choice
	for _, c := range []struct {
		name    string
		choices choices
		want    string
	}{
		{"nobody voted", nil, "nobody: of 0+0, needs 0"},
		{"all abstain", choices{{"", 1}, {"A", 0}, {"B", 0.00004}, {}}, "nobody: of 0+4, needs 0"},
		{"one who is sure against two who are not", choices{{"A", 0.9}, {"B", 0.4}, {"B", 0.4}}, "A: A9000 B8000 of 3+0, needs 0"},
		{"a tie that binary fractions would hide", choices{{"A", 0.1}, {"A", 0.2}, {"B", 0.3}}, "tie of A,B: A3000 B3000 of 3+0, needs 0"},
		{"rounded", choices{{"A", 0.33333}, {"B", 0.66666}}, "B: B6667 A3333 of 2+0, needs 0"},
		{"negative zero", choices{{"A", math.Copysign(0, -1)}, {"B", 1}}, "B: B10000 of 1+1, needs 0"},
	} {
		result, err := vote.Weighted(c.choices)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, shown(result), c.name)
	}
	for _, confidence := range []float64{-0.1, 1.0001, 80, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.SmallestNonzeroFloat64} {
		for _, name := range []string{"A", ""} {
			result, err := vote.Weighted(choices{{"A", 1}, {name, confidence}})
			var broken *vote.BallotError
			require.ErrorAs(t, err, &broken)
			assert.Equal(t, vote.BallotError{Ballot: 1, Reason: fmt.Sprintf("has the confidence %v, not 0 to 1", confidence)}, *broken)
			assert.Zero(t, result)
		}
	}
}

// A caller may do with a result what it likes.
func TestResultSharesNothing(t *testing.T) {
	ballots := list("A>B B>C C A>B B>C")
	kept := list("A>B B>C C A>B B>C")
	result, err := vote.InstantRunoff(ballots)
	require.NoError(t, err)
	assert.Equal(t, kept, ballots, "the ballots stay as they are")
	last := result.Rounds[len(result.Rounds)-1].Tally
	want := slices.Clone(last)
	clear(result.Tally)
	assert.Equal(t, want, last)
}
