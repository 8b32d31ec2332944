package deliberation_test

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// tracing returns hooks that write down what they are told.
func tracing(tell func(line string)) deliberation.Hooks {
	say := func(format string, args ...any) { tell(fmt.Sprintf(format, args...)) }
	return deliberation.Hooks{
		OnRoundStart:            func(round, of int) { say("round %d of %d", round, of) },
		OnPhaseStart:            func(round int, phase flow.State, expected int) { say("r%d %s begins (%d)", round, phase, expected) },
		OnPhaseComplete:         func(round int, phase flow.State) { say("r%d %s is over", round, phase) },
		OnAgentStart:            func(agent, activity string) { say("%s begins %s", agent, activity) },
		OnAgentComplete:         func(agent, activity string) { say("%s is done %s", agent, activity) },
		OnAgentRetry:            func(agent, activity string, failure error) { say("%s again %s: %v", agent, activity, failure) },
		OnAgentFailed:           func(agent, activity string, failure error) { say("%s fails %s: %v", agent, activity, failure) },
		OnSummarizationStart:    func(agent string) { say("%s summarizes", agent) },
		OnSummarizationComplete: func(agent string, before, after int) { say("%s has summarized %d to %d", agent, before, after) },
		OnSynthesisStart:        func() { say("synthesis begins") },
		OnSynthesisComplete:     func(s *deliberation.Solution) { say("synthesis: %s", s.Description) },
		OnToolStart:             func(agent, tool string) { say("%s uses %s", agent, tool) },
		OnToolComplete:          func(agent, tool string, failed bool) { say("%s has used %s: %v", agent, tool, !failed) },
		OnQuestion:              func(q flow.Inquiry) { say("question %s: %s", q.ID, q.Question) },
		OnAnswer:                func(a flow.Answer) { say("answer to %s: %s", a.Inquiry, a.Text) },
		OnWarning:               func(w flow.Warning) { say("warning %s: %s", w.Kind, w.By) },
	}
}

// stored makes a sequence of events that are there already.
func stored(all []flow.Event) iter.Seq2[flow.Event, error] {
	return func(yield func(flow.Event, error) bool) {
		for _, event := range all {
			if !yield(event, nil) {
				return
			}
		}
	}
}

// trace returns what hooks are told of events.
func trace(t *testing.T, all []flow.Event) []string {
	t.Helper()
	var lines []string
	for _, err := range tracing(func(line string) { lines = append(lines, line) }).Events(stored(all)) {
		require.NoError(t, err)
	}
	return lines
}

// staggered lets the calls of a phase end one after the other, in the order of the agents.
func staggered(own answers) answers {
	return func(call string, req *provider.Request) (scripted.Reply, bool) {
		reply := scripted.Reply{Text: usual(call, req)}
		if own != nil {
			if made, taken := own(call, req); taken {
				reply = made
			}
		}
		reply.Delay += time.Duration(slices.Index([]string{"judge", "ada", "ben", "cyd"}, req.Self)) * time.Second
		return reply, true
	}
}

func TestHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := engineFor(staggered(nil))
		config := three()
		config.Agents, config.Rounds = config.Agents[:2], 2
		var lines []string
		hooks := tracing(func(line string) { lines = append(lines, line) })
		count := 0
		for event, err := range hooks.Events(engine.Run(t.Context(), config)) {
			require.NoError(t, err)
			if event.Kind() != flow.EventChunk {
				count++
				assert.Equal(t, int64(count), event.Seq, "events are passed on as they come")
			}
		}
		assert.Equal(t, []string{
			"r0 clarifying begins (0)", "r0 clarifying is over",
			"r0 planningRound begins (0)", "r0 planningRound is over",
			"round 1 of 2",
			"r1 summarizing begins (0)", "r1 summarizing is over",
			"r1 proposing begins (2)", "ada begins proposing", "ben begins proposing", "ada is done proposing", "ben is done proposing", "r1 proposing is over",
			"r1 critiquing begins (2)", "ada begins critiquing ben", "ben begins critiquing ada", "ada is done critiquing ben", "ben is done critiquing ada",
			"r1 critiquing is over",
			"r1 refining begins (2)", "ada begins refining", "ben begins refining", "ada is done refining", "ben is done refining", "r1 refining is over",
			"r1 evaluating begins (0)", "r1 evaluating is over",
			"r1 planningRound begins (0)", "r1 planningRound is over",
			"round 2 of 2",
			"r2 summarizing begins (0)", "r2 summarizing is over",
			"r2 proposing begins (0)", "r2 proposing is over",
			"r2 critiquing begins (2)", "ada begins critiquing ben", "ben begins critiquing ada", "ada is done critiquing ben", "ben is done critiquing ada",
			"r2 critiquing is over",
			"r2 refining begins (2)", "ada begins refining", "ben begins refining", "ada is done refining", "ben is done refining", "r2 refining is over",
			"r2 evaluating begins (0)", "r2 evaluating is over",
			"r2 planningRound begins (0)", "r2 planningRound is over",
			"r2 completing begins (1)", "synthesis begins", "synthesis: The solution of synthesis.", "r2 completing is over",
		}, lines)
	})
}

// TestHooksOfFailures: who is tried again, who is not, and what comes of it.
func TestHooksOfFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := map[string]int{}
		var mu sync.Mutex
		engine, _ := engineFor(staggered(func(call string, _ *provider.Request) (scripted.Reply, bool) {
			mu.Lock()
			defer mu.Unlock()
			tries[call]++
			switch {
			case call == "r1.propose.cyd":
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "no"}}, true
			case call == "r1.refine.ada" && tries[call] == 1:
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindNetwork, Message: "gone"}}, true
			case call == "synthesis" && tries[call] == 1:
				return scripted.Reply{Text: "no JSON"}, true
			}
			return scripted.Reply{}, false
		}))
		config := three()
		config.Rounds = 1
		record := play(t, engine, config)
		lines := trace(t, events(t, engine, record.ID))
		starting := func(prefix string) []string {
			return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.HasPrefix(line, prefix) })
		}
		failed := starting("cyd fails")
		require.Len(t, failed, 1)
		assert.Contains(t, failed[0], "cyd fails proposing: ")
		assert.Contains(t, failed[0], "refusal")
		assert.Contains(t, lines, "warning left-out: cyd")
		assert.Less(t, slices.Index(lines, "warning left-out: cyd"), slices.Index(lines, "r1 proposing is over"), "the phase ends with its warnings")

		again := starting("ada again")
		require.Len(t, again, 1)
		assert.Contains(t, again[0], "ada again refining: ")
		assert.Len(t, starting("ada begins refining"), 1, "a further attempt begins nothing")
		assert.Len(t, starting("ada is done refining"), 1)

		again = starting("judge again")
		require.Len(t, again, 1)
		assert.Contains(t, again[0], "synthesizing: the answer was not accepted: ")
		assert.Len(t, starting("synthesis begins"), 1)
		assert.Len(t, starting("synthesis: "), 1)
	})
}

var quoted = regexp.MustCompile(`(?s)<<<\d+ [^>]*>>>\n(.*?)\n<<<end \d+>>>`)

// TestHooksOfSummaries: before is what the call was given to summarise, and after what is read of its answer.
func TestHooksOfSummaries(t *testing.T) {
	for _, proposals := range []string{deliberation.ProposalsCarry, deliberation.ProposalsFresh} {
		for _, whole := range []*bool{nil, new(true)} {
			t.Run(fmt.Sprintf("%s, whole history %v", proposals, whole != nil), func(t *testing.T) {
				engine, models := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
					return scripted.Reply{Text: strings.Repeat("Größe. ", 300) + call}, req.Schema == nil
				})
				config := three()
				config.Rounds, config.Proposals, config.FullHistory = 7, proposals, whole
				config.Summaries.Threshold, config.Summaries.MaxLength = 3000, 500
				record := play(t, engine, config)

				var given, told []string
				for _, req := range models.Requests() {
					if !strings.Contains(callOf(&req), ".summarize.") {
						continue
					}
					size := 0
					for _, part := range quoted.FindAllStringSubmatch(req.Last.Text, -1) {
						size += utf8.RuneCountInString(part[1])
					}
					given = append(given, fmt.Sprintf("%s: %d to 500", req.Self, size))
				}
				started := 0
				hooks := deliberation.Hooks{
					OnSummarizationStart: func(string) { started++ },
					OnSummarizationComplete: func(agent string, before, after int) {
						told = append(told, fmt.Sprintf("%s: %d to %d", agent, before, after))
					},
				}
				for _, err := range hooks.Events(engine.Events(t.Context(), record.ID, 0)) {
					require.NoError(t, err)
				}
				require.NotEmpty(t, given, "a debate of that length is summarised")
				assert.ElementsMatch(t, given, told)
				assert.Equal(t, len(given), started)
			})
		}
	}
}

// TestHooksOfQuestions: what a person is asked and answers is told, and is no agent's activity.
func TestHooksOfQuestions(t *testing.T) {
	engine, _ := engineFor(func(call string, _ *provider.Request) (scripted.Reply, bool) {
		if call == "clarify.1.ada" {
			return scripted.Reply{Text: toJSON(map[string]any{"questions": []string{"How many?"}})}, true
		}
		return scripted.Reply{}, false
	})
	config := three()
	config.Rounds, config.Clarification.On = 1, true
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer session.Close()
	_, err = session.Wait(t.Context())
	require.ErrorIs(t, err, flow.ErrAwaitingInput)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: "question.1.ada.1", Text: "Ten."}))
	_, err = session.Wait(t.Context())
	require.NoError(t, err)
	lines := trace(t, events(t, engine, session.ID()))
	for line, want := range map[string]int{
		"ada begins asking": 2, "ada is done asking": 2, "ben begins asking": 2, "answer to question.1.ada.1: Ten.": 1,
	} {
		assert.Equal(t, want, countOf(lines, line), line)
	}
	questions := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.HasPrefix(line, "question ") })
	require.Len(t, questions, 1)
	assert.Contains(t, questions[0], "question.1.ada.1: ")
	assert.Contains(t, questions[0], "How many?")
	assert.Equal(t, 1, countOf(lines, "r0 answering begins (1)"), "waiting for the person does not begin the phase anew")
	for _, line := range lines {
		assert.NotContains(t, line, "begins answering")
		assert.NotContains(t, line, "is done answering")
	}
}

// TestHooksOfVotesAndMerges: the synthesis begins with the first of them, once.
func TestHooksOfVotesAndMerges(t *testing.T) {
	for method, activity := range map[string]string{deliberation.SynthesisVoting: "voting", deliberation.SynthesisMerge: "merging"} {
		t.Run(method, func(t *testing.T) {
			engine, _ := engineFor(nil)
			config := three()
			config.Rounds, config.Synthesis = 1, method
			lines := trace(t, events(t, engine, play(t, engine, config).ID))
			assert.Equal(t, 1, countOf(lines, "synthesis begins"))
			first := slices.IndexFunc(lines, func(line string) bool { return strings.HasSuffix(line, " begins "+activity) })
			require.Positive(t, first)
			assert.Equal(t, "synthesis begins", lines[first-1])
			assert.True(t, strings.HasPrefix(lines[len(lines)-2], "synthesis: The solution of synthesis"))
		})
	}
}

func countOf(lines []string, want string) int {
	n := 0
	for _, line := range lines {
		if line == want {
			n++
		}
	}
	return n
}
