package flow

import (
	"slices"
	"sort"
)

// withNext follows a use in which a call is counted that has not been made.
const withNext = ", with what the next call may take"

// withEnd follows a use in which the conclusion is counted besides.
const withEnd = ", with what the conclusion may take"

// allot returns a call as the limits let it start, which is with a lower cap on its reply where little is left:
//
//   - Beside what was used, what the calls in flight may still use and what is reserved for the conclusion, the worst case of the call
//     must fit the hard limits. Then it starts as it is, also beside others.
//   - Otherwise it waits until nothing is in flight. Then the cap on its reply is lowered to what is left, as long as a usual reply
//     still fits.
//   - A lowered cap leaves usual replies to as many of the others that are about to start beside the call as lets it start.
//   - The conclusion is reserved for two attempts at each of its calls, and for one attempt if that lets the call start.
//   - Where a call of the conclusion itself does not fit as it is, those that follow it keep one attempt with a usual reply, or else one
//     with the shortest reply, and the last resort is the call alone.
//
// Sizes are bounded by bytes first. Tokens are counted only where that does not do, and only for models of a known vocabulary. Until the
// vendor of such a model has reported how it counts, a call of which only its tokens fit waits until nothing is in flight.
//
// all are the calls that are about to start with it; nil: there are no others.
//
// If the call may not start, limit and at say which limit prevents it. A limit of calls is compared with calls alone, and so is a soft
// one: a call in flight is one for certain. Other soft limits stop no call; see [Core.watchBudget].
func (c *Core) allot(one beginning, all *starting) (start beginning, limit WarningKind, at atLimit, ok bool) {
	r, budget := c.record, c.record.settings.Budget
	if budget == nil || one.ready.call.Performer == byTool {
		return one, "", atLimit{}, true
	}
	ends, person := r.State == StateCompleting, one.ready.call.Performer == ByPerson
	if person && (ends || !mayConclude(budget)) {
		return one, "", atLimit{}, true // it costs nothing, and nothing is reserved that the answer could make longer
	}
	if !ends && !person {
		next := r.known().plus(r.reserves).plus(amount{calls: 1})
		if soft := next.passed(amount{calls: budget.SoftCalls}); soft.what != "" {
			return one, WarnSoft, soft.of(limitSoft, withNext), false
		}
	}
	if hardLimits(budget) == (amount{}) {
		return one, "", atLimit{}, true
	}
	room := c.roomBeside(one, false)
	if room.holds(one.intent.Tokens, twice) {
		return one, "", atLimit{}, true
	}
	if counted := c.roomBeside(one, true); counted.counts {
		room = counted
		if (len(r.inFlight) == 0 || r.compared(one.intent.Model)) && room.holds(one.intent.Tokens, twice) {
			return room.reserved(), "", atLimit{}, true
		}
	}
	if len(r.inFlight) == 0 { // an aborted call frees what it has not used; one that ignores the abort is given up by its runtime
		if start, ok = c.lowered(room, all); ok {
			return start, "", atLimit{}, true
		}
	}
	if !ends && mayConclude(budget) {
		limit = WarnSoft
	} else {
		limit = WarnHard
	}
	return one, limit, room.lacks(), false
}

// fits reports whether a call fits the limits as it is.
func (c *Core) fits(one beginning) bool {
	start, _, _, ok := c.allot(one, nil)
	return ok && start.intent.Lowered == 0
}

// leavesNoRoom returns which hard limit of cost or tokens has no room for one attempt at each call of the conclusion once it reads the
// files of an answer. The text of an answer is in the reserve from the question on, and the files are in none: they are refused instead.
func (c *Core) leavesNoRoom(intent *Intent, a *Answer) (at atLimit) {
	r, budget := c.record, c.record.settings.Budget
	if budget == nil || len(a.Attachments) == 0 {
		return atLimit{}
	}
	_, names, load, beside := carried(a.Attachments)
	size := r.growth(len(a.Text)+len("\n")+len(names), intent.By) + load // calls without a view read the text again with the files
	return c.noRoomFor(intent, increase{size, size}, beside)
}

// noRoomFor returns which hard limit of cost or tokens has no room for one attempt at each call of the conclusion but that of an intent,
// once the conversation is longer by so much and has so much more beside it.
func (c *Core) noRoomFor(intent *Intent, by increase, beside surplus) (at atLimit) {
	r, budget := c.record, c.record.settings.Budget
	said := r.growths.plus(c.conclusion().said).plus(by)
	limit := amount{cost: budget.Hard, tokens: budget.HardTokens}
	for _, counts := range []bool{false, true} {
		sum := r.used().plus(r.reserves)
		end, _ := c.reservedCalls(intent, counts)
		for _, one := range end {
			if one.model != nil {
				one.input += beside.of(one.model)
			}
			sum = sum.plus(one.use(said, once))
		}
		if at = sum.passed(limit); at.what == "" {
			return at
		}
	}
	return at.of(limitHard, withEnd)
}

// endReserve is what is reserved for each call of the conclusion.
type endReserve struct {
	attempts int
	short    bool // with the shortest replies: those before may have been longer than what was reserved for them
}

//nolint:gochecknoglobals // constants in all but syntax: nothing assigns to them
var (
	never   = endReserve{}
	once    = endReserve{attempts: 1}
	twice   = endReserve{attempts: 2}
	shortly = endReserve{attempts: 1, short: true}
)

// lowering is a way to lower the cap on a reply.
type lowering struct {
	end   endReserve
	least int // the lowest cap
	most  int // the highest
}

// room is what the hard limits leave for a call.
type room struct {
	one    beginning
	hard   amount
	held   amount // what was used, and what the calls in flight may still use
	model  Model
	input  int        // bounds the tokens of the call's input
	end    []lastCall // the calls of the conclusion for which something is reserved
	said   increase   // by the calls in flight, and by the persons who are asked
	others amount     // what the calls beside it use with usual replies
	counts bool       // tokens are counted where the vocabulary is known, and it is of some model
	record *Record
}

// roomBeside returns the room for a call beside what is in flight and reserved. counts is whether tokens are counted.
func (c *Core) roomBeside(one beginning, counts bool) room {
	r, call, intent := c.record, one.ready.call, one.intent
	out := room{one: one, hard: hardLimits(r.settings.Budget), held: r.used().plus(r.reserves), record: r}
	if call.Performer == ByModel {
		out.model, _ = r.Model(intent.Model)
		out.input = c.inputOf(one, out.model, counts)
		_, exact := r.counter(intent.Model)
		out.counts = counts && exact && call.span == nil
	}
	if r.State == StateCompleting || mayConclude(r.settings.Budget) {
		var exact bool
		out.end, exact = c.reservedCalls(intent, counts)
		out.counts = out.counts || exact
		out.said = r.growths.plus(c.conclusion().said)
	}
	return out
}

// use returns what the call uses with this cap on its reply, beside all that is held and reserved.
func (m *room) use(tokens int, end endReserve) amount {
	call, in := m.one.ready.call, m.one.intent
	sum := m.held.plus(m.others)
	switch call.Performer {
	case ByModel:
		sum = sum.plus(amount{m.model.Bound(m.input, tokens), m.input + tokens, 1})
	case ByPerson:
	default:
		sum.calls++
	}
	if end.attempts == 0 || len(m.end) == 0 {
		return sum
	}
	said := m.said
	if call.Performer == ByPerson {
		said = said.plus(m.record.answerOf(in.Tokens, in.By))
	} else {
		said = said.plus(m.record.replyOf(visibleOf(in, tokens), in.By))
	}
	for i := range m.end {
		sum = sum.plus(m.end[i].use(said, end))
	}
	return sum
}

// holds reports whether there is room for the call with this cap.
func (m *room) holds(tokens int, end endReserve) bool {
	return m.use(tokens, end).passed(m.hard).what == ""
}

// reserved returns the call with what was counted as its reserve.
func (m *room) reserved() beginning {
	if in := m.one.intent; in.Model != "" {
		m.one.ready.counted = m.counts
		in.Bound, in.Reserve = m.input+in.Tokens, m.model.Bound(m.input, in.Tokens)
	}
	return m.one
}

// lacks says which limit leaves no room, with the least that would do.
func (m *room) lacks() atLimit {
	ways := m.lowerings()
	least := ways[len(ways)-1].least
	if alone := m.use(least, never).passed(m.hard); alone.what != "" {
		return alone.of(limitHard, m.record.doubt(alone, limitHard)+withNext)
	}
	if at := m.use(least, once).passed(m.hard); at.what != "" {
		return at.of(limitHard, m.record.doubt(at, limitHard)+withEnd)
	}
	at := m.use(m.one.intent.Tokens, twice).passed(m.hard)
	return at.of(limitHard, m.record.doubt(at, limitHard)+withEnd)
}

// lowerings returns how the cap may be lowered, the best way first: a usual reply fits, at least. In the conclusion, for which nothing is
// to be spared, a shorter reply is better than none. With more left, the cap is never lower: what of the conclusion follows has as much
// as it needs before this call gets more than a usual reply. A reply that has ended at its cap is not asked for again with a lower one.
func (m *room) lowerings() []lowering {
	in, call := m.one.intent, m.one.ready.call
	full := in.Tokens
	if in.Model == "" || call.span != nil {
		return []lowering{{twice, full, full}, {once, full, full}}
	}
	floor := 0
	if state := m.record.calls[call.ID]; state != nil && state.special.broken > 0 && state.intent != nil {
		floor = min(full, state.intent.Tokens)
	}
	if m.record.State == StateCompleting {
		usual := max(floor, m.record.usualEnd(call, in.Model, full))
		short := max(floor, m.record.shortEnd(call, in.Model, usual))
		return []lowering{{once, usual, full}, {shortly, usual, usual}, {shortly, short, usual}, {never, short, full}}
	}
	usual := max(floor, m.record.usual(call, in.Model, full))
	return []lowering{{twice, usual, full}, {once, usual, full}}
}

// lowered returns the call with the highest cap for which there is room. It leaves usual replies to as many of those that are about to
// start after it as lets it start. In the conclusion it need not: something is reserved for each of them. false: there is no room.
func (c *Core) lowered(m room, all *starting) (start beginning, ok bool) {
	ways := m.lowerings()
	if all != nil && c.record.State != StateCompleting {
		after := len(all.calls) - all.next
		left := sort.Search(after, func(left int) bool {
			m.others = c.usualUse(all, after-left, m.counts)
			return slices.ContainsFunc(ways, func(way lowering) bool { return m.holds(way.least, way.end) })
		})
		m.others = c.usualUse(all, after-left, m.counts)
	}
	for _, way := range ways {
		if m.holds(way.least, way.end) {
			in := *m.one.intent
			lowerCap(&in, way.least+sort.Search(way.most-way.least, func(n int) bool { return !m.holds(way.least+n+1, way.end) }))
			m.one.intent = &in
			return m.reserved(), true
		}
	}
	return beginning{}, false
}

// starting are calls that are about to start, one after the other.
type starting struct {
	calls []beginning
	next  int         // the place of the first of those that are still to start
	usual [2][]amount // what each of them uses together with those before it; by whether tokens are counted; nil: not yet computed
}

// usualUse returns what so many of the calls that are still to start use with usual replies. Each of hundreds of calls asks for it.
func (c *Core) usualUse(all *starting, count int, counts bool) amount {
	sums := &all.usual[oneIf(counts)]
	if *sums == nil {
		*sums = make([]amount, len(all.calls)+1)
		for i := all.next; i < len(all.calls); i++ {
			(*sums)[i+1] = (*sums)[i].plus(c.usualOne(all.calls[i], counts))
		}
	}
	return (*sums)[all.next+count].less((*sums)[all.next])
}

// usualOne returns what a call uses with a usual reply.
func (c *Core) usualOne(one beginning, counts bool) amount {
	call, in := one.ready.call, one.intent
	if in.Model == "" {
		return amount{calls: oneIf(call.Performer == ByFunction)}
	}
	model, _ := c.record.Model(in.Model)
	input, output := c.inputOf(one, model, counts), c.record.usual(call, in.Model, in.Tokens)
	return amount{model.Bound(input, output), input + output, 1}
}

// inputOf bounds the tokens of a call's input: by its bytes, or, if counts is set, by its tokens where the vocabulary is known.
func (c *Core) inputOf(one beginning, model Model, counts bool) int {
	r, in := c.record, one.intent
	input := in.Bound - in.Tokens
	if counter, exact := r.counter(in.Model); counts && exact && one.ready.call.span == nil {
		return min(input, r.scaled(in.Model, c.tokensOf(one.ready, counter))+r.surplus.of(&model))
	}
	return input
}

// lowerCap lowers the cap on a reply to what the budget leaves. Thoughts and text share what is left as they share the whole. The request
// is otherwise as it was: what it reads leaves room in the window for the former cap.
func lowerCap(in *Intent, most int) {
	if most >= in.Tokens {
		return
	}
	visible := visibleOf(in, most)
	in.Lowered, in.Tokens, in.Thinking = in.Tokens, most, most-visible
}

// fullCap returns the cap on a reply as it was before the budget has lowered it.
func fullCap(in *Intent) int { return max(in.Tokens, in.Lowered) }

// visibleOf returns how many of so many tokens of output the reply has beside the thoughts.
func visibleOf(in *Intent, tokens int) int {
	if in.Tokens == 0 || tokens >= in.Tokens {
		return visibleTokens(in)
	}
	thinking := int(float64(in.Thinking) * float64(tokens) / float64(in.Tokens))
	return tokens - thinking
}
