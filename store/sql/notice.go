package sql

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// workChannel announces work. The payload is the schema of the tables.
	workChannel = "debate_work"
	// changeChannel names logs that have changed. A payload has the token of the store that tells, ids with commas between them, and the
	// schema of the tables, with spaces between the three.
	changeChannel = "debate_changed"
	// noticeIDs is the most bytes of ids in a payload. The server refuses payloads of 8000 bytes.
	noticeIDs = 7800
	// noticePause is the time between two statements that tell what has changed, and between two that look at what others have told.
	noticePause = 100 * time.Millisecond
	// noticeTimeout bounds such a statement. If it fails twice, the other stores find out by themselves.
	noticeTimeout = 2 * time.Second
)

// notices tells other stores which logs have changed: the first one at once, and those that follow within [noticePause] together.
// A statement of its own tells that, after the commit, since the server lets only one transaction with a notification commit at a time.
type notices struct {
	sender  string                                             // this store
	publish func(ctx context.Context, payloads []string) error // nil: other stores look by themselves
	closing chan struct{}

	mu      sync.Mutex
	ids     map[string]bool
	sending bool
	senders sync.WaitGroup
}

// add tells that a log has changed. The empty id is no log: this store hears that it is heard. It does not wait.
func (n *notices) add(id string) {
	if n.publish == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.closing:
		return
	default:
	}
	if n.ids == nil {
		n.ids = make(map[string]bool)
	}
	n.ids[id] = true
	if !n.sending {
		n.sending = true
		n.senders.Go(n.send)
	}
}

// send tells what there is to tell, and ends when there is no more. What could not be told is told once more.
func (n *notices) send() {
	failed := false
	for ids := n.take(); ids != nil; ids = n.take() {
		ctx, cancel := context.WithTimeout(context.Background(), noticeTimeout)
		err := n.publish(ctx, n.payloads(ids))
		cancel()
		if failed = err != nil && !failed; failed {
			n.putBack(ids)
		}
		select {
		case <-time.After(noticePause):
		case <-n.closing:
		}
	}
}

func (n *notices) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	ids := slices.Collect(maps.Keys(n.ids))
	n.ids, n.sending = nil, ids != nil
	return ids
}

// putBack adds logs of which could not be told.
func (n *notices) putBack(ids []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ids == nil {
		n.ids = make(map[string]bool)
	}
	for _, id := range ids {
		n.ids[id] = true
	}
}

// payloads returns the payloads, still without the schema.
func (n *notices) payloads(ids []string) (payloads []string) {
	var payload strings.Builder
	for _, id := range ids {
		if payload.Len() > 0 && payload.Len()+len(id) > noticeIDs {
			payloads = append(payloads, payload.String())
			payload.Reset()
		}
		separator := ","
		if payload.Len() == 0 {
			separator = n.sender + " "
		}
		payload.WriteString(separator + id)
	}
	return append(payloads, payload.String())
}

// close tells the rest, and waits for that.
func (n *notices) close() {
	n.mu.Lock()
	close(n.closing)
	n.mu.Unlock()
	n.senders.Wait()
}

// postgresPublish tells the other stores of a server what has changed. It does not wait for the disk, and tells nothing while half of the
// server's queue of notifications is filled: transactions that notify, such as the bus's, would fail if it were full.
func (s *Store) postgresPublish(ctx context.Context, payloads []string) error {
	_, err := s.read.ExecContext(ctx, `
		SELECT pg_notify('`+changeChannel+`', payload || ' ' || n.nspname)
		FROM unnest($1::text[]) AS payload, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.oid = to_regclass('debate') AND set_config('synchronous_commit', 'off', true) = 'off' AND pg_notification_queue_usage() < 0.5`,
		payloads)
	return err
}

// Times of a connection that listens.
const (
	postgresRetry    = 100 * time.Millisecond // until the next attempt to connect, first
	postgresMaxRetry = 15 * time.Second       // and at last
	postgresSilence  = 15 * time.Second       // until a connection is tried that has brought nothing
	postgresPatience = 5 * time.Second        // for an attempt to connect, and for the answer of a connection that is tried
)

// postgresListener rings for each announcement of work, and looks at the watched logs: at those that other stores tell of within
// [noticePause], and at all every so often, since a notice may get lost.
type postgresListener struct {
	store  *Store
	config *pgx.ConnConfig // nil: there is a pooler, which brings no notices

	conn   *pgx.Conn // nil: there is none
	schema string    // of the tables
	heard  time.Time // when the connection last brought something
	hears  bool      // it has brought a notice of this store: it brings those of others too
	retry  time.Time // when to connect again
	pause  time.Duration

	told    map[string]bool // watched logs of which others have told
	asked   time.Time       // the last look at some of them
	checked time.Time       // the last look at all
}

func (s *Store) postgresListen(config *pgx.ConnConfig) func(ctx context.Context) {
	return func(ctx context.Context) {
		l := &postgresListener{store: s, config: config, pause: postgresRetry, told: make(map[string]bool)}
		defer l.disconnect(ctx)
		for ctx.Err() == nil {
			l.connect(ctx)
			l.wait(ctx)
			l.look(ctx)
		}
	}
}

// connect connects if there is no connection and it is time. What happened until then was not heard.
func (l *postgresListener) connect(ctx context.Context) {
	if l.config == nil || l.conn != nil || time.Now().Before(l.retry) {
		return
	}
	if err := l.listen(ctx); err != nil {
		l.disconnect(ctx)
		l.retry = time.Now().Add(l.pause)
		l.pause = min(2*l.pause, postgresMaxRetry)
		return
	}
	l.heard, l.hears, l.pause = time.Now(), false, postgresRetry
	l.checked = time.Time{}
	l.store.notices.add("")
	l.store.work.Ring()
}

func (l *postgresListener) listen(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, postgresPatience)
	defer cancel()
	if l.conn, err = pgx.ConnectConfig(ctx, l.config); err != nil {
		l.conn = nil
		return err
	}
	err = l.conn.QueryRow(ctx, `
		SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.oid = to_regclass('debate')`).Scan(&l.schema)
	if err != nil {
		return err
	}
	for _, channel := range []string{changeChannel, workChannel} {
		if _, err := l.conn.Exec(ctx, `LISTEN `+channel); err != nil {
			return err
		}
	}
	return nil
}

// disconnect closes the connection, if there is one. Another attempt follows after a while.
func (l *postgresListener) disconnect(ctx context.Context) {
	if l.conn == nil {
		return
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = l.conn.Close(closing)
	l.conn, l.hears, l.retry = nil, false, time.Now().Add(postgresRetry)
}

// wait returns when a notification has come, or it is time to look or to connect.
func (l *postgresListener) wait(ctx context.Context) {
	until := l.due()
	if l.config != nil && l.conn == nil && l.retry.Before(until) {
		until = l.retry
	}
	waiting, stop := context.WithDeadline(ctx, until)
	defer stop()
	if l.conn == nil {
		<-waiting.Done()
		return
	}
	notification, err := l.conn.WaitForNotification(waiting)
	switch {
	case err == nil:
		l.heard = time.Now()
		l.hear(notification)
	case ctx.Err() != nil:
	case waiting.Err() == nil || l.conn.IsClosed() || !l.answers(ctx):
		l.disconnect(ctx)
	}
}

// answers reports whether the connection still stands. One that was silent is tried, and has to show anew that it brings notices.
func (l *postgresListener) answers(ctx context.Context) bool {
	if time.Since(l.heard) < postgresSilence {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, postgresPatience)
	defer cancel()
	if l.conn.Ping(ctx) != nil {
		return false
	}
	l.heard, l.hears = time.Now(), false
	l.store.notices.add("")
	return true
}

func (l *postgresListener) hear(n *pgconn.Notification) {
	if n.Channel == workChannel {
		if n.Payload == l.schema {
			l.store.work.Ring()
		}
		return
	}
	sender, rest, _ := strings.Cut(n.Payload, " ")
	ids, schema, _ := strings.Cut(rest, " ")
	switch {
	case schema != l.schema: // it is about other tables
	case sender == l.store.notices.sender: // its own watchers know already
		l.hears = true
	default:
		for id := range strings.SplitSeq(ids, ",") {
			if l.store.watch.watches(id) {
				l.told[id] = true
			}
		}
	}
}

// due returns when to look.
func (l *postgresListener) due() time.Time {
	due := l.checked.Add(l.interval())
	if soon := l.asked.Add(noticePause); len(l.told) > 0 && soon.Before(due) {
		due = soon
	}
	return due
}

// interval is the time between two looks at all watched logs.
func (l *postgresListener) interval() time.Duration {
	if l.hears && !l.store.watch.behind.Load() {
		return 10 * l.store.poll
	}
	return 2 * l.store.poll
}

// look looks at what there is to look at by now.
func (l *postgresListener) look(ctx context.Context) {
	switch now := time.Now(); {
	case now.Before(l.due()):
	case now.Before(l.checked.Add(l.interval())):
		told := slices.Collect(maps.Keys(l.told))
		clear(l.told)
		l.store.look(ctx, told)
		l.asked = time.Now()
	default:
		clear(l.told)
		l.store.lookAtAll(ctx)
		l.checked = time.Now()
	}
}
