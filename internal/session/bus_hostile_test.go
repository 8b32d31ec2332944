package session_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"slices"
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

// tapped is a bus that keeps what is published.
type tapped struct {
	bus.Bus

	mu       sync.Mutex
	messages []bus.Message
}

func (p *tapped) Publish(ctx context.Context, messages []bus.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range messages {
		p.messages = append(p.messages, bus.Message{Topic: m.Topic, Data: bytes.Clone(m.Data)})
	}
	return p.Bus.Publish(ctx, messages)
}

// TestNothingReadableGoesOntoTheBus: neither a text nor a name, an id or the seed.
func TestNothingReadableGoesOntoTheBus(t *testing.T) {
	tap := &tapped{}
	overBus(t, func(r *relayed, _ *scripted.Provider) {
		tap.Bus = r.shared
		r.speaker.Bus, r.reader.Bus = tap, tap
	}, func(r *relayed) {
		tr := r.follow(nil)
		var seed string
		for event, err := range r.store.Read(r.t.Context(), r.session.ID(), 0) {
			require.NoError(t, err)
			if start := body.As[flow.Start](event); start != nil {
				seed = start.Seed
			}
		}
		require.NotEmpty(t, seed)
		require.Greater(t, len(tap.messages), 60)
		secrets := []string{seed, r.session.ID(), "Ada", "opening", "Ben"}
		for _, text := range tr.turns {
			secrets = append(secrets, strings.Fields(text)...)
		}
		for _, m := range tap.messages {
			assert.Regexp(t, `^[a-z0-9]{1,64}$`, m.Topic)
			assert.LessOrEqual(t, len(m.Data), 64<<10)
			for _, secret := range secrets {
				if len(secret) > 3 {
					assert.NotContains(t, string(m.Data)+m.Topic, secret)
				}
			}
		}
	})
}

// TestAStrangerOnTheBusIsNotHeard: whoever can publish can neither invent a text nor move or repeat one.
func TestAStrangerOnTheBusIsNotHeard(t *testing.T) {
	tap := &tapped{}
	overBus(t, func(r *relayed, p *scripted.Provider) {
		stage.Altered(p, func(req *provider.Request, out *scripted.Reply) {
			if strings.HasPrefix(req.ID, "other/") && req.Schema == nil {
				out.Text = strings.Repeat("of the other debate ", 20)
			}
		})
		tap.Bus = r.shared
		r.speaker.Bus = tap
		r.speaker.Seed = func() string { return "the seed of both debates" }
	}, func(r *relayed) {
		other := *r.config
		other.ID = "other"
		second, err := r.speaker.Start(r.t.Context(), other)
		require.NoError(t, err)
		defer second.Close()
		ctx, stop := context.WithCancel(r.t.Context())
		ended := make(chan struct{})
		go func() { // the stranger
			defer close(ended)
			for ctx.Err() == nil {
				tap.mu.Lock()
				heard := slices.Clone(tap.messages)
				tap.mu.Unlock()
				topics := map[string]bool{"asks": true}
				for _, m := range heard {
					topics[m.Topic] = true
				}
				var out []bus.Message
				for topic := range maps.Keys(topics) {
					for _, m := range heard[max(0, len(heard)-20):] { // all of it to all topics, some of it spoiled
						out = append(out, bus.Message{Topic: topic, Data: m.Data})
						for _, at := range []int{0, 13, len(m.Data) / 2, len(m.Data) - 1} {
							bad := bytes.Clone(m.Data)
							bad[at] ^= 0x40
							out = append(out, bus.Message{Topic: topic, Data: bad})
						}
						out = append(out, bus.Message{Topic: topic, Data: m.Data[:len(m.Data)/2]}, bus.Message{Topic: topic, Data: nil})
					}
					out = append(out, bus.Message{Topic: topic, Data: bytes.Repeat([]byte{0xff}, 100)})
					out = append(out, bus.Message{Topic: topic, Data: binary.AppendUvarint([]byte{1, 0}, 1<<63)})
				}
				_ = r.shared.Publish(ctx, out[:min(len(out), 100)])
				stage.Pass(30 * time.Millisecond)
			}
		}()
		began := time.Now()
		tr := r.follow(func(e debate.Event) {
			if c := body.As[flow.Chunk](e); c != nil {
				assert.NotContains(t, c.Text, "other")
			}
		})
		assert.Equal(t, 10*time.Second, time.Since(began))
		assert.Len(t, tr.turns, 6)
		assert.Equal(t, 35, tr.facts)
		stop()
		<-ended
		_, err = second.Wait(r.t.Context())
		require.NoError(t, err)
	})
}

// TestRoundsThatAreSpokenAtOnceAreHeardAsHere: readers of a bus get the texts that readers of the session get, and in the same order of
// facts.
func TestRoundsThatAreSpokenAtOnceAreHeardAsHere(t *testing.T) {
	overBus(t, func(r *relayed, _ *scripted.Provider) { r.config.Mode = debate.Simultaneous }, func(r *relayed) {
		here, near := newTranscript(t), make(chan struct{})
		before := map[string]int64{} // by call: the number of the first chunk's event
		go func() {
			defer close(near)
			here.t = r.t
			here.follow(r.session, func(e debate.Event) {
				if c := body.As[flow.Chunk](e); c != nil && before[c.Call] == 0 {
					before[c.Call] = e.Seq
				}
			})
		}()
		first := map[string]int64{}
		there := r.follow(func(e debate.Event) {
			if c := body.As[flow.Chunk](e); c != nil && first[c.Call] == 0 {
				first[c.Call] = e.Seq
			}
		})
		<-near
		assert.Equal(t, here.turns, there.turns)
		assert.Len(t, there.turns, 6)
		assert.Equal(t, before, first)
		assert.Equal(t, here.facts, there.facts)
	})
}

// TestAnAttemptThatFailsIsVoidForThoseFarAwayToo follows the second attempt.
func TestAnAttemptThatFailsIsVoidForThoseFarAwayToo(t *testing.T) {
	failed := false
	overBus(t, func(_ *relayed, p *scripted.Provider) {
		stage.Altered(p, func(req *provider.Request, out *scripted.Reply) {
			if strings.Contains(req.ID, stage.BensOpening) && !failed {
				failed = true
				out.Text = "A wholly different beginning that nobody will miss"
				out.Err, out.AfterChunks = &provider.Error{Kind: provider.KindNetwork, Code: "truncated"}, 4
			}
		})
	}, func(r *relayed) {
		attempts := map[int]bool{}
		tr := r.follow(func(e debate.Event) {
			if c := body.As[flow.Chunk](e); c != nil && c.Call == stage.BensOpening {
				attempts[c.Attempt] = true
			}
		})
		assert.Equal(t, map[int]bool{1: true, 2: true}, attempts)
		assert.Len(t, tr.turns, 6)
		assert.Zero(t, r.missing)
	})
}

// TestThoughtsAndAnswersAreHeardFarAway: each has offsets of its own.
func TestThoughtsAndAnswersAreHeardFarAway(t *testing.T) {
	overBus(t, func(_ *relayed, p *scripted.Provider) {
		stage.Altered(p, func(_ *provider.Request, out *scripted.Reply) {
			out.Reasoning = "I think, for a while."
		})
	}, func(r *relayed) {
		thoughts, answers := map[string]string{}, map[string]string{}
		live := 0
		tr := newTranscript(t)
		for event, err := range r.reader.Events(r.t.Context(), r.session.ID(), 0) {
			require.NoError(t, err)
			if c := body.As[flow.Chunk](event); c != nil && c.Reasoning {
				thoughts[c.Call] = thoughts[c.Call][:c.Offset] + c.Text
				live++
				continue
			}
			tr.read(event)
			switch body := event.Body.(type) {
			case *debate.Turn:
				assert.Equal(t, body.Reasoning, thoughts[body.Call])
				assert.NotEmpty(t, body.Reasoning)
			case *debate.Assessment:
				answers[body.Call] = tr.answers[body.Call]
			}
		}
		assert.GreaterOrEqual(t, live, 10)
		assert.Len(t, tr.turns, 6)
		assert.Len(t, answers, 3)
		for call, text := range answers {
			assert.True(t, strings.HasPrefix(text, "{"), call)
		}
	})
}
