package flow

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/provider"
)

// fit decides which messages a call sends, and returns an upper bound of its input tokens.
//
// It bounds tokens by bytes first, because no tokenizer makes more tokens than a text has bytes. If that bound
// comes near the model's window, it counts the tokens of the turns, once per vocabulary.
func (c *Core) fit(ready *prepared, intent *Intent, model Model) (bound int, failure *Error) {
	r := c.record
	if ready.call.span != nil {
		return c.fitSpan(ready, intent, model)
	}
	shared, from := r.view(ready.call.View)
	ready.view, ready.start, ready.from, ready.upto = shared, from, from, len(shared.Messages)
	bound = ready.fixed() + shared.Size(from, len(shared.Messages))
	problem := window.Problem{Window: r.window(intent.Model, model), Reserve: r.terms.Reserve, Output: intent.Tokens}
	if limit, limited := problem.Limit(); !limited || int64(bound)*100 < int64(limit)*window.NearPercent {
		return bound, nil
	}
	return c.manage(ready, intent, problem)
}

// manage lets the conversation's context manager decide what is sent.
func (c *Core) manage(ready *prepared, intent *Intent, problem window.Problem) (bound int, failure *Error) {
	r, shared := c.record, ready.view
	manager, failure := c.manager(intent.By)
	if failure != nil {
		return 0, failure
	}
	c.pose(&problem, ready, intent)
	plan := manager.Plan(problem)
	if n := problem.Len(); plan.Head < 0 || plan.Head > plan.From || plan.From > n {
		err := fmt.Errorf("context manager %q has made a plan that makes no sense", r.terms.Context)
		return 0, &Error{Kind: provider.KindValidation, Field: "context", Err: err}
	}
	ready.limit = &problem
	if wish := plan.Summarize; wish.To > wish.From && problem.Summarizer {
		if call := r.summaryCall(shared, wish.To); !r.Failed(call.ID) && !r.Done(call.ID) {
			ready.needs = call
			return ready.fixed() + shared.Size(ready.start, ready.upto), nil
		}
		problem.Summarizer = false
		plan = manager.Plan(problem)
	}
	intent.Input = plan.Used
	if !plan.Fits {
		return c.squeeze(ready, intent, &problem, plan)
	}
	return ready.applyPlan(plan, ready.start), nil
}

// fixed bounds the tokens that are sent in any case.
func (p *prepared) fixed() int {
	fixed := len(p.call.System) + len(p.last) + 3*transcript.Framing
	if p.wire != nil {
		fixed += len(p.wire.JSON)
	}
	return fixed + p.talkBound()
}

// applyPlan applies a plan, and returns the bound of the tokens that it sends.
func (p *prepared) applyPlan(plan window.Plan, from int) int {
	p.head, p.from = plan.Head, from+plan.From
	p.left = plan.From - plan.Head
	bound := p.fixed() + p.view.Size(from, from+plan.Head) + p.view.Size(p.from, p.upto)
	if plan.Summary && p.view.Summary != nil {
		p.summary = &p.view.Summary.Message
		p.left = p.from - p.view.Summary.Upto
		bound += transcript.Bound(p.summary)
	}
	return bound
}

// manager returns the context manager for an actor: the config's, or the one that a person has chosen
// since.
func (c *Core) manager(by string) (window.Manager, *Error) {
	name := c.record.terms.Context
	if chosen, ok := c.record.Shrinking(by); ok {
		switch {
		case chosen.Option == OptionSummarize:
			name = ContextSummarize
		case name == ContextSummarize || name == DefaultContext:
			name = ContextSliding
		}
	}
	if manager := c.plans[name]; manager != nil {
		return manager, nil
	}
	err := fmt.Errorf("no context manager %q is registered", text.OneLine(name, 40))
	return nil, &Error{Kind: provider.KindValidation, Field: "context", Err: err}
}

// pose counts what is to be sent. If counts were too low compared with what vendors reported, it makes the window
// smaller by the same ratio.
func (c *Core) pose(p *window.Problem, ready *prepared, intent *Intent) {
	r := c.record
	_, name, _ := SplitModel(intent.Model)
	counter := token.ForModel(name)
	p.Sums = ready.view.Count(counter)[ready.start:]
	p.Fixed = c.counted(counter, ready.call.System) + counter.Count(ready.last) + 3*transcript.Framing
	if ready.wire != nil {
		p.Fixed += c.counted(counter, string(ready.wire.JSON))
	}
	p.Fixed += ready.talkCount(counter)
	if limit, _ := p.Limit(); limit > 0 {
		p.Window += int(float64(limit)/r.ratio(intent.Model)) - limit
	}
	if ready.start > 0 || ready.call.View.Swapped {
		return // such a call cannot use a summary
	}
	p.Summarizer = r.terms.Summarizer != "" && !ready.slide && !r.unsummed
	p.Auto = r.terms.AutoSummary
	if s := ready.view.Summary; s != nil {
		p.Covered = s.Upto
		p.Summary = transcript.Count(&s.Message, counter)
	}
}

// squeeze deals with a conversation of which not even the newest message fits. It cuts that message, and marks the
// cut, if the config or a person allows that. Otherwise it returns a failure.
func (c *Core) squeeze(ready *prepared, intent *Intent, p *window.Problem, plan window.Plan) (int, *Error) {
	shared, n := ready.view, p.Len()
	chosen, _ := c.record.Shrinking(intent.By)
	limit, _ := p.Limit()
	room := limit - p.Fixed - 2*transcript.Framing
	if plan.TooBig < 0 || n == 0 || room < minCut || !c.record.terms.CutLong && chosen.Option != OptionTruncate {
		return 0, overflow(shared, ready.start, plan, p)
	}
	newest := &shared.Messages[len(shared.Messages)-1]
	size := p.Size(n-1, n)
	// Keep by the message's own mean of bytes per token, less a tenth, and never more bytes than it has.
	keep := min(len(newest.Text), int(float64(room)*float64(len(newest.Text))/float64(max(1, size))*0.9))
	_, name, _ := SplitModel(intent.Model)
	counter := token.ForModel(name)
	content := cutAt(newest.Text, keep)
	for counter.Count(content)+2*transcript.Framing+len(newest.Speaker)+2*len(newest.Fence) > room && keep > minCut {
		keep = keep * 3 / 4
		content = cutAt(newest.Text, keep)
	}
	short := *newest
	short.Text = content
	ready.cut = &short
	ready.head, ready.from, ready.left = 0, len(shared.Messages)-1, n-1
	intent.Input = p.Fixed + transcript.Count(&short, counter)
	return ready.fixed() + transcript.Bound(&short), nil
}

// minCut is the least that is worth keeping of a message, in tokens or bytes.
const minCut = 64

// cutAt shortens a text, and says so at its end.
func cutAt(content string, keep int) string {
	if keep >= len(content) {
		return content
	}
	head := text.Cut(content, keep)
	return head + "\n[… cut here: " + strconv.Itoa(len(content)-len(head)) + " of " + strconv.Itoa(len(content)) + " bytes are left out]"
}

// overflow returns the failure that names what does not fit, and how much of the window is kept free.
func overflow(shared *transcript.View, from int, plan window.Plan, p *window.Problem) *Error {
	what, size := "the prompt", p.Fixed
	if i := from + plan.TooBig; plan.TooBig >= 0 && i < len(shared.Messages) {
		what = fmt.Sprintf("the turn of %s in round %d", shared.Messages[i].Speaker, shared.Rounds[i])
		size += p.Size(plan.TooBig, plan.TooBig+1)
	}
	limit, _ := p.Limit()
	return &Error{Kind: provider.KindContextOverflow, Err: fmt.Errorf(
		"%s alone does not fit the window of %d tokens: it needs %d, and reserve and maxTokens keep %d free",
		what, p.Window, size, p.Window-limit)}
}

// messages returns all messages that are sent before the instruction, or with it if tools were used.
func (p *prepared) messages() []provider.Message {
	if len(p.talk) > 0 {
		return slices.Concat(p.conversation(), p.talk)
	}
	return p.conversation()
}

// conversation returns the messages of the view that are sent. It copies them only if the plan left a gap.
func (p *prepared) conversation() []provider.Message {
	if p.view == nil || p.call.View.None {
		return nil
	}
	if p.cut != nil {
		return []provider.Message{*p.cut}
	}
	rest := p.view.Messages[p.from:p.upto:p.upto]
	if p.call.View.Swapped {
		rest = p.view.Swapped(rest, p.from)
	}
	if p.head == 0 && p.summary == nil {
		return rest
	}
	out := make([]provider.Message, 0, p.head+1+len(rest))
	out = append(out, p.view.Messages[p.start:p.start+p.head]...)
	if p.summary != nil {
		out = append(out, *p.summary)
	}
	return append(out, rest...)
}
