package flow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// A call has failed for good when its retries and its fallback models are used up. What comes then:
//
//   - fail_outage waits for failures that pass by themselves, as long as Settings.Patience says.
//   - fail_policy finds the rule of Settings.OnFailure that decides, and fail_recover carries it out.
//   - fail_ask asks a person, and fail_answer takes the answer.
//   - fail_skip leaves out the call or its actor, and fail_withdraw ends what the flow no longer wants.
//
// Each decision is in the log, so that nobody is asked twice.

// FailureRule says what is done about calls that have failed for good: after their retries, their fallback models and,
// for failures that pass by themselves, after Settings.Patience. The first rule of Settings.OnFailure that fits a failure and
// can be applied to it decides.
//
// What cannot be applied:
//   - ask, in an unattended conversation
//   - wait, a second time for one call
//   - model, a second time with the same model for one call, until Session.Retry; also for an actor who has that model
//     already, or who is no model
//   - skip, where the conversation cannot continue without the result, where fewer than the config needs would be left,
//     and for one actor in a second round in a row: a call of the actor was left out in an earlier round, and it has had no
//     result in between. Outside of rounds, the calls that are begun side by side count as a round
//   - end, about a call of the conclusion
//   - drop, where the conversation cannot continue without the actor, or where fewer than the config needs would be left
//   - summarize and truncate, where the failure is no context_overflow, or where they no longer help
//
// If no rule can be applied, the conversation goes to the error state. The error then names the rules of the config that fit
// and could not be applied, and says why. Each decision is recorded as an inquiry with its
// answer, as a person's would be.
type FailureRule struct {
	Calls []CallKind `json:"calls,omitempty" redact:"-"` // the kinds of calls that it is for; none: all
	Kinds []Kind     `json:"kinds,omitempty" redact:"-"` // the kinds of failures that it is for; none: all
	// Do is wait, model, summarize, truncate, skip, drop, end, continue, ask or fail.
	Do    Option `json:"do" redact:"-"`
	Model string `json:"model,omitempty" redact:"-"` // "provider/model", for OptionModel
}

// KindConfirm is the kind of the inquiry that asks to confirm a cost warning. A rule for it has the kind of failure cost_limit,
// and does continue, end, ask or fail. After fail, Session.Retry confirms the warning.
const KindConfirm CallKind = "confirm"

// ruleFits reports whether the rule is for this failure of this kind of call.
func ruleFits(f *FailureRule, call CallKind, failure Kind) bool {
	return (len(f.Calls) == 0 || slices.Contains(f.Calls, call)) && (len(f.Kinds) == 0 || slices.Contains(f.Kinds, failure))
}

// Complete returns a deep copy of the settings in which every default is written out. That includes the policy of failures:
// in attended conversations a person is asked about whatever the config has no rule for. In unattended ones the rules of
// the flow apply, then those that every flow has.
func (f *Flow) Complete(settings Settings) *Settings {
	t := settings.withDefaults()
	if len(t.OnFailure) > 0 && isLastRule(&t.OnFailure[len(t.OnFailure)-1]) {
		return t
	}
	if !t.Unattended {
		t.OnFailure = append(t.OnFailure, FailureRule{Do: OptionAsk})
		return t
	}
	overflow := []Kind{provider.KindContextOverflow}
	t.OnFailure = append(t.OnFailure, f.OnFailure...)
	t.OnFailure = append(
		t.OnFailure,
		FailureRule{Kinds: overflow, Do: OptionSummarize},
		FailureRule{Kinds: overflow, Do: OptionTruncate},
		FailureRule{Do: OptionFail},
	)
	return t
}

// isLastRule reports whether no rule after this one is ever reached.
func isLastRule(f *FailureRule) bool {
	return len(f.Calls) == 0 && len(f.Kinds) == 0 && (f.Do == OptionAsk || f.Do == OptionFail)
}

// Bounds of the rules, far above what a config can use: of its own, and with those of Flow.Complete.
const (
	mostRules     = 100
	mostCompleted = 2 * mostRules
)

// onFailure checks the rules of a config.
func (f *Findings) onFailure(rules []FailureRule, patience time.Duration) {
	if patience < 0 {
		f.Addf("patience", "is negative")
	}
	f.AtMost("onFailure", len(rules), mostCompleted)
	for i := range rules[:min(len(rules), mostCompleted)] {
		rule, field := &rules[i], "onFailure["+strconv.Itoa(i)+"]"
		f.AtMost(field+".calls", len(rule.Calls), mostRules)
		for _, kind := range rule.Kinds {
			if !slices.Contains(provider.Kinds(), kind) {
				f.Addf(field+".kinds", "%w", Unknown("kind of failure", kind, provider.Kinds()...))
			}
		}
		smaller := rule.Do == OptionSummarize || rule.Do == OptionTruncate
		if smaller && len(rule.Kinds) > 0 && !slices.Contains(rule.Kinds, provider.KindContextOverflow) {
			f.Addf(field+".kinds", "lack %s, the only kind of failure after which %s can be applied", provider.KindContextOverflow, rule.Do)
		}
		switch ruling := ruling(); {
		case !slices.Contains(ruling, rule.Do):
			f.Addf(field+".do", "%w", Unknown("option of a rule", rule.Do, ruling...))
		case rule.Do != OptionModel && rule.Model != "":
			f.Addf(field+".model", "is given, but the rule does %s", rule.Do)
		case rule.Do == OptionModel:
			if _, _, ok := SplitModel(rule.Model); !ok || !Registrable(rule.Model) {
				f.Addf(field+".model", "%q is not \"provider/model\"", text.OneLine(rule.Model, 80))
			}
		}
	}
}

// ruling returns the options that a rule can choose.
func ruling() []Option {
	return []Option{
		OptionWait, OptionModel, OptionSummarize, OptionTruncate, OptionSkip, OptionDrop, OptionEnd, OptionContinue, OptionAsk, OptionFail,
	}
}

// CallKinds refuses the kinds of calls that the flow does not have, in the rules of a config.
func (f *Findings) CallKinds(of *Flow, config Config, rules []FailureRule) {
	if of.Kinds == nil || len(rules) == 0 {
		return
	}
	known := of.callKinds(config)
	for i := range rules[:min(len(rules), mostRules)] {
		for _, kind := range rules[i].Calls[:min(len(rules[i].Calls), mostRules)] {
			if !slices.Contains(known, kind) {
				f.Addf("onFailure["+strconv.Itoa(i)+"].calls", "%w", Unknown("kind of call", kind, known...))
			}
		}
	}
}

// callKinds returns the kinds of calls that a conversation of this config may make.
func (f *Flow) callKinds(config Config) []CallKind {
	return append(f.Kinds(config), KindConfirm, KindSummary, KindTool)
}

// ruled returns the option of the first rule that fits a failed call and can be applied to it. Without one it is
// OptionFail.
func (c *Core) ruled(call *Call, state *callState) *FailureRule {
	rules, failure := c.record.settings.OnFailure, state.trouble.failure.Kind
	for i := range rules {
		if ruleFits(&rules[i], call.Kind, failure) && c.applies(&rules[i], call, state) {
			return &rules[i]
		}
	}
	return &FailureRule{Do: OptionFail}
}

// passedOver returns the failure of a call, with the conversation's own rules that fit it and could not be applied. by is the
// rule that decides after them.
func (c *Core) passedOver(call *Call, state *callState, by *FailureRule) *Error {
	failure := *state.trouble.failure
	rules := c.record.settings.OnFailure
	for i := range rules[:min(len(c.record.rules), len(rules))] {
		rule := &rules[i]
		if rule == by {
			break
		}
		if ruleFits(rule, call.Kind, failure.Kind) {
			failure.Err = fmt.Errorf("%w; the rule onFailure[%d] (%s) could not be applied: %s", cmp.Or(failure.Err, errors.New("it failed")),
				i, rule.Do, c.hindrance(rule, call))
		}
	}
	return &failure
}

// hindrance says why a rule that fits a failed call cannot be applied to it; see applies.
func (c *Core) hindrance(rule *FailureRule, call *Call) string {
	switch {
	case call.OnFail.means(rule.Do) == OptionDrop:
		return "the conversation cannot continue without " + call.By
	case rule.Do == OptionAsk:
		return "the conversation is unattended"
	case rule.Do == OptionWait && call.Performer == ByPerson:
		return "a person has not answered in time, which is waited for no longer"
	case rule.Do == OptionWait:
		return "it was waited for already"
	case rule.Do == OptionModel && !c.record.mayModel(call):
		return "no model makes this call"
	case rule.Do == OptionModel:
		return call.By + " has that model already"
	case rule.Do == OptionSkip && call.OnFail.Skip == RuleToo:
		return call.By + " was left out in the round before"
	case rule.Do == OptionSkip:
		return "the conversation cannot continue without this result"
	case rule.Do == OptionSummarize || rule.Do == OptionTruncate:
		return "the context cannot be made smaller in this way"
	default:
		return "it is not possible here"
	}
}

// applies reports whether a rule can be applied to a failed call.
func (c *Core) applies(rule *FailureRule, call *Call, state *callState) bool {
	r := c.record
	switch call.OnFail.means(rule.Do) {
	case OptionAsk:
		return !r.settings.Unattended
	case OptionFail:
		return true
	case OptionWait:
		return !state.patient && call.Performer != ByPerson
	case OptionModel:
		return r.mayModel(call) && r.Replacement(call.By) != rule.Model && state.intent.Model != rule.Model &&
			!slices.Contains(state.special.ruled, rule.Model) && r.model(rule.Model) != nil
	case OptionSkip:
		return call.OnFail.Skip == RuleToo && r.missed(call.ID, call.By) == 0
	case OptionDrop:
		return call.OnFail.Drop == RuleToo
	case OptionSummarize, OptionTruncate:
		return r.shrinks(call, state, rule.Do)
	case OptionEnd:
		return c.machine.allows(r, TriggerStop)
	default:
		return false
	}
}

// mostShrinks limits how often a rule makes one context smaller before it gives up. Each assumed window is three
// quarters of the one before, so eight steps make it a tenth.
const mostShrinks = 8

// shrinks reports whether a rule may try to make the context of a call smaller in this way.
func (r *Record) shrinks(call *Call, state *callState, option Option) bool {
	if !r.shrinkable(call, state, option) {
		return false
	}
	before, _ := r.reductionOf(call.By)
	return before.times < mostShrinks
}

// shrinkable reports whether the context of a failed call can be made smaller in this way at all: whether a model can
// summarise it, and whether the way was not tried in vain.
func (r *Record) shrinkable(call *Call, state *callState, option Option) bool {
	if call.Performer != ByModel || call.View.None || state.trouble.failure.Kind != provider.KindContextOverflow {
		return false
	}
	if before, _ := r.reductionOf(call.By); slices.Contains(before.inVain, option) {
		return false
	}
	model, _ := r.summarizing(call)
	return option != OptionSummarize || model != ""
}

// options returns what a person can choose about a failed call.
func (c *Core) options(call *Call, state *callState) []Option {
	r := c.record
	options := []Option{OptionRetry}
	if call.Performer != ByPerson {
		options = append(options, OptionWait)
	}
	if call.Person != nil && r.model(call.Person.Term.StandIn) != nil {
		options = append(options, OptionStandIn)
	}
	if r.mayModel(call) {
		options = append(options, OptionModel)
	}
	for _, option := range []Option{OptionSummarize, OptionTruncate} {
		if r.shrinkable(call, state, option) {
			options = append(options, option)
		}
	}
	if call.OnFail.Skip != Nobody {
		options = append(options, OptionSkip)
	}
	if call.OnFail.Drop != Nobody {
		options = append(options, OptionDrop)
	}
	if call.OnFail.means(OptionEnd) != OptionEnd {
		return options
	}
	return append(options, OptionEnd)
}
