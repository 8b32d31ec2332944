package session_test

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// page assembles texts as a page in a browser does, whose strings are UTF-16.
type page struct {
	texts map[string][]uint16
	heard int // turns whose text came in chunks
}

func (p *page) read(t *testing.T, event debate.Event) {
	switch body := event.Body.(type) {
	case *flow.Chunk:
		if body.Schema == "" && assert.LessOrEqual(t, body.Units, len(p.texts[body.Call])) {
			p.texts[body.Call] = append(p.texts[body.Call][:body.Units], utf16.Encode([]rune(body.Text))...)
		}
	case *debate.Turn:
		if text, ok := p.texts[body.Call]; ok { // else it was recorded before the reader came
			p.heard++
			assert.Equal(t, body.Text, string(utf16.Decode(text)), body.Call)
		}
	}
}

// TestAPageAssemblesTextsByUnits: a reader of the session, one of another engine, and one that comes late, whatever is said, and although
// an attempt fails after a part of its text.
func TestAPageAssemblesTextsByUnits(t *testing.T) {
	speak := func(_ *relayed, p *scripted.Provider) {
		stage.Altered(p, func(req *provider.Request, reply *scripted.Reply) {
			if req.Schema == nil {
				reply.Text = strings.Repeat("Grüße 👋🏽, 世界 – ", 9) + reply.Text
			}
			if id, attempt := stage.CutAttempt(req.ID); id == stage.BensOpening && attempt == "1" {
				reply.Err, reply.AfterChunks = &provider.Error{Kind: provider.KindNetwork, Message: "cut"}, 5
			}
		})
	}
	overBus(t, speak, func(r *relayed) {
		var readers sync.WaitGroup
		for _, engine := range []*debate.Engine{r.speaker, r.reader} {
			for _, late := range []time.Duration{0, 300 * time.Millisecond, 1700 * time.Millisecond} {
				readers.Go(func() {
					stage.Pass(late)
					p := page{texts: map[string][]uint16{}}
					for event, err := range engine.Events(r.t.Context(), r.session.ID(), 0) {
						if assert.NoError(r.t, err) {
							p.read(r.t, event)
						}
					}
					assert.GreaterOrEqual(r.t, p.heard, 5)
				})
			}
		}
		readers.Wait()
	})
}
