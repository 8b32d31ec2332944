package flow

import (
	"errors"
	"sort"
	"strconv"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// span is what a summary covers: the messages of a view up to upto, exclusive. They begin after the opening, or
// after the former summary.
type span struct {
	view *transcript.View
	upto int
}

// summarizer is the name under which summaries are accounted.
const summarizer = "summarizer"

// summaryTitle is the speaker of a summary, as models read it.
const summaryTitle = "(summary of what was said before)"

const summaryTemperature = 0.3

// tokensInWord is the number of tokens that a word counts as; see package format.
const tokensInWord = 2

// summaryCall returns the call for the summary of a view up to a message. Its ID names the view and the covered
// messages, so that two calls that need the same summary share it.
func (r *Record) summaryCall(v *transcript.View, upto int) *Call {
	id := "summary."
	if v.Key != "" {
		id += v.Key + "."
	}
	content, from := "summary", window.Opening
	if v.Summary != nil {
		content, from = "summary.former", v.Summary.Upto
	}
	return &Call{
		ID: id + strconv.Itoa(from) + "-" + strconv.Itoa(upto), Kind: KindSummary, By: summarizer, Model: r.terms.Summarizer, Round: r.Round,
		System: r.Text("system." + summarizer), Last: func(r *Record) string { return r.Text(content) },
		MaxTokens: r.summaryTokens(), Temperature: new(summaryTemperature), Timeout: r.terms.TurnTimeout,
		OnFail: OnFail{Skip: true}, span: &span{v, upto},
	}
}

// summaryTokens bounds the tokens of a summary: a fifth of the smallest window of the models that may read it, and
// no more than a reply may have.
func (r *Record) summaryTokens() int {
	most := r.terms.MaxTokens
	for i := range r.models {
		if size := r.window(r.models[i].name, r.models[i].Model); size > 0 {
			most = min(most, max(minCut, size*window.SummaryPercent/100))
		}
	}
	return most
}

// fitSpan decides what a summarizer reads: the former summary, and the messages that the new one covers. If they do
// not fit its window, the summary covers fewer messages.
func (c *Core) fitSpan(ready *prepared, intent *Intent, model Model) (int, *Error) {
	r, s := c.record, ready.call.span
	from := window.Opening
	if former := s.view.Summary; former != nil {
		from, ready.summary = former.Upto, &former.Message
	}
	ready.view, ready.start, ready.from, ready.upto = s.view, 0, from, min(s.upto, len(s.view.Messages))
	fixed := ready.fixed()
	if ready.summary != nil {
		fixed += transcript.Bound(ready.summary)
	}
	intent.View, intent.Upto = s.view.Key, ready.upto
	bound := fixed + s.view.Size(from, ready.upto)
	problem := window.Problem{Window: r.window(intent.Model, model), Reserve: r.terms.Reserve, Output: intent.Tokens}
	limit, limited := problem.Limit()
	if !limited || bound <= limit {
		return bound, nil
	}
	_, name, _ := SplitModel(intent.Model)
	counter := token.ForModel(name)
	sums := s.view.Count(counter)
	counted := c.counted(counter, ready.call.System) + counter.Count(ready.last) + 3*transcript.Framing
	if ready.summary != nil {
		counted += transcript.Count(ready.summary, counter)
	}
	room := int(float64(limit)/r.ratio(intent.Model)) - counted
	count := sort.Search(ready.upto-from, func(n int) bool { return sums[from+n+1]-sums[from] > room })
	if count == 0 {
		return bound, &Error{Kind: provider.KindContextOverflow, Err: errors.New("a single message is too long for the summarizer's window")}
	}
	ready.upto = from + count
	intent.Upto, intent.Input = ready.upto, counted+sums[ready.upto]-sums[from]
	return fixed + s.view.Size(from, ready.upto), nil
}

// summarized makes the event of a summary.
func (c *Core) summarized(intent *Intent, spend Spend, s Result) *Summarized {
	out := &Summarized{Spend: spend, View: intent.View, Upto: intent.Upto, Text: text.Readable(s.Text), Cut: s.Stop == provider.StopLength}
	out.After = len(out.Text)
	if v := c.record.viewOf(intent.View); v != nil {
		from := window.Opening
		if v.Summary != nil {
			from, out.Before = v.Summary.Upto, len(v.Summary.Message.Text)
		}
		for i := from; i < min(intent.Upto, len(v.Messages)); i++ {
			out.Before += len(v.Messages[i].Text)
		}
	}
	return out
}

// foldSummary replaces messages by a summary. It ignores a summary that covers no more than the present one.
func (r *Record) foldSummary(s *Summarized) {
	r.Summaries = append(r.Summaries, s)
	v := r.viewOf(s.View)
	if v == nil || v.Summary != nil && v.Summary.Upto >= s.Upto {
		return
	}
	content := s.Text
	if v.Labels != nil {
		content = v.Labels.Hide(content)
	}
	v.Summary = &transcript.Summary{
		Message: provider.Message{Speaker: summaryTitle, Text: text.Escape(content, r.fence), Fence: r.fence}, Upto: s.Upto,
	}
}

// summaryTexts renders the summarizer's prompts, which every flow has.
func summaryTexts(texts map[string]string, s Setup, views Views) error {
	if s.Terms.Summarizer == "" {
		return nil
	}
	hidden := s.Terms.Topic
	if len(views.Labels) > 0 {
		l := text.Labels{Names: s.Terms.Participants, Labels: views.Labels}
		hidden = l.Hide(hidden)
	}
	var err error
	if texts["system."+summarizer], err = s.Prompts.Summarizer(prompt.Summarizer{Topic: hidden, Fence: s.Fence}); err != nil {
		return err
	}
	words := s.Terms.MaxTokens / tokensInWord
	if texts["summary"], err = s.Prompts.Summary(prompt.Summary{Words: words}); err != nil {
		return err
	}
	texts["summary.former"], err = s.Prompts.Summary(prompt.Summary{Words: words, Former: true})
	return err
}
