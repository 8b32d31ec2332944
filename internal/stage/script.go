package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Speech returns what a scripted participant says. It depends on who speaks and when, so that a debate is the same
// whatever is repeated.
func Speech(name string, round int) string {
	return fmt.Sprintf("%s speaks in round %d. %s", name, round, strings.Repeat("A point of its own. ", 3))
}

// Judgement returns a well-formed assessment. If the debate is to end, it says why.
func Judgement(names []string, goOn bool) string {
	marks := make([]map[string]any, len(names))
	for i, name := range names {
		marks[i] = map[string]any{"participant": name, "strengths": []string{"clear"}, "weaknesses": []string{}, "score": 7 + i%3}
	}
	out := map[string]any{
		"shouldContinue": goOn, "qualityScore": 7.5, "assessments": marks,
		"flags":     map[string]bool{"repetitive": false, "drifting": false, "diminishingReturns": false, "convergenceReached": false},
		"reasoning": "Both made their case.", "recommendations": "Address the costs.",
	}
	if !goOn {
		out["ending"] = "Nothing is left to say."
	}
	return JSON(out)
}

// Verdict returns a well-formed verdict for the first of the names.
func Verdict(names []string) string {
	points := make([]map[string]any, len(names))
	scores := map[string]int{}
	for i, name := range names {
		points[i] = map[string]any{"participant": name, "mainArguments": []string{"one", "two"}}
		scores[name] = 80 - i
	}
	return JSON(map[string]any{
		"summary": "A close debate.", "keyPoints": points, "areasOfAgreement": []string{"air"}, "areasOfDisagreement": []string{"means"},
		"winner": map[string]string{"participant": names[0], "reasoning": "answered every point"}, "scores": scores,
		"criteria": map[string]string{"evidence": "good"}, "qualityScore": 78, "insights": []string{"prices work"},
	})
}

// JSON returns a value as JSON, or the text of the error if there is none.
func JSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// CallRound finds the round in the id of a request.
var CallRound = regexp.MustCompile(`/r(\d+)\.`)

// Script returns the replies of everybody, by the request's id and schema alone. Judges judge those whom the schema names.
func Script(names []string) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		round := 0
		if m := CallRound.FindStringSubmatch(req.ID); m != nil {
			round, _ = strconv.Atoi(m[1])
		}
		switch {
		case req.Schema == nil:
			return scripted.Reply{Text: Speech(req.Self, round), Usage: provider.Usage{Input: 100 * round, Output: 50}}
		case KindOf(req) == debate.KindVerdict:
			verdict := InShape(req.Schema.JSON, Verdict(Named(req.Schema.JSON, names)))
			return scripted.Reply{Text: verdict, Usage: provider.Usage{Input: 900, Output: 200}}
		default:
			judgement := Marked(req.Schema.JSON, Judgement(Named(req.Schema.JSON, names), true))
			return scripted.Reply{Text: judgement, Usage: provider.Usage{Input: 500, Output: 100}}
		}
	}
}

// Altered lets change see each reply before it is given, and change it.
func Altered(p *scripted.Provider, change func(req *provider.Request, r *scripted.Reply)) {
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		change(req, &r)
		return r
	}
}

// Slowly makes each reply take a second, in ten chunks.
func Slowly(p *scripted.Provider) {
	Altered(p, func(_ *provider.Request, r *scripted.Reply) {
		r.Delay, r.Interval, r.Chunks = 100*time.Millisecond, 100*time.Millisecond, 10
	})
}

// CutAttempt cuts the id of a request into its call and the number of the attempt.
func CutAttempt(id string) (call, attempt string) {
	i := strings.LastIndexByte(id, '/')
	return id[:i], id[i+1:]
}

// ProviderFunc is a provider made of a function.
type ProviderFunc func(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error)

// Generate implements [provider.Provider].
func (f ProviderFunc) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return f(ctx, req, emit)
}

// Pass lets the time of a synctest bubble go by.
func Pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // in a bubble nobody waits
}
