package flow

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/provider"
)

// What a call reads has to fit the window of its model. The context manager of the conversation decides which messages are sent; here
// it is told the sizes, and its plan is carried out. The files of the group:
//
//   - window_count counts, only where it may matter, and warns when a window fills.
//   - window_size holds what overflows have shown about windows and tokens.
//   - window_summary has the older messages summarised.
//   - window_file reads files: images, PDFs and others.

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
	problem := r.room(intent.Model, model, fullCap(intent))
	if limit, limited := problem.Limit(); !limited || int64(bound)*100 < int64(limit)*window.NearPercent {
		if manager, _ := c.manager(ready.call); manager == nil || isLazy(manager) {
			return bound, nil
		}
	}
	return c.manage(ready, intent, problem)
}

// isLazy reports whether a manager sends everything that is far from the limit.
func isLazy(m window.Manager) bool {
	_, lazy := m.(window.Lazy)
	return lazy
}

// manage lets the conversation's context manager decide what is sent.
func (c *Core) manage(ready *prepared, intent *Intent, problem window.Problem) (bound int, failure *Error) {
	r, shared := c.record, ready.view
	manager, failure := c.manager(ready.call)
	if failure != nil {
		return 0, failure
	}
	c.pose(&problem, ready, intent)
	ready.limit = &problem
	plan, ok := c.planned(manager, ready, problem)
	if !ok {
		err := fmt.Errorf("context manager %q has made an invalid plan", r.settings.Context)
		return 0, &Error{Kind: provider.KindValidation, Field: "context", Err: err}
	}
	if wish := r.wish(ready, plan, &problem); wish.To > wish.From {
		if call := r.needs(ready, wish.To, &problem); r.summable(call.ID) {
			ready.needs = call
			return ready.fixed() + shared.Size(ready.start, ready.upto), nil
		}
		problem.Summarizer = false
		plan = manager.Plan(problem)
	}
	intent.Input = plan.Used
	if !plan.Fits {
		bound, failure = c.squeeze(ready, intent, &problem, plan)
	} else {
		bound = ready.applyPlan(plan, r)
		if ready.left == 0 && problem.Len() > 0 {
			intent.Input -= noteTokens // there is no note
		}
	}
	if ready.call.View.All && len(ready.unread) > 0 {
		intent.View, intent.Unread = shared.Key, ready.unread
	}
	return bound, failure
}

// summable reports whether a summary may still be made: it is neither there nor left out, nor is it too long for its model.
func (r *Record) summable(summary string) bool {
	call := r.calls[summary]
	return call == nil || call.status != callDone && call.status != callSkipped && (call.status != callFailed || !call.trouble.instead)
}

// planned asks a context manager. If a summary would be for calls of this model alone, it is requested only if the
// request does not fit without it. ok: the plan can be carried out.
func (c *Core) planned(manager window.Manager, ready *prepared, p window.Problem) (plan window.Plan, ok bool) {
	sound := func(plan window.Plan) bool {
		return plan.Head >= 0 && plan.Head <= plan.From && plan.From <= p.Len() && plan.Summarize.To <= p.Len() &&
			(!plan.Summary || p.Covered > 0)
	}
	if _, only := c.record.summarizing(ready.call); only != "" && p.Summarizer {
		without := p
		without.Summarizer = false
		plan = manager.Plan(without)
		if !sound(plan) || plan.Fits && !lacks(plan, &p) {
			return plan, sound(plan)
		}
	}
	plan = manager.Plan(p)
	return plan, sound(plan)
}

// lacks reports whether a plan sends some message neither whole nor in a summary.
func lacks(plan window.Plan, p *window.Problem) bool {
	if plan.Summary {
		return plan.From > max(plan.Head, p.Covered)
	}
	return plan.From > plan.Head
}

// wish returns what to summarise before a request: what the context manager requests. It may request nothing because
// the present summary, which was made for more room, has no place. For a call that claims all of its view, a shorter one
// is made then.
func (r *Record) wish(ready *prepared, plan window.Plan, p *window.Problem) window.Range {
	last := p.Len() - max(p.Keep, 1)
	switch {
	case !p.Summarizer:
		return window.Range{}
	case plan.Summarize.To > plan.Summarize.From || !ready.call.View.All || !plan.Fits:
		return plan.Summarize
	case p.Covered < last && r.digestTokens(p) < p.Summary && lacks(plan, p):
		return window.Range{From: p.Covered, To: last}
	default:
		return window.Range{}
	}
}

// fixed bounds the tokens that are sent in any case.
func (p *prepared) fixed() int {
	fixed := len(p.call.System) + len(p.last) + 3*transcript.Framing + p.papers.bound
	if p.wire != nil {
		fixed += len(p.wire.JSON)
	}
	return fixed + p.talkBound()
}

// applyPlan applies a plan, and returns the bound of the tokens that it sends.
func (p *prepared) applyPlan(plan window.Plan, r *Record) int {
	p.head, p.from = plan.Head, p.start+plan.From
	covered := p.start + plan.Head
	if _, only := r.summarizing(p.call); plan.Summary {
		if s := p.view.Summary(only); s != nil {
			p.summary, covered = &s.Message, max(covered, s.Upto)
		}
	}
	p.leaveOut(Gap{covered, p.from})
	bound := p.fixed() + p.view.Size(p.start, p.start+plan.Head) + p.view.Size(p.from, p.upto)
	if p.summary != nil {
		bound += transcript.Bound(p.summary)
	}
	return bound
}

// leaveOut notes which messages are sent neither whole nor in a summary, and says so to the reader.
func (p *prepared) leaveOut(gap Gap) {
	if p.left = max(0, gap.To-gap.From); p.left == 0 {
		return
	}
	p.unread = []Gap{gap}
	rounds := fmt.Sprintf("round %d", p.view.Rounds[gap.From])
	if last := p.view.Rounds[gap.To-1]; last != p.view.Rounds[gap.From] {
		rounds = fmt.Sprintf("rounds %d to %d", p.view.Rounds[gap.From], last)
	}
	what := "1 contribution of " + rounds + " is"
	if p.left > 1 {
		what = fmt.Sprintf("%d contributions of %s are", p.left, rounds)
	}
	note := "\n\nNot all of the conversation fits what you can read: " + what + " left out above."
	var lost []provider.Part
	for i := gap.From; i < gap.To; i++ {
		lost = append(lost, p.view.Messages[i].Parts...)
	}
	if len(lost) > 0 {
		note += " So are their files: " + namesOfParts(lost) + "."
	}
	if len(p.talk) > 0 { // it begins with the instruction
		p.talk[0].Text += note
	} else {
		p.last += note
	}
}

// noteTokens bounds the tokens of the note about what is left out.
const noteTokens = 60

// manager returns the context manager for a call: the config's, or the one that a person has chosen since for its
// actor. A call that claims to rest on all of its view has summaries made, where the config's strategy would not.
func (c *Core) manager(call *Call) (window.Manager, *Error) {
	name := c.record.settings.Context
	if call.View.All && (name == ContextTruncate || name == ContextSliding) {
		name = DefaultContext
	}
	if chosen, ok := c.record.reductionOf(call.By); ok {
		switch {
		case chosen.option == OptionSummarize:
			name = ContextSummarize
		case name == ContextSummarize || name == DefaultContext:
			name = ContextSliding
		}
	}
	if manager := c.plans[name]; manager != nil {
		return manager, nil
	}
	return nil, &Error{Kind: provider.KindValidation, Field: "context", Err: c.noManager(name)}
}

// noManager returns the error about a context manager that is not registered.
func (c *Core) noManager(name string) error {
	return Unregistered("context manager", "Engine.Contexts", name, slices.Collect(maps.Keys(c.plans))...)
}

// pose counts what is to be sent. If counts were too low compared with what vendors reported, it makes the window
// smaller by the same ratio.
func (c *Core) pose(p *window.Problem, ready *prepared, intent *Intent) {
	r := c.record
	_, name, _ := SplitModel(intent.Model)
	counter := token.ForModel(name)
	p.Sums = ready.view.Count(counter)[ready.start:]
	p.Fixed = c.counted(counter, ready.call.System) + counter.Count(ready.last) + 3*transcript.Framing
	if p.Len() > 0 {
		p.Fixed += noteTokens
	}
	if len(r.handed) > 0 {
		p.Fixed += maxNamed // the note names the files that are left out
	}
	if ready.wire != nil {
		p.Fixed += c.counted(counter, string(ready.wire.JSON))
	}
	p.Fixed += ready.talkCount(counter) + ready.papers.bound
	if limit, _ := p.Limit(); limit > 0 {
		p.Window += int(float64(limit)/r.ratio(intent.Model)) - limit
	}
	if from := ready.call.View.Whole; from > 0 {
		p.Keep = ready.upto - ready.view.Since(from)
	}
	if ready.start > 0 {
		return // such a call cannot use a summary
	}
	model, only := r.summarizing(ready.call)
	p.Opening = ready.view.Opening
	p.Summarizer = model != "" && !ready.slide && !slices.Contains(r.unsummed, only)
	p.Auto = r.settings.AutoSummary
	if s := ready.view.Summary(only); s != nil {
		p.Covered = s.Upto
		p.Summary = transcript.Count(&s.Message, counter)
	}
}

// squeeze deals with a conversation of which not even the newest message fits. It cuts that message, and marks the
// cut, if the config or a person allows that. Otherwise it returns a failure.
func (c *Core) squeeze(ready *prepared, intent *Intent, p *window.Problem, plan window.Plan) (int, *Error) {
	shared, n := ready.view, p.Len()
	chosen, _ := c.record.reductionOf(intent.By)
	limit, _ := p.Limit()
	room := limit - p.Fixed - 2*transcript.Framing
	if plan.TooBig < 0 || n == 0 || room < minCut || !c.record.settings.TruncateTurns && chosen.option != OptionTruncate {
		return 0, overflow(shared, ready.start, plan, p)
	}
	newest := &shared.Messages[len(shared.Messages)-1]
	size := p.Size(n-1, n) - shared.Load(len(shared.Messages)-1)
	lost := ""
	if len(newest.Parts) > 0 {
		lost = "\n[… left out here: " + namesOfParts(newest.Parts) + "]"
		room = max(minCut, room-len(lost))
	}
	// Keep by the message's own mean of bytes per token, less a tenth, and never more bytes than it has.
	keep := min(len(newest.Text), int(float64(room)*float64(len(newest.Text))/float64(max(1, size))*0.9))
	_, name, _ := SplitModel(intent.Model)
	counter := token.ForModel(name)
	content := cutAt(newest.Text, keep)
	framing := transcript.Bound(newest) - len(newest.Text) + transcript.Framing
	for counter.Count(content)+framing > room && keep > minCut {
		keep = keep * 3 / 4
		content = cutAt(newest.Text, keep)
	}
	short := *newest
	short.Text, short.Parts = content+lost, nil
	ready.cut = &short
	ready.head, ready.from = 0, len(shared.Messages)-1
	ready.leaveOut(Gap{ready.start, ready.from})
	ready.left, ready.unread = n-1, []Gap{{ready.start, ready.upto}} // a part is not read either
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
	if len(p.former) > 0 || len(p.talk) > 0 || len(p.papers.messages) > 0 {
		return slices.Concat(p.papers.messages, p.conversation(), p.former, p.talk)
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
	head := p.view.Messages[p.start : p.start+p.head]
	if p.call.View.Swapped {
		head = p.view.Swapped(head, p.start)
	}
	out = append(out, head...)
	if p.summary != nil {
		out = append(out, *p.summary)
	}
	return append(out, rest...)
}
