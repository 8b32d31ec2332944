package flow

import (
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/internal/fieldname"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
)

// span is what a summary covers: the messages of a view up to upto, exclusive, that the former summary for the same
// calls does not cover.
type span struct {
	view *transcript.View
	upto int
	only string // see Intent
}

// NoSummarizer is the value of Settings.Summarizer with which no model summarises, not even for its own calls.
const NoSummarizer = "none"

// summarizing returns the model that makes the summaries that a call reads, and whose calls alone read them: "" if all
// do. If no model makes any, the model is "".
func (r *Record) summarizing(call *Call) (model, only string) {
	switch own := call.View.Summarizer; {
	case r.settings.Summarizer == NoSummarizer:
		return "", ""
	case r.settings.Summarizer != "":
		return r.settings.Summarizer, ""
	default:
		return own, own
	}
}

// summarizerOptions returns the options of the requests for the summaries that a call reads. only is what summarizing has
// returned: a call's own model summarises with the options of the call.
func (r *Record) summarizerOptions(call *Call, only string) *provider.Options {
	if only == "" {
		return r.settings.SummarizerOptions
	}
	return call.Options
}

// summaryTitle is the speaker of a summary, as models read it.
const summaryTitle = "(summary of what was said before)"

const summaryTemperature = 0.3

// wordsMark stands for the limit in words in the instruction to summarise.
const wordsMark = "[[words]]"

// tokensInWord is the number of tokens that a word counts as; see package format.
const tokensInWord = 2

// summaryCall returns the call for the summary of a part of a view. Its ID names the view, the calls that read the
// summary, and the covered messages, so that two calls that need the same summary share it.
func (r *Record) summaryCall(s span, model string, options *provider.Options, tokens int) *Call {
	id := "summary."
	if s.view.Key != "" {
		id += s.view.Key + "."
	}
	if s.only != "" {
		id += strings.ReplaceAll(s.only, "/", ".") + "." // an ID has no slash
	}
	content, from := "summary", 0
	if former := s.view.Summary(s.only); former != nil {
		content, from = "summary.former", former.Upto
	}
	return &Call{
		ID: id + strconv.Itoa(from) + "-" + strconv.Itoa(s.upto), Kind: KindSummary, By: fieldname.Summarizer, Model: model, Round: r.Round,
		System: r.Text("system." + fieldname.Summarizer),
		Last: func(r *Record) string {
			return strings.ReplaceAll(r.Text(content), wordsMark, strconv.Itoa(tokens/tokensInWord))
		},
		MaxTokens: tokens, Temperature: new(summaryTemperature), Options: options, Timeout: r.settings.TurnTimeout,
		OnFail: OnFail{Skip: RuleToo, Instead: []Kind{provider.KindContextOverflow}}, span: &s,
	}
}

// needs returns the call for a summary that a request needs. For a call that claims all of its view, it leaves two thirds
// of the room. If only calls of this model read it, it covers whole rounds as far as possible. What it keeps of markers is part of its
// tokens.
func (r *Record) needs(ready *prepared, upto int, p *window.Problem) *Call {
	model, only := r.summarizing(ready.call)
	s, options, tokens := span{ready.view, upto, only}, r.summarizerOptions(ready.call, only), r.summaryTokens()
	if ready.call.View.All {
		tokens = r.digestTokens(p)
	}
	if only != "" {
		last := s.view.Rounds[upto-1]
		switch first, end := s.view.Since(last), s.view.Since(last+1); {
		case end == upto:
		case first > max(p.Covered, p.Opening):
			s.upto = first
		case end <= p.Len()-max(p.Keep, 1):
			s.upto = end
		}
	}
	const half = 2 // the other is the summary's
	tokens -= len(r.marked(s.view, s.upto, tokens/half)) / markBytes
	call := r.summaryCall(s, model, options, tokens)
	if only != "" {
		_, call.Fallbacks = r.modelsOf(ready.call)
	}
	return call
}

// digestTokens bounds the tokens of a summary by a third of the room that a request has.
func (r *Record) digestTokens(p *window.Problem) int {
	const part = 3
	limit, _ := p.Limit()
	return min(r.summaryTokens(), max(minCut, (limit-p.Fixed)/part))
}

// summaryTokens bounds the tokens of a summary: a fifth of the smallest window of the models that may read it, and
// no more than a reply may have.
func (r *Record) summaryTokens() int {
	most := r.settings.MaxTokens
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
	from := 0
	if former := s.view.Summary(s.only); former != nil {
		from, ready.summary = former.Upto, &former.Made
	}
	ready.view, ready.start, ready.from, ready.upto = s.view, 0, from, min(s.upto, len(s.view.Messages))
	fixed := ready.fixed()
	if ready.summary != nil {
		fixed += transcript.Bound(ready.summary)
	}
	intent.View, intent.Upto, intent.Only = s.view.Key, ready.upto, s.only
	bound := fixed + s.view.Size(from, ready.upto)
	problem := r.room(intent.Model, model, intent.Tokens)
	limit, limited := problem.Limit()
	if !limited || bound <= limit {
		return bound, nil
	}
	_, name, _ := SplitModel(intent.Model)
	counter := token.ForModel(name)
	sums := s.view.Count(counter)
	counted := c.counted(counter, ready.call.System) + counter.Count(ready.last) + 3*transcript.Framing + ready.papers.bound
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
func (c *Core) summarized(intent *Intent, spend *Spend, s Result) *Summarized {
	out := &Summarized{
		Spend: *spend, View: intent.View, Only: intent.Only, Upto: intent.Upto, Text: text.Readable(s.Text),
		Cut: s.Stop == provider.StopLength,
	}
	out.After = len(out.Text)
	if v := c.record.viewOf(intent.View); v != nil {
		from := 0
		if former := v.Summary(intent.Only); former != nil {
			from, out.Before = former.Upto, len(former.Message.Text)
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
	if v == nil {
		return
	}
	content := s.Text
	if v.Labels != nil {
		content = v.Labels.Hide(content)
	}
	if s.Cut {
		content += "\n[… the summary was longer, and is cut here]"
	}
	made := provider.Message{Speaker: summaryTitle, Text: text.Escape(content, r.fence), Fence: r.fence}
	read := made
	if call := r.calls[s.Call]; call != nil && call.intent != nil {
		read.Text = text.Escape(content+r.marked(v, s.Upto, visibleTokens(call.intent)), r.fence)
	}
	v.Summarize(s.Only, &transcript.Summary{Message: read, Made: made, Upto: s.Upto})
}

// mostMarked bounds what a summary keeps of markers, in bytes, and markBytes is how many of them count as a token: those of English.
const mostMarked, markBytes = 2000, 4

// marked tells what only markers say of the first messages of a view, in at most so many tokens: that one is a note, that a quotation does
// not stand so in a document, that a model stood in. Whoever reads a summary reads no marker. "": there is nothing to tell, or no room.
func (r *Record) marked(v *transcript.View, upto, tokens int) string {
	const head, rest = "\n\nThe program adds what it has marked in these turns:", "\n- …"
	out, room := head, min(mostMarked, tokens*markBytes)
	for i := range min(upto, len(v.Messages)) {
		m := &v.Messages[i]
		line := "\n- " + m.Speaker + ": " + m.Label
		if m.Label == "" || !r.remarkable(v.Turns[i]) || strings.Contains(out+"\n", line+"\n") {
			continue
		}
		if len(out)+len(line)+len(rest) > room {
			out += rest
			break
		}
		out += line
	}
	if out == head || len(out) > room {
		return ""
	}
	return out
}

// remarkable reports whether the marker of a message says what nobody may miss: see marked. n is that of transcript.View.Turns.
func (r *Record) remarkable(n int) bool {
	if n < 0 { // a note
		return true
	}
	t := r.Turns[n]
	return t.StandIn || slices.ContainsFunc(t.Quotations, func(q Quotation) bool { return q.Status != QuoteVerified || q.Changed != "" })
}

// summaryTexts renders the summarizer's prompts, which every flow has: an amendment may name a summarizer later.
func summaryTexts(texts map[string]string, s Setup, views Views) error {
	hidden := s.Settings.Topic
	if len(views.Labels) > 0 {
		l := text.Labels{Names: s.Settings.Participants, Labels: views.Labels}
		hidden = l.Hide(hidden)
	}
	var err error
	told := prompt.Summarizer{Topic: hidden, Language: s.Settings.Language, Fence: s.Fence}
	if texts["system."+fieldname.Summarizer], err = s.Prompts.Summarizer(told); err != nil {
		return err
	}
	if texts["summary"], err = s.Prompts.Summary(prompt.Summary{Words: wordsMark}); err != nil {
		return err
	}
	texts["summary.former"], err = s.Prompts.Summary(prompt.Summary{Words: wordsMark, Former: true})
	return err
}
