package bustest_test

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/bus/bustest"
)

func TestLocalConforms(t *testing.T) {
	bustest.Run(t, func(testing.TB) bustest.Server {
		shared := &bus.Local{}
		return bustest.Server{Open: func(testing.TB) bus.Bus { return shared }}
	})
}

// spoiled is a bus that breaks one clause of the contract.
type spoiled struct {
	bus.Bus

	limits    func() bus.Limits
	publish   func(ctx context.Context, messages []bus.Message) error
	subscribe func(ctx context.Context, topic string) <-chan []byte
}

func (s *spoiled) Limits() bus.Limits { return s.limits() }

func (s *spoiled) Publish(ctx context.Context, messages []bus.Message) error {
	return s.publish(ctx, messages)
}

func (s *spoiled) Subscribe(ctx context.Context, topic string) <-chan []byte {
	return s.subscribe(ctx, topic)
}

// each publishes messages one by one, as change returns them.
func each(to bus.Bus, change func(m bus.Message) []bus.Message) func(context.Context, []bus.Message) error {
	return func(ctx context.Context, messages []bus.Message) error {
		for _, m := range messages {
			if err := to.Publish(ctx, change(m)); err != nil {
				return err
			}
		}
		return nil
	}
}

// Each clause is one that a bus can break, and the check of that clause sees it.
func TestABadBusFails(t *testing.T) {
	for _, d := range []struct{ check, want string }{
		{"limits/are possible and stay", "are none that an engine can keep to"},
		{"publish/reaches every process", "gets nothing"},
		{"publish/reaches every subscriber", "gets nothing"},
		{"publish/keeps topics apart", "not for it"},
		{"publish/carries any bytes", "does not get"},
		{"publish/carries messages of the largest size", "does not get"},
		{"publish/carries a whole batch", "does not get"},
		{"publish/lets its messages be changed afterwards", "does not get"},
		{"publish/ends with its context", "reports no error"},
		{"publish/concurrently", "does not get"},
		{"subscribe/a subscriber that does not receive delays nobody", "wait for a subscriber"},
		{"subscribe/a subscriber that was too slow is told", "is not told"},
		{"subscribe/ends with its context", "still delivers"},
		{"subscribe/continues after the connection was lost", "does not learn"},
		{"readers/two that are slow miss nothing untold", "is not told"},
		{"readers/a text beyond what they keep is named", "is not told"},
	} {
		t.Run(d.check, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				faults := bustest.Examine(t, d.check, func(testing.TB) bustest.Server {
					shared, opened := &bus.Local{}, 0
					return bustest.Server{
						Cut: func(testing.TB) {},
						Open: func(testing.TB) bus.Bus {
							opened++
							s := &spoiled{Bus: shared, limits: shared.Limits, publish: shared.Publish, subscribe: shared.Subscribe}
							spoil(s, d.check, opened)
							return s
						},
					}
				})
				require.NotEmpty(t, faults, "the check noticed nothing")
				assert.Contains(t, strings.Join(faults, "\n"), d.want)
			})
		})
	}
	assert.Len(t, bustest.Names(), 16, "each check has a defect here")
}

func spoil(s *spoiled, check string, opened int) {
	good := s.Bus
	switch check {
	case "limits/are possible and stay":
		s.limits = func() bus.Limits { return bus.Limits{Size: 10} }
	case "publish/reaches every process":
		if opened > 1 {
			s.Bus = &bus.Local{}
			s.publish = s.Bus.Publish
		}
		if opened == 2 {
			s.subscribe = func(context.Context, string) <-chan []byte { return nil }
		}
	case "publish/reaches every subscriber":
		var once sync.Once
		s.subscribe = func(ctx context.Context, topic string) <-chan []byte {
			var in <-chan []byte
			once.Do(func() { in = good.Subscribe(ctx, topic) })
			return in
		}
	case "publish/keeps topics apart":
		s.publish = each(good, func(m bus.Message) []bus.Message {
			return []bus.Message{{Topic: m.Topic[:1], Data: m.Data}, m}
		})
	case "publish/carries any bytes":
		s.publish = each(good, func(m bus.Message) []bus.Message {
			return []bus.Message{{Topic: m.Topic, Data: bytes.ToValidUTF8(m.Data, []byte("?"))}}
		})
	case "publish/carries messages of the largest size":
		s.publish = each(good, func(m bus.Message) []bus.Message {
			return []bus.Message{{Topic: m.Topic, Data: m.Data[:min(len(m.Data), 1<<12)]}}
		})
	case "publish/carries a whole batch":
		s.publish = func(ctx context.Context, messages []bus.Message) error {
			return good.Publish(ctx, messages[:min(10, len(messages))])
		}
	case "publish/lets its messages be changed afterwards":
		var kept bus.Subscribers // which gets the caller's bytes
		s.subscribe = kept.Add
		s.publish = func(_ context.Context, messages []bus.Message) error {
			for _, m := range messages {
				kept.Deliver(m.Topic, m.Data)
			}
			return nil
		}
	case "publish/ends with its context":
		s.publish = func(ctx context.Context, messages []bus.Message) error {
			return good.Publish(context.WithoutCancel(ctx), messages)
		}
	case "publish/concurrently":
		s.publish = each(good, func(m bus.Message) []bus.Message {
			if string(m.Data) == "t2 1" {
				return nil
			}
			return []bus.Message{m}
		})
	case "subscribe/a subscriber that does not receive delays nobody":
		all, first := make(chan []byte, 1<<12), true
		s.subscribe = func(ctx context.Context, topic string) <-chan []byte {
			if first {
				first = false
				return all
			}
			return good.Subscribe(ctx, topic)
		}
		s.publish = func(ctx context.Context, messages []bus.Message) error {
			all <- messages[0].Data
			return good.Publish(ctx, messages)
		}
	case "subscribe/a subscriber that was too slow is told":
		s.subscribe = func(ctx context.Context, topic string) <-chan []byte { return untold(ctx, good.Subscribe(ctx, topic)) }
	case "readers/two that are slow miss nothing untold":
		s.subscribe = func(ctx context.Context, topic string) <-chan []byte { return untold(ctx, good.Subscribe(ctx, topic)) }
	case "readers/a text beyond what they keep is named":
		left := 1 << 20
		s.publish = func(ctx context.Context, messages []bus.Message) error {
			for i := range messages {
				left -= len(messages[i].Data)
			}
			if left < 0 {
				return nil
			}
			return good.Publish(ctx, messages)
		}
	case "subscribe/ends with its context":
		s.subscribe = func(ctx context.Context, topic string) <-chan []byte {
			return good.Subscribe(context.WithoutCancel(ctx), topic)
		}
	}
}

// untold passes a subscription on, without the word that messages may be missing.
func untold(ctx context.Context, in <-chan []byte) <-chan []byte {
	out := make(chan []byte)
	go func() {
		for {
			select {
			case data := <-in:
				if data == nil {
					continue
				}
				select {
				case out <- data:
				case <-ctx.Done():
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
