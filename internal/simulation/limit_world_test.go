package simulation_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// limitEngine knows what limitConfig names.
func limitEngine() *debate.Engine { return worldEngine(limitModels(), "test") }

func limitModels() map[string]debate.Model {
	return map[string]debate.Model{
		"test/large": {Priced: true, Family: "north", Input: 3, Output: 7, CachedInput: 1, CacheWrite: 4},
		"test/dear":  {Priced: true, Family: "south", Input: 9, Output: 30, Thinking: 40, Reasoning: true, Window: 1_000_000},
		"test/terse": {Priced: true, Family: "north", Input: 2, Output: 5, MaxOutput: 120},
		"test/free":  {Priced: true},
		// Its vocabulary is published: where a limit is near, its tokens are counted.
		"test/gpt-4.1": {Priced: true, Family: "west", Input: 4, Output: 16, CachedInput: 1, Vocabulary: "o200k_base"},
		"test/small":   {Priced: true, Family: "south", Input: 1, Output: 2, Window: 2_600},
		"test/tiny":    {Priced: true, Input: 1, Output: 3, Window: 1_700},
	}
}

// latecomer is a model that no config names: a person brings it along.
func latecomer() debate.Model {
	return debate.Model{Priced: true, Input: 11, Output: 13, CacheWrite: 12, Window: 5_000}
}

// drawLimited draws a debate without a budget.
func drawLimited(dice *rand.Rand, id string) debate.Config {
	config := debate.Config{
		ID: id, Topic: "Is chance fair?", Mode: oneOf(dice, debate.Sequential, debate.Simultaneous), MaxTokens: oneOf(dice, 60, 200, 500), Reserve: 1,
	}
	s := &casting{dice: dice, models: []string{"test/large", "test/dear", "test/terse", "test/free"}, spare: []string{"test/large", "test/dear"}, people: true}
	if chance(dice, 12) {
		s.models = append(s.models, "test/gpt-4.1", "test/gpt-4.1")
	}
	if chance(dice, 26) { // counting tokens takes most of the time
		s.models, s.spare = append(s.models, "test/small", "test/small", "test/tiny"), append(s.spare, "test/small")
		config.Context = oneOf(dice, "", flow.ContextTruncate, flow.ContextSliding, flow.ContextSummarize)
		config.TruncateTurns = chance(dice, 2)
		config.MaxTokens = oneOf(dice, 60, 200)
		if !chance(dice, 4) {
			config.Summarizer, config.AutoSummary = oneOf(dice, s.models...), chance(dice, 2)
		}
	}
	if chance(dice, 6) {
		config.AssignPositions = &debate.AssignPositions{Model: oneOf(dice, s.models...), Fallbacks: []string{"test/large"}}
	}
	s.drawCast(&config)
	if config.Audience == nil && chance(dice, 4) {
		s.drawAudience(&config)
	}
	s.drawJudging(&config, 3)
	for _, d := range []format.Detector{format.DetectRepetition, format.DetectDiminishing, format.DetectDrift} {
		switch dice.IntN(10) {
		case 0:
			config.Watch = append(config.Watch, d)
		case 1:
			config.StopOn = append(config.StopOn, d)
		default:
		}
	}
	drawRules(dice, &config)
	if chance(dice, 8) {
		config.RoundTimeout = time.Duration(5+dice.IntN(120)) * time.Second
	}
	if chance(dice, 8) {
		stage.Pausing(&config, 3*time.Second)
	}
	if chance(dice, 4) {
		config.Retry = &debate.RetryPolicy{Max: map[debate.Kind]int{provider.KindNetwork: dice.IntN(3), provider.KindRateLimit: dice.IntN(2)}}
	}
	return config
}

// drawRules draws what is done about calls that have failed for good.
func drawRules(dice *rand.Rand, config *debate.Config) {
	config.Unattended = chance(dice, 2)
	config.Patience = oneOf(dice, 0, time.Nanosecond, time.Minute)
	for range dice.IntN(4) {
		rule := flow.FailureRule{Do: oneOf(
			dice, flow.OptionWait, flow.OptionModel, flow.OptionSkip, flow.OptionSkip, flow.OptionDrop, flow.OptionDrop, flow.OptionSummarize,
			flow.OptionTruncate, flow.OptionEnd, flow.OptionContinue, flow.OptionAsk, flow.OptionFail,
		)}
		if rule.Do == flow.OptionModel {
			rule.Model = oneOf(dice, "test/large", "test/dear")
		}
		if chance(dice, 2) {
			rule.Calls = []flow.CallKind{oneOf(dice, debate.KindAssessment, debate.KindVerdict, debate.KindBallot, flow.KindConfirm)}
		}
		if chance(dice, 2) {
			rule.Kinds = []flow.Kind{oneOf(dice, provider.KindNetwork, provider.KindAuthentication, provider.KindInvalidResponse, provider.KindContextOverflow)}
		}
		if len(rule.Kinds) > 0 && (rule.Do == flow.OptionSummarize || rule.Do == flow.OptionTruncate) {
			rule.Kinds[0] = provider.KindContextOverflow // after no other failure they help
		}
		config.OnFailure = append(config.OnFailure, rule)
	}
}

// drawBudget limits a debate to something between the least that is accepted, or about what it typically uses, and twice what it may need.
func drawBudget(dice *rand.Rand, config *debate.Config, e *flow.Estimate) {
	b := &debate.Budget{}
	config.Budget = b
	between := func(least, most float64) float64 {
		if chance(dice, 2) {
			return least * (1 + 0.2*dice.Float64()) // close to the edge
		}
		return least + (2*most-least)*dice.Float64()
	}
	share := 1.0
	if e.Cost > 0 {
		share = float64(e.FirstRound) / float64(e.Cost)
	}
	tight, about := chance(dice, 3), 0.3+dice.Float64()
	cost := func() debate.Money {
		if tight {
			return debate.Money(about*float64(e.Typical)) + 1
		}
		return debate.Money(between(float64(e.FirstRound), float64(e.Cost))) + 1
	}
	tokens := func() int {
		if tight {
			return int(about*float64(e.TypicalTokens)) + 1
		}
		return int(between(share*float64(e.Tokens), float64(e.Tokens)))
	}
	calls := func() int { return int(between(share*float64(e.Calls), float64(e.Calls))) }
	span := func() time.Duration { return time.Duration(1+dice.IntN(240)) * time.Second }
	if chance(dice, 2) {
		b.Hard = cost()
	}
	if chance(dice, 2) {
		b.Soft = cost()
	}
	if chance(dice, 4) {
		b.HardTokens = tokens()
	}
	if chance(dice, 5) {
		b.SoftTokens = tokens()
	}
	if chance(dice, 4) {
		b.HardCalls = calls()
	}
	if chance(dice, 5) {
		b.SoftCalls = calls()
	}
	if chance(dice, 12) {
		b.HardTime = span()
	}
	if chance(dice, 8) {
		b.SoftTime = span()
	}
	if chance(dice, 4) {
		b.Warn, b.Confirm = debate.Money(float64(e.FirstRound)*dice.Float64())+1, chance(dice, 2)
	}
	soften(b)
}

// soften keeps soft limits below the hard ones.
func soften(b *debate.Budget) {
	if b.Hard > 0 {
		b.Soft = min(b.Soft, b.Hard)
	}
	if b.HardTokens > 0 {
		b.SoftTokens = min(b.SoftTokens, b.HardTokens)
	}
	if b.HardCalls > 0 {
		b.SoftCalls = min(b.SoftCalls, b.HardCalls)
	}
	if b.HardTime > 0 {
		b.SoftTime = min(b.SoftTime, b.HardTime)
	}
}

// raise lifts limits with which nothing could come of the debate.
func raise(b *debate.Budget) {
	for _, limit := range []*debate.Money{&b.Hard, &b.Soft} {
		*limit += *limit / 4
	}
	for _, limit := range []*int{&b.HardTokens, &b.SoftTokens, &b.HardCalls, &b.SoftCalls} {
		if *limit > 0 {
			*limit += *limit/4 + 1
		}
	}
}

// drawn draws the debate of a seed until it is one that is accepted.
func (s *limitSim) drawn() debate.Config {
	config := drawLimited(s.dice, s.id)
	if !chance(s.dice, 4) {
		s.secret()
		estimate, err := s.engine.Estimate(s.t.Context(), config)
		if err != nil {
			s.failf("no estimate: %v", err)
		}
		drawBudget(s.dice, &config, &estimate)
	}
	return s.affordable(config)
}

// affordable raises the limits of a drawn config until it is accepted.
func (s *world) affordable(config debate.Config) debate.Config {
	s.t.Helper()
	for range 60 {
		s.secret()
		err := s.engine.Validate(s.t.Context(), config)
		if err == nil {
			return config
		}
		if config.Budget == nil || !strings.Contains(err.Error(), "is below what one round") {
			s.failf("the drawn config is refused: %v\n%s", err, stage.JSON(config))
		}
		raise(config.Budget)
	}
	s.failf("no limit is high enough: %+v", config.Budget)
	return config
}

// say is the reply to a call: of a speech it begins with its place, so that its readers can be found.
func (s *limitSim) say(in *flow.Intent, schema []byte) string {
	if in.Schema != "" {
		return structured(s.dice, in.Kind, schema, s.config(), stage.View(s.core.Record()).Format())
	}
	if in.Kind == flow.KindSummary {
		return "In short: " + strings.Repeat("gist ", 1+s.dice.IntN(20))
	}
	names := simNames()
	words := 1 + s.dice.IntN(max(2, min(30, in.Tokens/2)))
	if chance(s.dice, 40) {
		words = 3 * in.Tokens // longer than it is allowed to be
	}
	text := fmt.Sprintf("#%d.%d# I, %s, say to %s: ", in.Round, in.Slot, in.By, names[s.dice.IntN(len(names))])
	word := oneOf(s.dice, "word ", "thing ", "so ", "日本 ", fmt.Sprintf("w%d ", s.dice.IntN(50)))
	return text + strings.Repeat(word, words)
}

// spoilt is an answer that cannot be accepted.
func (s *limitSim) spoilt(text string) string {
	switch s.dice.IntN(3) {
	case 0:
		return text[:len(text)/2]
	case 1:
		return "{}"
	default:
		return "I would rather not say."
	}
}

// used is a usage that the call's bound allows, however unlikely; zero: it is not known.
func (s *limitSim) used(in *flow.Intent) provider.Usage {
	input := max(0, in.Bound-in.Tokens)
	if in.Model == "" {
		return provider.Usage{}
	}
	switch s.dice.IntN(8) {
	case 0:
		return provider.Usage{}
	case 1:
		return provider.Usage{Input: input, Output: in.Tokens}
	case 2:
		return provider.Usage{Input: input, CacheWrite: input, Output: in.Tokens, Reasoning: in.Tokens}
	case 3:
		return provider.Usage{Input: input / 3, CachedInput: input / 4, Output: 1}
	default:
		guess := in.Input
		if guess == 0 {
			guess = input / 4
		}
		return provider.Usage{Input: min(input, max(1, guess*(8+s.dice.IntN(5))/10)), Output: 1 + s.dice.IntN(max(1, in.Tokens))}
	}
}

// outcome is what becomes of a call that has been made.
func (s *limitSim) outcome(f *limitFlight) flow.Signal {
	in := f.intent
	result := flow.Result{Call: in.Call, Attempt: in.Attempt, Text: s.say(in, f.schema), Usage: s.used(in), Took: time.Second}
	if f.aborted && !chance(s.dice, 4) {
		return flow.Failed{Call: in.Call, Attempt: in.Attempt, Error: &debate.Error{Kind: provider.KindCanceled}, Usage: s.used(in)}
	}
	if s.dice.Float64() >= s.faulty {
		return result
	}
	switch s.dice.IntN(6) {
	case 0:
		if in.Schema != "" {
			result.Text = s.spoilt(result.Text)
		} else {
			result.Text = " \n"
		}
		return result
	case 1:
		result.Stop = oneOf(s.dice, provider.StopRefusal, provider.StopFilter, provider.StopLength)
		return result
	default:
	}
	kind := oneOf(s.dice, provider.KindNetwork, provider.KindRateLimit, provider.KindAPI, provider.KindTimeout, provider.KindInvalidResponse, provider.KindNetwork,
		provider.KindRateLimit, provider.KindAPI, provider.KindQuota, provider.KindAuthentication, provider.KindContextOverflow, provider.KindContentFilter,
		provider.KindValidation, provider.KindCanceled)
	if kind == provider.KindContextOverflow && !chance(s.dice, 10) {
		kind = provider.KindNetwork // every request is counted from then on
	}
	failure := &debate.Error{Kind: kind, Err: errors.New("no luck")}
	if kind == provider.KindRateLimit {
		failure.RetryAfter = oneOf(s.dice, 0, 1500*time.Millisecond, 45*time.Second, 2*time.Minute)
	}
	failed := flow.Failed{Call: in.Call, Attempt: in.Attempt, Error: failure, Took: time.Second}
	switch s.dice.IntN(4) {
	case 0:
		failed.Free = true
	case 1:
		failed.Usage = s.used(in)
	default:
	}
	return failed
}

// choice is what a person answers to a question about a call that has failed.
func (s *limitSim) choice(q *flow.Inquiry) flow.Answer {
	a := flow.Answer{Inquiry: q.ID, Option: oneOf(s.dice, q.Options...)}
	if s.answers > 20 {
		a.Option = flow.OptionEnd
	}
	if a.Option == flow.OptionSkip || a.Option == flow.OptionDrop {
		able := slices.DeleteFunc(slices.Clone(q.About), func(f flow.FailedCall) bool { return !slices.Contains(f.Options, a.Option) })
		a.By = oneOf(s.dice, able...).By
	}
	if a.Option != flow.OptionModel {
		return a
	}
	a.Model = oneOf(s.dice, "test/large", "test/dear", "test/late")
	row := latecomer()
	if known, ok := limitModels()[a.Model]; ok {
		row = known
	}
	a.Row = &row
	return a
}
