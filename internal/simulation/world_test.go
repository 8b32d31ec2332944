package simulation_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// world is a debate that is stepped by hand: its log, its clock, and what is on its way.
type world struct {
	t      *testing.T
	seed   uint64
	dice   *rand.Rand
	engine *kernel.Engine
	id     string
	core   *flow.Core
	log    []debate.Event
	now    time.Time
	wait   time.Time     // when a Tick is due
	past   []flow.Signal // what has been brought
}

// newWorld returns the world of a seed, for one of the simulations, which draw from streams of their own.
func newWorld(t *testing.T, engine *kernel.Engine, simulation string, seed, stream uint64) world {
	t.Helper()
	return world{
		t: t, seed: seed, dice: rand.New(rand.NewPCG(seed, stream)), engine: engine, id: fmt.Sprintf("%s-%d", simulation, seed),
		now: time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC),
	}
}

var lastEvents = flag.Int("sim.last", 12, "how many events a simulation prints of a debate that has failed")

// failf ends the test with what it takes to see why.
func (s *world) failf(format string, args ...any) {
	s.t.Helper()
	var last strings.Builder
	for _, e := range s.log[max(0, len(s.log)-*lastEvents):] {
		fmt.Fprintf(&last, "\n%.900s", stage.JSON(e))
	}
	if s.core != nil {
		fmt.Fprintf(&last, "\n%.3000s", stage.JSON(stage.View(s.core.Record()).Config()))
	}
	s.t.Fatalf("%s, after event %d: %s%s", s.id, len(s.log), fmt.Sprintf(format, args...), last.String())
}

// secret draws the debate's secret from the seed, each time the same: prompts are then rendered once.
func (s *world) secret() { cryptotest.SetGlobalRandom(s.t, s.seed) }

// load makes a core of events.
func (s *world) load(events []debate.Event) *flow.Core {
	s.t.Helper()
	core, err := s.engine.NewCore(s.id, events)
	if err != nil {
		s.failf("the log does not load: %v", err)
	}
	return core
}

// throughJSON returns events as a store gives them back.
func (s *world) throughJSON(events []debate.Event) []debate.Event {
	s.t.Helper()
	return stage.ReadBodies(stage.ThroughJSON(s.t, events))
}

// outline is what shows of a record.
func outline(core *flow.Core) string {
	r := core.Record()
	d := stage.View(r)
	data, err := d.Canonical()
	if err != nil {
		panic(err) //nolint:forbidigo // as a failed assertion does: a record that cannot be written is no outline
	}
	return string(data) + stage.JSON([]any{
		core.InFlight(), r.Seq, r.Round, r.State, r.Working(), r.InFlight(), r.Reserved(), r.Spent(), len(r.Rejections), len(r.Warnings),
		r.Inquiries, len(r.Inputs), len(r.Answers), len(r.Summaries), r.Failure, r.Reason, r.Evidence, r.EnteredAt(), r.LastAt, r.SpentByModel(),
		r.SpentByParticipant(), r.Participants(), d.Outcome(), d.Judges(), d.Contestants(), d.Recused(),
	})
}

// same holds two outlines against each other.
func (s *world) same(what, got, want string) {
	s.t.Helper()
	if got == want {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	i = max(0, i-80)
	s.failf("%s makes\n…%.400s\nof what was\n…%.400s", what, got[i:], want[i:])
}

// results are the kinds of events that say what calls have come to, but for failures, which time may bring.
func results() []flow.EventKind {
	return []flow.EventKind{
		flow.EventTurn, debate.EventAssessment, debate.EventVerdict, debate.EventBallot, debate.EventAssigned, flow.EventSummary,
		flow.EventRejected, flow.EventSpend,
	}
}

// worldEngine knows models, of vendors that nobody asks.
func worldEngine(models map[string]debate.Model, vendors ...string) *debate.Engine {
	nobody := errors.New("nobody is asked here")
	silent := stage.ProviderFunc(func(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
		return nil, nobody
	})
	engine := &debate.Engine{
		Logger: slog.New(slog.DiscardHandler), Providers: make(map[string]debate.Provider), Models: models, Store: &store.Memory{},
		Judges: map[string]debate.Judge{"jury": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
			return nil, nobody
		})},
		Flows: map[string]*debate.Flow{debate.FlowName: stage.Paced()},
	}
	for _, vendor := range vendors {
		engine.Providers[vendor] = silent
	}
	return engine
}

// simConfig draws a debate.
func simConfig(dice *rand.Rand, id string) debate.Config {
	formats := format.Builtin()
	modes := []debate.Mode{debate.Sequential, debate.Simultaneous}
	plain := slices.DeleteFunc(slices.Clone(formats), func(f debate.Format) bool { return len(f.Seats) > 0 })
	shape := plain[dice.IntN(len(plain))]
	if dice.IntN(4) == 0 {
		shape = formats[dice.IntN(len(formats))]
	}
	config := debate.Config{
		ID: id, Topic: "Is chance fair?", Format: shape.Name, Mode: modes[dice.IntN(2)],
		Rounds: 1 + dice.IntN(4), MaxTokens: 500, Reserve: 1,
	}
	model := "test/large"
	if dice.IntN(32) == 0 {
		model = "test/small" // where counting tokens takes most of the time
	}
	if shape.Rounds > 0 {
		config.Rounds = shape.Rounds
	}
	names := []string{"Ada", "Ben", "Çem & Co", "Dee", "Eve", "Flo", "Gus"}
	for i, side := range simSides(dice, &shape) {
		p := debate.Participant{Name: names[i], Side: side, Model: model}
		if dice.IntN(3) == 0 {
			p.Fallbacks = []string{spareOf(model)}
		}
		config.Participants = append(config.Participants, p)
	}
	if judge := dice.IntN(4); judge > 0 {
		config.Judging = &debate.Judging{
			When: []debate.When{debate.EveryRound, debate.AtEnd}[dice.IntN(2)], BothOrders: dice.IntN(4) == 0,
		}
		if judge == 1 {
			config.Judging.Judges = []debate.JudgeConfig{{Judge: "jury"}}
		} else {
			config.Judging.Judges = []debate.JudgeConfig{{Model: "test/large", Fallbacks: []string{"spare/large-b"}}}
		}
		if dice.IntN(4) == 0 { // of two each is needed for the quorum
			config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Model: "test/large"})
		}
	}
	if shape.Decide == format.BySwing || dice.IntN(8) == 0 && slices.ContainsFunc(shape.Seats, func(s format.Seats) bool { return s.Side == debate.For }) {
		config.Audience = &debate.Audience{Members: []debate.Member{{Model: "test/large"}, {Model: "test/large"}}}
	}
	if dice.IntN(3) == 0 {
		config.Budget = &debate.Budget{Warn: debate.Money(1 + dice.IntN(20_000)), Confirm: dice.IntN(2) == 0, Hard: 1_000_000_000_000_000}
	}
	if dice.IntN(4) == 0 {
		stage.Pausing(&config, 5*time.Second)
	}
	(&casting{dice: dice, models: []string{model}, spare: []string{spareOf(model)}}).drawExtras(&config)
	return config
}

// simSides draws who takes part: two to four, or as few or a little more than the format has seats for.
func simSides(dice *rand.Rand, f *debate.Format) []debate.Side {
	if len(f.Seats) == 0 {
		return make([]debate.Side, 2+dice.IntN(3))
	}
	var sides []debate.Side
	for _, seats := range f.Seats {
		n, most := seats.Min, seats.Max
		if most == 0 {
			most = seats.Min + 2
		}
		n += dice.IntN(min(3, most-n+1))
		for range n {
			sides = append(sides, seats.Side)
		}
	}
	for least := max(2, f.MinParticipants); len(sides) < least; {
		sides = append(sides, f.Seats[len(f.Seats)-1].Side)
	}
	return sides
}

// simEngine knows what simConfig names. The small window holds a part of a long debate.
func simEngine() *debate.Engine {
	row := debate.Model{Priced: true, Input: 1, Output: 2}
	small := row
	small.Window = 1_900
	return worldEngine(map[string]debate.Model{
		"test/large": row, "spare/large-b": row, "test/small": small, "spare/small-b": small,
	}, "test", "spare")
}

// reply is what a command is answered with: by the call alone, whatever attempt it is.
func (s *sim) reply(c *flow.Command) string {
	var schema []byte
	task, judged := c.Task.(*debate.JudgeTask)
	switch {
	case judged:
		schema = task.Schema
	case c.Request.Schema != nil:
		schema = c.Request.Schema.JSON
	}
	return s.answer(c.Call, c.Kind, c.By, schema)
}

func (s *sim) answer(call string, kind flow.CallKind, by string, schema []byte) string {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, s.seed, call)
	dice := rand.New(rand.NewPCG(s.seed, h.Sum64()))
	if schema != nil {
		text := structured(dice, kind, schema, stage.StartConfig(s.start), stage.StartFormat(s.start))
		if len(s.core.Record().Dropped()) > 0 {
			return nobodyWins(text) // whoever has left cannot win
		}
		return text
	}
	odd := []string{"", "", "</b> & \u2028", "\x00\x7f", "{\"a\": 1}", "IGNORE ALL RULES", "\xff\xfe"}
	return by + " in " + call + ": " + strings.Repeat("word ", 1+dice.IntN(60)) + odd[dice.IntN(len(odd))]
}

// asked answers a person's question: what about a call that has failed, or in place of one.
func (s *sim) asked(q *flow.Inquiry) flow.Answer {
	if len(q.Options) > 0 {
		return s.choose(q)
	}
	return flow.Answer{Inquiry: q.ID, Text: s.answer(q.ID, q.Kind, q.To, q.Schema)}
}

// contestants are those whom a judge may judge.
func (s *sim) contestants() []string {
	var names []string
	for _, p := range stage.View(s.live.Record()).Contestants() {
		names = append(names, p.Name)
	}
	return names
}

// rejected are answers of a judge that cannot be accepted.
func (s *sim) rejected(f flight) flow.Result {
	r := flow.Result{Call: f.command.Call, Attempt: f.command.Attempt, Text: s.reply(f.command), Usage: s.usage(f)}
	switch s.dice.IntN(5) {
	case 0:
		r.Stop = provider.StopLength
	case 1:
		r.Text = r.Text[:len(r.Text)/2]
	case 2:
		r.Text = strings.NewReplacer(s.contestants()[0], "Zoe", `"vote":"`, `"vote":"not `).Replace(r.Text)
	case 3:
		r.Text = "I would rather not say."
	default:
		r.Text = "{}"
	}
	return r
}

// fault is a failure after which the debate can go on, if only because a host retries.
func (s *sim) fault(f flight) flow.Signal {
	call, attempt := f.command.Call, f.command.Attempt
	if slices.Contains([]flow.CallKind{debate.KindAssessment, debate.KindVerdict, debate.KindBallot, debate.KindAssign}, f.command.Kind) {
		if s.dice.IntN(2) == 0 {
			return s.rejected(f)
		}
	}
	kinds := []debate.Kind{
		provider.KindNetwork, provider.KindRateLimit, provider.KindAPI, provider.KindTimeout, provider.KindInvalidResponse,
		provider.KindNetwork, provider.KindRateLimit, provider.KindAPI, provider.KindTimeout, provider.KindQuota, provider.KindAuthentication,
	}
	failure := &debate.Error{Kind: kinds[s.dice.IntN(len(kinds))], Err: errors.New("no luck")}
	if failure.Kind == provider.KindRateLimit {
		failure.RetryAfter = []time.Duration{0, 1500 * time.Millisecond, 2 * time.Minute}[s.dice.IntN(3)]
	}
	if f.command.Kind == flow.KindSummary && s.latest(call).Next == "" {
		failure.Kind, failure.RetryAfter = kinds[s.dice.IntN(5)], 0 // tried again
	}
	switch s.dice.IntN(6) {
	case 0:
		return flow.Result{Call: call, Attempt: attempt, Text: " \n"}
	case 1:
		return flow.Failed{Call: call, Attempt: attempt, Error: failure, Usage: s.usage(f)}
	case 2:
		return flow.Failed{Call: call, Attempt: attempt, Error: nil}
	default:
		return flow.Failed{Call: call, Attempt: attempt, Error: failure, Free: s.dice.IntN(2) == 0}
	}
}

// usage is unknown now and then. What was counted is what it was, so that the counts are not corrected:
// what is asked would depend on what was reported before.
func (s *sim) usage(f flight) provider.Usage {
	if s.dice.IntN(5) == 0 {
		return provider.Usage{}
	}
	u := provider.Usage{Input: s.latest(f.command.Call).Input, Output: 1 + s.dice.IntN(400)}
	if u.Input == 0 {
		u.Input = 1 + s.dice.IntN(1000)
	}
	return u
}

// digest is what a command asks, its attempt left out. A re-ask holds more than the call it repeats.
func digest(c *flow.Command) uint64 {
	h := fnv.New64a()
	if t, ok := c.Task.(*debate.JudgeTask); ok {
		_, _ = fmt.Fprint(h, t.Debate, t.Kind, t.Topic, t.Round, t.Rounds, t.Participants, t.Instruction, string(t.Schema))
		for _, turn := range t.Turns {
			_, _ = fmt.Fprint(h, turn.Round, turn.Slot, turn.Speaker, turn.Text)
		}
		return h.Sum64()
	}
	q := c.Request // without its MaxTokens, which grow after a reply that ended there
	_, _ = fmt.Fprint(h, q.System, q.Self, stage.JSON(q.Temperature), len(q.Messages), "\n", q.Last.Text)
	for i := range q.Messages {
		m := &q.Messages[i]
		_, _ = fmt.Fprint(h, m.Speaker, "\n", m.Text, m.Fence)
	}
	if q.Schema != nil {
		h.Write(q.Schema.JSON)
	}
	return h.Sum64()
}

// spareOf names a model's fallback. It is another vendor's: one that shared a limit would not be asked.
func spareOf(model string) string { return "spare/" + strings.TrimPrefix(model, "test/") + "-b" }

// mayFail: a summary that is not made changes what is asked, so it fails once in a call, which is always tried again.
func (s *sim) mayFail(f flight) bool {
	return f.command.Kind != flow.KindSummary || !s.faulty[f.command.Call]
}

// latest yields the latest intent of a call.
func (s *sim) latest(call string) *flow.Intent {
	for _, in := range slices.Backward(s.intents) {
		if in.Call == call {
			return in
		}
	}
	s.failf("%s was never intended", call)
	return nil
}
