package bench_test

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// speechBytes is the length of a debater's reply; an assessment has about 600 bytes.
const speechBytes = 1800

// replier answers at once, or after a latency, with a fresh string that depends on the request
// alone. It does no more than a model's client must, so that what is measured is the engine.
type replier struct {
	latency time.Duration
	chunks  int   // pieces of a debater's reply; 0: it comes whole
	last    *gate // holds verdicts; nil: nothing is held
}

var (
	filler = strings.Repeat("A claim, its reason, and the evidence for it. ", speechBytes/46+1)

	// An assessment and a verdict as models write them, for Ada, Ben and Cy.
	benchAssessment = judgementOfSize([]string{"Ada", "Ben", "Cy"})
	benchVerdict    = stage.Verdict([]string{"Ada", "Ben", "Cy"})
)

// judgementOfSize is a well-formed assessment of about 600 bytes.
func judgementOfSize(names []string) string {
	text := stage.Judgement(names, true)
	return strings.Replace(text, "Both made their case.", "Ada names her sources, Ben answers two of three, Cy repeats what was said in the last round. Nobody has spoken of deliveries and of those who cannot walk.", 1)
}

func (p *replier) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if p.latency > 0 {
		timer := time.NewTimer(p.latency)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	usage := provider.Usage{Input: 450 * (len(req.Messages) + 1), Output: 450}
	switch {
	case req.Schema == nil:
		text := saying(req.Self, len(req.Messages))
		for i := range p.chunks {
			emit(provider.Chunk{Text: text[i*len(text)/p.chunks : (i+1)*len(text)/p.chunks]})
		}
		return &provider.Response{Text: text, Stop: provider.StopEnd, Usage: usage}, nil
	case req.Schema.Name == "verdict":
		if p.last != nil {
			p.last.pass()
		}
		return &provider.Response{Text: strings.Clone(benchVerdict), Stop: provider.StopEnd, Usage: usage}, nil
	default:
		return &provider.Response{Text: strings.Clone(benchAssessment), Stop: provider.StopEnd, Usage: usage}, nil
	}
}

// saying is what somebody says after so many messages.
func saying(who string, messages int) string {
	var b strings.Builder
	b.Grow(speechBytes)
	b.WriteString(who)
	b.WriteString(" speaks after ")
	b.WriteString(strconv.Itoa(messages))
	b.WriteString(" messages. ")
	b.WriteString(filler[:speechBytes-b.Len()])
	return b.String()
}

// gate holds a crowd until all of it is there and somebody has looked at it.
type gate struct {
	missing atomic.Int64
	full    chan struct{}
	open    chan struct{}
}

func newGate(crowd int) *gate {
	g := &gate{full: make(chan struct{}), open: make(chan struct{})}
	g.missing.Store(int64(crowd))
	return g
}

func (g *gate) pass() {
	if g.missing.Add(-1) == 0 {
		close(g.full)
	}
	<-g.open
}
