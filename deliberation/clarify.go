package deliberation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// NotAnswered is the answer that leaves a question open. The case of its letters does not matter.
const NotAnswered = "NA"

// openAnswer stands in prompts for an answer that was not given.
const openAnswer = "(not answered)"

// schemaQuestions names the schema of an agent's questions.
const schemaQuestions = "questions"

// questionList is what an agent answers that may ask.
type questionList struct {
	Questions []string `json:"questions" jsonschema:"description=empty if nothing is unclear"`
}

// longestQuestion is the most bytes of one question.
const longestQuestion = 2000

func checkQuestions(r *flow.Record, v *questionList) []string {
	var problems []string
	if most := of(r).config.Clarification.Questions; len(v.Questions) > most {
		problems = append(problems, fmt.Sprintf("questions: there are %d, at most %d are allowed", len(v.Questions), most))
	}
	for i, q := range v.Questions {
		switch q = strings.TrimSpace(q); {
		case q == "":
			problems = append(problems, fmt.Sprintf("questions[%d]: is blank", i))
		case len(q) > longestQuestion:
			problems = append(problems, fmt.Sprintf("questions[%d]: is longer than %d bytes", i, longestQuestion))
		case slices.Contains(v.Questions[:i], v.Questions[i]):
			problems = append(problems, fmt.Sprintf("questions[%d]: stands there twice", i))
		}
	}
	return problems
}

func clarifyID(iteration int, w *work) string {
	return "clarify." + strconv.Itoa(iteration) + "." + w.ID
}

// clarifications returns the questions of one iteration, of all if 0, with their answers, by agent.
func (d *Deliberation) clarifications(iteration int) []Asked {
	var out []Asked
	for _, t := range d.asked {
		n := iterationOf(t)
		var list questionList
		if iteration != 0 && n != iteration || json.Unmarshal(t.Data, &list) != nil {
			continue
		}
		for k, text := range list.Questions {
			c := Asked{
				ID: fmt.Sprintf("question.%d.%s.%d", n, t.Speaker, k+1), Iteration: n, Agent: t.Speaker, Question: strings.TrimSpace(text),
			}
			for _, answer := range d.told {
				if answer.Call == c.ID {
					c.Answered, c.Answer = true, strings.TrimSpace(answer.Text)
					c.Skipped = strings.EqualFold(c.Answer, NotAnswered)
				}
			}
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(x, y Asked) int {
		if x.Iteration != y.Iteration {
			return x.Iteration - y.Iteration
		}
		return d.seat(x.Agent) - d.seat(y.Agent)
	})
	return out
}

// iterationOf reads the iteration from the id of the call, "clarify.2.ada".
func iterationOf(t *flow.Turn) int {
	_, rest, _ := strings.Cut(t.Call, ".")
	digits, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// seat is where an agent sits; -1: it is none of the agents.
func (d *Deliberation) seat(id string) int {
	if w := d.seats[id]; w != nil {
		return w.seat
	}
	return -1
}

// iteration is the one that is under way: the first in which an agent has not said what it asks, or whose
// questions are not all answered, or the last.
func (b *board) iteration() int {
	most := b.config.Clarification.Iterations
	for i := 1; i < most; i++ {
		if len(b.unasked(i)) > 0 {
			return i
		}
		questions := b.clarifications(i)
		if len(questions) == 0 || slices.ContainsFunc(questions, func(c Asked) bool { return !c.Answered }) {
			return i
		}
	}
	return max(1, most)
}

// unasked returns the agents that have not said yet what they want to ask.
func (b *board) unasked(iteration int) []*work {
	var out []*work
	for i := range b.agents {
		if w := &b.agents[i]; w.active && b.missing(clarifyID(iteration, w)) {
			out = append(out, w)
		}
	}
	return out
}

// asksAgain reports whether the agents may follow up.
func (b *board) asksAgain() bool { return len(b.unasked(b.iteration())) > 0 }

// pending returns the questions that a person is to answer; none if nobody is there.
func (b *board) pending() []Asked {
	if !b.config.Clarification.On || b.Record.Terms().Unattended != nil {
		return nil
	}
	return slices.DeleteFunc(b.clarifications(b.iteration()), func(c Asked) bool { return c.Answered })
}

func initialized(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	return flow.TriggerInitialized, flow.Exit{Calls: len(clarifyCalls(r))}, true
}

func clarifyCalls(r *flow.Record) []flow.Call {
	b := read(r)
	if !b.config.Clarification.On {
		return nil
	}
	n := b.iteration()
	b.asking = n
	var calls []flow.Call
	for _, w := range b.unasked(n) {
		calls = append(calls, b.question(n, w))
	}
	return calls
}

// question asks an agent what it wants to ask.
func (b *board) question(iteration int, w *work) flow.Call {
	call := b.call(w, clarifyID(iteration, w), KindQuestion)
	call.Schema, call.Slot = schemaQuestions, b.clarifySlot(iteration, w.seat, 0)
	call.Last = func(r *flow.Record) string { return r.Text("ask.clarify") }
	return call
}

// clarifySlot orders questions and answers: by iteration, the questions of all before the answers.
func (b *board) clarifySlot(iteration, seat, question int) int {
	n, most := len(b.agents), b.config.Clarification.Questions
	slot := (iteration-1)*n*(most+1) + seat
	if question > 0 {
		slot += n + seat*(most-1) + question - 1
	}
	return slot
}

func clarified(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	b := read(r)
	if !b.config.Clarification.On {
		return TriggerAllClear, flow.Exit{}, true
	}
	// The rounds begin however few agents were able to ask: asking is optional. An agent that cannot be reached at all
	// fails to propose next, and that is where too few agents end the rounds.
	exit := flow.Exit{Warnings: b.lost(StateClarifying)}
	if open := b.pending(); len(open) > 0 {
		exit.Calls = len(open)
		return TriggerQuestionsPending, exit, true
	}
	if open := b.clarifications(b.iteration()); len(open) > 0 {
		exit.Warnings = append(exit.Warnings, flow.Warning{
			Kind: WarnUnanswered, Evidence: fmt.Sprintf("nobody is there to answer %d questions of the agents", len(open)),
		})
	}
	return TriggerAllClear, exit, true
}

func answerCalls(r *flow.Record) []flow.Call {
	b := read(r)
	var calls []flow.Call
	for _, c := range b.pending() {
		seat := b.seat(c.Agent)
		_, k, _ := cutLast(c.ID)
		calls = append(calls, flow.Call{
			ID: c.ID, Kind: KindAnswer, By: namePerson, Performer: flow.ByPerson, Target: c.Agent, View: flow.View{None: true},
			Slot: b.clarifySlot(c.Iteration, seat, k),
			Last: func(*flow.Record) string { return b.agents[seat].Name + " asks: " + c.Question },
		})
	}
	return calls
}

// cutLast takes the number off the end of an id.
func cutLast(id string) (before string, number int, ok bool) {
	i := strings.LastIndexByte(id, '.')
	if i < 0 {
		return id, 0, false
	}
	number, err := strconv.Atoi(id[i+1:])
	return id[:i], number, err == nil
}

func answered(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	exit := flow.Exit{}
	if read(r).asksAgain() {
		exit.Calls = len(clarifyCalls(r))
	}
	return TriggerAnswersSubmitted, exit, true
}

// known renders the clarifications for the system prompts; "": there are none. While the agents are asking
// these are the ones of the iterations before: what one of them asks now changes no other's prompt.
func (d *Deliberation) known(asking int) string {
	all := slices.DeleteFunc(d.clarifications(0), func(c Asked) bool { return asking > 0 && c.Iteration >= asking })
	if len(all) == 0 {
		return ""
	}
	var text strings.Builder
	text.WriteString("# Clarifications\n")
	for _, c := range all {
		answer := openAnswer
		if c.Answered && !c.Skipped {
			answer = d.Quote("answer of a person", c.Answer)
		}
		// Each in a fence of its own: a question that is written like an answer is none.
		text.WriteString("\n" + d.Quote("question of "+c.Agent, c.Question) + "\n" + answer + "\n")
	}
	return strings.TrimRight(text.String(), "\n")
}
