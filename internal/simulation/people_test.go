package simulation_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

var peopleSeeds = flag.Uint64("sim.people", longform.Sized[uint64](10_000, 200, 40), "how many seeds TestSimulationOfPeople plays")

// TestSimulationOfPeople plays debates of every format in which people debate, judge, vote and give the floor: in time, late, or never.
// Meanwhile somebody says something, to all or to some, and the process is killed. Each debate comes to its end. Each note is in the log
// once, and in each request of its readers from the next one on. What a speaker is sent begins as what they were sent before, and a judge
// is sent the speeches in the order in which functions get them. Each speech says whether a model stood in. No hard limit is passed.
//
// In some debates a model has a tool, of which each use is approved. Some debates go on after their end: see goesOn.
func TestSimulationOfPeople(t *testing.T) {
	host, met := limitEngine(), make(map[string]int)
	host.Tools = map[string]debate.Tool{"add": (&stage.Tally{}).Of(t, flow.ToolInfo{Approval: true})}
	host.Store = &store.Memory{Now: func() time.Time { return time.Unix(0, 0) }} // the times of logs are ahead, and go on from their last
	engine := kernel.Of(t, host)
	for seed := range *peopleSeeds {
		s := &peopleSim{
			world: newWorld(t, engine, "people", seed, 4), met: met, sent: make(map[string]request), read: make(map[string]request),
			host: host, more: rand.New(rand.NewPCG(seed, 6)), decided: make(map[string]flow.Option),
		}
		s.play()
	}
	t.Logf("seeds 0..%d: %v", *peopleSeeds-1, met)
	if *peopleSeeds < 10_000 {
		return // too few to meet everything
	}
	for _, what := range []string{
		"note", "note to some", "note with a question", "note that is refused", "note that is said again", "note that is held back",
		"answer in time", "answer that counts after the time", "answer that comes too late", "answer out of turn", "stand-in", "skipped",
		"kill", "pause", "stop", "floor", "completed", "hard limit", "use of a tool", "use that is approved", "use that is denied",
		"use of which nobody knows the outcome", "reopened", "reopened for a question", "not reopened", "fork", "asked anew",
	} {
		assert.Positive(t, met[what], "%s: the simulation no longer meets one", what)
	}
}

// peopleSim is a world of one debate with people.
type peopleSim struct {
	world

	met     map[string]int
	said    []flow.Note        // that were accepted
	sent    map[string]request // the requests that are in flight, by their calls
	read    map[string]request // the latest request of each speaker
	retries int

	host    *debate.Engine         // what goes on after the end is of its store
	more    *rand.Rand             // draws tools, stops, and what follows the end
	user    string                 // the participant whose model uses the tool, where there is one
	decided map[string]flow.Option // what was answered, by inquiry
	kept    []string               // the debates that are stored
	stored  int64                  // how many events of the present one are
	done    map[string]bool        // the calls that were done where it began as a copy
	again   *reopened              // nil: it was not reopened
}

// request is what somebody is sent of the conversation, with who has said it.
type request []string

// requestOf returns the messages of a command. The uses of tools, with the text before them, stand behind all that was said: they are left
// out.
func requestOf(c *flow.Command) request {
	var all request
	for i := range c.Request.Messages {
		m := &c.Request.Messages[i]
		if len(m.ToolCalls) > 0 {
			return all[:len(all)-1]
		}
		all = append(all, m.Speaker+": "+m.Text)
	}
	return all
}

// times counts how often a note is in a request.
func (r request) times(n *flow.Note) (times int) {
	for _, m := range r {
		if m == n.As+": "+n.Text {
			times++
		}
	}
	return times
}

func (s *peopleSim) play() {
	config := s.affordable(s.drawn())
	start, err := s.engine.Freeze(config)
	if err != nil {
		s.failf("%v", err)
	}
	s.core = s.load(nil)
	for _, signal := range []flow.Signal{flow.Edit{Config: config}, flow.Validate{}, flow.Validated{OK: true}, start} {
		s.step(signal)
	}
	s.toEnd()
	if chance(s.more, 2) {
		return
	}
	defer s.forget()
	s.keep()
	for times := 1 + s.more.IntN(2); times > 0 && s.goesOn(); times-- {
		s.toEnd()
		s.keep()
	}
}

// toEnd plays until nothing more can be recorded.
func (s *peopleSim) toEnd() {
	s.t.Helper()
	for range 3_000 {
		if s.core.Over() {
			s.checkEnd()
			return
		}
		s.now = s.now.Add(time.Duration(s.dice.IntN(2_000)) * time.Millisecond)
		s.proceed()
	}
	s.failf("the debate does not end: it stands in state %s with %d calls in flight", s.core.Record().State, s.core.Record().InFlight())
}

// drawn draws a debate: half of those who speak are people.
func (s *peopleSim) drawn() debate.Config {
	f := oneOf(s.dice, format.Builtin()...)
	config := stage.CastFor(f)
	config.ID, config.MaxTokens, config.Reserve = s.id, 500, 1
	config.Mode = oneOf(s.dice, debate.Sequential, debate.Simultaneous)
	config.Unattended = chance(s.dice, 2)
	for i := range config.Participants {
		p := &config.Participants[i]
		p.Model, p.Person, p.Term = s.actor("test/large", 2)
	}
	if chance(s.more, 3) {
		config.Tools, config.ToolUses, s.user = []string{"add"}, 2, oneOf(s.more, config.Participants...).Name
		config.ToolPolicy.Approval = oneOf(s.more, "", flow.OptionApprove)
	}
	if config.Audience != nil {
		m := &config.Audience.Members[0]
		m.Model, m.Person, m.Term = s.actor("test/large", 3)
	}
	if chance(s.dice, 2) {
		judge := debate.JudgeConfig{}
		judge.Model, judge.Person, judge.Term = s.actor("test/dear", 3)
		config.Judging = &debate.Judging{Judges: []debate.JudgeConfig{judge}}
	}
	free := slices.ContainsFunc(f.Phases, func(p format.Phase) bool { return len(p.Slots) == 0 })
	if free && config.Mode == debate.Sequential && chance(s.dice, 2) {
		config.Floor = &debate.Floor{}
		config.Floor.Model, config.Floor.Person, config.Floor.Term = s.actor("test/large", 3)
	}
	if chance(s.dice, 3) {
		config.RoundTimeout = time.Duration(1+s.dice.IntN(10)) * time.Minute
	}
	if chance(s.dice, 2) {
		return config
	}
	s.secret()
	estimate, err := s.engine.Estimate(s.t.Context(), config)
	if err != nil {
		s.failf("no estimate: %v", err)
	}
	if estimate.Cost > 0 {
		config.Budget = &debate.Budget{Hard: estimate.FirstRound + debate.Money(s.dice.Float64()*float64(estimate.Cost)) + 1}
	}
	return config
}

// actor draws a model or, once in so many times, a person with a time.
func (s *peopleSim) actor(model string, people int) (string, bool, flow.Term) {
	if !chance(s.dice, people) {
		return model, false, flow.Term{}
	}
	term := flow.Term{Within: flow.Duration(1+s.dice.IntN(10)) * flow.Duration(time.Minute)}
	switch s.dice.IntN(4) {
	case 0:
		return "", true, flow.Term{}
	case 1:
		term.Overdue = oneOf(s.dice, "", flow.OptionSkip, flow.OptionFail, flow.OptionWait)
	default:
		term.StandIn = model
	}
	return "", true, term
}

// proceed does one thing that may happen now.
func (s *peopleSim) proceed() {
	r := s.core.Record()
	if chance(s.more, 1_000) && !r.Final() && r.Working() != flow.StateCompleting {
		s.met["stop"]++
		s.step(flow.Stop{})
		return
	}
	switch n := s.dice.IntN(40); {
	case n < 4:
		s.kill(len(s.log))
		return
	case n < 8 && len(s.said) < 6 && !r.Final():
		s.say()
		return
	case n < 9 && !r.Final() && r.State != flow.StatePaused && r.State != flow.StateError:
		s.met["pause"]++
		s.step(flow.Pause{Drain: chance(s.dice, 2)})
		return
	case n < 11 && !s.wait.IsZero() && !r.Final():
		s.tick(s.wait)
		return
	default:
	}
	flights := s.core.InFlight()
	switch {
	case len(r.Inquiries) > 0 && !r.Final() && (len(flights) == 0 || chance(s.dice, 3)):
		s.attend(oneOf(s.dice, r.Inquiries...))
	case len(flights) > 0:
		s.land(oneOf(s.dice, flights...))
	case r.State == flow.StatePaused:
		s.step(flow.Resume{})
	case r.State == flow.StateError:
		s.mend(r)
	case !s.wait.IsZero():
		s.tick(s.wait)
	default:
		s.failf("nothing is due in state %s", r.State)
	}
}

// step takes an input that must be accepted.
func (s *peopleSim) step(signal flow.Signal) {
	s.t.Helper()
	out, err := s.core.Step(flow.Input{At: s.now, Bits: s.dice.Uint64(), Signal: signal})
	if err != nil {
		s.failf("%T %+v: %v", signal, signal, err)
	}
	s.follow(out)
}

func (s *peopleSim) tick(at time.Time) {
	s.now = later(s.now, at)
	s.step(flow.Tick{})
}

// follow keeps the log, and looks at what is spent and sent.
func (s *peopleSim) follow(out flow.Output) {
	s.t.Helper()
	s.log = append(s.log, out.Events...)
	s.wait = out.Wait
	r := s.core.Record()
	if r.Settings() == nil {
		return
	}
	if budget, spent := r.Settings().Budget, r.Spent(); budget != nil && budget.Hard > 0 {
		if used := spent.Cost + spent.AtMost + r.Reserved(); used > budget.Hard {
			s.failf("%v are spent and reserved, above the hard limit of %v", used, budget.Hard)
		}
	}
	for i := range out.Events {
		if answer := body.As[flow.Answer](out.Events[i]); answer != nil && answer.Option == flow.OptionStandIn {
			s.met["stand-in"]++
		}
		s.checkIntent(&out.Events[i])
		s.decide(&out.Events[i])
		if turn := body.As[flow.Turn](out.Events[i]); turn != nil && r.Seat(turn.Speaker) >= 0 {
			person := stage.View(r).Config().Participants[r.Seat(turn.Speaker)].Person
			if turn.StandIn != (person && turn.Model != "") {
				s.failf("the turn %s of %q says that a model stands in: %t", turn.Call, turn.Model, turn.StandIn)
			}
		}
		switch out.Events[i].Kind() {
		case flow.EventSkipped:
			s.met["skipped"]++
		case debate.EventFloor:
			s.met["floor"]++
		default:
		}
	}
	for _, call := range out.Start {
		s.checkRequest(call)
	}
}

// checkRequest looks at what a call is sent that begins now.
func (s *peopleSim) checkRequest(call string) {
	s.t.Helper()
	command, err := s.core.Command(call)
	if err != nil {
		s.failf("%v", err)
	}
	if command.Tool != "" {
		return
	}
	r := s.core.Record()
	now := requestOf(command)
	s.sent[call] = now
	seat := r.Seat(command.By)
	back := stage.View(r).Format().Phase(r.Round, r.Settings().Rounds).Back > 0 // it reads the last rounds alone
	for _, n := range r.Notes {
		want := 0
		if !r.Held(n.ID) && (len(n.To) == 0 || seat < 0 || slices.Contains(n.To, command.By)) {
			want = 1
		}
		if n.As == formerVerdict && judges(command.Kind) {
			want = 0
		}
		if times := now.times(n); times != want && (!back || times > want) {
			s.failf("%s reads the note %s %d times", call, n.ID, times)
		}
	}
	if command.Kind == debate.KindVerdict {
		s.checkOrder(call, now)
	}
	if seat < 0 || back {
		return
	}
	if before := s.read[command.By]; len(now) < len(before) || !slices.Equal(before, now[:len(before)]) {
		s.failf("%s is sent\n%q\nwhich does not begin as\n%q", call, now, before)
	}
	s.read[command.By] = now
}

// checkOrder compares the speeches of a request with those that functions get.
func (s *peopleSim) checkOrder(call string, sent request) {
	s.t.Helper()
	var want request
	for _, turn := range s.core.Record().Readable() {
		want = append(want, turn.Speaker+": "+turn.Text)
	}
	for _, n := range s.core.Record().Notes {
		sent = slices.DeleteFunc(slices.Clone(sent), func(m string) bool { return m == n.As+": "+n.Text })
	}
	if !slices.Equal(want, sent) {
		s.failf("%s is sent\n%q\nand a function\n%q", call, sent, want)
	}
}

// say says something in between. Now and then the process dies before the note is stored, or before the caller knows of that: then it is
// said again.
func (s *peopleSim) say() {
	r := s.core.Record()
	n := flow.Note{ID: fmt.Sprint("n", len(s.said)), As: "Mo", Text: fmt.Sprintf("Note %d: mind the rain.", len(s.said))}
	for _, p := range stage.View(r).Config().Participants {
		if chance(s.dice, 3) {
			n.To = append(n.To, p.Name)
		}
	}
	if chance(s.dice, 2) {
		n.To = nil
	}
	if chance(s.dice, 3) {
		n.Ask = oneOf(s.dice, stage.View(r).Config().Participants...).Name
	}
	from := len(s.log)
	if !s.accepts(n) {
		s.met["note that is refused"]++
		return
	}
	if chance(s.dice, 3) {
		stored := chance(s.dice, 2)
		if stored {
			from = len(s.log)
		}
		s.kill(from)
		switch again := s.accepts(n); {
		case again:
			s.met["note that is said again"]++
		case stored:
			s.failf("the same note is refused when it is said again")
		default: // by now nobody would read it
			return
		}
	}
	s.said = append(s.said, n)
	s.met["note"]++
	if len(n.To) > 0 {
		s.met["note to some"]++
	}
	if n.Ask != "" {
		s.met["note with a question"]++
	}
	if s.core.Record().Held(n.ID) {
		s.met["note that is held back"]++
	}
}

// accepts reports whether an input was taken. One that is refused says why, and changes nothing.
func (s *peopleSim) accepts(signal flow.Signal) bool {
	s.t.Helper()
	seq := s.core.Record().Seq
	out, err := s.core.Step(flow.Input{At: s.now, Bits: s.dice.Uint64(), Signal: signal})
	if err == nil {
		s.follow(out)
		return true
	}
	failure, ok := errors.AsType[*flow.Error](err)
	if !ok || failure.Kind != provider.KindValidation && failure.Kind != provider.KindState || s.core.Record().Seq != seq {
		s.failf("%+v: %v", signal, err)
	}
	return false
}

// kill ends the process, which has stored so many events. Another one goes on from the log.
func (s *peopleSim) kill(stored int) {
	s.met["kill"]++
	if stored < len(s.log) {
		clear(s.read) // nobody was sent what was not stored
	}
	s.log = slices.Clip(s.log[:stored])
	if chance(s.dice, 8) {
		s.log = s.throughJSON(s.log)
	}
	s.core, s.wait = s.load(s.log), time.Time{}
	s.takeOver()
}

// takeOver goes on with what another process has left.
func (s *peopleSim) takeOver() {
	s.t.Helper()
	for _, lost := range s.core.InFlight() {
		s.step(lost)
	}
	s.step(flow.Tick{})
}

// land brings the outcome of a call.
func (s *peopleSim) land(f flow.Lost) {
	command, err := s.core.Command(f.Call)
	if err != nil { // it is no longer wanted
		s.step(f)
		return
	}
	if command.Tool != "" {
		s.met["use of a tool"]++
		s.step(flow.Result{Call: f.Call, Attempt: f.Attempt, Text: "3"})
		return
	}
	for _, n := range s.core.Record().Notes {
		if sent, now := s.sent[f.Call].times(n), requestOf(command).times(n); sent != now {
			s.failf("%s has read the note %s %d times, and would now read it %d times", f.Call, n.ID, sent, now)
		}
	}
	if chance(s.dice, 20) {
		kind := oneOf(s.dice, provider.KindNetwork, provider.KindRateLimit, provider.KindRefusal)
		s.step(flow.Failed{Call: f.Call, Attempt: f.Attempt, Error: &flow.Error{Kind: kind, Err: errors.New("no luck")}, Free: true})
		return
	}
	if command.By == s.user && len(command.Request.Tools) > 0 && chance(s.more, 2) {
		s.step(flow.Result{Call: f.Call, Attempt: f.Attempt, Text: "Let me see.", Calls: stage.OneSum(1)[0], Usage: stage.LittleUsage})
		return
	}
	var schema []byte
	if command.Request.Schema != nil {
		schema = command.Request.Schema.JSON
	}
	s.step(flow.Result{Call: f.Call, Attempt: f.Attempt, Text: s.reply(command.Kind, command.By, schema), Usage: stage.LittleUsage})
}

// reply is what somebody says or answers.
func (s *peopleSim) reply(kind flow.CallKind, by string, schema []byte) string {
	r := s.core.Record()
	if kind == debate.KindAside {
		s.met["answer out of turn"]++
	}
	if len(schema) == 0 {
		return fmt.Sprintf("%s has said %d of %d things.", by, s.dice.IntN(1_000), s.dice.IntN(1_000))
	}
	text := structured(s.dice, kind, schema, stage.View(r).Config(), stage.View(r).Format())
	if len(r.Dropped()) > 0 {
		return nobodyWins(text) // whoever has left cannot win
	}
	return text
}

// attend lets a person answer: in time, after the time but before anything has followed, or later.
func (s *peopleSim) attend(q flow.Inquiry) {
	if len(q.Options) > 0 {
		s.choose(&q)
		return
	}
	switch {
	case q.Until.IsZero() || chance(s.dice, 2):
		s.met["answer in time"]++
	case chance(s.dice, 2):
		s.now = later(s.now, q.Until)
		s.met["answer that counts after the time"]++
	default:
		s.tick(q.Until)
	}
	if _, open := s.core.Record().Question(q.ID); open {
		s.step(flow.Answer{Inquiry: q.ID, Text: s.reply(q.Kind, q.To, q.Schema)})
		return
	}
	s.met["answer that comes too late"]++
	if s.accepts(flow.Answer{Inquiry: q.ID, Text: "Here I am."}) {
		s.failf("the answer to %s is accepted, although it is not asked", q.ID)
	}
}

// choose decides about a call that has failed. No other model is named.
func (s *peopleSim) choose(q *flow.Inquiry) {
	options := slices.DeleteFunc(slices.Clone(q.Options), func(o flow.Option) bool { return o == flow.OptionModel })
	a := flow.Answer{Inquiry: q.ID, Option: oneOf(s.dice, options...)}
	if a.Option == flow.OptionSkip || a.Option == flow.OptionDrop {
		able := slices.DeleteFunc(slices.Clone(q.About), func(f flow.FailedCall) bool { return !slices.Contains(f.Options, a.Option) })
		a.By = oneOf(s.dice, able...).By
	}
	s.accepts(a) // what others have left may need whom it is about
}

// mend is what a host does about an error: it tries again three times, and then ends the debate.
func (s *peopleSim) mend(r *flow.Record) {
	if r.Failure.Kind == provider.KindCostLimit {
		s.met["hard limit"]++
	}
	if s.retries++; s.retries > 3 || !r.Failure.Retryable() || r.Failure.Kind == provider.KindCostLimit {
		s.step(oneOf[flow.Signal](s.more, flow.Cancel{}, flow.Stop{}))
		return
	}
	s.step(flow.Retry{})
}

// checkEnd: each note that was accepted is in the log once, all that was paid is counted once, and the log makes the same record.
func (s *peopleSim) checkEnd() {
	s.t.Helper()
	r := s.core.Record()
	s.met[string(r.State)]++
	var kept []string
	for i := range s.log {
		if n := body.As[flow.Note](s.log[i]); n != nil {
			kept = append(kept, n.ID)
		}
	}
	want := make([]string, len(s.said))
	for i := range s.said {
		want[i] = s.said[i].ID
	}
	switch {
	case !slices.Equal(kept, want) || len(r.Notes) != len(want):
		s.failf("the notes %q were accepted, and %q are in the log", want, kept)
	case r.Reserved() != 0 || len(r.Inquiries) > 0 && r.State == flow.StateCompleted:
		s.failf("in state %s, %v are reserved, and %d questions are open", r.State, r.Reserved(), len(r.Inquiries))
	}
	s.checkPaid("the log", s.log, r.Spent())
	if s.again != nil {
		s.checkReopened()
	}
	s.same("the log", outline(s.load(s.log)), outline(s.core))
}
