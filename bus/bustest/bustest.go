// Package bustest is the conformance suite for implementations of [bus.Bus]:
//
//	func TestConformance(t *testing.T) {
//		bustest.Run(t, func(t testing.TB) bustest.Server {
//			server := newServer(t)
//			return bustest.Server{Open: func(t testing.TB) bus.Bus {
//				b, err := newbus.Open(server.URL)
//				if err != nil {
//					t.Fatal(err)
//				}
//				t.Cleanup(func() { _ = b.Close() })
//				return b
//			}}
//		})
//	}
//
// Each check is a subtest with the name of the clause of the contract that it tests. Those of readers let whole engines speak and read over
// the bus. Run the suite with the race detector too,
// which finds what the suite cannot.
package bustest

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/internal/longform"
)

// patience is how long a bus may take for what it should do at once. It is generous, because a slow machine is not its fault.
const patience = 2 * time.Minute

// moment is how long a check waits for what should not come, and before it tries again.
const moment = 200 * time.Millisecond

// Server is what the buses of several processes share.
type Server struct {
	// Open opens one more bus to the server, as another process would, and registers its closing with t.Cleanup. A bus that
	// exists only in one process, as [bus.Local] does, is the same each time.
	Open func(t testing.TB) bus.Bus
	// Cut breaks the connections of all buses for a moment, and returns when they may connect again. Nil: there are none, and
	// the checks that need it are skipped.
	Cut func(t testing.TB)
}

// Run tests a bus with every check. Each check is a subtest with a server of its own, which fresh returns; fresh registers its
// removal with t.Cleanup.
func Run(t *testing.T, fresh func(t testing.TB) Server) {
	t.Helper()
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) { c.run(&exam{TB: t, server: fresh(t)}) })
	}
}

// check is one clause of the contract.
type check struct {
	name string
	run  func(x *exam)
}

func checks() []check {
	return []check{
		{"limits/are possible and stay", limits},
		{"publish/reaches every process", everyProcess},
		{"publish/reaches every subscriber", everySubscriber},
		{"publish/keeps topics apart", topics},
		{"publish/carries any bytes", anyBytes},
		{"publish/carries messages of the largest size", largest},
		{"publish/carries a whole batch", wholeBatch},
		{"publish/lets its messages be changed afterwards", changedAfterwards},
		{"publish/ends with its context", canceled},
		{"publish/concurrently", concurrently},
		{"subscribe/a subscriber that does not receive delays nobody", sleeper},
		{"subscribe/a subscriber that was too slow is told", tooSlow},
		{"subscribe/ends with its context", unsubscribed},
		{"subscribe/continues after the connection was lost", lostConnection},
		{"readers/two that are slow miss nothing untold", slowReaders},
		{"readers/a text beyond what they keep is named", longText},
	}
}

// exam is one run of one check.
type exam struct {
	testing.TB

	server Server
	tries  int
}

// subscriber is a subscription that is known to deliver.
type subscriber struct {
	in  <-chan []byte
	end func()
}

func (x *exam) subscribe(b bus.Bus, topic string) *subscriber {
	x.Helper()
	ctx, end := context.WithCancel(context.Background())
	x.Cleanup(end)
	s := &subscriber{b.Subscribe(ctx, topic), end}
	x.ready(s, b, topic)
	return s
}

// ready publishes until a subscriber gets it: a bus may be connecting.
func (x *exam) ready(s *subscriber, b bus.Bus, topic string) {
	x.Helper()
	late := time.Now().Add(patience)
	for time.Now().Before(late) {
		x.tries++
		probe := fmt.Appendf(nil, "probe %d", x.tries)
		_ = b.Publish(x.Context(), []bus.Message{{Topic: topic, Data: probe}})                        // a bus may be connecting
		if s.await(moment, func(got []byte) bool { return bytes.HasPrefix(got, []byte("probe ")) }) { // one before may come late
			return
		}
	}
	x.Fatalf("a subscriber to %q gets nothing of what is published", topic)
}

// find receives until the data comes.
func (s *subscriber) find(data []byte, within time.Duration) bool {
	return s.await(within, func(got []byte) bool { return bytes.Equal(got, data) })
}

// await receives until what is wanted comes.
func (s *subscriber) await(within time.Duration, wanted func(got []byte) bool) bool {
	late := make(chan struct{})
	defer time.AfterFunc(within, func() { close(late) }).Stop()
	for {
		select {
		case got, open := <-s.in:
			if !open || wanted(got) {
				return open
			}
		case <-late:
			if len(s.in) == 0 {
				return false
			}
		}
	}
}

func (x *exam) publish(b bus.Bus, messages ...bus.Message) {
	x.Helper()
	if err := b.Publish(x.Context(), messages); err != nil {
		x.Fatalf("publish %d messages: %v", len(messages), err)
	}
}

// gets checks that a subscriber gets data.
func (x *exam) gets(s *subscriber, data []byte) {
	x.Helper()
	if !s.find(data, patience) {
		x.Fatalf("a subscriber does not get the %d bytes %.40q", len(data), data)
	}
}

// quiet checks that nothing came before a marker that was published later.
func (x *exam) quiet(s *subscriber, marker []byte) {
	x.Helper()
	late := time.After(patience)
	for {
		select {
		case got := <-s.in:
			switch {
			case bytes.Equal(got, marker):
				return
			case len(got) > 0 && !bytes.HasPrefix(got, []byte("probe ")):
				x.Fatalf("a subscriber gets %.40q, which is not for it, or came before", got)
			}
		case <-late:
			x.Fatalf("a subscriber does not get %.40q", marker)
		}
	}
}

// settled returns the limits of a bus with their defaults, as an engine reads them.
func settled(b bus.Bus) (size, batch int) {
	l := b.Limits()
	if size = l.Size; size == 0 {
		size = 64 << 10
	}
	if batch = l.Batch; batch == 0 {
		batch = 64 * size
	}
	return size, batch
}

func limits(x *exam) {
	b := x.server.Open(x.TB)
	l := b.Limits()
	if l.Interval != 0 && l.Interval < time.Millisecond || l.Size != 0 && l.Size < 1<<10 || l.Batch != 0 && l.Batch < l.Size {
		x.Fatalf("the limits %+v are none that an engine can keep to", l)
	}
	if again := b.Limits(); again != l {
		x.Fatalf("the limits were %+v and are %+v", l, again)
	}
}

func everyProcess(x *exam) {
	one, other := x.server.Open(x.TB), x.server.Open(x.TB)
	here, there := x.subscribe(one, "a"), x.subscribe(other, "a")
	x.publish(one, bus.Message{Topic: "a", Data: []byte("from one")})
	x.gets(here, []byte("from one"))
	x.gets(there, []byte("from one"))
	x.publish(other, bus.Message{Topic: "a", Data: []byte("from the other")})
	x.gets(here, []byte("from the other"))
	x.gets(there, []byte("from the other"))
}

func everySubscriber(x *exam) {
	b := x.server.Open(x.TB)
	all := []*subscriber{x.subscribe(b, "a"), x.subscribe(b, "a"), x.subscribe(b, "a")}
	x.publish(b, bus.Message{Topic: "a", Data: []byte("for all")})
	for _, s := range all {
		x.gets(s, []byte("for all"))
	}
}

func topics(x *exam) {
	b := x.server.Open(x.TB)
	long := "z0123456789012345678901234567890123456789012345678901234567890ab"
	first, second := x.subscribe(b, "a"), x.subscribe(b, long)
	x.publish(b, bus.Message{Topic: long, Data: []byte("for the second")}, bus.Message{Topic: "ab", Data: []byte("for nobody")},
		bus.Message{Topic: "a", Data: []byte("for the first")})
	x.quiet(first, []byte("for the first"))
	x.gets(second, []byte("for the second"))
}

func anyBytes(x *exam) {
	b := x.server.Open(x.TB)
	s := x.subscribe(b, "a")
	every := make([]byte, 1<<10)
	for i := range every {
		every[i] = byte(i)
	}
	for _, data := range [][]byte{every, {0}, {0xff}, []byte("\n"), []byte(" "), []byte("'\"\\%$1\r\n\x00")} {
		x.publish(b, bus.Message{Topic: "a", Data: data})
		x.gets(s, data)
	}
}

// filled returns a message of some size.
func filled(mark byte, size int) []byte {
	data := bytes.Repeat([]byte{mark, 0xfe, 0}, size/3+1)
	return data[:size]
}

func largest(x *exam) {
	b := x.server.Open(x.TB)
	s := x.subscribe(b, "a")
	size, _ := settled(b)
	x.publish(b, bus.Message{Topic: "a", Data: filled(1, size)})
	x.gets(s, filled(1, size))
}

func wholeBatch(x *exam) {
	b := x.server.Open(x.TB)
	size, batch := settled(b)
	var messages []bus.Message
	var all []*subscriber
	for i := 0; (i+1)*size <= batch && i < 64; i++ {
		topic := fmt.Sprintf("t%d", i)
		all = append(all, x.subscribe(b, topic))
		messages = append(messages, bus.Message{Topic: topic, Data: filled(byte(i), size)})
	}
	x.publish(b, messages...)
	for i, s := range all {
		x.gets(s, messages[i].Data)
	}
}

func changedAfterwards(x *exam) {
	b := x.server.Open(x.TB)
	s := x.subscribe(b, "a")
	for i := range 20 {
		data := fmt.Appendf(nil, "message %d", i)
		want := bytes.Clone(data)
		messages := []bus.Message{{Topic: "a", Data: data}}
		x.publish(b, messages...)
		clear(data)
		messages[0].Topic = "b"
		x.gets(s, want)
	}
}

func canceled(x *exam) {
	b := x.server.Open(x.TB)
	x.subscribe(b, "a")
	ctx, cancel := context.WithCancel(x.Context())
	cancel()
	began := time.Now()
	if err := b.Publish(ctx, []bus.Message{{Topic: "a", Data: []byte("late")}}); err == nil {
		x.Errorf("a canceled publish reports no error")
	}
	if took := time.Since(began); took > patience/2 {
		x.Errorf("a canceled publish took %s", took)
	}
	s := x.subscribe(b, "b")
	x.publish(b, bus.Message{Topic: "b", Data: []byte("after it")})
	x.gets(s, []byte("after it"))
}

func concurrently(x *exam) {
	b := x.server.Open(x.TB)
	var group sync.WaitGroup
	for i := range 4 {
		topic := fmt.Sprintf("t%d", i)
		s := x.subscribe(b, topic)
		group.Go(func() {
			for n := range 20 {
				data := fmt.Appendf(nil, "%s %d", topic, n)
				if err := b.Publish(x.Context(), []bus.Message{{Topic: topic, Data: data}}); err != nil {
					x.Errorf("publish: %v", err)
				}
				if !s.find(data, patience) {
					x.Errorf("a subscriber does not get %q", data)
				}
			}
		})
	}
	group.Wait()
}

func sleeper(x *exam) {
	b := x.server.Open(x.TB)
	ctx, cancel := context.WithCancel(x.Context())
	defer cancel()
	asleep := b.Subscribe(ctx, "a")
	s := x.subscribe(b, "a")
	data := filled(1, 1<<10)
	for i := range longform.Sized(2000, 2000, 1200) {
		x.publish(b, bus.Message{Topic: "a", Data: append(fmt.Appendf(nil, "%d ", i), data...)})
		x.gets(s, append(fmt.Appendf(nil, "%d ", i), data...))
	}
	if n := len(asleep); n >= 1000 {
		x.Errorf("%d messages wait for a subscriber that does not receive", n)
	}
}

// tooSlow checks that nil slices stand wherever messages are missing for a subscriber that did not receive.
func tooSlow(x *exam) {
	const batches, each = 20, 100
	b := x.server.Open(x.TB)
	slow, awake := x.subscribe(b, "a"), x.subscribe(b, "a")
	for i := range batches {
		var batch []bus.Message
		for n := range each {
			batch = append(batch, bus.Message{Topic: "a", Data: fmt.Appendf(nil, "number %d", i*each+n)})
		}
		x.publish(b, batch...)
		x.gets(awake, batch[each-1].Data)
	}
	next, told := 0, false
	late := time.After(patience)
	again := time.NewTicker(moment)
	defer again.Stop()
	for next <= batches*each {
		select {
		case data := <-slow.in:
			n, marked := next, string(data) == "end"
			if marked {
				n = batches * each
			} else if _, err := fmt.Sscanf(string(data), "number %d", &n); err != nil {
				told = told || data == nil
				continue // a probe
			}
			if n > next && !told {
				x.Fatalf("messages %d to %d are missing, and the subscriber is not told", next, n-1)
			}
			next, told = n+1, false
		case <-again.C: // it may be dropped too
			x.publish(b, bus.Message{Topic: "a", Data: []byte("end")})
		case <-late:
			x.Fatal("a subscriber that was too slow gets nothing any more")
		}
	}
}

func unsubscribed(x *exam) {
	b := x.server.Open(x.TB)
	gone, stays := x.subscribe(b, "a"), x.subscribe(b, "a")
	gone.end()
	for late := time.Now().Add(patience); ; {
		data := []byte("is it gone?")
		x.publish(b, bus.Message{Topic: "a", Data: data})
		x.gets(stays, data)
		if !gone.find(data, moment) {
			break
		}
		if time.Now().After(late) {
			x.Fatal("a subscription whose context is done still delivers, or its channel is closed")
		}
		<-time.After(moment)
	}
	select {
	case _, open := <-gone.in:
		if !open {
			x.Error("the channel of a subscription is closed")
		}
	default:
	}
}

func lostConnection(x *exam) {
	if x.server.Cut == nil {
		x.Skip("there is no connection")
	}
	b, other := x.server.Open(x.TB), x.server.Open(x.TB)
	s := x.subscribe(b, "a")
	for len(s.in) > 0 {
		<-s.in
	}
	x.server.Cut(x.TB)
	late := time.After(patience)
	for told := false; !told; {
		select {
		case data := <-s.in:
			told = data == nil
		case <-late:
			x.Fatal("a subscriber does not learn that messages may be missing")
		}
	}
	x.ready(s, other, "a")
}
