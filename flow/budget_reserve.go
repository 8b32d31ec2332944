package flow

import (
	"cmp"
	"time"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/provider"
)

// mayConclude reports whether the conversation may conclude at a soft limit. Only then is anything reserved for the
// conclusion, because at a hard limit the conversation ends in an error.
func mayConclude(b *Budget) bool {
	return softLimits(b) != (amount{}) || b.SoftTime > 0 || b.Confirm
}

// increase is by how much a text that is not there yet makes what others read longer: by at most so many bytes, or, where tokens are
// counted, so many tokens. Files add their tokens to both.
type increase struct{ bytes, tokens int }

func (l increase) plus(m increase) increase { return increase{l.bytes + m.bytes, l.tokens + m.tokens} }

func (l increase) less(m increase) increase { return increase{l.bytes - m.bytes, l.tokens - m.tokens} }

// replyOf bounds how much longer a reply of so many tokens makes the conversation. Its tokens are those of the model that writes it. For a
// reader of another vocabulary they may be more: then the conclusion may find less room than was reserved for it, but no limit is passed.
func (r *Record) replyOf(tokens int, by string) increase {
	return increase{bytes: r.growth(longestReply(tokens), by), tokens: r.growth(tokens, by)}
}

// answerBytes is how many bytes a token has, at least, of what persons write or paste: Chinese and base64 have about as few.
const answerBytes = 2

// answerOf bounds how much longer the answer of a person makes the conversation, whose call has this cap. Its bytes are bounded as those of
// a reply.
func (r *Record) answerOf(tokens int, by string) increase {
	bytes := r.growth(longestReply(cmp.Or(tokens, r.settings.MaxTokens)), by)
	return increase{bytes: bytes, tokens: bytes / answerBytes}
}

// beingAnswered bounds how much longer the persons who are asked make the conversation.
func (r *Record) beingAnswered() increase {
	var sum increase
	for i := range r.Inquiries {
		if call := r.calls[r.Inquiries[i].ID]; call != nil && call.person && call.status == callInFlight {
			sum = sum.plus(r.answerOf(call.intent.Tokens, call.intent.By))
		}
	}
	return sum
}

// lastCall is a call of the conclusion, as far as the budget goes: an attempt at it with its own model, and a usual reply.
type lastCall struct {
	model    *Model // nil: no model is asked
	input    int    // bounds the tokens of its input now
	again    int    // and those that asking again adds
	output   int
	shortest int  // what a call needs for a reply that is no longer than it must be
	counts   bool // tokens are counted
	fixed    bool // its input grows no more
}

// use returns what the call uses, once what it reads is this much longer.
func (a *lastCall) use(said increase, end endReserve) amount {
	if a.model == nil {
		return amount{calls: end.attempts}
	}
	output := a.output
	if end.short {
		output = a.shortest
	}
	input := a.input
	switch {
	case a.fixed:
	case a.counts:
		input += said.tokens
	default:
		input += said.bytes
	}
	var sum amount
	for range end.attempts {
		sum = sum.plus(amount{a.model.Bound(input, output), input + output, 1})
		input += a.again
	}
	return sum
}

// conclusion is what the conclusion asks for. First attempts that are begun change nothing about it, but those at its own calls, which are
// no longer to come.
type conclusion struct {
	at    time.Time     // of the input: which model a call gets depends on it
	calls []*Call       // that were still to come, without those of persons for whom no model stands in
	sizes [2][]lastCall // of these calls, by their bytes and by their tokens; nil: not yet computed
	said  increase      // by the persons who are asked, and in notes that are held back
}

// conclusion returns what the conclusion asks for now. Each of many calls that begin at once asks for it.
func (c *Core) conclusion() *conclusion {
	if c.concluding != nil && c.concluding.at.Equal(c.in.At) {
		return c.concluding
	}
	c.concluding = &conclusion{at: c.in.At, said: c.record.beingAnswered().plus(c.record.heldIncrease())}
	for _, call := range c.last() {
		if call.Performer != ByPerson && c.record.toCome(call.ID) {
			c.concluding.calls = append(c.concluding.calls, call)
		}
	}
	return c.concluding
}

// toCome reports whether a call of the conclusion is still to come. Of a person who is asked that of a stand-in is.
func (r *Record) toCome(id string) bool {
	state := r.calls[id]
	return !r.Settled(id) && (state == nil || state.status != callInFlight || state.person)
}

// sized returns the calls of the conclusion as the budget sees them. counts is whether tokens are counted where the vocabulary is known.
func (c *Core) sized(end *conclusion, counts bool) []lastCall {
	sizes := &end.sizes[oneIf(counts)]
	if *sizes == nil {
		*sizes = make([]lastCall, len(end.calls))
		for i, call := range end.calls {
			(*sizes)[i] = c.lastCall(call, counts)
		}
	}
	return *sizes
}

// reservedCalls returns the calls of the conclusion that are still to come, without the one that is about to start. After the first
// round, for which the start accepts budgets that hold no summaries, they include the summaries that these calls may need, if the hard
// limits could hold them at all. counted reports whether the tokens of some of them were counted, which they are if counts is set.
func (c *Core) reservedCalls(intent *Intent, counts bool) (all []lastCall, counted bool) {
	r, end := c.record, c.conclusion()
	sizes := c.sized(end, counts)
	all = make([]lastCall, 0, len(sizes))
	growth := r.growth(longestReply(visibleTokens(intent)), intent.By)
	var summaries []lastCall
	for i, call := range end.calls {
		if call.ID == intent.Call || !r.toCome(call.ID) {
			continue
		}
		all, counted = append(all, sizes[i]), counted || sizes[i].counts
		if r.Round <= 1 || intent.Upto > 0 && r.State == StateCompleting { // it may be one of the summaries itself
			continue
		}
		if summary, shared := r.summaryBefore(call, growth, 1); summary != nil {
			fixed := *summary
			fixed.View.None = true // what is left for a second one is part of what the first could read
			first, second := c.lastCall(summary, false), c.lastCall(&fixed, false)
			second.input, second.fixed = second.input+shared, true
			summaries = append(summaries, first, second)
		}
	}
	if len(summaries) > 0 {
		var sum amount
		said := r.replyOf(visibleTokens(intent), intent.By)
		for _, one := range append(summaries, all...) {
			sum = sum.plus(one.use(said, once))
		}
		if sum.passed(hardLimits(r.settings.Budget)).what == "" {
			all = append(all, summaries...)
		}
	}
	return all, counted
}

// lastCall returns a call of the conclusion as the budget sees it.
func (c *Core) lastCall(call *Call, counts bool) lastCall {
	r := c.record
	if call.Performer != ByModel {
		return lastCall{}
	}
	_, name := r.chosenModel(call, c.in.At)
	model, _ := r.Model(name)
	limit := r.capOf(call, &model)
	one := lastCall{model: &model, output: r.usualEnd(call, name, limit)}
	one.shortest = r.shortEnd(call, name, one.output)
	if call.Kind == KindSummary {
		one.output = limit
	}
	again := r.Text(textAgain)
	counter, exact := r.counter(name)
	one.counts = counts && exact
	ready := c.request(call)
	foreseen := call.Longer // with replies as long as they may be
	if full := r.mostOf(call); full > 0 {
		foreseen = int(float64(foreseen) * min(1, float64(one.output)/float64(full)))
	}
	if one.counts {
		one.input = r.scaled(name, c.tokensOf(ready, counter)+c.hiddenGrowth(counter)) + foreseen/longestToken
		one.again = c.counted(counter, again) + text.ProblemBytes/typicalBytes
	} else {
		one.input, one.again = ready.bytes()+c.hiddenGrowth(nil)+foreseen, len(again)+text.ProblemBytes
	}
	one.input += r.besideTexts(call, &model)
	return one
}

// besideTexts bounds the tokens that a model takes for a request beside its texts: for files, beyond what the bounds of all models hold,
// and for the words before a schema that is a part of the instruction.
func (r *Record) besideTexts(call *Call, model *Model) int {
	bound := r.surplus.of(model)
	if call.Schema != "" && model.Lacks(provider.AbilitySchema) {
		bound += len(schemaInWords)
	}
	return bound
}

// hiddenSize is how much longer the turns make the conversation that are hidden now. They are read once their group has spoken.
type hiddenSize struct {
	first, turns int // the index of the first of them, and how many are counted
	size         int // their tokens, or their bytes
}

// hiddenGrowth returns how many tokens the hidden turns add to the conversation, or, without a counter, bytes. It counts each of them once,
// also for a call without a view whose instruction quotes them already: whether it does, only the flow knows.
func (c *Core) hiddenGrowth(counter token.Counter) int {
	r := c.record
	if len(r.hidden) == 0 {
		return 0
	}
	sum := c.hidden[counter]
	if sum.first != r.hidden[0] || sum.turns > len(r.hidden) {
		sum = hiddenSize{first: r.hidden[0]}
	}
	for _, i := range r.hidden[sum.turns:] {
		_, names, load, _ := carried(r.Turns[i].Attachments)
		said, label := text.Defused(r.Turns[i].Text), r.labelOf(r.Turns[i], nil)
		size := len(said) + len(label)
		if counter != nil {
			size = counter.Count(said) + counter.Count(label)
		}
		sum.size += size + len(names) + load + 2*len(r.fence) + transcript.Framing
	}
	sum.turns = len(r.hidden)
	if c.hidden == nil {
		c.hidden = make(map[token.Counter]hiddenSize)
	}
	c.hidden[counter] = sum
	return sum.size
}

// counter returns the counter of a model, as "provider/model", whose vocabulary is known. false: only bytes bound its tokens.
func (r *Record) counter(name string) (token.Counter, bool) {
	if r.learnt(name).surpassed {
		return nil, false
	}
	row, _ := r.Model(name)
	return token.Named(row.Vocabulary)
}

// compared reports whether the input of the model's requests needs no comparing with what its vendor counts: the vendor has reported it
// for a request that was counted, or none is counted.
func (r *Record) compared(name string) bool {
	_, exact := r.counter(name)
	return !exact || r.learnt(name).measured > 0
}

// compare notes the tokens of a request that is about to start, so that the vendor's report shows how it counts: under a hard limit, which
// the budget may come to count tokens for, for the first requests of a model and for those whose tokens were counted.
func (c *Core) compare(ready *prepared, in *Intent) {
	r := c.record
	b := r.settings.Budget
	if in.Input > 0 || b == nil || hardLimits(b) == (amount{}) || ready.call.span != nil || in.Options != nil && in.Options.Search ||
		!ready.counted && r.compared(in.Model) {
		return
	}
	if counter, exact := r.counter(in.Model); exact {
		in.Input = c.tokensOf(ready, counter)
	}
}

// scaled returns how many tokens the vendor of a model may count where so many were counted. What the vendor has reported may be more: then
// that ratio counts.
func (r *Record) scaled(model string, counted int) int {
	if ratio := r.ratio(model); ratio > minRatio {
		return int(float64(counted)*ratio) + 1
	}
	return counted
}

// summaryBefore returns a summary that a call may need once the conversation is this many bytes longer, if a token has
// that many bytes, and the most bytes of a former summary. It returns nil if the call needs none.
func (r *Record) summaryBefore(call *Call, growth, perToken int) (summary *Call, former int) {
	model, only := r.summarizing(call)
	if model == "" || call.Performer != ByModel || call.View.None || call.span != nil {
		return nil, 0
	}
	row, _ := r.Model(call.Model)
	problem := r.room(call.Model, row, r.mostOf(call)+thoughtsOf(row, call.Options))
	limit, limited := problem.Limit()
	shared, from := r.view(call.View)
	if !limited || 100*(shared.Size(from, len(shared.Messages))+growth) < window.NearPercent*limit*perToken {
		return nil, 0
	}
	tokens := r.summaryTokens()
	summary = r.summaryCall(span{shared, len(shared.Messages), only}, model, r.summarizerOptions(call, only), tokens)
	summary.View = View{Labels: call.View.Labels, Anew: call.View.Anew}
	if only != "" {
		_, summary.Fallbacks = r.modelsOf(call)
	}
	return summary, longestReply(tokens)
}

// last returns the calls of the conclusion, as if the conversation had come to it, and as if nobody answered for whom a model stands in.
func (c *Core) last() []*Call {
	c.record.foreseen = true
	defer func() { c.record.foreseen = false }()
	if c.machine.flow.Last != nil {
		return c.machine.flow.Last(c.record)
	}
	if step := c.machine.flow.Steps[StateCompleting]; step.Calls != nil {
		return step.Calls(c.record)
	}
	return nil
}

// request returns the request that the call would make now, as far as its size goes.
func (c *Core) request(call *Call) *prepared {
	r := c.record
	ready := &prepared{call: call, papers: r.papersOf(call), tools: r.toolsOf(call)}
	if call.Last != nil {
		ready.last = call.Last(r)
	}
	if call.Schema != "" {
		ready.wire, _ = c.wire(call)
	}
	ready.view, ready.start = r.view(call.View)
	ready.from, ready.upto = ready.start, len(ready.view.Messages)
	return ready
}

// bytes bounds the tokens of a request of which nothing is left out.
func (p *prepared) bytes() int { return p.fixed() + p.view.Size(p.start, p.upto) }

// Longest returns the most bytes that the reply to a call takes where another call reads it. Of the call it reads By and
// MaxTokens.
func (r *Record) Longest(call *Call) int {
	return r.growth(longestReply(r.mostOf(call)), call.By)
}

// longestReply bounds the bytes that a reply of this many tokens takes where others read it. Control tokens in it become longer.
func longestReply(tokens int) int {
	bytes := min(tokens, mostTokens) * bytesPerToken
	return bytes + bytes/text.ShortestToken
}

// longestToken is how many bytes a token of such a reply has.
const longestToken = bytesPerToken + bytesPerToken/text.ShortestToken

// growth bounds, in bytes, how much longer a reply of this many bytes makes the conversation, fences and usual labels included.
// Neutral labels may be longer than the names that they replace.
func (r *Record) growth(bytes int, by string) int {
	if r.anonymous != nil {
		l, times := r.anonymous.Labels, 1
		for i := range l.Names {
			times = max(times, (len(l.Labels[i])+len(l.Names[i])-1)/max(1, len(l.Names[i])))
		}
		bytes, by = bytes*times, l.Hide(by)
	}
	return bytes + 2*len(r.fence) + len(by) + r.labelRoom + transcript.Framing
}

// lengths are the longest replies so far, in tokens of output. They say how long a usual one is.
type lengths struct {
	visible  int               // of all, without thoughts
	outputs  map[replyKind]int // with thoughts
	thoughts map[thinker]int
}

// replyKind is a sort of reply: what was asked for, and of which model.
type replyKind struct {
	kind  CallKind
	model string
}

// thinker is a model with an effort: how much it thinks depends on both.
type thinker struct {
	model  string
	effort provider.Effort
}

// effort returns the effort that options ask for; "": the vendor's default.
func effort(o *provider.Options) provider.Effort {
	if o == nil {
		return ""
	}
	return o.Effort
}

// add learns from a reply that has arrived.
func (l *lengths) add(intent *Intent, u provider.Usage) {
	if u.Output <= 0 || intent.Tool != "" || intent.Upto > 0 || intent.Lowered > 0 && u.Output >= intent.Tokens {
		return // the budget has said how long it is
	}
	if l.outputs == nil {
		l.outputs, l.thoughts = make(map[replyKind]int), make(map[thinker]int)
	}
	kind := replyKind{intent.Kind, intent.Model}
	if _, known := l.outputs[kind]; !known && len(l.outputs) >= maxTracked {
		return
	}
	l.outputs[kind] = max(l.outputs[kind], u.Output)
	by := thinker{intent.Model, effort(intent.Options)}
	thoughts := min(u.Reasoning, u.Output) // some vendors report them apart from the output
	l.thoughts[by] = max(l.thoughts[by], thoughts)
	l.visible = max(l.visible, u.Output-thoughts)
}

// A usual reply is a quarter longer than the longest of its sort so far. The conclusion is half as long again as the longest reply: what
// sums up is longer than its parts, and a structured answer that is cut is worth nothing.
const (
	quarter = 4
	half    = 2
)

// leastEnd is the lowest cap, in tokens and without thoughts, on the reply to a call of the conclusion. Such a call is made with whatever
// is left: it was reserved by what was usual before the last replies.
const leastEnd = 64

// usual returns how many tokens of output, thoughts included, a usual reply to a call takes with a model, at most limit.
func (r *Record) usual(call *Call, name string, limit int) int {
	if n := r.lengths.outputs[replyKind{call.Kind, name}]; n > 0 {
		return min(limit, n+n/quarter)
	}
	n := call.Usual
	if n == 0 {
		n = max(TypicalReply, r.lengths.visible+r.lengths.visible/quarter)
	}
	return min(limit, n+r.usualThoughts(call, name))
}

// usualEnd does what usual does, for a call of the conclusion.
func (r *Record) usualEnd(call *Call, name string, limit int) int {
	if n := r.lengths.outputs[replyKind{call.Kind, name}]; n > 0 {
		return min(limit, max(leastEnd, n+n/half))
	}
	n := call.Usual
	if n == 0 {
		n = max(TypicalReply, r.lengths.visible)
	}
	return min(limit, n+n/half+r.usualThoughts(call, name))
}

// shortEnd returns the lowest cap on the reply to a call of the conclusion, thoughts included, at most limit.
func (r *Record) shortEnd(call *Call, name string, limit int) int {
	return min(limit, leastEnd+r.usualThoughts(call, name))
}

// usualThoughts returns how many tokens a model usually thinks before it replies, with the effort that the call asks for.
func (r *Record) usualThoughts(call *Call, name string) int {
	row, _ := r.Model(name)
	options := call.Options.Without(row.Unsupported)
	if n := r.lengths.thoughts[thinker{name, effort(options)}]; n > 0 {
		return n + n/quarter
	}
	return thoughtsOf(row, options) / typicalThoughts
}

// capOf returns the most tokens of output, thoughts included, that a request to a model of the call asks for.
func (r *Record) capOf(call *Call, model *Model) int {
	tokens := r.mostOf(call) + thoughtsOf(*model, call.Options)
	if model.MaxOutput > 0 {
		tokens = min(tokens, model.MaxOutput)
	}
	return tokens
}
