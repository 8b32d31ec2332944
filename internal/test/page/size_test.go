package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/browser"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/web"
)

// used is what the page's main thread has used of a processor since the page was loaded, in milliseconds.
func (p *person) used() float64 {
	p.t.Helper()
	var found struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	p.Call("Performance.getMetrics", nil, &found)
	for _, m := range found.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value * 1000
		}
	}
	require.Fail(p.t, "Chromium does not say what it has used")
	return 0
}

// TestTwoThousandTurns: a debate of 500 rounds of four is shown at once, and the last speech streams smoothly below all others. The short
// form bounds the time of the processor, with a margin of two, and the memory; what passes on a clock, only the long form.
func TestTwoThousandTurns(t *testing.T) {
	t.Parallel()
	const rounds = 500
	config := stage.Crew(4)
	config.ID, config.Format, config.Rounds, config.Judging, config.Context = "long", "", rounds, nil, "truncate"
	last := fmt.Sprint("Dan ", rounds)
	g := shut(last)
	engine, script := house(t, config, g)
	stage.Altered(script, func(req *provider.Request, r *scripted.Reply) {
		words := speechOf(req) + ": a turn of some length says what it has to say, again and again. "
		r.Text = strings.Repeat(words, 8)
		if speechOf(req) == last {
			r.Text, r.Chunks, r.Interval = strings.Repeat(words, 50), 300, 10*time.Millisecond
		}
	})
	stage.Started(t, engine, config)
	for e, err := range engine.Events(t.Context(), config.ID, 0) {
		require.NoError(t, err)
		if begun, ok := e.Body.(*flow.Intent); ok && begun.By == "Dan" && begun.Round == rounds {
			break
		}
	}
	p := visit(t, browser.Open(t), serve(t, engine, web.Options{}), "")
	defer p.leaves()
	p.Call("Performance.enable", map[string]any{"timeDomain": "threadTicks"}, nil)
	p.reads(".row-of", fmt.Sprint("round ", rounds))

	before, began := p.used(), time.Now()
	p.clicks(".row-of a", config.Topic)
	p.sees(`document.querySelectorAll('.turn').length >= 50`)
	first, shown := p.used()-before, time.Since(began)
	p.sees(fmt.Sprintf(`document.querySelectorAll('.turn').length === %d`, 4*rounds))
	whole := p.used() - before
	p.says(true, "Dan")
	p.Eval(`{
		window.gaps = []
		let former = performance.now()
		const frame = (now) => {
			gaps.push(now - former)
			former = now
			requestAnimationFrame(frame)
		}
		requestAnimationFrame(frame)
	}`)
	before = p.used()
	g.open(last)
	p.reads(".head .state", "finished")
	streaming := p.used() - before
	frames, ok := p.Eval(`gaps.length`).(float64)
	require.True(t, ok)
	longest, ok := p.Eval(`Math.max(...gaps.slice(1))`).(float64)
	require.True(t, ok)
	p.Call("HeapProfiler.collectGarbage", nil, nil)
	var heap struct{ UsedSize float64 }
	p.Call("Runtime.getHeapUsage", nil, &heap)
	t.Logf("%d turns: the first are there after %.0f ms of a processor and %d ms in all, all of them after %.0f ms of a processor; while one "+
		"streams, %.1f ms a frame, the longest %.0f ms; heap %.1f MB",
		4*rounds, first, shown.Milliseconds(), whole, streaming/frames, longest, heap.UsedSize/1e6)
	assert.LessOrEqual(t, first, 2*1000.)
	assert.LessOrEqual(t, streaming/frames, 2*50.)
	assert.LessOrEqual(t, heap.UsedSize, 100e6)
	if longform.Asked() {
		assert.LessOrEqual(t, shown, time.Second)
		assert.LessOrEqual(t, longest, 50.)
	}
}
