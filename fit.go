package debate

import (
	"fmt"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
)

// fit decides what of the conversation a call sends, and yields an upper bound of its input tokens.
//
// Bytes come first: no tokenizer makes more tokens than a text has bytes. Only when that bound
// passes the model's window are the turns counted, each once per vocabulary.
func (c *Core) fit(ready *prepared, model Model, output int) (bound int, failure *Error) {
	r := c.record
	shared, from := r.view(ready.call.View)
	ready.start, ready.from, ready.upto = from, from, len(shared.messages)
	fixed := len(ready.call.System) + len(ready.last) + 3*framing
	if ready.wire != nil {
		fixed += len(ready.wire.JSON)
	}
	bound = fixed + shared.size(from, len(shared.messages))
	problem := window.Problem{Window: model.Context, Reserve: r.config.Reserve, Output: output}
	if limit, limited := problem.Limit(); !limited || bound <= limit {
		return bound, nil
	}
	manager := c.plans[r.config.Context]
	if manager == nil {
		return 0, &Error{Kind: KindValidation, Field: "context", Err: fmt.Errorf("no context manager %q is registered", r.config.Context)}
	}
	_, name, _ := divide(ready.model)
	counter := token.ForModel(name)
	problem.Sums = c.count(name, counter, shared)[from:]
	problem.Fixed = counter.Count(ready.call.System) + counter.Count(ready.last) + counter.Count(string(wireJSON(ready.wire))) + 3*framing
	plan := manager.Plan(problem)
	n := problem.Len()
	if !plan.Fits || plan.Head < 0 || plan.Head > plan.From || plan.From > n {
		return 0, overflow(shared, from, plan, model)
	}
	ready.head, ready.from = plan.Head, from+plan.From
	ready.left = plan.From - plan.Head
	return fixed + shared.size(from, from+plan.Head) + shared.size(ready.from, ready.upto), nil
}

// overflow names what does not fit.
func overflow(shared *view, from int, plan window.Plan, model Model) *Error {
	if i := from + plan.TooBig; !plan.Fits && plan.TooBig >= 0 && i < len(shared.messages) {
		return &Error{Kind: KindContextOverflow, Err: fmt.Errorf(
			"the turn of %s in round %d alone does not fit the window of %d tokens", shared.messages[i].Speaker, shared.rounds[i], model.Context)}
	}
	return &Error{Kind: KindContextOverflow, Err: fmt.Errorf("the prompt alone does not fit the window of %d tokens", model.Context)}
}

// count yields the running sum of the turns' tokens in a model's vocabulary, from the first of the
// messages on. Each turn is counted once and kept.
func (c *Core) count(name string, counter token.Counter, shared *view) []int {
	if c.sums == nil {
		c.sums = make(map[string][]int)
	}
	sums := c.sums[name]
	if len(sums) == 0 {
		sums = append(sums, 0)
	}
	for i := len(sums) - 1; i < len(shared.messages); i++ {
		m := &shared.messages[i]
		sums = append(sums, sums[i]+counter.Count(m.Text)+messageBound(m)-len(m.Text))
	}
	c.sums[name] = sums
	return sums[:len(shared.messages)+1]
}

// size bounds the tokens of messages[from:upto] by their bytes.
func (v *view) size(from, upto int) int {
	if upto <= from {
		return 0
	}
	size := v.sizes[upto-1]
	if from > 0 {
		size -= v.sizes[from-1]
	}
	return size
}

// shortened reports whether somebody has been warned already that not all messages fit.
func (r *Record) shortened() bool {
	for i := range r.Warnings {
		if r.Warnings[i].Kind == WarnShort {
			return true
		}
	}
	return false
}
