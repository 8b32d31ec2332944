package durable_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// order says what a process does.
type order struct {
	Task    string        `json:"task"` // the name of one of the tasks
	Place   place         `json:"place"`
	Ledger  string        `json:"ledger"` // its file
	Play    string        `json:"play,omitempty"`
	IDs     []string      `json:"ids,omitempty"`
	Kill    death         `json:"kill,omitzero"`
	Lease   time.Duration `json:"lease,omitempty"`
	Latency time.Duration `json:"latency,omitempty"` // of calls
	Off     time.Duration `json:"off,omitempty"`     // what the clock of the process leads by
	Starts  bool          `json:"starts,omitempty"`  // by Engine.Start, and not by Engine.Open
	Name    string        `json:"name,omitempty"`    // of a besieged worker
	Poor    bool          `json:"poor,omitempty"`    // it has no providers
}

// worker is a process with an engine, as it sees itself.
type worker struct {
	order

	engine *debate.Engine
	points *failpoints
	lines  <-chan string // what the test says
}

// tasks are what a process can be told to do.
func (w *worker) tasks() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"play": w.play, "submit": w.submit, "begin": w.begin, "work": w.work, "serve": w.serve, "ask": w.ask, "act": w.act,
	}
}

// perform does what an order says.
func (o order) perform() (err error) {
	ctx := context.Background()
	if o.Task == besieged {
		return o.besieged(ctx)
	}
	store, err := o.Place.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ledger, err := openLedger(o.Ledger)
	if err != nil {
		return err
	}
	w := &worker{order: o, points: &failpoints{kill: o.Kill}, lines: listen()}
	w.engine = engineOn(&watchful{fragile{store, w.points, ledger}, store, store}, &voice{w.points, ledger, o.Latency})
	w.engine.Lease = o.Lease
	task := w.tasks()[o.Task]
	if task == nil {
		return fmt.Errorf("no task is called %q", o.Task)
	}
	return task(ctx)
}

// listen returns the lines of the standard input. With it this process ends too: the test is gone.
func listen() <-chan string {
	lines := make(chan string)
	go func() {
		for input := bufio.NewScanner(os.Stdin); input.Scan(); {
			lines <- input.Text()
		}
		os.Exit(1)
	}()
	return lines
}

// play brings a debate to its end, from wherever it is, and tells the kinds of the failpoints that it passed.
func (w *worker) play(ctx context.Context) error {
	var record *flow.Record
	for record == nil {
		session, err := w.enter(ctx, w.IDs[0])
		if err != nil {
			return err
		}
		found, err := session.Wait(ctx)
		switch {
		case err == nil:
			record = found
		case !busy(err):
			return err
		default:
		}
		if err := session.Close(); err != nil {
			return err
		}
	}
	if record.State != flow.StateCompleted {
		return fmt.Errorf("the debate ended in state %s", record.State)
	}
	w.points.mu.Lock()
	defer w.points.mu.Unlock()
	fmt.Println(strings.Join(w.points.passed, separator))
	return nil
}

// separator stands between the kinds that a process tells.
const separator = ", "

// enter opens a debate, or starts it if there is none. It waits for the lease of a process that is gone.
func (w *worker) enter(ctx context.Context, id string) (*debate.Session, error) {
	for {
		session, err := (*debate.Session)(nil), flow.ErrNotFound
		if !w.Starts {
			session, err = w.engine.Open(ctx, id)
		}
		if errors.Is(err, flow.ErrNotFound) {
			session, err = w.engine.Start(ctx, configOf(w.Play, id))
		}
		if !busy(err) {
			return session, err
		}
		if err := stage.Sleep(ctx, 10*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// busy reports whether somebody holds the debate, or the machine is so busy that a store has not answered
// within a lease. Both pass.
func busy(err error) bool {
	return errors.Is(err, flow.ErrLeased) || errors.Is(err, context.DeadlineExceeded)
}

// submit stores debates, and makes no call.
func (w *worker) submit(ctx context.Context) error {
	for _, id := range w.IDs {
		if _, err := w.engine.Submit(ctx, configOf(w.Play, id)); err != nil {
			return err
		}
	}
	return nil
}

// begin starts debates and leaves them as a crash does.
func (w *worker) begin(ctx context.Context) error {
	for _, id := range w.IDs {
		if _, err := w.enter(ctx, id); err != nil {
			return err
		}
	}
	w.points.die("once all have begun")
	return nil
}

// serve starts debates, and shuts down when it is told to.
func (w *worker) serve(ctx context.Context) error {
	for _, id := range w.IDs {
		if _, err := w.enter(ctx, id); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	<-w.lines
	return w.engine.Shutdown(ctx)
}

// work goes on with whatever nobody goes on with, and tells so, until all debates have ended or it is told
// to shut down.
func (w *worker) work(ctx context.Context) error {
	fmt.Println("ready")
	for {
		working, err := w.list(ctx, store.Filter{Working: true})
		if err != nil || len(working) == 0 {
			return errors.Join(err, w.engine.Shutdown(ctx))
		}
		for _, info := range working {
			if info.Owner != "" {
				continue
			}
			switch _, err := w.engine.Open(ctx, info.ID); {
			case busy(err): // another worker was faster
			case err != nil:
				return err
			default:
				fmt.Println(info.ID)
			}
		}
		select {
		case <-w.lines:
			return w.engine.Shutdown(ctx)
		case <-time.After(look):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look is how often a worker looks for work.
const look = 25 * time.Millisecond

func (w *worker) list(ctx context.Context, filter store.Filter) (infos []store.Info, err error) {
	for info, err := range w.engine.List(ctx, filter) {
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// ask plays a debate in which a person is asked, and tells each question's id once nothing happens any more.
func (w *worker) ask(ctx context.Context) error {
	session, err := w.enter(ctx, w.IDs[0])
	if err != nil {
		return err
	}
	defer session.Close()
	asked := ""
	for event, err := range session.Events(ctx, 0) {
		switch {
		case err != nil:
			return err
		case body.As[flow.Inquiry](event) != nil:
			asked = body.As[flow.Inquiry](event).ID
		case errors.Is(event.Err(), flow.ErrAwaitingInput):
			fmt.Println(asked)
		default:
		}
	}
	return nil
}
