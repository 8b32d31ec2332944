package sql

import "time"

// Options are how a database is opened. The zero value suits most programs.
type Options struct {
	// Connections is how many connections read at most; 0: 8. There are up to three more, which append.
	Connections int
	// Timeout is how long a transaction may take, with the time that it waits for others; 0: 30 s. An
	// append that takes longer fails.
	Timeout time.Duration
	// Poll is how often the logs that somebody watches are looked at for what other stores have
	// appended; 0: 200 ms.
	Poll time.Duration
}

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	if o.Connections <= 0 {
		o.Connections = 8
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Poll <= 0 {
		o.Poll = 200 * time.Millisecond
	}
	return o
}
