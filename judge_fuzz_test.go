package debate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// FuzzJudgeAnswer: whatever a judge says, only scores and names that it wrote are recorded.
func FuzzJudgeAnswer(f *testing.F) {
	for _, folder := range []string{"accept", "reject"} {
		files, err := filepath.Glob(filepath.Join("testdata", "judge", folder, "*.txt"))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range files {
			if data, err := os.ReadFile(path); err == nil && len(data) < 4096 {
				f.Add(string(data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, answer string) {
		for _, kind := range []flow.CallKind{debate.KindAssessment, debate.KindVerdict} {
			core, result := judgeCore(t, kind)
			result.Text = answer
			if _, err := core.Step(flow.Input{At: time.Unix(9, 0), Signal: result}); err != nil {
				t.Fatalf("a reply is never refused: %v", err)
			}
			got := stage.Recorded(core.Record(), kind)
			if got == "" {
				continue
			}
			given := numbers(innermost(t, answer))
			for _, n := range numbers(got) {
				if !slices.Contains(given, n) {
					t.Fatalf("%v was never given, in %s", n, got)
				}
			}
			if kind == debate.KindAssessment {
				marks := stage.View(core.Record()).Assessments[0].Assessments
				if len(marks) != 2 || marks[0].Participant == marks[1].Participant {
					t.Fatalf("not everybody is assessed once: %s", got)
				}
			}
		}
	})
}

// judgeCore yields a core whose judge has just been asked, and the result to be filled in.
func judgeCore(t *testing.T, kind flow.CallKind) (*flow.Core, flow.Result) {
	t.Helper()
	l := judgeLogs(t)
	for i, event := range l.Events {
		if body.As[flow.Intent](event) != nil && body.As[flow.Intent](event).Kind == kind {
			core := stage.CoreOf(t, l.Engine, l.ID, l.Events[:i+1])
			return core, flow.Result{Call: body.As[flow.Intent](event).Call, Attempt: 1, Usage: provider.Usage{Input: 1, Output: 1}}
		}
	}
	require.Fail(t, "the judge is not asked")
	return nil, flow.Result{}
}

// judgeLogs is one debate for all runs of the fuzz target.
func judgeLogs(t *testing.T) stage.StoredLog {
	t.Helper()
	judgeLog.Do(func() {
		config := stage.TwoDebaters()
		config.Rounds = 1
		judgeLog.log = stage.PlayedLog(t, config)
	})
	return judgeLog.log
}

var judgeLog struct {
	sync.Once

	log stage.StoredLog
}

// innermost yields the JSON inside an accepted answer.
func innermost(t *testing.T, answer string) string {
	from, to := strings.Index(answer, "{"), strings.LastIndex(answer, "}")
	if before, after, ok := strings.Cut(answer, "</think>"); ok && strings.Contains(before, "<think>") {
		if trimmed := strings.TrimLeft(strings.TrimPrefix(answer, "\ufeff"), " \t\r\n"); strings.HasPrefix(trimmed, "<think>") {
			return innermost(t, after)
		}
	}
	if from < 0 || to < from {
		t.Fatalf("an answer without an object was accepted: %q", answer)
	}
	return answer[from : to+1]
}

// numbers yields every number in a JSON text.
func numbers(text string) []float64 {
	decoder := json.NewDecoder(strings.NewReader(text))
	var out []float64
	for {
		token, err := decoder.Token()
		if err != nil {
			return out
		}
		if n, ok := token.(float64); ok {
			out = append(out, n)
		}
	}
}
