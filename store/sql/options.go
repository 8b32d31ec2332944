package sql

import (
	"context"
	"log/slog"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Migration says what opening a database does about tables of another version.
type Migration string

// What opening a database does about its tables.
const (
	// MigrateAuto makes missing tables, and brings older ones up to the version of this release. It is the default.
	MigrateAuto Migration = "auto"
	// MigrateCheck changes no table, and fails with a [*VersionError] if they are missing or older. It suits a program whose role may
	// not change tables: its deployment migrates them before, as "debate migrate" does.
	MigrateCheck Migration = "check"
	// MigrateNever asks for no version. The first statement that finds no table, or an older one, fails.
	MigrateNever Migration = "never"
)

// Options configures how a database is opened. The zero value suits most programs.
type Options struct {
	// Connections caps the connections that read; 0: 8. Up to three more connections append, and one more listens while somebody
	// watches a log or waits for work.
	Connections int
	// Timeout bounds a transaction, including the time that it waits for others; 0: 30 s. An append that
	// takes longer fails.
	Timeout time.Duration
	// Poll bounds how late a watcher learns what other stores have done; 0: 200 ms. PostgreSQL's notifications tell sooner. If they do
	// not arrive, as behind a pooler, or the file system does not tell when SQLite's file was written, it takes up to twice as long.
	// If one is lost where others arrive, it takes up to ten times as long.
	//
	// While nothing happens, a store whose logs are watched asks SQLite once in two Polls, and PostgreSQL once in ten, or in two
	// where notifications do not arrive.
	Poll time.Duration
	// Migrate says what is done about tables that are missing or older; "": MigrateAuto. Tables of a newer release are used as they are
	// if that release says that this one can: see [VersionError].
	Migrate Migration
	// Logger gets a line if a URL goes to a pooler; nil: slog.Default.
	Logger *slog.Logger
	// VacuumLater makes Redact leave the last traces in the file of SQLite. The host program then calls [Store.Vacuum] at a quiet
	// time, which removes them.
	VacuumLater bool
	// ReadOnly opens a file of SQLite that cannot or must not be written. Nothing is created and nothing is migrated: the file
	// must exist and have the present version. Methods that would change it fail with [fs.ErrPermission]. If there is no
	// write-ahead log beside the file, no process has it open for writing, and the store reads the file as it is at that time:
	// only a store that is opened later sees later appends. PostgreSQL ignores ReadOnly.
	ReadOnly bool
	// OnWake is called in the transaction of each append that wakes a conversation, before it is committed: a host program
	// can insert a job there, which then exists if and only if the events do. An append wakes a conversation if the
	// conversation is in a working state after it (see flow.State.Idle), and
	//   - it begins the log (a start, a fork, an import) or leaves a state in which nothing happens by itself, whoever holds
	//     the lease, or
	//   - its writer does not hold the lease: an answer or another control from elsewhere. Whoever holds the lease may be
	//     about to release it.
	//
	// So it is not called for what a session appends under its lease in the ordinary course. [store.Info] describes the
	// conversation as it is after the append; its Owner holds the lease now.
	//
	// If OnWake returns an error, that append fails with it, and nothing of it is stored; no other append fails. OnWake is
	// called concurrently. It must neither commit tx nor roll it back, and must be quick: SQLite has one writer, whose
	// lock it holds, and PostgreSQL ends a transaction that is idle for five seconds. It must not use the Store: in SQLite it
	// would wait for itself. It is called again if the transaction is tried again. ctx ends with [Options.Timeout].
	//
	// tx is a transaction of the store, and then Tx.SQL is set, or that of [SubmitTx].
	//
	// Where OnWake is set, an append that wakes a conversation has a transaction to itself; all others share theirs. nil: nothing
	// is called.
	OnWake func(ctx context.Context, tx Tx, woken store.Info) error
}

// withDefaults replaces zero values by defaults, and refuses what is invalid.
func (o Options) withDefaults() (Options, error) {
	if o.Connections <= 0 {
		o.Connections = 8
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Poll <= 0 {
		o.Poll = 200 * time.Millisecond
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	switch o.Migrate {
	case "":
		o.Migrate = MigrateAuto
	case MigrateAuto, MigrateCheck, MigrateNever:
	default:
		return o, flow.Unknown("Options.Migrate", o.Migrate, MigrateAuto, MigrateCheck, MigrateNever)
	}
	return o, nil
}
