package bench

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
)

// The cast of W1: these three debaters, in this order, and this judge.
const (
	Ada   = "Ada"
	Ben   = "Ben"
	Cy    = "Cy"
	Judge = "judge"
)

// Debaters returns the names of the debaters in their order.
func Debaters() []string { return []string{Ada, Ben, Cy} }

// What is spoken of, and how much.
const (
	Topic       = "Should cities ban cars from their centres?"
	SpeechBytes = 1800 // of each speech
)

// Assessment is the judge's answer after each round, in the JSON that debate asks for. It has about 600 bytes.
const Assessment = `{"shouldContinue":true,"qualityScore":7,"assessments":[` +
	`{"participant":"Ada","strengths":["names two cities and their figures"],"weaknesses":["says nothing of deliveries"],"score":8},` +
	`{"participant":"Ben","strengths":["answers the cost"],"weaknesses":["repeats the first round"],"score":7},` +
	`{"participant":"Cy","strengths":["starts small"],"weaknesses":["gives no dates"],"score":6}],` +
	`"flags":{"repetitive":false,"drifting":false,"diminishingReturns":false,"convergenceReached":false},` +
	`"reasoning":"Ada leads with evidence, Ben follows with prices.","recommendations":"Speak of deliveries and of people who cannot walk."}`

// Verdict is the judge's last answer.
const Verdict = `{"summary":"Ada showed that a ban works where buses run.","keyPoints":[` +
	`{"participant":"Ada","mainArguments":["cleaner air","safer streets"]},` +
	`{"participant":"Ben","mainArguments":["a price does the same"]},` +
	`{"participant":"Cy","mainArguments":["lorries first"]}],` +
	`"areasOfAgreement":["fewer cars"],"areasOfDisagreement":["how fast"],` +
	`"winner":{"participant":"Ada","reasoning":"Her figures were never answered."},` +
	`"scores":{"Ada":81,"Ben":74,"Cy":66},"criteria":{` +
	`"logical consistency":"All hold their line.","evidence":"Ada names cities.","engagement":"Ben answers Ada.",` +
	`"novelty":"Little after the first round.","clarity and persuasiveness":"Ada is clear.","relevance":"All keep to the question."},` +
	`"qualityScore":7,"insights":["Buses decide."]}`

// Config returns W1 as the engine plays it. Its models are those of a provider "bench".
func Config(rounds int) debate.Config {
	return debate.Config{
		Topic: Topic, Rounds: rounds,
		Participants: []debate.Participant{
			{Name: Ada, Side: format.For, Position: "Yes, ban them.", Model: "bench/debater"},
			{Name: Ben, Side: format.Against, Position: "No, price them.", Model: "bench/debater"},
			{Name: Cy, Side: format.Neutral, Position: "Start with lorries.", Model: "bench/debater"},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Name: Judge, Model: "bench/judge"}}},
	}
}

// Kind is what a call asks for.
type Kind string

// What calls ask for. That of the judge is the name of the schema in the request.
const (
	Speech     Kind = "speech"
	Assessing  Kind = "assessment"
	Concluding Kind = "verdict"
)

// Script is the model of W1. It answers by the request alone, with a new string each time. The fields must not change
// during a call. It is safe for concurrent use.
type Script struct {
	Latency time.Duration // of each call
	Pieces  int           // in which a speech arrives; 0: it arrives whole
	Hold    func()        // runs before each verdict; nil: nothing does

	filler string
	read   atomic.Int64 // bytes of all requests
}

// NewScript returns a model that answers at once.
func NewScript() *Script {
	const claim = "A claim, the reason for it, and the evidence that supports it. "
	return &Script{filler: strings.Repeat(claim, SpeechBytes/len(claim)+1)}
}

// Generate implements [provider.Provider]. It walks the messages to add up their bytes, as a client does that sends them.
func (s *Script) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	size := len(req.System) + len(req.Last.Text)
	for i := range req.Messages {
		size += len(req.Messages[i].Text)
	}
	asked := Speech
	if req.Schema != nil {
		asked = Kind(req.Schema.Name)
	}
	text, err := s.Answer(ctx, asked, req.Self, len(req.Messages), size)
	if err != nil {
		return nil, err
	}
	if asked == Speech {
		for piece := range s.Split(text) {
			emit(provider.Chunk{Text: piece})
		}
	}
	usage := provider.Usage{Input: 450 * (len(req.Messages) + 1), Output: 450} // the bytes depend on a number that was drawn
	return &provider.Response{Text: text, Stop: provider.StopEnd, Usage: usage}, nil
}

// Answer returns a reply after the latency. heard is the number of speeches in the request, and size its bytes.
func (s *Script) Answer(ctx context.Context, asked Kind, name string, heard, size int) (string, error) {
	s.read.Add(int64(size))
	if s.Latency > 0 {
		timer := time.NewTimer(s.Latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	switch asked {
	case Assessing:
		return strings.Clone(Assessment), nil
	case Concluding:
		if s.Hold != nil {
			s.Hold()
		}
		return strings.Clone(Verdict), nil
	default:
		return s.Speech(name, heard), nil
	}
}

// Speech returns what a debater says after so many speeches.
func (s *Script) Speech(name string, heard int) string {
	var b strings.Builder
	b.Grow(SpeechBytes)
	b.WriteString(name)
	b.WriteString(" has heard ")
	b.WriteString(strconv.Itoa(heard))
	b.WriteString(" speeches. ")
	b.WriteString(s.filler[:SpeechBytes-b.Len()])
	return b.String()
}

// Split returns a speech in its pieces.
func (s *Script) Split(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range s.Pieces {
			if !yield(text[i*len(text)/s.Pieces : (i+1)*len(text)/s.Pieces]) {
				return
			}
		}
	}
}
