package sql

import (
	"context"
	"database/sql/driver"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// era tells the connections to a server that has accepted changes from later ones. A failover may leave connections to a server that
// has become a standby. The first of them that fails for that reason ends the era, and none of it is used again: new connections go to
// the server that the URL finds then.
type era struct{ number atomic.Int64 }

// eraKey is where a connection has the number of its era.
const eraKey = "debate.era"

// watch makes connections by a config belong to eras.
func (a *era) watch(config *pgx.ConnConfig) []stdlib.OptionOpenDB {
	usual := config.OnPgError
	config.OnPgError = func(conn *pgconn.PgConn, e *pgconn.PgError) bool {
		if number, ok := conn.CustomData()[eraKey].(int64); ok && (e.Code == postgresReadOnly || e.Code == postgresEnds) {
			a.number.CompareAndSwap(number, number+1)
		}
		return usual(conn, e)
	}
	return []stdlib.OptionOpenDB{
		stdlib.OptionAfterConnect(func(_ context.Context, conn *pgx.Conn) error {
			conn.PgConn().CustomData()[eraKey] = a.number.Load()
			return nil
		}),
		stdlib.OptionResetSession(func(_ context.Context, conn *pgx.Conn) error {
			if conn.PgConn().CustomData()[eraKey] != a.number.Load() {
				return driver.ErrBadConn
			}
			return nil
		}),
	}
}
