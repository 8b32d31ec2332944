// Package postgres runs throw-away PostgreSQL servers for tests. Each has a temporary folder of its own,
// listens only on a socket in it, and ends with the process that started it. Nobody keeps its cluster: nothing
// waits for the disk, memory is small, and statements are not compiled.
package postgres

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agonist-dev/debate/internal/longform"
)

// superuser is the role that may do everything. There is no password: the socket's folder is private.
const superuser = "postgres"

// Server is a PostgreSQL server with an empty cluster. It is safe for concurrent use.
type Server struct {
	programs string // the folder of initdb, postgres and createdb
	folder   string
	settings []string

	mu        sync.Mutex
	process   *process // nil: not running
	databases int
}

// Start creates a cluster and starts its server. The caller stops it. It fails with a [*MissingError] if
// this machine has no PostgreSQL. If ctx ends, the start is broken off; later it has no effect. Settings, as "work_mem=1MB", go before
// those that every server here has.
func Start(ctx context.Context, settings ...string) (*Server, error) {
	programs, err := find(os.Getenv("PATH"), folders)
	if err != nil {
		return nil, err
	}
	folder, err := newFolder(ctx, "")
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errTooLong) { // TMPDIR may belong to root
		var second error
		if folder, second = newFolder(ctx, shared); second == nil {
			err = nil
		} else {
			err = errors.Join(err, second)
		}
	}
	if err != nil {
		return nil, err
	}
	s := &Server{programs: programs, folder: folder, settings: append(brief(), settings...)}
	if err = s.initialize(ctx); err == nil {
		err = s.Restart(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// brief returns the settings of a server whose cluster nobody keeps: nothing waits for the disk, and nothing is tidied up meanwhile.
// What was committed outlives [Server.Kill] all the same, since the machine has it in its memory. In the long form and with benchmarks
// there are no such settings: they measure what a server takes that keeps everything.
func brief() []string {
	if bench := flag.Lookup("test.bench"); longform.Asked() || bench != nil && bench.Value.String() != "" {
		return nil
	}
	return []string{"fsync=off", "autovacuum=off"}
}

// shared is a folder for temporary files that every user can enter.
const shared = "/tmp"

// port is part of the name of a socket.
const port = "5432"

// longest is how long the path of a server's folder may be: that of a socket may have 107 bytes, and a pooler's is a folder deeper.
const longest = 107 - len("/postgres1234567890/.s.PGSQL."+port)

var errTooLong = errors.New("the path of the folder is too long for a socket: set TMPDIR to a shorter one")

// newFolder creates a folder for the server's user, in parent or, if that is empty, in the usual place.
func newFolder(ctx context.Context, parent string) (string, error) {
	folder, err := os.MkdirTemp(parent, "postgres")
	if err != nil {
		return "", err
	}
	if err = own(folder); err == nil {
		err = enter(ctx, folder)
	}
	if err == nil && parent == "" && len(folder) > longest {
		err = errTooLong
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(folder))
	}
	return folder, nil
}

func (s *Server) initialize(ctx context.Context) error {
	// Without --no-sync, initdb would sync a gigabyte of pages for a cluster that nobody keeps.
	return s.run(ctx, "initdb", "--pgdata="+s.data(), "--username="+superuser,
		"--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync")
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

// Folder returns the folder that holds the cluster and the socket.
func (s *Server) Folder() string { return s.folder }

// Restart starts the server again after [Server.Kill], with the same cluster, and waits until it accepts
// connections. If the server is running, Restart does nothing.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		return nil
	}
	args := []string{
		filepath.Join(s.programs, "postgres"), "-D", s.data(), "-k", s.folder, "-p", port,
		"-c", "listen_addresses=", "-c", "shared_buffers=32MB", "-c", "max_connections=100",
		"-c", "jit=off", // to compile a statement takes longer than to run it on the few rows of a test
	}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	p, err := launch(ctx, s.folder, "QUIT", "database system is ready to accept", args...) // connections, or read-only ones
	s.process = p
	return err
}

// Kill ends the server at once, as a crash would: running transactions are lost, committed ones are not.
// The cluster stays for [Server.Restart]. If the server is not running, Kill does nothing.
func (s *Server) Kill() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end(true)
}

// Stop ends the server and removes all its files.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.end(false), os.RemoveAll(s.folder))
}

func (s *Server) end(keep bool) error {
	if s.process == nil {
		return nil
	}
	p := s.process
	s.process = nil
	return p.end(keep)
}

// Database creates an empty database and returns its URL.
func (s *Server) Database(ctx context.Context) (string, error) { return s.create(ctx, "template1") }

// Copy creates a copy of a database, whose URL is given, and returns the URL of the copy. It waits until nobody is connected to the
// database.
func (s *Server) Copy(ctx context.Context, database string) (string, error) {
	u, err := url.Parse(database)
	if err != nil {
		return "", err
	}
	for {
		made, err := s.create(ctx, strings.TrimPrefix(u.Path, "/"))
		if err == nil || !strings.Contains(err.Error(), "is being accessed by other users") {
			return made, err
		}
	}
}

func (s *Server) create(ctx context.Context, template string) (string, error) {
	s.mu.Lock()
	s.databases++
	name := fmt.Sprintf("test%d", s.databases)
	s.mu.Unlock()
	if err := s.run(ctx, "createdb", "--host="+s.folder, "--username="+superuser, "--template="+template, name); err != nil {
		return "", err
	}
	return s.URL((&url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/" + name}).String())
}

// URL returns the URL of a database on this server. The other URL of the database may be that on the server whose [Server.Standby] this
// one is.
func (s *Server) URL(database string) (string, error) { return at(s.folder, database) }

// at returns the URL of a database whose socket is in a folder.
func at(folder, database string) (string, error) {
	u, err := url.Parse(database)
	if err != nil {
		return "", err
	}
	u.RawQuery = url.Values{"host": {folder}, "port": {port}}.Encode()
	return u.String(), nil
}

// Standby starts a server that repeats what this one does, and accepts no changes until it is promoted. This one runs. The caller stops
// the standby.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	folder, err := newFolder(ctx, filepath.Dir(s.folder))
	if err != nil {
		return nil, err
	}
	standby := &Server{programs: s.programs, folder: folder, settings: s.settings}
	err = s.run(ctx, "pg_basebackup", "--pgdata="+standby.data(), "--host="+s.folder, "--port="+port, "--username="+superuser,
		"--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	if err == nil {
		err = standby.Restart(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, standby.Stop())
	}
	return standby, nil
}

// run runs one of PostgreSQL's programs to its end.
func (s *Server) run(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.programs, program), args...) //nolint:gosec // a program of PostgreSQL
	if err := prepare(cmd, s.folder); err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(out))
	}
	return nil
}

// watchdog runs the server ($3…) until its own input gives a line or ends. The input ends when the
// process at its other end is gone, however it ended. Then watchdog ends the server by a signal ($2). Unless a line says
// to keep the cluster, it removes the cluster's folder ($1) too. The log, its standard error, stays open
// as long as a process of the server runs.
const watchdog = `
folder=$1 signal=$2; shift 2
"$@" & server=$!
exec 2>/dev/null
keep=
if read -r _; then keep=yes; fi
kill -$signal $server
wait $server
[ "$keep" ] || rm -rf "$folder"
`

// process is a server, or a pooler, that runs under its watchdog.
type process struct {
	cmd   *exec.Cmd
	input io.WriteCloser
	word  string        // that the log has once connections are accepted
	ready chan struct{} // closed then
	ended chan struct{} // closed once no process of the server is left

	mu    sync.Mutex
	lines []string // the last ones of the log
}

// launch starts a server, which the signal ends at once, and waits for the word in its log.
func launch(ctx context.Context, folder, signal, word string, server ...string) (*process, error) {
	args := append([]string{"-c", watchdog, "watchdog", folder, signal}, server...)
	cmd := exec.Command("/bin/sh", args...) //nolint:gosec,noctx // a script of ours, which ends when its input does
	if err := prepare(cmd, folder); err != nil {
		return nil, err
	}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, input: input, word: word, ready: make(chan struct{}), ended: make(chan struct{})}
	go p.read(log)
	select {
	case <-p.ready:
		return p, nil
	case <-p.ended:
		return nil, errors.Join(fmt.Errorf("%s has ended: %s", filepath.Base(server[0]), p.log()), p.end(true))
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), p.end(true))
	}
}

// read reads the log to its end, and detects in it when the server is ready.
func (p *process) read(log io.Reader) {
	defer close(p.ended)
	ready := false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		p.mu.Lock()
		p.lines = append(p.lines[max(0, len(p.lines)-19):], lines.Text())
		p.mu.Unlock()
		if !ready && strings.Contains(lines.Text(), p.word) {
			ready = true
			close(p.ready)
		}
	}
	_, _ = io.Copy(io.Discard, log) // a line may be too long for the scanner, and nobody else empties the pipe
}

func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// end ends the server and waits for it.
func (p *process) end(keep bool) error {
	if keep {
		_, _ = io.WriteString(p.input, "keep\n") // if the watchdog is gone, nobody needs the line
	}
	_ = p.input.Close()
	<-p.ended
	if err := p.cmd.Wait(); err != nil && p.cmd.ProcessState == nil {
		return err
	}
	return nil
}
