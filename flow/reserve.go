package flow

import (
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
)

// spares reports whether a summary that is made for the conclusion leaves enough of the budget for it.
func (c *Core) spares(intent *Intent) bool {
	r, budget := c.record, c.record.terms.Budget
	if budget == nil || r.State != StateCompleting {
		return true
	}
	worst := r.used().plus(r.pending()).plus(amount{intent.Reserve, intent.Bound, 1}).plus(c.share(&Intent{}))
	return worst.passed(budget.hard()) == ""
}

// concludes reports whether the conversation may conclude at a soft limit. Only then is anything kept back for the
// conclusion, because at a hard limit the conversation ends in an error.
func (b *Budget) concludes() bool {
	return b.soft() != (amount{}) || b.SoftTime > 0 || b.Confirm
}

// share returns the most that the calls of the conclusion can use, each asked twice. It assumes that this call and
// those in flight give the longest replies that are accepted.
func (c *Core) share(intent *Intent) amount {
	r := c.record
	growth := r.growth(intent.Tokens, intent.By)
	for _, call := range r.inFlight {
		growth += r.growth(call.intent.Tokens, call.intent.By)
	}
	for _, i := range r.hidden {
		growth += len(r.Turns[i].Text) + 2*len(r.fence) + transcript.Framing
	}
	var sum amount
	for _, call := range c.last() {
		switch call.Performer {
		case ByModel:
		case ByPerson:
			continue
		default:
			sum.calls += 2
			continue
		}
		sum = sum.plus(c.worst(&call, growth)).plus(c.worst(&call, growth+len(r.Text(textAgain))+text.ProblemBytes))
	}
	return sum
}

// last returns the calls of the conclusion, as if the conversation had come to it.
func (c *Core) last() []Call {
	if c.machine.flow.Last != nil {
		return c.machine.flow.Last(c.record)
	}
	if step := c.machine.flow.Steps[StateCompleting]; step.Calls != nil {
		return step.Calls(c.record)
	}
	return nil
}

// worst returns the most that one attempt at a call can use with any of its models. growth is how many bytes longer
// the conversation is by then.
func (c *Core) worst(call *Call, growth int) amount {
	r := c.record
	ready := prepared{call: call}
	if call.Last != nil {
		ready.last = call.Last(r)
	}
	if call.Schema != "" {
		ready.wire, _ = c.wire(call.Schema, call.View.Labels)
	}
	shared, from := r.view(call.View)
	bound := ready.fixed() + shared.Size(from, len(shared.Messages)) + growth
	var most amount
	for _, name := range append([]string{call.Model}, call.Fallbacks...) {
		model, _ := r.Model(name)
		tokens := call.MaxTokens
		if tokens == 0 {
			tokens = r.terms.MaxTokens
		}
		if model.MaxOutput > 0 {
			tokens = min(tokens, model.MaxOutput)
		}
		most.cost = max(most.cost, model.Bound(bound, tokens))
		most.tokens = max(most.tokens, bound+tokens)
	}
	most.calls = 1
	return most
}

// growth bounds, in bytes, how much longer a reply of this many tokens makes the conversation, fences included.
// Neutral labels may be longer than the names that they replace.
func (r *Record) growth(tokens int, by string) int {
	bytes := tokens * bytesPerToken
	if r.anonymous != nil {
		l, times := r.anonymous.Labels, 1
		for i := range l.Names {
			times = max(times, (len(l.Labels[i])+len(l.Names[i])-1)/max(1, len(l.Names[i])))
		}
		bytes, by = bytes*times, l.Hide(by)
	}
	return bytes + 2*len(r.fence) + len(by) + transcript.Framing
}
