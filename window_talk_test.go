package debate_test

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// talk is a debate that is long for the windows of those who take part.
type talk struct {
	config debate.Config
	engine *debate.Engine
	p      *scripted.Provider

	// said is how long a turn is, in tokens, about.
	said func(req *provider.Request) int
	// usage is what the vendor reports of a request.
	usage func(req *provider.Request, reply string) provider.Usage
	// summary answers the summarizer.
	summary func(req *provider.Request) scripted.Reply

	mu     sync.Mutex
	counts map[string]int // tokens of texts, each counted once
}

const replyTokens = 400 // the most that a reply in a talk may have

// newTalk is a talk of two debaters and a judge, in which the debaters have a window of so many tokens,
// and whose vendor reports no usage.
func newTalk(rounds, tokens int) *talk {
	config := twoDebaters()
	config.Format, config.Rounds, config.MaxTokens, config.Reserve = format.RoundLimited, rounds, replyTokens, replyTokens
	config.Judging.When = debate.AtEnd
	config.Unattended = true
	engine, p := engineFor(config)
	d := &talk{
		config: config, engine: engine, p: p, counts: make(map[string]int),
		said:    func(*provider.Request) int { return 300 },
		usage:   func(*provider.Request, string) provider.Usage { return provider.Usage{} },
		summary: func(*provider.Request) scripted.Reply { return scripted.Reply{Text: minutes(60)} },
	}
	d.windows(tokens, 0)
	engine.Models["test/summarizer"] = debate.Model{Priced: true, Input: 500_000, Output: 500_000}
	rest := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		var r scripted.Reply
		switch {
		case isSummary(req):
			r = d.summary(req)
		case req.Schema == nil:
			r.Text = speechOf(req.ID, d.said(req))
		default:
			r.Text = rest(req).Text
		}
		return r
	}
	engine.Providers["test"] = providerFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		response, err := p.Generate(ctx, req, emit)
		if err == nil {
			response.Usage = d.usage(req, response.Text) // a script would make one up
		}
		return response, err
	})
	return d
}

// windows sets the windows of the debaters and of the judge.
func (d *talk) windows(debaters, judge int) {
	for name, size := range map[string]int{"test/debater": debaters, "test/judge": judge} {
		row := d.engine.Models[name]
		row.Context = size
		d.engine.Models[name] = row
	}
}

// summarizes gives the talk a summarizer.
func (d *talk) summarizes(auto bool) *talk {
	d.config.Summarizer, d.config.AutoSummary = "test/summarizer", auto
	return d
}

func isSummary(req *provider.Request) bool { return req.Self == "summarizer" }

// speechOf is what is said in a call: about so many tokens, that are the call's own.
func speechOf(id string, tokens int) string {
	_, call, _ := strings.Cut(id, "/")
	call, _, _ = strings.Cut(call, "/")
	return call + minutes(tokens-8)
}

// minutes is a text of about so many tokens, each a word.
func minutes(tokens int) string { return strings.Repeat(" word", max(1, tokens)) }

// truthful is the usage that an honest vendor with OpenAI's vocabulary reports.
func (d *talk) truthful(req *provider.Request, reply string) provider.Usage {
	return provider.Usage{Input: d.sent(req), Output: d.count(req.Model, reply)}
}

// sent are the tokens of a request as OpenAI counts them: its texts, with a few around each.
func (d *talk) sent(req *provider.Request) int {
	const around = 4
	n := around
	for _, text := range req.Chat() {
		n += d.count(req.Model, text) + around
	}
	if req.Schema != nil {
		n += d.count(req.Model, string(req.Schema.JSON))
	}
	return n
}

func (d *talk) count(model, text string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, known := d.counts[text]
	if !known {
		n = token.ForModel(model).Count(text)
		d.counts[text] = n
	}
	return n
}

// turnsOf yields the requests of the debaters' turns, or of one of them.
func (d *talk) turnsOf(names ...string) []provider.Request {
	return slices.DeleteFunc(d.p.Requests(), func(r provider.Request) bool {
		return r.Schema != nil || isSummary(&r) || len(names) > 0 && !slices.Contains(names, r.Self)
	})
}

// summaries yields the requests to the summarizer.
func (d *talk) summaries() []provider.Request {
	return slices.DeleteFunc(d.p.Requests(), func(r provider.Request) bool { return !isSummary(&r) })
}

// heard yields which calls' turns a request holds, in order; the summary is "summary".
func heard(req *provider.Request) []string {
	var out []string
	for i := range req.Messages {
		if strings.HasPrefix(req.Messages[i].Speaker, "(summary") {
			out = append(out, "summary")
			continue
		}
		call, _, _ := strings.Cut(req.Messages[i].Text, " ")
		out = append(out, call)
	}
	return out
}

// kindsOf yields the warnings about windows, as "context-80 Ada".
func kindsOf(r *debate.Record) []string {
	var out []string
	for _, w := range r.Warnings {
		if w.By != "" {
			out = append(out, string(w.Kind)+" "+w.By)
		}
	}
	return out
}

// oldest is the first call that a debate of two hears.
const oldest = "r1.opening.Ada"
