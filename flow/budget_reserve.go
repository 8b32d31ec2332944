package flow

import (
	"cmp"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/provider"
)

// spares reports whether a summary that is made for the conclusion leaves enough of the budget for it.
func (c *Core) spares(intent *Intent) bool {
	r, budget := c.record, c.record.settings.Budget
	if budget == nil || r.State != StateCompleting {
		return true
	}
	worst := r.used().plus(r.reserves).plus(amount{intent.Reserve, intent.Bound, 1}).plus(c.conclusion(0, false))
	return worst.passed(budget.hard()).what == ""
}

// concludes reports whether the conversation may conclude at a soft limit. Only then is anything kept back for the
// conclusion, because at a hard limit the conversation ends in an error.
func (b *Budget) concludes() bool {
	return b.soft() != (amount{}) || b.SoftTime > 0 || b.Confirm
}

// share returns the most that the calls of the conclusion can use, each asked twice. After the first round, for which the
// start accepts budgets that hold no summaries, it includes the summaries that these calls may need, if the hard limits
// could hold them at all. It assumes that this call and those in flight give the longest replies that are accepted.
func (c *Core) share(intent *Intent) amount {
	r := c.record
	growth := r.growth(longestReply(intent.visible()), intent.By) + r.growths
	growth += c.hiddenGrowth()
	if r.Round > 1 {
		if whole := c.conclusion(growth, true); whole.passed(r.settings.Budget.hard()).what == "" {
			return whole
		}
	}
	return c.conclusion(growth, false)
}

// unseen is how many bytes longer the turns make the conversation that are hidden now.
type unseen struct {
	first, turns int // the index of the first of them, and how many are counted
	bytes        int
}

// hiddenGrowth counts each hidden turn once.
func (c *Core) hiddenGrowth() int {
	r, sum := c.record, &c.unseen
	if len(r.hidden) == 0 {
		return 0
	}
	if sum.first != r.hidden[0] || sum.turns > len(r.hidden) {
		*sum = unseen{first: r.hidden[0]}
	}
	for _, i := range r.hidden[sum.turns:] {
		sum.bytes += len(text.Defused(r.Turns[i].Text)) + 2*len(r.fence) + transcript.Framing
	}
	sum.turns = len(r.hidden)
	return sum.bytes
}

// conclusion returns the most that the calls of the conclusion can use, each asked twice, once the conversation is
// this many bytes longer.
func (c *Core) conclusion(growth int, summaries bool) amount {
	r := c.record
	var sum amount
	end := c.ending()
	for i := range end.calls {
		call := end.calls[i]
		switch call.Performer {
		case ByModel:
		case ByPerson:
			continue
		default:
			sum.calls += 2
			continue
		}
		size := end.bytes[i] + growth
		first, _ := c.worstReply(&call, size)
		again, _ := c.worstReply(&call, size+len(r.Text(textAgain))+text.ProblemBytes)
		sum = sum.plus(first).plus(again)
		if summary, shared := r.summaryBefore(&call, growth, 1); summaries && summary != nil {
			sum = sum.plus(c.worst(summary, growth))
			fixed := *summary
			fixed.View.None = true // what is left for a second one is part of what the first could read
			sum = sum.plus(c.worst(&fixed, shared))
		}
	}
	return sum
}

// closing is what the conclusion asks for. Attempts that are begun change nothing about it.
type closing struct {
	calls []Call
	bytes []int // of the requests of those that models are asked
}

// ending returns the calls of the conclusion as they are now. Each of many calls that begin at once asks for them.
func (c *Core) ending() *closing {
	if c.closing == nil {
		calls := c.last()
		c.closing = &closing{calls, make([]int, len(calls))}
		for i := range calls {
			if calls[i].Performer == ByModel {
				c.closing.bytes[i] = c.bytes(&calls[i])
			}
		}
	}
	return c.closing
}

// summaryBefore returns a summary that a call may need once the conversation is this many bytes longer, if a token has
// that many bytes, and the most bytes of a former summary. It returns nil if the call needs none.
func (r *Record) summaryBefore(call *Call, growth, perToken int) (summary *Call, former int) {
	model, only := r.summarizing(call)
	if model == "" || call.Performer != ByModel || call.View.None || call.span != nil {
		return nil, 0
	}
	row, _ := r.Model(call.Model)
	problem := r.room(call.Model, row, cmp.Or(call.MaxTokens, r.settings.MaxTokens)+row.thoughts(call.Options))
	limit, limited := problem.Limit()
	shared, from := r.view(call.View)
	if !limited || 100*(shared.Size(from, len(shared.Messages))+growth) < window.NearPercent*limit*perToken {
		return nil, 0
	}
	tokens := r.summaryTokens()
	summary = r.summaryCall(span{shared, len(shared.Messages), only}, model, r.summarizerOptions(call, only), tokens)
	summary.View = View{Labels: call.View.Labels}
	if only != "" {
		_, summary.Fallbacks = r.modelsOf(call)
	}
	return summary, longestReply(tokens)
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
	most, _ := c.worstReply(call, c.bytes(call)+growth)
	return most
}

// worstReply returns what worst does, of a request of this many bytes, and the part of its tokens that is output, thoughts included.
func (c *Core) worstReply(call *Call, bytes int) (most amount, output int) {
	r := c.record
	for _, name := range append([]string{call.Model}, call.Fallbacks...) {
		model, _ := r.Model(name)
		tokens := call.MaxTokens
		if tokens == 0 {
			tokens = r.settings.MaxTokens
		}
		tokens += model.thoughts(call.Options)
		if model.MaxOutput > 0 {
			tokens = min(tokens, model.MaxOutput)
		}
		input := bytes + r.surplus(model)
		if call.Schema != "" && model.unsupported(provider.AbilitySchema) {
			input += len(schemaInWords)
		}
		most.cost = max(most.cost, model.Bound(input, tokens))
		if input+tokens > most.tokens {
			most.tokens, output = input+tokens, tokens
		}
	}
	most.calls = 1
	return most, output
}

// bytes returns the size of the request that the call would make now, with the replies that it foresees.
func (c *Core) bytes(call *Call) int {
	r := c.record
	ready := prepared{call: call, papers: r.papersOf(call)}
	if call.Last != nil {
		ready.last = call.Last(r)
	}
	if call.Schema != "" {
		ready.wire, _ = c.wire(call.Schema, call.View.Labels)
	}
	shared, from := r.view(call.View)
	return ready.fixed() + shared.Size(from, len(shared.Messages)) + call.Longer
}

// Longest returns the most bytes that the reply to a call takes where another call reads it. Of the call it reads By and
// MaxTokens.
func (r *Record) Longest(call *Call) int {
	return r.growth(longestReply(cmp.Or(call.MaxTokens, r.settings.MaxTokens)), call.By)
}

// longestReply bounds the bytes that a reply of this many tokens takes where others read it. Control tokens in it become longer.
func longestReply(tokens int) int {
	bytes := min(tokens, 1<<40) * bytesPerToken // no reply has as many
	return bytes + bytes/text.ShortestToken
}

// growth bounds, in bytes, how much longer a reply of this many bytes makes the conversation, fences included.
// Neutral labels may be longer than the names that they replace.
func (r *Record) growth(bytes int, by string) int {
	if r.anonymous != nil {
		l, times := r.anonymous.Labels, 1
		for i := range l.Names {
			times = max(times, (len(l.Labels[i])+len(l.Names[i])-1)/max(1, len(l.Names[i])))
		}
		bytes, by = bytes*times, l.Hide(by)
	}
	return bytes + 2*len(r.fence) + len(by) + transcript.Framing
}
