package debate_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// corpus calls test with every answer under testdata/judge, by a model and by a Judge from outside.
func corpus(t *testing.T, folder string, test func(t *testing.T, path, answer string, kind flow.CallKind, outside bool)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "judge", folder, "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		kind, _, _ := strings.Cut(name, "-")
		for _, by := range []string{"model", "judge"}[:longform.Sized(2, 2, 1)] {
			t.Run(name+"/"+by, stage.Bubbled(func(t *testing.T) { test(t, path, string(data), flow.CallKind(kind), by == "judge") }))
		}
	}
}

func TestAnswersThatAreAccepted(t *testing.T) {
	t.Parallel()
	corpus(t, "accept", func(t *testing.T, path, answer string, kind flow.CallKind, outside bool) {
		want, err := os.ReadFile(strings.TrimSuffix(path, ".txt") + ".want.json")
		require.NoError(t, err)
		b := stage.NewBench(kind, outside, scripted.Reply{Text: answer})
		_, record, err := b.Start(t)
		require.NoError(t, err)
		assert.Empty(t, record.Rejections)
		assert.Len(t, b.Asked, 1, "asked once")
		assert.JSONEq(t, string(want), stage.Recorded(record, kind), "what is recorded is what was given")
	})
}

func TestAnswersThatAreRejected(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	found := map[string][]string{}
	corpus(t, "reject", func(t *testing.T, path, answer string, kind flow.CallKind, outside bool) {
		bad := scripted.Reply{Text: answer}
		b := stage.NewBench(kind, outside, bad, bad, bad)
		session, record, err := b.Start(t)

		// Rejected, asked again with the reasons, and rejected again: a person is asked, without a score.
		q := failedJudge(t, record, err, kind, provider.KindInvalidResponse, outside)
		assert.True(t, q.Failure.Retryable())
		assert.Empty(t, stage.Recorded(record, kind), "no score is made up")
		require.Len(t, record.Rejections, 2)
		require.Len(t, b.Asked, 2)
		again(t, b.Asked[0], b.Asked[1], record.Rejections[0].Problems)

		// A retry asks anew, and the re-ask of that is accepted.
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
		record = stage.Ended(t, session)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.JSONEq(t, stage.WellFormed(kind), stage.Recorded(record, kind))
		assert.Len(t, record.Rejections, 3)
		require.Len(t, b.Asked, 4)
		again(t, b.Asked[2], b.Asked[3], record.Rejections[2].Problems)
		attempts := make(map[string]bool)
		for _, a := range b.Asked {
			assert.False(t, attempts[a.Call], "%s is asked once", a.Call)
			attempts[a.Call] = true
		}

		mu.Lock()
		defer mu.Unlock()
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		if before, seen := found[name]; seen {
			assert.Equal(t, before, record.Rejections[0].Problems, "a Judge is checked as a model is")
		}
		found[name] = record.Rejections[0].Problems
	})
	if t.Failed() {
		return
	}
	var b strings.Builder
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "%s\n\t%s\n", name, strings.Join(found[name], "\n\t"))
	}
	stage.Golden(t, "judge/reject.golden", b.String())
}

// In a format without winners a verdict names none, however well it is formed.
func TestAWinnerOfAFormatWithoutWinnersIsRejected(t *testing.T) {
	null := strings.Replace(stage.WellFormed(debate.KindVerdict), `"winner":{"participant":"Ada","reasoning":"answered every point"}`, `"winner":null`, 1)
	require.NotEqual(t, stage.WellFormed(debate.KindVerdict), null)
	for by, outside := range map[string]bool{"model": false, "judge": true} {
		t.Run(by, stage.Bubbled(func(t *testing.T) {
			b := stage.NewBench(debate.KindVerdict, outside, scripted.Reply{Text: stage.WellFormed(debate.KindVerdict)}, scripted.Reply{Text: null})
			b.Config.CustomFormat = &debate.Format{
				Name: "talk", Phases: []format.Phase{{Name: "talk", First: 1, Last: -1}}, End: format.EndByRounds, Decide: format.NoWinner,
			}
			b.Config.Format = ""
			_, record, err := b.Start(t)
			require.NoError(t, err)
			require.Len(t, record.Rejections, 1)
			assert.Equal(t, []string{"winner: is not null, but this format has no winner"}, record.Rejections[0].Problems)
			require.Len(t, b.Asked, 2)
			again(t, b.Asked[0], b.Asked[1], record.Rejections[0].Problems)
			require.NotNil(t, stage.View(record).Verdict)
			assert.Nil(t, stage.View(record).Verdict.Winner)
		}))
	}
}

// failedJudge yields what is asked about a judge who has failed for good.
func failedJudge(t *testing.T, record *debate.Record, err error, call flow.CallKind, kind debate.Kind, outside bool) flow.Inquiry {
	t.Helper()
	q := stage.Question(t, record, err)
	id := "verdict.judge"
	if call == debate.KindAssessment {
		id = "r1.assessment.judge"
	}
	assert.Equal(t, id, q.About[0].Call)
	assert.Equal(t, call, q.Kind)
	assert.Equal(t, "judge", q.To)
	options := stage.JudgeOptions(call)
	if outside { // no model takes over from what is none
		options = slices.DeleteFunc(options, func(o debate.Option) bool { return o == flow.OptionModel })
	}
	assert.Equal(t, options, q.Options)
	assert.Equal(t, kind, q.Failure.Kind)
	assert.Contains(t, q.Question, "judge: ")
	return q
}

// again checks that the second is another attempt at the call, which shows what was wrong with the first.
func again(t *testing.T, first, second stage.Asked, problems []string) {
	t.Helper()
	require.NotEmpty(t, problems)
	call, attempt, _ := strings.Cut(first.Call, "/")
	n, err := strconv.Atoi(attempt)
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("%s/%d", call, n+1), second.Call)
	for _, problem := range problems[:min(len(problems), 12)] {
		assert.Contains(t, second.Instruction, problem)
		assert.NotContains(t, first.Instruction, problem)
	}
	assert.True(t, strings.HasPrefix(second.Instruction, first.Instruction), "the task stays as it was")
	assert.Equal(t, string(first.Schema), string(second.Schema))
}

func TestTheReaskWaitsTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := stage.NewBench(debate.KindAssessment, false, scripted.Reply{Text: "{}"})
		began := time.Now()
		_, record, err := b.Start(t)
		require.NoError(t, err)
		assert.Equal(t, 2*time.Second, time.Since(began))
		assert.Equal(t, "r1.assessment.judge", stage.View(record).Assessments[0].Call)
		assert.Equal(t, 2, stage.View(record).Assessments[0].Attempt)
	})
}

// Where nobody is there, an assessment without an accepted answer is left out, but not twice in a row. A verdict never is.
func TestAnswersThatAreRejectedInAnUnattendedDebate(t *testing.T) {
	bad := scripted.Reply{Text: "Ada was better."}
	ok := scripted.Reply{Text: stage.WellFormed(debate.KindAssessment)}
	for name, c := range map[string]struct {
		kind    flow.CallKind
		answers []scripted.Reply // two for each that is rejected
		skipped []string
		failed  string // the call
	}{
		"one assessment":        {debate.KindAssessment, []scripted.Reply{bad, bad}, []string{"r1.assessment.judge"}, ""},
		"every other one":       {debate.KindAssessment, []scripted.Reply{bad, bad, ok, bad, bad}, []string{"r1.assessment.judge", "r3.assessment.judge"}, ""},
		"two in a row":          {debate.KindAssessment, []scripted.Reply{bad, bad, bad, bad}, []string{"r1.assessment.judge"}, "r2.assessment.judge"},
		"one that was rejected": {debate.KindAssessment, []scripted.Reply{bad, ok}, nil, ""},
		"the verdict":           {debate.KindVerdict, []scripted.Reply{bad, bad}, nil, "verdict.judge"},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			b := stage.NewBench(c.kind, false, c.answers...)
			b.Config.Unattended, b.Config.Rounds = true, 3
			_, record, err := b.Start(t)
			var skipped []string
			for _, s := range record.SkippedCalls {
				skipped = append(skipped, s.Call)
				assert.Equal(t, provider.KindInvalidResponse, s.Cause)
			}
			assert.Equal(t, c.skipped, skipped)
			if c.failed == "" {
				require.NoError(t, err)
				assert.NotNil(t, stage.View(record).Verdict)
				assert.Len(t, stage.View(record).Assessments, 3-len(skipped))
				assert.Len(t, stage.View(record).Outcome().Degraded, len(skipped))
				return
			}
			assert.Equal(t, c.failed, stage.RequireKind(t, err, provider.KindInvalidResponse).Op)
			assert.Equal(t, flow.StateError, record.State)
			assert.Nil(t, stage.View(record).Verdict)
		}))
	}
}

// An answer that did not end normally is not parsed: half a number is a number too.
func TestABrokenOffAnswerIsNotParsed(t *testing.T) {
	for _, kind := range []flow.CallKind{debate.KindAssessment, debate.KindVerdict} {
		for _, stop := range []provider.StopReason{provider.StopLength, provider.StopTool, "pause_turn"} {
			t.Run(string(kind)+"/"+string(stop), stage.Bubbled(func(t *testing.T) {
				b := stage.NewBench(kind, false, scripted.Reply{Text: stage.WellFormed(kind), Stop: stop}, scripted.Reply{Text: stage.WellFormed(kind), Stop: stop})
				_, record, err := b.Start(t)
				failedJudge(t, record, err, kind, provider.KindInvalidResponse, false)
				assert.Empty(t, stage.Recorded(record, kind))
				require.Len(t, record.Rejections, 2)
				assert.Contains(t, record.Rejections[0].Problems[0], string(stop))
			}))
		}
	}
}

// Answers that hold nothing to reject are failures of the attempt: they are tried again under the same id.
func TestUnusableAnswersFail(t *testing.T) {
	for name, c := range map[string]struct {
		reply scripted.Reply
		kind  debate.Kind
		asked int
	}{
		"blank":     {scripted.Reply{Text: " \n\t "}, provider.KindInvalidResponse, 2},
		"refused":   {scripted.Reply{Text: stage.WellFormed(debate.KindAssessment), Stop: provider.StopRefusal}, provider.KindRefusal, 1},
		"filtered":  {scripted.Reply{Text: stage.WellFormed(debate.KindAssessment), Stop: provider.StopFilter}, provider.KindContentFilter, 1},
		"no answer": {scripted.Reply{Err: errors.New("nobody is there")}, provider.KindUnknown, 1},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			b := stage.NewBench(debate.KindAssessment, false, slices.Repeat([]scripted.Reply{c.reply}, 9)...)
			_, record, err := b.Start(t)
			failedJudge(t, record, err, debate.KindAssessment, c.kind, false)
			assert.Empty(t, stage.Recorded(record, debate.KindAssessment), "no score is made up")
			assert.Empty(t, record.Rejections, "there is nothing to reject")
			assert.Len(t, b.Asked, c.asked)
			for i, a := range b.Asked {
				assert.Equal(t, fmt.Sprintf("r1.assessment.judge/%d", i+1), a.Call)
			}
		}))
	}
}
