package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	w1 "github.com/agonist-dev/debate/internal/bench"
	"github.com/agonist-dev/debate/store/file"
	"github.com/agonist-dev/debate/store/sql"
)

func newBench(t *testing.T) *bench {
	t.Helper()
	texts, err := learnSchemas(t.Context())
	require.NoError(t, err)
	return &bench{
		sides: []string{sideFloor, sideEino, sideDebate}, rounds: []int{2}, time: time.Millisecond,
		dir: t.TempDir(), schemas: texts,
	}
}

// Every side plays the same debate, to the byte.
func TestSidesPlayTheSameDebate(t *testing.T) {
	const rounds = 3
	b := newBench(t)
	for name, pieces := range map[string]int{"whole": 0, "in pieces": 7} {
		t.Run(name, func(t *testing.T) {
			s := w1.NewScript()
			s.Pieces = pieces
			list, stop, err := b.contenders(s, rounds)
			require.NoError(t, err)
			require.Len(t, list, 3)
			outs := make([]*played, len(list))
			for i, c := range list {
				outs[i], err = c.play(t.Context())
				require.NoError(t, err, c.side)
				require.NoError(t, outs[i].check(rounds, pieces > 0), c.side)
			}
			require.NoError(t, stop(t.Context()))
			assert.Equal(t, outs[0], outs[1], "eino plays as the floor")
			assert.Equal(t, outs[0], outs[2], "debate plays as the floor")
			assert.Equal(t, turn{w1.Cy, s.Speech(w1.Cy, 8)}, outs[0].turns[8])
		})
	}
}

func TestDurableSidesPlayTheSameDebate(t *testing.T) {
	const rounds = 2
	b, s, dir := newBench(t), w1.NewScript(), t.TempDir()
	a, err := newAnswers(b.schemas)
	require.NoError(t, err)
	kept, err := openRows(t.Context(), dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, kept.close()) }()
	want, err := kept.play(t.Context(), newFloor(s, a, rounds))
	require.NoError(t, err)
	var steps, size int
	require.NoError(t, kept.db.QueryRowContext(t.Context(), `SELECT count(*), sum(length(text)) FROM step`).Scan(&steps, &size))
	assert.Equal(t, 4*rounds+1, steps)
	assert.Equal(t, rounds*(3*w1.SpeechBytes+len(w1.Assessment))+len(w1.Verdict), size)

	database, err := sql.OpenSQLite(t.Context(), filepath.Join(dir, "debate.db"))
	require.NoError(t, err)
	files, err := file.Open(dir)
	require.NoError(t, err)
	for _, store := range []closingStore{database, files} {
		d := newArena(s, store, rounds)
		got, err := d.play(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, got)
		require.NoError(t, d.close(t.Context()))
		require.NoError(t, store.Close())
	}
}

func TestEverySidePlaysACrowd(t *testing.T) {
	b := newBench(t)
	s := w1.NewScript()
	list, stop, err := b.contenders(s, crowdRounds)
	require.NoError(t, err)
	defer func() { require.NoError(t, stop(context.Background())) }()
	for _, c := range list {
		out, err := playCrowd(t.Context(), s, time.Millisecond, 3, c)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, out.Wall, (4*crowdRounds+1)*time.Millisecond, c.side)
		_, err = waiting(t.Context(), s, 3, c)
		require.NoError(t, err, c.side)
	}
}

// An answer that breaks the schema ends the debate on the sides that have no judge of their own.
func TestAnswersAreValidated(t *testing.T) {
	a, err := newAnswers(newBench(t).schemas)
	require.NoError(t, err)
	_, err = a.assess(w1.Assessment)
	require.NoError(t, err)
	_, err = a.assess(strings.Replace(w1.Assessment, `"qualityScore":7`, `"qualityScore":11`, 1))
	require.Error(t, err)
	_, err = a.conclude(strings.Replace(w1.Verdict, `"summary"`, `"sum"`, 1))
	require.Error(t, err)
	assert.InDelta(t, 600, len(w1.Assessment), 60)
}

func TestCheckFindsWhatIsMissing(t *testing.T) {
	b, s := newBench(t), w1.NewScript()
	a, err := newAnswers(b.schemas)
	require.NoError(t, err)
	out, err := newFloor(s, a, 2).play(t.Context())
	require.NoError(t, err)
	require.NoError(t, out.check(2, false))
	assert.Error(t, out.check(3, false))
	assert.Error(t, out.check(2, true), "nothing was streamed")
	out.winner = w1.Ben
	assert.Error(t, out.check(2, false))
}

func TestTable(t *testing.T) {
	c := column{"W1", "ms", map[string][]float64{
		sideFloor: {1, 2, 3}, sideEino: {2, 4, 6}, sideDebate: {3, 6, 9}, // three times the floor
	}}
	var table, lines bytes.Buffer
	require.NoError(t, output{w: &table}.head())
	require.NoError(t, output{w: &table}.column(c))
	require.NoError(t, output{w: &lines, lines: true}.column(c))
	assert.Contains(t, table.String(), "\n| W1 | ms | 2 | 4 | 6 | 1.50 | 3.00 |\n")
	assert.Contains(t, lines.String(),
		`{"column":"W1","unit":"ms","side":"eino","median":4,"low":4,"high":6,"laps":3,"ratio":1.5}`)
}

func TestSmallRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-work", "W1,W1c", "-rounds", "1", "-time", "1ms", "-dir", t.TempDir()}, &out))
	assert.Equal(t, 2+3*2, strings.Count(out.String(), "\n"), out.String())
	assert.Error(t, run(t.Context(), []string{"-work", "W2"}, &out))
	assert.Error(t, run(t.Context(), []string{"-crowd-of", "nobody"}, &out))
}
