package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// bench is a debate of one round whose judge reads answers from a list; when it is used up, each
// answer is well-formed. It counts what the judge was asked, as a model or as a Judge.
type bench struct {
	engine *debate.Engine
	config debate.Config
	source *scripted.Provider

	mu    sync.Mutex
	kind  flow.CallKind // the answers are for
	list  []scripted.Reply
	asked []asked // about that kind
}

type asked struct {
	call, instruction string
	schema            json.RawMessage
}

// newBench makes a bench; outside: the judge is a Go function.
func newBench(kind flow.CallKind, outside bool, answers ...scripted.Reply) *bench {
	b := &bench{kind: kind, list: answers, config: twoDebaters()}
	b.config.Rounds = 1
	b.engine, b.source = engineFor(b.config)
	answer := b.source.Reply
	b.source.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return answer(req)
		}
		parts := strings.Split(req.ID, "/")
		return b.next(flow.CallKind(req.Schema.Name), asked{parts[1] + "/" + parts[2], req.Last.Text, req.Schema.JSON})
	}
	if outside {
		b.config.Judging.Judges[0] = debate.JudgeConfig{Judge: "panel"}
		b.engine.Judges = map[string]debate.Judge{"panel": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
			reply := b.next(task.Kind, asked{fmt.Sprintf("%s/%d", task.Call, task.Attempt), task.Instruction, task.Schema})
			return json.RawMessage(reply.Text), reply.Err
		})}
	}
	return b
}

func (b *bench) next(kind flow.CallKind, a asked) scripted.Reply {
	b.mu.Lock()
	defer b.mu.Unlock()
	if kind == b.kind {
		b.asked = append(b.asked, a)
		if len(b.list) > 0 {
			reply := b.list[0]
			b.list = b.list[1:]
			return reply
		}
	}
	if kind == debate.KindVerdict {
		return scripted.Reply{Text: verdict([]string{"Ada", "Ben"})}
	}
	return scripted.Reply{Text: judgement([]string{"Ada", "Ben"}, true)}
}

// start plays until the debate is over or stops at an error.
func (b *bench) start(t *testing.T) (*debate.Session, *debate.Record, error) {
	t.Helper()
	session, err := b.engine.Start(t.Context(), b.config)
	require.NoError(t, err)
	t.Cleanup(func() { session.Close() })
	record, err := session.Wait(t.Context())
	return session, record, err
}

// recorded yields the judge's JSON as it was recorded; "": nothing was.
func recorded(r *debate.Record, kind flow.CallKind) string {
	switch {
	case kind == debate.KindVerdict && view(r).Verdict != nil:
		return toJSON(view(r).Verdict.FinalVerdict)
	case kind == debate.KindAssessment && len(view(r).Assessments) > 0:
		return toJSON(view(r).Assessments[0].Judgement)
	default:
		return ""
	}
}

// good is what a bench answers by itself.
func good(kind flow.CallKind) string {
	if kind == debate.KindVerdict {
		return verdict([]string{"Ada", "Ben"})
	}
	return judgement([]string{"Ada", "Ben"}, true)
}

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
		for _, by := range []string{"model", "judge"} {
			t.Run(name+"/"+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { test(t, path, string(data), flow.CallKind(kind), by == "judge") })
			})
		}
	}
}

func TestAnswersThatAreAccepted(t *testing.T) {
	corpus(t, "accept", func(t *testing.T, path, answer string, kind flow.CallKind, outside bool) {
		want, err := os.ReadFile(strings.TrimSuffix(path, ".txt") + ".want.json")
		require.NoError(t, err)
		b := newBench(kind, outside, scripted.Reply{Text: answer})
		_, record, err := b.start(t)
		require.NoError(t, err)
		assert.Empty(t, record.Rejections)
		assert.Len(t, b.asked, 1, "asked once")
		assert.JSONEq(t, string(want), recorded(record, kind), "what is recorded is what was given")
	})
}

func TestAnswersThatAreRejected(t *testing.T) {
	var mu sync.Mutex
	found := map[string][]string{}
	corpus(t, "reject", func(t *testing.T, path, answer string, kind flow.CallKind, outside bool) {
		bad := scripted.Reply{Text: answer}
		b := newBench(kind, outside, bad, bad, bad)
		session, record, err := b.start(t)

		// Rejected, asked again with the reasons, and rejected again: a person is asked, without a score.
		q := failedJudge(t, record, err, kind, provider.KindInvalidResponse)
		assert.True(t, q.Failure.Retryable())
		assert.Empty(t, recorded(record, kind), "no score is made up")
		require.Len(t, record.Rejections, 2)
		require.Len(t, b.asked, 2)
		again(t, b.asked[0], b.asked[1], record.Rejections[0].Problems)

		// A retry asks anew, and the re-ask of that is accepted.
		require.NoError(t, session.Choose(t.Context(), q.ID, flow.OptionRetry))
		record, err = session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, flow.StateCompleted, record.State)
		assert.JSONEq(t, good(kind), recorded(record, kind))
		assert.Len(t, record.Rejections, 3)
		require.Len(t, b.asked, 4)
		again(t, b.asked[2], b.asked[3], record.Rejections[2].Problems)
		attempts := make(map[string]bool)
		for _, a := range b.asked {
			assert.False(t, attempts[a.call], "%s is asked once", a.call)
			attempts[a.call] = true
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
	golden(t, "judge/reject.golden", b.String())
}

// In a format without winners a verdict names none, however well it is formed.
func TestAWinnerOfAFormatWithoutWinnersIsRejected(t *testing.T) {
	null := strings.Replace(good(debate.KindVerdict), `"winner":{"participant":"Ada","reasoning":"answered every point"}`, `"winner":null`, 1)
	require.NotEqual(t, good(debate.KindVerdict), null)
	for by, outside := range map[string]bool{"model": false, "judge": true} {
		t.Run(by, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(debate.KindVerdict, outside, scripted.Reply{Text: good(debate.KindVerdict)}, scripted.Reply{Text: null})
				b.config.CustomFormat = &debate.Format{
					Name: "talk", Phases: []format.Phase{{Name: "talk", First: 1, Last: -1}}, End: format.EndByRounds, Decide: format.NoWinner,
				}
				b.config.Format = ""
				_, record, err := b.start(t)
				require.NoError(t, err)
				require.Len(t, record.Rejections, 1)
				assert.Equal(t, []string{"winner: is not null, but this format has no winner"}, record.Rejections[0].Problems)
				require.Len(t, b.asked, 2)
				again(t, b.asked[0], b.asked[1], record.Rejections[0].Problems)
				require.NotNil(t, view(record).Verdict)
				assert.Nil(t, view(record).Verdict.Winner)
			})
		})
	}
}

// failedJudge yields what is asked about a judge who has failed for good.
func failedJudge(t *testing.T, record *debate.Record, err error, call flow.CallKind, kind debate.Kind) flow.Inquiry {
	t.Helper()
	q := question(t, record, err)
	id := "verdict.judge"
	if call == debate.KindAssessment {
		id = "r1.assessment.judge"
	}
	assert.Equal(t, id, q.About)
	assert.Equal(t, call, q.Kind)
	assert.Equal(t, "judge", q.To)
	assert.Equal(t, []debate.Option{flow.OptionModel, flow.OptionRetry, flow.OptionWithout, flow.OptionEnd}, q.Options)
	assert.Equal(t, kind, q.Failure.Kind)
	return q
}

// again checks that a re-ask is a new call that shows what was wrong.
func again(t *testing.T, first, second asked, problems []string) {
	t.Helper()
	require.NotEmpty(t, problems)
	name, _, _ := strings.Cut(first.call, "/")
	assert.True(t, strings.HasPrefix(second.call, name+".again/"), "%s after %s", second.call, first.call)
	for _, problem := range problems[:min(len(problems), 12)] {
		assert.Contains(t, second.instruction, problem)
		assert.NotContains(t, first.instruction, problem)
	}
	assert.True(t, strings.HasPrefix(second.instruction, first.instruction), "the task stays as it was")
	assert.Equal(t, string(first.schema), string(second.schema))
}

func TestTheReaskWaitsTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(debate.KindAssessment, false, scripted.Reply{Text: "{}"})
		began := time.Now()
		_, record, err := b.start(t)
		require.NoError(t, err)
		assert.Equal(t, 2*time.Second, time.Since(began))
		assert.Equal(t, "r1.assessment.judge.again", view(record).Assessments[0].Call)
		assert.True(t, record.Done("r1.assessment.judge"), "the first question is settled too")
	})
}

// An answer that did not end normally is not parsed: half a number is a number too.
func TestABrokenOffAnswerIsNotParsed(t *testing.T) {
	for _, kind := range []flow.CallKind{debate.KindAssessment, debate.KindVerdict} {
		for _, stop := range []provider.StopReason{provider.StopLength, provider.StopTool, "pause_turn"} {
			t.Run(string(kind)+"/"+string(stop), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(kind, false, scripted.Reply{Text: good(kind), Stop: stop}, scripted.Reply{Text: good(kind), Stop: stop})
					_, record, err := b.start(t)
					failedJudge(t, record, err, kind, provider.KindInvalidResponse)
					assert.Empty(t, recorded(record, kind))
					require.Len(t, record.Rejections, 2)
					assert.Contains(t, record.Rejections[0].Problems[0], string(stop))
				})
			})
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
		"refused":   {scripted.Reply{Text: good(debate.KindAssessment), Stop: provider.StopRefusal}, provider.KindRefusal, 1},
		"filtered":  {scripted.Reply{Text: good(debate.KindAssessment), Stop: provider.StopFilter}, provider.KindContentFilter, 1},
		"no answer": {scripted.Reply{Err: errors.New("nobody is there")}, provider.KindAPI, 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(debate.KindAssessment, false, slices.Repeat([]scripted.Reply{c.reply}, 9)...)
				_, record, err := b.start(t)
				failedJudge(t, record, err, debate.KindAssessment, c.kind)
				assert.Empty(t, recorded(record, debate.KindAssessment), "no score is made up")
				assert.Empty(t, record.Rejections, "there is nothing to reject")
				assert.Len(t, b.asked, c.asked)
				for i, a := range b.asked {
					assert.Equal(t, fmt.Sprintf("r1.assessment.judge/%d", i+1), a.call)
				}
			})
		})
	}
}

func TestAJudgeFromOutside(t *testing.T) {
	config := twoDebaters()
	config.Labels = map[string]string{"tenant": "blue"}
	config.Judging.Judges[0] = debate.JudgeConfig{Name: "Cato", Judge: "panel"}
	engine, source := engineFor(config)
	var tasks []debate.JudgeTask
	engine.Judges = map[string]debate.Judge{"panel": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		tasks = append(tasks, task)
		return json.RawMessage(good(task.Kind)), nil
	})}
	record := run(t, engine, config)

	require.Len(t, tasks, 4)
	for i, task := range tasks[:3] {
		assert.Equal(t, debate.KindAssessment, task.Kind)
		assert.Equal(t, fmt.Sprintf("r%d.assessment.Cato", i+1), task.Call)
		assert.Equal(t, 1, task.Attempt)
		assert.Equal(t, record.ID, task.Debate)
		assert.Equal(t, config.Topic, task.Topic)
		assert.Equal(t, i+1, task.Round)
		assert.Equal(t, 3, task.Rounds)
		assert.Len(t, task.Participants, 2)
		assert.Equal(t, config.Labels, task.Labels)
		assert.Len(t, task.Turns, 2*(i+1))
		assert.True(t, json.Valid(task.Schema))
		assert.NotEmpty(t, task.Instruction)
	}
	assert.Equal(t, debate.KindVerdict, tasks[3].Kind)
	assert.Equal(t, 6, source.Calls(), "no model is asked to judge")
	assert.Equal(t, "Cato", view(record).Verdict.Judge)
	assert.Zero(t, view(record).Verdict.Cost, "what a judge from outside costs is not the debate's")
}

// Hidden turns of the round are all revealed before a judge reads them.
func TestAJudgeFromOutsideReadsSimultaneousTurns(t *testing.T) {
	config := twoDebaters()
	config.Mode = debate.Simultaneous
	config.Judging.Judges[0] = debate.JudgeConfig{Judge: "panel"}
	engine, _ := engineFor(config)
	var read []int
	engine.Judges = map[string]debate.Judge{"panel": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		read = append(read, len(task.Turns))
		return json.RawMessage(good(task.Kind)), nil
	})}
	run(t, engine, config)
	assert.Equal(t, []int{2, 4, 6, 6}, read)
}

// The schema that goes to a provider allows the debate's names only.
func TestTheSchemaNamesTheParticipants(t *testing.T) {
	config := twoDebaters()
	config.Participants[0].Name = `Ada "the" \ Fox`
	config.Judging.Criteria = []string{"wit"}
	engine, source := engineFor(config)
	record := run(t, engine, config)
	assert.Equal(t, config.Participants[0].Name, view(record).Verdict.Winner.Participant)
	seen := map[string]bool{}
	for _, request := range source.Requests() {
		if request.Schema == nil || seen[request.Schema.Name] {
			continue
		}
		seen[request.Schema.Name] = true
		require.True(t, json.Valid(request.Schema.JSON))
		names := toJSON([]string{config.Participants[0].Name, "Ben"})
		assert.Contains(t, string(request.Schema.JSON), `"enum":`+names)
		if request.Schema.Name == "verdict" {
			assert.Contains(t, string(request.Schema.JSON), `"required":`+names)
			assert.Contains(t, string(request.Schema.JSON), `"required":["wit"]`)
		}
	}
	assert.Len(t, seen, 2)
}

// An integrator's own schema is checked, and its problems are shown, in the same way.
func TestASchemaOfAFlow(t *testing.T) {
	type plan struct {
		Steps []string `json:"steps"`
	}
	schema, err := flow.NewSchema("plan", func(_ *debate.Record, p *plan) []string {
		if len(p.Steps) == 0 {
			return []string{"steps: is empty"}
		}
		return nil
	})
	require.NoError(t, err)
	unchecked, err := flow.NewSchema[plan]("free", nil)
	require.NoError(t, err)
	f := reflecting()
	f.Schemas["plan"], f.Schemas["free"] = schema, unchecked
	calls := f.Steps["reflecting"].Calls
	f.Steps["reflecting"] = flow.Step{Next: f.Steps["reflecting"].Next, Calls: func(r *debate.Record) []flow.Call {
		out := calls(r)
		for i := range out {
			out[i].Schema = "plan"
			if r.Round == 2 {
				out[i].Schema = "free"
			}
		}
		return out
	}}
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		engine, source := engineFor(config)
		engine.Flows = map[string]*debate.Flow{f.Name: f}
		answer := source.Reply
		source.Reply = func(req *provider.Request) scripted.Reply {
			switch {
			case req.Schema == nil || req.Schema.Name != "plan" && req.Schema.Name != "free":
				return answer(req)
			case strings.Contains(req.ID, ".again/"), req.Schema.Name == "free":
				return scripted.Reply{Text: "```json\n{ \"steps\" : [\"ask\"] }\n```"}
			default:
				return scripted.Reply{Text: `{"steps":[]}`}
			}
		}
		record := run(t, engine, inFlow(engine, config))
		require.Len(t, record.Rejections, 1)
		assert.Equal(t, []string{"steps: is empty"}, record.Rejections[0].Problems)
		assert.JSONEq(t, `{"steps":["ask"]}`, string(record.Turns[2].Data))
		assert.Equal(t, "r1.reflection.Ada.again", record.Turns[2].Call)
		assert.Equal(t, "r2.reflection.Ada", record.Turns[5].Call)
	})
}

func TestSchemasThatDoNotCompile(t *testing.T) {
	_, err := flow.NewSchema[func()]("odd", nil)
	assert.Error(t, err)
}

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
			got := recorded(core.Record(), kind)
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
				marks := view(core.Record()).Assessments[0].Assessments
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
	for i, event := range l.events {
		if as[flow.Intent](event) != nil && as[flow.Intent](event).Kind == kind {
			core, err := l.engine.NewCore(l.id, l.events[:i+1])
			require.NoError(t, err)
			return core, flow.Result{Call: as[flow.Intent](event).Call, Attempt: 1, Usage: provider.Usage{Input: 1, Output: 1}}
		}
	}
	require.Fail(t, "the judge is not asked")
	return nil, flow.Result{}
}

// judgeLogs is one debate for all runs of the fuzz target.
func judgeLogs(t *testing.T) storedLog {
	t.Helper()
	judgeLog.Do(func() {
		config := twoDebaters()
		config.Rounds = 1
		judgeLog.log = playedLog(t, config)
	})
	return judgeLog.log
}

var judgeLog struct {
	sync.Once

	log storedLog
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
