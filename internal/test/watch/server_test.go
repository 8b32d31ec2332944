package watch_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/bench"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/sql"
	"github.com/agonist-dev/debate/web"
)

// order says what another process serves: logs of the workload W1, which grow commit by commit as that was recorded.
type order struct {
	Logs   int           `json:"logs"`   // how many there are
	Rounds int           `json:"rounds"` // that each of them has
	Gap    time.Duration `json:"gap"`    // between two commits
	Floor  bool          `json:"floor"`  // the same bytes are written without the library
	Place  string        `json:"place"`  // a file of SQLite, in which another process appends; "": this one does, in memory
	Slow   int           `json:"slow"`   // how many connections, the first ones, hold little that their reader has not read
}

// served is what the process says once it serves.
type served struct {
	URL   string `json:"url"`
	First int64  `json:"first"` // the number of the last fact that the logs begin with
	Last  int64  `json:"last"`  // and end with
}

// level is what the process uses.
type level struct {
	Heap       int64         `json:"heap"`     // bytes, stacks included
	Resident   int64         `json:"resident"` // bytes; 0: it is unknown here
	Goroutines int           `json:"goroutines"`
	CPU        time.Duration `json:"cpu"` // since it began
}

// id names a log.
func id(n int) string { return "log-" + strconv.Itoa(n) }

// commits is a store that records how a log came to be.
type commits struct {
	store.Memory

	all [][]flow.Event
}

// Append implements [store.Store].
func (c *commits) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	c.all = append(c.all, slices.Clone(events))
	return c.Memory.Append(ctx, id, after, writer, events)
}

// recorded returns the commits of a debate of so many rounds.
func recorded(rounds int) ([][]flow.Event, error) {
	var c commits
	config := bench.Config(rounds)
	config.ID = "model"
	engine := &debate.Engine{Store: &c, Providers: map[string]debate.Provider{"bench": bench.NewScript()}}
	_, err := engine.Play(context.Background(), config)
	return c.all, err
}

// appender is what logs grow in.
type appender interface {
	grow(id string, events []flow.Event) error
}

// grow appends commits to all logs, one log after the other, with a gap behind each.
func (o order) grow(to appender, all [][]flow.Event, gap time.Duration) error {
	for _, commit := range all {
		for n := range o.Logs {
			events := slices.Clone(commit)
			for i := range events {
				events[i].At = time.Now().UTC().Round(0)
			}
			if err := to.grow(id(n), events); err != nil {
				return err
			}
			time.Sleep(gap) //nolint:forbidigo // the pace of the load: nothing is waited for
		}
	}
	return nil
}

// kept is a store as logs grow in it.
type kept struct{ store.Store }

func (k kept) grow(id string, events []flow.Event) error {
	return k.Append(context.Background(), id, events[0].Seq-1, "watch", events)
}

// floor writes facts to whoever asks, as they come. Each is encoded once.
type floor struct {
	mutex sync.Mutex
	logs  map[string]*tape
}

// tape is a log as it is written.
type tape struct {
	facts [][]byte
	grown chan struct{} // closed when there are more
}

func (f *floor) grow(id string, events []flow.Event) error {
	var more [][]byte
	for _, e := range events {
		data, err := json.Marshal(e.Public())
		if err != nil {
			return err
		}
		more = append(more, fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind(), data))
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	one := f.logs[id]
	if one == nil {
		one = &tape{grown: make(chan struct{})}
		f.logs[id] = one
	}
	one.facts = append(one.facts, more...)
	close(one.grown)
	one.grown = make(chan struct{})
	return nil
}

// ServeHTTP serves the address of a stream.
func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, control := path.Base(path.Dir(r.URL.Path)), http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	for at := 0; ; {
		f.mutex.Lock()
		facts, grown := f.logs[id].facts, f.logs[id].grown
		f.mutex.Unlock()
		for ; at < len(facts); at++ {
			if _, err := w.Write(facts[at]); err != nil {
				return
			}
			if err := control.Flush(); err != nil {
				return
			}
		}
		select {
		case <-grown:
		case <-r.Context().Done():
			return
		}
	}
}

// narrow is a listener whose first connections hold little.
type narrow struct {
	net.Listener

	left atomic.Int64
}

// Accept implements [net.Listener].
func (n *narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if one, ok := c.(*net.TCPConn); ok && n.left.Add(-1) >= 0 {
		err = errors.Join(err, one.SetWriteBuffer(narrowBuffer))
	}
	return c, err
}

// narrowBuffer is how much the system holds of what a slow reader has not read, at each end: the least that Linux allows is about this.
const narrowBuffer = 4096

// handler returns what serves the logs, and where they grow.
func (o order) handler() (http.Handler, appender, error) {
	if o.Floor {
		f := &floor{logs: make(map[string]*tape)}
		return f, f, nil
	}
	s := store.Store(&store.Memory{})
	if o.Place != "" {
		var err error
		if s, err = sql.OpenSQLite(context.Background(), o.Place); err != nil {
			return nil, nil, err
		}
	}
	h, err := web.New(&debate.Engine{Store: s}, web.Options{})
	return h, kept{s}, err
}

// perform serves until the input of the process is over. It does what each line of it says.
func (o order) perform() error {
	all, err := recorded(o.Rounds)
	if err != nil {
		return err
	}
	h, logs, err := o.handler()
	if err != nil {
		return err
	}
	if o.Place == "" {
		if err := o.grow(logs, all[:1], 0); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	slow := &narrow{Listener: listener}
	slow.left.Store(int64(o.Slow))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(ctx, slow, h, time.Minute) }()
	out := json.NewEncoder(os.Stdout)
	err = out.Encode(served{"http://" + listener.Addr().String(), seqOf(all[0]), seqOf(all[len(all)-1])})
	for lines := bufio.NewScanner(os.Stdin); err == nil && lines.Scan(); {
		if lines.Text() == "grow" {
			err = o.grow(logs, all[1:], o.Gap)
		}
		if err == nil {
			err = out.Encode(levelNow())
		}
	}
	stop()
	return errors.Join(err, <-ended)
}

// seqOf returns the number of the last event of a commit.
func seqOf(commit []flow.Event) int64 { return commit[len(commit)-1].Seq }

// levelNow returns what this process uses, without garbage.
func levelNow() level {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	out := level{Heap: int64(m.HeapAlloc + m.StackInuse), Goroutines: runtime.NumGoroutine(), CPU: process.CPU()}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if fields := strings.Fields(string(text)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64) // 0: it is unknown
			out.Resident = pages * int64(os.Getpagesize())
		}
	}
	return out
}
