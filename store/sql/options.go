package sql

import "time"

// Options configures how a database is opened. The zero value suits most programs.
type Options struct {
	// Connections caps the connections that read; 0: 8. Up to three more connections append.
	Connections int
	// Timeout bounds a transaction, including the time that it waits for others; 0: 30 s. An append that
	// takes longer fails.
	Timeout time.Duration
	// Poll is the interval at which watched logs are checked for events that other stores have appended;
	// 0: 200 ms.
	Poll time.Duration
}

// withDefaults replaces zero values by defaults.
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
