package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/store/sql"
)

// migrated is what the command migrate says.
type migrated struct {
	Store string `json:"store"`
	From  int    `json:"from"` // the version that the tables had; 0: there were none
	To    int    `json:"to"`   // the version that they have
}

// migrate brings the tables of a database to the version of this release.
func (p *program) migrate() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use: "migrate", Args: arguments(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return p.interruptible(c.Context(), func(ctx context.Context) error { return p.runMigrate(ctx, check) })
		},
	}
	c.Flags().BoolVar(&check, "check", false, "change no table, and fail if they are missing or older")
	return c
}

func (p *program) runMigrate(ctx context.Context, check bool) error {
	place := p.place()
	switch {
	case place == "":
		return errHomeless()
	case strings.Contains(place, "://") && !inPostgres(place):
		return errUnknownURL(place)
	case place == notKept, folder(place):
		return exit(exitArguments, fmt.Errorf("%s has no tables: only a file of SQLite and a PostgreSQL database have", place))
	case !p.exists():
		return exit(exitArguments, fmt.Errorf("there is no store %s", place))
	}
	done := migrated{Store: shown(place)}
	to, err := tables(ctx, place, sql.MigrateCheck)
	done.From = to
	older, ok := errors.AsType[*sql.VersionError](err)
	if ok && older.Have < older.Know && !check {
		done.From = older.Have
		to, err = tables(ctx, place, sql.MigrateAuto)
	}
	if err != nil {
		return &storeError{done.Store, err}
	}
	done.To = to
	switch {
	case p.json:
		return p.printValue(done)
	case done.From == done.To:
		_, err = fmt.Fprintf(p.Out, "%s: version %d\n", done.Store, done.To)
	default:
		_, err = fmt.Fprintf(p.Out, "%s: version %d → %d\n", done.Store, done.From, done.To)
	}
	return err
}

// tables opens a database, and returns the version of its tables.
func tables(ctx context.Context, place string, how sql.Migration) (int, error) {
	open := sql.Options{Migrate: how}.OpenSQLite
	if inPostgres(place) {
		open = sql.Options{Migrate: how}.OpenPostgres
	}
	s, err := open(ctx, place)
	if err != nil {
		return 0, err
	}
	have, _, err := s.Version(ctx)
	return have, errors.Join(err, s.Close())
}
