package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// The cast. Every side plays these three debaters, in this order, and this judge.
const (
	ada   = "Ada"
	ben   = "Ben"
	cy    = "Cy"
	judge = "judge"
)

func debaters() []string { return []string{ada, ben, cy} }

const (
	topic       = "Should cities ban cars from their centres?"
	speechBytes = 1800 // of each speech
)

// assessment is the judge's answer after each round, in the JSON that debate asks for; about 600 bytes.
const assessment = `{"shouldContinue":true,"qualityScore":7,"assessments":[` +
	`{"participant":"Ada","strengths":["names two cities and their figures"],"weaknesses":["says nothing of deliveries"],"score":8},` +
	`{"participant":"Ben","strengths":["answers the cost"],"weaknesses":["repeats the first round"],"score":7},` +
	`{"participant":"Cy","strengths":["starts small"],"weaknesses":["gives no dates"],"score":6}],` +
	`"flags":{"repetitive":false,"drifting":false,"diminishingReturns":false,"convergenceReached":false},` +
	`"reasoning":"Ada leads with evidence, Ben follows with prices.","recommendations":"Speak of deliveries and of people who cannot walk."}`

// verdict is the judge's last answer.
const verdict = `{"summary":"Ada showed that a ban works where buses run.","keyPoints":[` +
	`{"participant":"Ada","mainArguments":["cleaner air","safer streets"]},` +
	`{"participant":"Ben","mainArguments":["a price does the same"]},` +
	`{"participant":"Cy","mainArguments":["lorries first"]}],` +
	`"areasOfAgreement":["fewer cars"],"areasOfDisagreement":["how fast"],` +
	`"winner":{"participant":"Ada","reasoning":"Her figures were never answered."},` +
	`"scores":{"Ada":81,"Ben":74,"Cy":66},"criteria":{` +
	`"logical consistency":"All hold their line.","evidence":"Ada names cities.","engagement":"Ben answers Ada.",` +
	`"novelty":"Little after the first round.","clarity and persuasiveness":"Ada is clear.","relevance":"All keep to the question."},` +
	`"qualityScore":7,"insights":["Buses decide."]}`

// kind is what a call asks for.
type kind string

const (
	speech     kind = "speech"
	assessing  kind = "assessment"
	concluding kind = "verdict"
)

// script is the model behind every side. It answers by the request alone, with a new string each time.
// It is safe for concurrent use.
type script struct {
	latency time.Duration // of each call
	pieces  int           // in which a speech arrives; 0: it arrives whole
	filler  string
	read    atomic.Int64 // bytes of all requests
}

func newScript() *script {
	const claim = "A claim, the reason for it, and the evidence that supports it. "
	return &script{filler: strings.Repeat(claim, speechBytes/len(claim)+1)}
}

// answer returns a reply after the latency. heard is the number of speeches in the request, and size its
// bytes: each side's model walks its messages to add them up, as a client does that sends them.
func (s *script) answer(ctx context.Context, asked kind, name string, heard, size int) (string, error) {
	s.read.Add(int64(size))
	if s.latency > 0 {
		timer := time.NewTimer(s.latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	switch asked {
	case assessing:
		return strings.Clone(assessment), nil
	case concluding:
		return strings.Clone(verdict), nil
	default:
		return s.speech(name, heard), nil
	}
}

// speech returns what a debater says after so many speeches.
func (s *script) speech(name string, heard int) string {
	var b strings.Builder
	b.Grow(speechBytes)
	b.WriteString(name)
	b.WriteString(" has heard ")
	b.WriteString(strconv.Itoa(heard))
	b.WriteString(" speeches. ")
	b.WriteString(s.filler[:speechBytes-b.Len()])
	return b.String()
}

// split yields a speech in its pieces, until yield returns false.
func (s *script) split(text string) func(yield func(piece string) bool) {
	return func(yield func(string) bool) {
		for i := range s.pieces {
			if !yield(text[i*len(text)/s.pieces : (i+1)*len(text)/s.pieces]) {
				return
			}
		}
	}
}

// played is what a side has left of a debate.
type played struct {
	turns       []turn
	assessments int
	winner      string
	streamed    int // bytes of the pieces that a subscriber got
}

type turn struct {
	speaker, text string
}

// check reports a debate that is not the whole one.
func (p *played) check(rounds int, streamed bool) error {
	size := 0
	for i := range p.turns {
		size += len(p.turns[i].text)
	}
	want := rounds * len(debaters()) * speechBytes
	switch {
	case size != want, len(p.turns) != rounds*len(debaters()):
		return fmt.Errorf("%d turns of %d bytes; want %d bytes", len(p.turns), size, want)
	case p.assessments != rounds, p.winner != ada:
		return fmt.Errorf("%d assessments, winner %q", p.assessments, p.winner)
	case streamed && p.streamed != want:
		return fmt.Errorf("%d bytes in pieces; want %d", p.streamed, want)
	default:
		return nil
	}
}
