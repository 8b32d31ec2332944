package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/env"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
	"github.com/agonist-dev/debate/store/sql"
)

// openStore opens the store of a command that needs a stored conversation. It creates nothing: without any store of its own the
// user has no conversations, and a store that --store names must be there.
func (p *program) openStore(ctx context.Context) (store.Store, func(), error) {
	switch {
	case p.place() == "":
		return nil, nil, errHomeless()
	case p.exists():
		err := p.denied() // before SQLite makes files beside it, in which the owner may not write
		if err == nil {
			var kept store.Store
			var closing func()
			if kept, closing, err = p.makeStore(ctx); err == nil {
				return kept, closing, nil
			}
		}
		if unwritable(err) {
			return p.readStore(ctx, err)
		}
		return nil, nil, err
	case p.store == "", p.usual.stored:
		return &store.Memory{}, func() {}, nil
	default:
		return nil, nil, exit(exitArguments, fmt.Errorf("--store: there is no store %s", p.store))
	}
}

// inSQLite reports whether the store is a file of SQLite.
func (p *program) inSQLite() bool { return !folder(p.place()) && !strings.Contains(p.place(), "://") }

// denied returns why a file of SQLite may not be written; nil: it may, or the store is of another kind.
func (p *program) denied() error {
	if !p.inSQLite() {
		return nil
	}
	file, err := os.OpenFile(p.place(), os.O_WRONLY, 0)
	if err == nil {
		return file.Close()
	}
	return &storeError{shown(p.place()), err}
}

// unwritable reports whether a file was not opened because it, or the disk on which it is, may only be read.
func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// readStore opens a file of SQLite that may not be written, for denied says so. What only reads works; what would write fails there.
func (p *program) readStore(ctx context.Context, denied error) (store.Store, func(), error) {
	if !p.inSQLite() {
		return nil, nil, denied
	}
	kept, closing, err := opened(sql.Options{ReadOnly: true}.OpenSQLite(ctx, p.place()))
	if err != nil {
		return nil, nil, denied
	}
	return kept, closing, nil
}

// closer is a store that has to be closed.
type closer interface {
	store.Store
	io.Closer
}

// opened returns a store and what closes it, unless it could not be opened.
func opened(s closer, err error) (store.Store, func(), error) {
	if err != nil {
		return nil, nil, err
	}
	return s, func() { _ = s.Close() }, nil
}

// errHomeless reports that nobody says where conversations are kept. A folder of the moment would be another one each time.
func errHomeless() error {
	return exit(exitArguments, fmt.Errorf("%s is not set to an absolute path: set it, or name the store with --store", homeVariable()))
}

// exists reports whether the place of the store is there.
func (p *program) exists() bool {
	if p.place() == "" {
		return false
	}
	if strings.Contains(p.place(), "://") {
		return true
	}
	_, err := os.Stat(p.place())
	return !errors.Is(err, os.ErrNotExist)
}

// storeError is the reason why a store could not be opened.
type storeError struct {
	place string
	err   error
}

func (e *storeError) Error() string { return fmt.Sprintf("open the store %s: %v", e.place, e.err) }

func (e *storeError) Unwrap() error { return e.err }

// makeStore opens the store that --store names: by default a file of SQLite in the user's data folder. It is created if it is
// missing.
func (p *program) makeStore(ctx context.Context) (store.Store, func(), error) {
	switch p.place() {
	case "":
		return nil, nil, errHomeless()
	case notKept:
		return &store.Memory{}, func() {}, nil
	}
	var kept store.Store
	var closing func()
	var err error
	switch place := p.place(); {
	case inPostgres(place):
		kept, closing, err = opened(sql.OpenPostgres(ctx, place))
	case strings.Contains(place, "://"):
		err = errUnknownURL(place)
	case folder(place):
		kept, closing, err = opened(file.Open(place))
	default:
		if err = os.MkdirAll(filepath.Dir(place), 0o700); err == nil {
			kept, closing, err = opened(sql.OpenSQLite(ctx, place))
		}
	}
	if err != nil {
		return nil, nil, &storeError{shown(p.place()), err}
	}
	return kept, closing, nil
}

// inPostgres reports whether a place is the URL of a PostgreSQL database.
func inPostgres(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// errUnknownURL reports a URL that is of no store.
func errUnknownURL(place string) error {
	return exit(exitArguments, fmt.Errorf("--store: %s is no URL of a PostgreSQL database: postgres://…", shown(place)))
}

// adviceOn returns what helps if a store has failed, a key cannot be sent, or a state opposes a control; "": nothing is known.
func (p *program) adviceOn(err error) string {
	var unopened *storeError
	var foreign *sql.ForeignError
	var failure *flow.Error
	var told *toldError
	kept := errors.As(err, &failure) && failure.Kind == provider.KindStore
	switch {
	case errors.As(err, &told):
		return told.next
	case codeOf(err) == exitConfig:
		return p.badKeys()
	case errors.Is(err, sql.ErrDamaged):
		return fmt.Sprintf("What is whole in it can be saved: debate export writes a conversation that can still be read, and "+
			"sqlite3 %s .recover | sqlite3 recovered.db writes a new file. --store names that one, or another place.", progress.Quote(p.place()))
	case errors.As(err, &foreign):
		return "Nothing was changed in it. --store names another file."
	case unwritable(err) && (kept || errors.As(err, &unopened)):
		return "The program reads and writes that file, and makes others beside it. --store names a place where it may."
	case kept:
		return "What was recorded until then is kept. When the store can be written again, debate resume continues the conversation."
	default:
		return ""
	}
}

// badKeys names the variables whose keys cannot be sent, and shows nothing of them; "": there are none.
func (p *program) badKeys() string {
	var names []string
	for _, name := range env.Secrets() {
		if strings.ContainsFunc(strings.TrimSpace(p.get(name)), func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "Set anew: " + strings.Join(names, ", ") + ". A key is one line of letters, digits and signs."
}
