package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Talk is a debate that is long for the windows of those who take part.
type Talk struct {
	Config   debate.Config
	Engine   *debate.Engine
	Provider *scripted.Provider

	// said is how long a turn is, in tokens, about.
	Said func(req *provider.Request) int
	// usage is what the vendor reports of a request.
	Usage func(req *provider.Request, reply string) provider.Usage
	// summary answers the summarizer.
	Summary func(req *provider.Request) scripted.Reply

	mu     sync.Mutex
	counts map[string]int // tokens of texts, each counted once
}

// Thinking makes the replies whose requests have a part of an id end at the cap on their tokens, unless it is as large as
// what they need.
func (d *Talk) Thinking(part string, need int, broken scripted.Reply) {
	reply := d.Provider.Reply
	d.Provider.Reply = func(req *provider.Request) scripted.Reply {
		if strings.Contains(req.ID, part) && req.MaxTokens < need {
			broken.Stop = provider.StopLength
			return broken
		}
		return reply(req)
	}
}

// Caps yields the caps of the requests for a call.
func (d *Talk) Caps(call string) []int {
	var out []int
	for _, req := range d.Provider.Requests() {
		if strings.Contains(req.ID, "/"+call) {
			out = append(out, req.MaxTokens)
		}
	}
	return out
}

// Judges yields the requests of the judges.
func (d *Talk) Judges() []provider.Request {
	return slices.DeleteFunc(d.Provider.Requests(), func(r provider.Request) bool { return r.Schema == nil })
}

// Strict makes the vendor refuse each request that, with the reply it may have, is larger than a window that the engine
// does not know, and name a size; 0: none. strict yields how often the vendor has refused.
func (d *Talk) Strict(window, named int) *atomic.Int64 {
	refused := new(atomic.Int64)
	inner := d.Engine.Providers["test"]
	d.Windows(0, 0)
	d.Engine.Providers["test"] = ProviderFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		if d.Sent(req)+req.MaxTokens > window {
			refused.Add(1)
			return nil, &provider.Error{Kind: provider.KindContextOverflow, Status: 400, Message: "too many tokens", Window: named}
		}
		return inner.Generate(ctx, req, emit)
	})
	return refused
}

// Bursting makes the vendor refuse the debaters' requests of more than so many tokens, and yields how
// often it has.
func (d *Talk) Bursting(tokens int) *atomic.Int64 {
	refused := new(atomic.Int64)
	reply := d.Provider.Reply
	d.Provider.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil && !IsSummary(req) && d.Sent(req) > tokens {
			refused.Add(1)
			return scripted.Reply{Err: ErrFull}
		}
		return reply(req)
	}
	return refused
}

// Drops counts for how many of the requests the beginning is not all of the one before of its speaker,
// and how many of these have what that one had left out.
func (d *Talk) Drops(names ...string) (drops, back, all int) {
	for _, name := range names {
		last, least := "", 0
		for _, req := range d.TurnsOf(name) {
			now := sequence(&req)
			if !strings.HasPrefix(now, last) {
				drops++
			}
			second := 0
			if got := slices.DeleteFunc(Heard(&req), func(call string) bool { return call == "summary" }); len(got) > 1 {
				_, _ = fmt.Sscanf(got[1], "r%d.", &second)
			}
			if second < least {
				back++
			}
			last, least, all = now, second, all+1
		}
	}
	return drops, back, all
}

// Windows sets the windows of the debaters and of the judge.
func (d *Talk) Windows(debaters, judge int) {
	for name, size := range map[string]int{"test/debater": debaters, "test/judge": judge} {
		row := d.Engine.Models[name]
		row.Window = size
		d.Engine.Models[name] = row
	}
}

// Summarizes gives the talk a summarizer.
func (d *Talk) Summarizes(auto bool) *Talk {
	d.Config.Summarizer, d.Config.AutoSummary = "test/summarizer", auto
	return d
}

// Truthful is the usage that an honest vendor with OpenAI's vocabulary reports.
func (d *Talk) Truthful(req *provider.Request, reply string) provider.Usage {
	return provider.Usage{Input: d.Sent(req), Output: d.Count(req.Model, reply)}
}

// Sent are the tokens of a request as OpenAI counts them: its texts, with a few around each.
func (d *Talk) Sent(req *provider.Request) int {
	const around = 4
	n := around
	for _, text := range req.Chat() {
		n += d.Count(req.Model, text) + around
	}
	if req.Schema != nil {
		n += d.Count(req.Model, string(req.Schema.JSON))
	}
	return n
}

// Count is how many tokens a text has for a model.
func (d *Talk) Count(model, text string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, known := d.counts[text]
	if !known {
		n = token.ForModel(model).Count(text)
		d.counts[text] = n
	}
	return n
}

// TurnsOf yields the requests of the debaters' turns, or of one of them.
func (d *Talk) TurnsOf(names ...string) []provider.Request {
	return slices.DeleteFunc(d.Provider.Requests(), func(r provider.Request) bool {
		return r.Schema != nil || IsSummary(&r) || len(names) > 0 && !slices.Contains(names, r.Self)
	})
}

// Summaries yields the requests to the summarizer.
func (d *Talk) Summaries() []provider.Request {
	return slices.DeleteFunc(d.Provider.Requests(), func(r provider.Request) bool { return !IsSummary(&r) })
}

// Share is how full a request makes a window less its reserve, in percent, as the engine counts: with
// a bound for what a vendor adds around each message.
func (d *Talk) Share(req *provider.Request, tokens int) int {
	const each = 80
	return 100 * (d.Sent(req) + each*len(req.Messages)) / (tokens - ReplyTokens)
}

// ReplyTokens caps the replies of a Talk.
const ReplyTokens = 400 // the most that a reply in a talk may have

// Oldest is the first call that a debate of two hears.
const Oldest = "r1.opening.Ada"

// sequence yields what a vendor's cache sees of a request: all but its last message.
func sequence(req *provider.Request) string {
	var b strings.Builder
	kept := *req
	kept.Last = provider.Message{}
	for role, text := range kept.Chat() {
		b.WriteString(string(role) + "\x00" + text + "\x00")
	}
	return b.String()
}

// NewTalk is a talk of two debaters and a judge, in which the debaters have a window of so many tokens,
// and whose vendor reports no usage.
func NewTalk(rounds, tokens int) *Talk {
	config := TwoDebaters()
	config.Format, config.Rounds, config.MaxTokens, config.Reserve = format.RoundLimited, rounds, ReplyTokens, ReplyTokens
	config.Judging.When = debate.AtEnd
	config.Unattended = true
	engine, p := Engine(config)
	d := &Talk{
		Config: config, Engine: engine, Provider: p, counts: make(map[string]int),
		Said:    func(*provider.Request) int { return 300 },
		Usage:   func(*provider.Request, string) provider.Usage { return provider.Usage{} },
		Summary: func(*provider.Request) scripted.Reply { return scripted.Reply{Text: Words(60)} },
	}
	d.Windows(tokens, 0)
	engine.Models["test/summarizer"] = debate.Model{Priced: true, Input: 500_000, Output: 500_000}
	rest := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		var r scripted.Reply
		switch {
		case IsSummary(req):
			r = d.Summary(req)
		case req.Schema == nil:
			r.Text = SpeechOf(req.ID, d.Said(req))
		default:
			r.Text = rest(req).Text
		}
		return r
	}
	engine.Providers["test"] = ProviderFunc(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		response, err := p.Generate(ctx, req, emit)
		if err == nil {
			response.Usage = d.Usage(req, response.Text) // a script would make one up
		}
		return response, err
	})
	return d
}

// IsSummary reports whether a request is one to a Talk's summarizer.
func IsSummary(req *provider.Request) bool { return req.Self == "summarizer" }

// SpeechOf is what is said in a call: about so many tokens, that are the call's own.
func SpeechOf(id string, tokens int) string {
	_, call, _ := strings.Cut(id, "/")
	call, _, _ = strings.Cut(call, "/")
	return call + Words(tokens-8)
}

// Words is a text of about so many tokens, each a word.
func Words(tokens int) string { return strings.Repeat(" word", max(1, tokens)) }

// Heard yields which calls' turns a request holds, in order; the summary is "summary".
func Heard(req *provider.Request) []string {
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
