package deliberation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// NotAnswered is the answer that leaves a question open. The case of its letters does not matter.
const NotAnswered = "NA"

// openAnswer stands in prompts for an answer that was not given.
const openAnswer = "(not answered)"

// schemaQuestions names the schema of an agent's questions.
const schemaQuestions = "questions"

// questionList is what an agent answers that may ask.
type questionList struct {
	Questions []string `json:"questions"`
}

// longestQuestion is the most bytes of one question.
const longestQuestion = 2000

// mostQuestions is how many an agent may ask in one iteration.
func (c *Config) mostQuestions() int { return cmp.Or(c.Clarification.Questions, DefaultQuestions) }

func checkQuestions(r *flow.Record, v *questionList) []string {
	var problems []string
	if most := of(r).config.Clarification.Questions; len(v.Questions) > most {
		problems = append(problems, fmt.Sprintf("questions: %s, at most %d may be asked", prompt.There(len(v.Questions)), most))
	}
	for i, q := range v.Questions {
		switch q = strings.TrimSpace(q); {
		case q == "":
			problems = append(problems, fmt.Sprintf("questions[%d]: is blank", i))
		case len(q) > longestQuestion:
			problems = append(problems, fmt.Sprintf("questions[%d]: is longer than %d bytes", i, longestQuestion))
		case slices.Contains(v.Questions[:i], v.Questions[i]):
			problems = append(problems, fmt.Sprintf("questions[%d]: is a duplicate", i))
		}
	}
	return problems
}

func clarifyID(iteration int, w *work) string {
	return "clarify." + strconv.Itoa(iteration) + "." + w.ID
}

// clarifications returns what was asked before an iteration, by anybody at all if that is 0: first what was known
// beforehand, then the questions by iteration and agent. Equal questions are one, with one answer.
func (d *Deliberation) clarifications(before int) []Asked {
	var out []Asked
	at := make(map[string]int) // by what is asked
	for _, k := range d.config.Clarification.Known {
		at[asks(k.Question)] = len(out)
		out = append(out, Asked{Question: prompt.Plain(k.Question), Known: true}.answered(prompt.Plain(k.Answer)))
	}
	answers := make(map[string]string, len(d.told))
	for _, t := range d.told {
		answers[t.Call] = t.Text
	}
	for _, c := range d.questions() {
		if before != 0 && c.Iteration >= before {
			break
		}
		if i, asked := at[asks(c.Question)]; asked {
			if !slices.Contains(out[i].Agents, c.Agents[0]) {
				out[i].Agents = append(out[i].Agents, c.Agents[0])
			}
			continue
		}
		at[asks(c.Question)] = len(out)
		switch answer, ok := answers[c.ID]; {
		case ok:
			c = c.answered(answer)
		case d.Settled(c.ID): // its time is over
			c = c.answered(NotAnswered)
		}
		out = append(out, c)
	}
	return out
}

// answered returns a question with its answer.
func (c Asked) answered(text string) Asked {
	c.Answered, c.Answer = true, strings.TrimSpace(text)
	c.Skipped = strings.EqualFold(c.Answer, NotAnswered)
	return c
}

// questions returns every question of every agent, by iteration and agent.
func (d *Deliberation) questions() []Asked {
	var out []Asked
	for _, t := range d.asked {
		var list questionList
		if d.seats[t.Speaker] == nil || json.Unmarshal(t.Data, &list) != nil {
			continue
		}
		n := iterationOf(t)
		for k, text := range list.Questions {
			out = append(out, Asked{
				ID: fmt.Sprintf("question.%d.%s.%d", n, t.Speaker, k+1), Iteration: n, Agents: []string{t.Speaker}, Question: strings.TrimSpace(text),
			})
		}
	}
	slices.SortStableFunc(out, func(x, y Asked) int {
		if x.Iteration != y.Iteration {
			return x.Iteration - y.Iteration
		}
		return d.seat(x.Agents[0]) - d.seat(y.Agents[0])
	})
	return out
}

// asks is what a question asks, whoever writes it: without the case of letters, the width of spaces, and the marks at its
// end.
func asks(question string) string {
	return strings.TrimRight(strings.ToLower(strings.Join(strings.Fields(question), " ")), " ?.!")
}

// clarificationsOf returns the questions that were new in an iteration.
func (d *Deliberation) clarificationsOf(iteration int) []Asked {
	return slices.DeleteFunc(d.clarifications(iteration+1), func(c Asked) bool { return c.Iteration != iteration })
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
		questions := b.clarificationsOf(i)
		if len(questions) == 0 || slices.ContainsFunc(questions, func(c Asked) bool { return !c.Answered }) {
			return i
		}
	}
	return max(1, most)
}

// unasked returns the agents that have not said yet what they want to ask. Persons are not asked for that.
func (b *board) unasked(iteration int) []*work {
	var out []*work
	for i := range b.agents {
		if w := &b.agents[i]; w.active && !w.Person && b.missing(clarifyID(iteration, w)) {
			out = append(out, w)
		}
	}
	return out
}

// asksAgain reports whether the agents may follow up.
func (b *board) asksAgain() bool { return len(b.unasked(b.iteration())) > 0 }

// pending returns the questions that a person is to answer; none if nobody is there.
func (b *board) pending() []Asked {
	if !b.config.Clarification.On || b.Record.Settings().Unattended {
		return nil
	}
	return slices.DeleteFunc(b.clarificationsOf(b.iteration()), func(c Asked) bool { return c.Answered })
}

func initialized(r *flow.Record) (flow.Trigger, flow.Exit, bool) {
	return flow.TriggerInitialized, flow.Exit{Calls: len(clarifyCalls(r))}, true
}

func clarifyCalls(r *flow.Record) []*flow.Call {
	b := read(r)
	if !b.config.Clarification.On {
		return nil
	}
	n := b.iteration()
	b.asking = n
	var calls []*flow.Call
	for _, w := range b.unasked(n) {
		calls = append(calls, b.question(n, w))
	}
	return calls
}

// question asks an agent what it wants to ask.
func (b *board) question(iteration int, w *work) *flow.Call {
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
		return triggerAllClear, flow.Exit{}, true
	}
	// The rounds begin however few agents were able to ask: asking is optional. An agent that cannot be reached at all
	// fails to propose next, and that is where too few agents end the rounds.
	exit := flow.Exit{Warnings: b.lost(StateClarifying)}
	if open := b.pending(); len(open) > 0 {
		exit.Calls = len(open)
		return triggerQuestionsPending, exit, true
	}
	if open := b.clarificationsOf(b.iteration()); len(open) > 0 {
		exit.Warnings = append(exit.Warnings, flow.Warning{
			Kind: WarnUnanswered, Evidence: "nobody is there to answer " + prompt.Count(len(open), "question") +
				" of the agents: set unattended to false, or answer in clarification.known",
		})
	}
	return triggerAllClear, exit, true
}

func answerCalls(r *flow.Record) []*flow.Call {
	b := read(r)
	var calls []*flow.Call
	for _, c := range b.pending() {
		seat := b.seat(c.Agents[0])
		_, k, _ := cutLast(c.ID)
		call := &flow.Call{
			ID: c.ID, Kind: KindAnswer, By: namePerson, Performer: flow.ByPerson, Target: c.Agents[0], View: flow.View{None: true},
			Slot: b.clarifySlot(c.Iteration, seat, k),
			Last: func(*flow.Record) string { return b.askers(&c) + ": " + c.Question },
		}
		if within := b.config.Clarification.Within; within > 0 {
			call.Person, call.OnFail = &flow.ForPerson{Term: flow.Term{Within: within}}, flow.OnFail{Aid: true}
		}
		calls = append(calls, call)
	}
	return calls
}

// askers says who asks.
func (d *Deliberation) askers(c *Asked) string {
	names := make([]string, len(c.Agents))
	for i, id := range c.Agents {
		if names[i] = id; d.seats[id] != nil {
			names[i] = d.seats[id].Name
		}
	}
	if len(names) == 1 {
		return names[0] + " asks"
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " ask"
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
	return triggerAnswersSubmitted, exit, true
}

// known renders the clarifications for the system prompts; "": there are none. While the agents are asking
// these are the ones of the iterations before: what one of them asks now changes no other's prompt.
func (d *Deliberation) known(asking int) string {
	all := d.clarifications(asking)
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
		label := "question"
		if len(c.Agents) > 0 {
			label += " of " + strings.Join(c.Agents, ", ")
		}
		// Each in a fence of its own: a question that is written like an answer is none.
		text.WriteString("\n" + d.Quote(label, c.Question) + "\n" + answer + "\n")
	}
	return strings.TrimRight(text.String(), "\n")
}
