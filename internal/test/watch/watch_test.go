// Package watch_test measures what it costs that many watch conversations over HTTP. The server is another process, which is this
// program again. Each test prints its figures; the long form has 1,000 watchers, and holds the figures to bounds.
package watch_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/store/sql"
)

func TestMain(m *testing.M) {
	process.Obey(order.perform)
	os.Exit(m.Run())
}

// The bounds of the long form.
const (
	mostMemory = 64 << 10              // bytes a watcher
	mostLag    = 50 * time.Millisecond // of 99 in 100 facts, from the append to the reader
	mostFloors = 3                     // how many times the processor time of a server that only copies bytes
	mostSlowed = 1.1                   // how many times the lag beside a reader that reads nothing
)

// figures are what was measured.
type figures struct {
	watchers       int
	heap, resident int64 // bytes a watcher
	p50, p99       time.Duration
	cpu            time.Duration // from the first commit behind the beginning until all have all
}

func (f *figures) String() string {
	return fmt.Sprintf("%d watchers: %.1f KiB of heap and %.1f KiB of memory each; lag p50 %v, p99 %v; processor %v", f.watchers,
		float64(f.heap)/1024, float64(f.resident)/1024, f.p50.Round(10*time.Microsecond), f.p99.Round(10*time.Microsecond),
		f.cpu.Round(time.Millisecond))
}

// bounded holds the figures to the bounds, in the long form.
func (f *figures) bounded(t *testing.T, floor *figures) {
	t.Helper()
	if !longform.Asked() {
		return
	}
	assert.LessOrEqual(t, f.heap, int64(mostMemory), "bytes of heap a watcher")
	assert.LessOrEqual(t, f.resident, int64(mostMemory), "bytes of memory a watcher")
	assert.LessOrEqual(t, f.p99, mostLag)
	assert.LessOrEqual(t, f.cpu, mostFloors*floor.cpu)
}

// watcher reads the stream of a log.
type watcher struct {
	lags []time.Duration
	err  error
}

// watch reads facts until the last one, each once and in order. It calls began when it has what the log began with.
func (w *watcher) watch(ctx context.Context, client *http.Client, at served, path string, began func()) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.URL+path, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(make([]byte, 8<<10), 1<<20)
	fact := false // and no piece of a text, which has no number
	for seq := int64(0); lines.Scan(); {
		if number, ok := bytes.CutPrefix(lines.Bytes(), []byte("id: ")); ok {
			if seq++; string(number) != strconv.FormatInt(seq, 10) {
				return fmt.Errorf("fact %s has come in place of %d", number, seq)
			}
			fact = true
		}
		appended, ok := timeOf(lines.Bytes())
		if !ok || !fact {
			continue
		}
		fact = false
		switch {
		case seq > at.First:
			w.lags = append(w.lags, time.Since(appended))
		case seq == at.First:
			began()
		}
		if seq == at.Last {
			return nil
		}
	}
	return errors.Join(errors.New("the stream has ended too early"), lines.Err())
}

// timeOf returns the time of the event that a line holds.
func timeOf(line []byte) (time.Time, bool) {
	data, ok := bytes.CutPrefix(line, []byte("data: "))
	_, text, found := bytes.Cut(data, []byte(`"at":"`))
	if !ok || !found {
		return time.Time{}, false
	}
	text, _, _ = bytes.Cut(text, []byte(`"`))
	at, err := time.Parse(time.RFC3339Nano, string(text))
	return at, err == nil
}

// use gives the process a line, and returns what it uses then.
func use(t *testing.T, p *process.Process[order], line string) (l level) {
	t.Helper()
	p.Say(t, line)
	require.NoError(t, json.Unmarshal([]byte(p.Hear(t)), &l))
	return l
}

// streamOf is the path of a stream.
func streamOf(n int) string { return "/api/conversations/" + id(n) + "/stream" }

// idles opens a stream on a connection that holds little, and reads nothing of it but that it has begun.
func idles(t *testing.T, url string) (end func()) {
	t.Helper()
	address := strings.TrimPrefix(url, "http://")
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	require.NoError(t, c.(*net.TCPConn).SetReadBuffer(narrowBuffer))
	_, err = fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", streamOf(0), address)
	require.NoError(t, err)
	begin := make([]byte, len("HTTP/1.1 200"))
	_, err = io.ReadFull(c, begin)
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 200", string(begin))
	return func() { _ = c.Close() }
}

// warm asks something else first, so that what a server makes once counts for no watcher.
func warm(t *testing.T, url string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/conversations", http.NoBody)
	require.NoError(t, err)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// measure lets watchers read the logs of an order, one log after the other, while these grow. All must get all.
func measure(t *testing.T, o order, watchers int) *figures {
	t.Helper()
	var here kept // in which this process appends
	var all [][]flow.Event
	if o.Place != "" {
		logs, err := sql.OpenSQLite(t.Context(), o.Place)
		require.NoError(t, err)
		defer func() { assert.NoError(t, logs.Close()) }()
		all, err = recorded(o.Rounds)
		require.NoError(t, err)
		here = kept{logs}
		require.NoError(t, o.grow(here, all[:1], 0))
	}
	p := process.Launch(t, o)
	defer p.Kill()
	var at served
	require.NoError(t, json.Unmarshal([]byte(p.Hear(t)), &at))
	for range o.Slow {
		t.Cleanup(idles(t, at.URL))
	}
	if !o.Floor {
		warm(t, at.URL)
	}
	base := use(t, p, "")
	ctx, end := context.WithCancel(t.Context())
	defer end()
	transport := &http.Transport{DisableCompression: true}
	client := &http.Client{Transport: transport}
	defer transport.CloseIdleConnections()
	each := make([]watcher, watchers)
	var begun, done sync.WaitGroup
	for n := range each {
		w := &each[n]
		begun.Add(1)
		done.Go(func() {
			begins := sync.OnceFunc(begun.Done)
			defer begins() // also if it fails
			w.err = w.watch(ctx, client, at, streamOf(n%o.Logs), begins)
		})
	}
	begun.Wait()
	before := use(t, p, "")
	if o.Place != "" {
		require.NoError(t, o.grow(here, all[1:], o.Gap))
	} else {
		use(t, p, "grow")
	}
	done.Wait()
	after := use(t, p, "")
	f := &figures{watchers: watchers, cpu: after.CPU - before.CPU}
	f.heap, f.resident = (before.Heap-base.Heap)/int64(watchers), max(0, before.Resident-base.Resident)/int64(watchers)
	var lags []time.Duration
	for n := range each {
		require.NoError(t, each[n].err, "watcher %d", n)
		require.Len(t, each[n].lags, int(at.Last-at.First), "facts of watcher %d", n)
		lags = append(lags, each[n].lags...)
	}
	slices.Sort(lags)
	f.p50, f.p99 = lags[len(lags)/2], lags[len(lags)*99/100]
	transport.CloseIdleConnections()
	if o.Slow > 0 || o.Place != "" {
		return f
	}
	for most := time.Now().Add(time.Minute); use(t, p, "").Goroutines > base.Goroutines; {
		require.True(t, time.Now().Before(most), "goroutines stay when their readers have gone")
	}
	p.Stop(t)
	return f
}

// figuref prints what a test has found.
func figuref(format string, args ...any) { fmt.Printf("    "+format+"\n", args...) }

// TestManyWatchOneDebate: what a watcher costs in memory and in processor time, beside a server that only copies the bytes, how late
// facts come, and that a reader that reads nothing holds up no other.
func TestManyWatchOneDebate(t *testing.T) {
	longform.Lone(t)
	watchers := longform.Or(1000, 50)
	o := order{Logs: 1, Rounds: longform.Or(3, 2), Gap: longform.Or(100*time.Millisecond, 5*time.Millisecond)}
	many := measure(t, o, watchers)
	o.Slow = 1
	slowed := measure(t, o, watchers)
	o.Slow, o.Floor = 0, true
	floor := measure(t, o, watchers)
	figuref("one debate, %v", many)
	figuref("one debate beside a reader that reads nothing, %v", slowed)
	figuref("one debate, only bytes are copied, %v", floor)
	many.bounded(t, floor)
	if longform.Asked() {
		assert.LessOrEqual(t, float64(slowed.p99), mostSlowed*float64(many.p99))
	}
}

// TestManyDebatesAreWatched: the same of as many debates, each with a watcher.
func TestManyDebatesAreWatched(t *testing.T) {
	longform.Lone(t)
	watchers := longform.Or(1000, 50)
	o := order{Logs: watchers, Rounds: 1, Gap: longform.Or(time.Millisecond, 100*time.Microsecond)}
	many := measure(t, o, watchers)
	o.Floor = true
	floor := measure(t, o, watchers)
	figuref("a debate each, %v", many)
	figuref("a debate each, only bytes are copied, %v", floor)
	many.bounded(t, floor)
}

// TestManyWatchFromAnotherProcess: the debate grows in one process, and is read in another one, by a file of SQLite. Each fact comes once.
func TestManyWatchFromAnotherProcess(t *testing.T) {
	longform.Lone(t)
	o := order{
		Logs: 1, Rounds: longform.Or(3, 1), Gap: longform.Or(100*time.Millisecond, 10*time.Millisecond),
		Place: filepath.Join(t.TempDir(), "debates.db"),
	}
	figuref("one debate of another process, %v", measure(t, o, longform.Or(1000, 20)))
}
