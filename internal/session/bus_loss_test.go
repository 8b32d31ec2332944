package session_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// faulty is a way to a bus on which messages meet what befalls: it returns what arrives in place of one message.
type faulty struct {
	bus.Bus

	befalls func(m bus.Message) []bus.Message
}

func (f *faulty) Publish(ctx context.Context, messages []bus.Message) error {
	for _, m := range messages {
		m.Data = append([]byte(nil), m.Data...)
		if err := f.Bus.Publish(ctx, f.befalls(m)); err != nil {
			return err
		}
	}
	return nil
}

// TestTextThatIsLostIsTold: a chunk says so, and the turn mends it. Without losses of requests the text comes again before.
func TestTextThatIsLostIsTold(t *testing.T) {
	for name, deaf := range map[string]bool{"and comes again": false, "and nobody answers": true} {
		t.Run(name, func(t *testing.T) {
			n := 0
			overBus(t, func(r *relayed, _ *scripted.Provider) {
				r.speaker.Bus = &faulty{r.shared, func(m bus.Message) []bus.Message {
					if n++; n%8 == 4 {
						return nil
					}
					return []bus.Message{m}
				}}
				r.reader.Bus = &faulty{r.shared, func(m bus.Message) []bus.Message {
					if deaf {
						return nil
					}
					return []bus.Message{m}
				}}
			}, func(r *relayed) {
				holes, mended := map[string]int{}, 0
				tr := r.follow(func(e debate.Event) {
					c := body.As[flow.Chunk](e)
					if c == nil || c.Schema != "" {
						return
					}
					if hole, ok := holes[c.Call]; ok && c.Missing == 0 && c.Offset == hole {
						delete(holes, c.Call)
						mended++
					}
					if c.Missing > 0 {
						if _, ok := holes[c.Call]; !ok {
							holes[c.Call] = c.Offset
						}
					}
				})
				assert.Len(t, tr.turns, 6)
				assert.Equal(t, 35, tr.facts)
				assert.GreaterOrEqual(t, r.missing, 3)
				assert.GreaterOrEqual(t, mended, 3)
				assert.Empty(t, holes, "every hole was mended before its turn")
			})
		})
	}
}

// TestMessagesThatComeTwiceAndInAnyOrder: the chunks of each turn add up to it all the same.
func TestMessagesThatComeTwiceAndInAnyOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		dice := rand.New(rand.NewPCG(seed, 1))
		var held []bus.Message
		overBus(t, func(r *relayed, _ *scripted.Provider) {
			r.speaker.Bus = &faulty{r.shared, func(m bus.Message) (out []bus.Message) {
				switch dice.IntN(6) {
				case 0: // lost
				case 1:
					held = append(held, m) // late
				case 2:
					out = append(out, m, m)
				case 3:
					dice.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
					out, held = append(append(out, m), held...), held[:len(held)/2]
				default:
					out = append(out, m)
				}
				return out
			}}
		}, func(r *relayed) {
			tr := r.follow(nil)
			assert.Len(t, tr.turns, 6, seed)
			assert.Equal(t, 35, tr.facts, seed)
		})
	}
}

// brokenBus is a bus that fails, or that ignores its context.
type brokenBus struct {
	bus.Local

	mu    sync.Mutex
	tries int
	hangs <-chan struct{} // nil: it fails
}

func (s *brokenBus) tried() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries
}

func (s *brokenBus) Publish(context.Context, []bus.Message) error {
	s.mu.Lock()
	s.tries++
	s.mu.Unlock()
	if s.hangs != nil {
		<-s.hangs
	}
	return errors.New("the bus is down")
}

// TestABusThatFailsSlowsNobody: the debate takes as long as without it, and Shutdown ends.
func TestABusThatFailsSlowsNobody(t *testing.T) {
	for name, hangs := range map[string]bool{"fails": false, "hangs": true} {
		t.Run(name, func(t *testing.T) {
			down := &brokenBus{}
			var release func()
			overBus(t, func(r *relayed, _ *scripted.Provider) {
				if hangs {
					gate := make(chan struct{})
					down.hangs, release = gate, func() { close(gate) }
				}
				r.speaker.Bus, r.reader.Bus = down, down
			}, func(r *relayed) {
				began := time.Now()
				tr := r.follow(nil)
				assert.Equal(t, 10*time.Second, time.Since(began))
				assert.Len(t, tr.turns, 6, "each comes with its fact")
				began = time.Now()
				require.NoError(t, r.speaker.Shutdown(r.t.Context()))
				assert.LessOrEqual(t, time.Since(began), 5*time.Second, "the grace")
				if hangs {
					assert.LessOrEqual(t, down.tried(), 2, "one of each engine")
					release()
				} else {
					assert.Less(t, down.tried(), 40, "it is tried less often while it fails")
					assert.Greater(t, down.tried(), 4)
				}
			})
		})
	}
}

// TestWhatABusCannotTakeIsLeftOut: it is down for the most of a turn. The oldest text is left out then, and the reader is told.
func TestWhatABusCannotTakeIsLeftOut(t *testing.T) {
	overBus(t, func(r *relayed, p *scripted.Provider) {
		stage.Altered(p, func(req *provider.Request, out *scripted.Reply) {
			if strings.HasSuffix(req.ID, stage.BensOpening+"/1") {
				out.Text = strings.Repeat("a long é text ", 20_000)
			}
		})
		r.config.MaxTokens = 100_000
		began := time.Now()
		r.speaker.Bus = &downBus{r.shared, began.Add(1200 * time.Millisecond), began.Add(1800 * time.Millisecond)}
	}, func(r *relayed) {
		most, text := 0, 0
		tr := r.follow(func(e debate.Event) {
			if c := body.As[flow.Chunk](e); c != nil && c.Call == stage.BensOpening && c.Missing > 0 {
				most, text = max(most, c.Missing), max(text, len(c.Text))
			}
		})
		assert.Len(t, tr.turns, 6)
		assert.Greater(t, most, 50_000)
		assert.Greater(t, text, 50_000)
		assert.LessOrEqual(t, text, 100_000)
	})
}

// downBus is a bus that is down for a time.
type downBus struct {
	bus.Bus

	from, to time.Time
}

func (d *downBus) Publish(ctx context.Context, messages []bus.Message) error {
	if now := time.Now(); now.After(d.from) && now.Before(d.to) {
		return errors.New("the bus is down")
	}
	return d.Bus.Publish(ctx, messages)
}
