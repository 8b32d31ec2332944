package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// play holds everybody's lines, by the ids of the calls.
//
//go:embed script.txt
var play string

// script plays everybody, each at a different pace. Simplicity's first call meets a rate limit and is
// retried. One critique of the second round is refused for good, and is skipped by a rule of the config.
func script() *scripted.Provider {
	said := stage.Speeches(play)
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		id := strings.Split(req.ID, "/") // the debate, the call, the attempt
		call := id[1]
		reply := scripted.Reply{Text: said[call], Delay: pace(call)}
		switch {
		case call == "r1.propose.simplicity" && id[2] == "1":
			reply.Err = &provider.Error{Kind: provider.KindRateLimit, Status: 429, Message: "too many requests", RetryAfter: 100 * time.Millisecond}
		case call == "r2.critique.performance.simplicity":
			reply.Err = &provider.Error{Kind: provider.KindRefusal, Message: "I would rather not judge a colleague twice."}
		case req.Schema != nil:
			reply.Text, reply.Err = answer(req.Schema.Name, call)
		case strings.HasPrefix(call, "merge."):
			reply.Text = said["merge"]
		case reply.Text == "": // from the third round on, nobody has anything new to say
			reply.Text = said[regexp.MustCompile(`^r\d+`).ReplaceAllString(call, "r2")]
		}
		return reply
	}}
}

// people returns the ids of everybody, the fastest first.
func people() []string {
	return []string{deliberation.RolePerformance, deliberation.RoleSimplicity, deliberation.RoleArchitect, "judge"}
}

// pace returns how long an answer takes. No two calls of one phase take equally long, so they always end
// in the same order.
func pace(call string) time.Duration {
	delay, step := 200*time.Millisecond, 150*time.Millisecond
	for name := range strings.SplitSeq(call, ".") {
		if seat := slices.Index(people(), name); seat >= 0 {
			delay += time.Duration(seat) * step
			step /= 3 // the target of a critique matters less than its author
		}
	}
	if strings.Contains(call, ".summarize.") {
		delay -= 25 * time.Millisecond
	}
	return delay
}

// answer returns an answer in JSON.
func answer(schema, call string) (string, error) {
	round, _, _ := strings.Cut(call, ".")
	var of any
	switch kind, _, _ := strings.Cut(schema, "-"); kind { // the votes have a schema for each voter
	case "confidence":
		c := deliberation.Confidence{Confidence: 90, Reasoning: "They propose one design.", Disagreements: []string{}}
		if round == "r1" {
			c = deliberation.Confidence{
				Confidence: 64, Reasoning: "They agree on the table, not on who counts.", Disagreements: []string{"who counts in the waiting room"},
			}
		}
		of = c
	case "quality":
		q := deliberation.Quality{Requirements: solution("").Requirements, Quality: 90, Reasoning: "All of it is there."}
		if round == "r1" {
			q.Quality, q.Reasoning = 70, "The waiting room has a single point of failure."
		}
		of = q
	case "vote":
		ranking := []string{deliberation.RoleSimplicity, deliberation.RolePerformance, deliberation.RoleArchitect}
		own := strings.TrimPrefix(call, "vote.")
		ranking = slices.DeleteFunc(ranking, func(id string) bool { return id == own })
		of = deliberation.Vote{Ranking: ranking, Reasoning: "By what a small team can run."}
	case "solution":
		_, text, _ := strings.Cut(play, "\n# solution\n")
		of = solution(text)
	default:
		return "", fmt.Errorf("the script has nothing for %s", call)
	}
	text, err := json.Marshal(of)
	return string(text), err
}

// solution returns the result of the deliberation.
func solution(text string) deliberation.Solution {
	return deliberation.Solution{
		Description: strings.TrimSpace(text),
		Implementation: []string{
			"Begin with this statement and a load test; add a part only when a number says so.",
			"Two tables, `seat` and `orders`. A repeated callback of the provider changes no row.",
			"A lease of five seconds names the server that counts; another one takes over within ten.",
		},
		Tradeoffs: []string{
			"No Redis: a hold takes five milliseconds, not one, and there is one truth about a seat.",
			"Packages, not services: a change of payment provider is a release of everything.",
			"A seat map that is up to a second old: some see a seat that is taken already.",
		},
		Recommendations: []string{
			"Play each sale against a copy the day before, at 20,000 requests a second.",
			"Halve the pace of the waiting room when holds take longer than 200 ms.",
		},
		Requirements: []deliberation.Requirement{
			{Text: "no seat is sold twice", Major: true, Fulfilled: true, Note: "one row, changed under its condition"},
			{Text: "a hold lasts eight minutes", Major: true, Fulfilled: true, Note: "held_until, without a sweeper"},
			{Text: "a page answers within a second", Major: true, Fulfilled: true, Note: "to be shown by the load test"},
			{Text: "three developers can run it", Fulfilled: true, Note: "one program, one database"},
			{Text: "a late payment is never lost", Fulfilled: false, Note: "if the provider declines the refund, a person has to act"},
		},
		OpenQuestions: []string{"May one person hold more than four seats?", "What is shown to the 38,000 who get none?"},
		Confidence:    84,
	}
}
