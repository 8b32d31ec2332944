package sql

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/agonist-dev/debate/bus"
)

const (
	// busChannel is the channel of LISTEN and NOTIFY.
	busChannel = "debate_chunks"
	// busPayload is the most bytes of a payload. The server refuses 8000.
	busPayload = 7999
	// busSize is the most bytes of a message: in base64, behind a topic of 64, it fits a payload.
	busSize = (busPayload - 64 - 2) / 4 * 3
	// busBatch bounds what is published at once, and with the interval what an engine publishes in a second.
	busBatch = 192 << 10
	// busTimeout bounds a statement.
	busTimeout = "5s"
	// busSilence is how long a connection that listens may be silent until it is tried.
	busSilence = 15 * time.Second
)

// Bus carries chunks through a PostgreSQL server, by LISTEN and NOTIFY. It is safe for concurrent use. Engines whose buses are on
// the same database hear each other, whatever their stores are.
//
// It has two connections of its own: one publishes, and one listens from the first subscription on. It writes to no table, and
// no append waits for it. Text is gathered for 100 ms. If more than half of the server's queue of notifications is
// filled, because some session of the server does not read them, Publish sends nothing and fails.
//
// A lost connection is made again after 0.1 to 5 s. A pooler, such as PgBouncer, is refused: it forwards no notifications.
type Bus struct {
	config      *pgx.ConnConfig
	subscribers bus.Subscribers

	writing chan struct{} // holds one token: who takes it may use write
	write   *pgx.Conn     // nil: not connected

	life      context.Context
	end       func()
	listening sync.Once
	listener  sync.WaitGroup
	close     func() error
}

var _ bus.Bus = (*Bus)(nil)

// OpenBus opens a bus on a PostgreSQL database of version 12 or later. url is as in [OpenPostgres]. It connects once, so that a
// wrong URL is found at once.
func OpenBus(ctx context.Context, url string) (*Bus, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, failed("open bus", postgresBlind(err))
	}
	// A commit does not wait for the disk, since nothing that is published is kept.
	config.RuntimeParams["synchronous_commit"], config.RuntimeParams["statement_timeout"] = "off", busTimeout
	b := &Bus{config: config, writing: make(chan struct{}, 1)}
	b.life, b.end = context.WithCancel(context.Background())
	b.close = sync.OnceValue(b.shut)
	if b.write, err = b.connect(ctx); err != nil {
		return nil, failed("open bus", err)
	}
	b.writing <- struct{}{}
	return b, nil
}

// Close ends the bus, waits for its goroutine and closes its connections. Later calls of Publish fail with [ErrClosed]. A second
// Close does nothing.
func (b *Bus) Close() error { return b.close() }

func (b *Bus) shut() error {
	b.end()
	b.listening.Do(func() {}) // nothing listens from now on
	b.listener.Wait()
	<-b.writing
	if b.write == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return b.write.Close(ctx)
}

// errPooledBus reports that a pooler has refused or swallowed the settings of a bus.
var errPooledBus = errors.New("this URL goes to a pooler, which passes no notifications on: use the server's own")

// connect makes a connection.
func (b *Bus) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, b.config.Copy())
	if refusesSettings(err) {
		return nil, errPooledBus
	}
	if err != nil {
		return nil, err
	}
	var timeout string
	err = conn.QueryRow(ctx, `SELECT current_setting('statement_timeout')`, pgx.QueryExecModeExec).Scan(&timeout)
	if err == nil && timeout != busTimeout {
		err = errPooledBus
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

// Limits implements [bus.Bus].
func (b *Bus) Limits() bus.Limits {
	return bus.Limits{Interval: 100 * time.Millisecond, Size: busSize, Batch: busBatch}
}

// Publish implements [bus.Bus]: in one statement, which is a transaction of its own.
func (b *Bus) Publish(ctx context.Context, messages []bus.Message) error {
	payloads, err := packed(messages)
	if err != nil || len(payloads) == 0 {
		return failed("publish", err)
	}
	select {
	case <-b.writing:
	case <-b.life.Done():
		return failed("publish", ErrClosed)
	case <-ctx.Done():
		return failed("publish", ctx.Err())
	}
	defer func() { b.writing <- struct{}{} }()
	if b.life.Err() != nil {
		return failed("publish", ErrClosed)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.life, cancel)()
	if b.write == nil || b.write.IsClosed() {
		if b.write, err = b.connect(ctx); err != nil {
			b.write = nil
			return failed("publish", err)
		}
	}
	var sent int
	row := b.write.QueryRow(ctx, `
		SELECT count(pg_notify('`+busChannel+`', payload)) FROM unnest($1::text[]) AS payload
		WHERE (SELECT pg_notification_queue_usage()) < 0.5`, pgx.QueryExecModeExec, payloads)
	if err = row.Scan(&sent); err == nil && sent < len(payloads) {
		err = errors.New("the server's queue of notifications is half full: some session does not read them")
	}
	return failed("publish", err)
}

// packed writes messages into as few payloads as they fit. A payload has a line for each: the topic, a space, and the data in
// base64.
func packed(messages []bus.Message) (payloads []string, err error) {
	var payload strings.Builder
	for _, m := range messages {
		if len(m.Topic) == 0 || len(m.Topic) > 64 || len(m.Data) == 0 || len(m.Data) > busSize {
			return nil, fmt.Errorf("a message of %d bytes to a topic of %d is outside the limits", len(m.Data), len(m.Topic))
		}
		if payload.Len()+len(m.Topic)+2+base64.StdEncoding.EncodedLen(len(m.Data)) > busPayload {
			payloads = append(payloads, payload.String())
			payload.Reset()
		}
		payload.WriteString(m.Topic + " " + base64.StdEncoding.EncodeToString(m.Data) + "\n")
	}
	if payload.Len() > 0 {
		payloads = append(payloads, payload.String())
	}
	return payloads, nil
}

// Subscribe implements [bus.Bus]. The first subscription starts the goroutine that listens, which [Bus.Close] ends.
func (b *Bus) Subscribe(ctx context.Context, topic string) <-chan []byte {
	in := b.subscribers.Add(ctx, topic)
	b.listening.Do(func() { b.listener.Go(b.listen) })
	return in
}

// listen delivers what is published, and connects again when the connection is lost, until the bus is closed.
func (b *Bus) listen() {
	const least, most = 100 * time.Millisecond, 5 * time.Second
	for pause := least; b.life.Err() == nil; pause = min(2*pause, most) {
		began := time.Now()
		_ = b.hear(b.life) // it is tried again
		if time.Since(began) > most {
			pause = least
		}
		select {
		case <-time.After(pause):
		case <-b.life.Done():
		}
	}
}

// hear delivers what one connection receives, until that is lost.
func (b *Bus) hear(ctx context.Context) error {
	connecting, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := b.connect(connecting)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(connecting, "LISTEN "+busChannel); err != nil {
		return err
	}
	b.subscribers.Interrupted() // what was published until now is lost
	for {
		waiting, stop := context.WithTimeout(ctx, busSilence)
		notification, err := conn.WaitForNotification(waiting)
		stop()
		switch {
		case err == nil:
			b.deliver(notification.Payload)
		case ctx.Err() != nil || waiting.Err() == nil || conn.IsClosed():
			return err
		default: // it was silent
			if err := conn.Ping(ctx); err != nil {
				return err
			}
		}
	}
}

// deliver gives subscribers what a payload holds. A stranger may have written it.
func (b *Bus) deliver(payload string) {
	for line := range strings.Lines(payload) {
		topic, encoded, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if data, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(data) > 0 {
			b.subscribers.Deliver(topic, data)
		}
	}
}
