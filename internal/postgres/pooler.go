package postgres

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Pooler is PgBouncer before a server: it lends a connection to the server for each transaction.
type Pooler struct {
	folder  string
	process *process
}

// Pooler starts PgBouncer before the server, which runs. The caller stops it first. It fails with [exec.ErrNotFound] if this machine
// has none.
func (s *Server) Pooler(ctx context.Context) (*Pooler, error) {
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		return nil, fmt.Errorf("install PgBouncer (on Debian: apt-get install pgbouncer): %w", err)
	}
	folder, err := newFolder(ctx, s.folder)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(folder, "pooler.ini")
	text := fmt.Sprintf(`[databases]
* = host=%s user=%s
[pgbouncer]
unix_socket_dir = %s
listen_port = %s
auth_type = any
pool_mode = transaction
max_client_conn = 1000
ignore_startup_parameters = extra_float_digits
`, s.folder, superuser, folder, port)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	if err := own(config); err != nil {
		return nil, err
	}
	p, err := launch(ctx, folder, "TERM", "process up", program, config)
	if err != nil {
		return nil, err
	}
	return &Pooler{folder, p}, nil
}

// URL returns the URL of a database of the server, by way of the pooler. It asks for nothing that suits a pooler.
func (p *Pooler) URL(database string) (string, error) { return at(p.folder, database) }

// Stop ends the pooler and removes its files.
func (p *Pooler) Stop() error { return p.process.end(false) }
