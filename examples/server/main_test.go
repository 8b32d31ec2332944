package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agonist-dev/debate/internal/postgres"
)

// TestMain lets the program of the tests be the example.
func TestMain(m *testing.M) {
	if os.Getenv("DEBATE_SERVER") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// run starts the example in a folder, or on a database, and returns its address.
func run(t *testing.T, folder, database string) (server *exec.Cmd, url string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server = exec.CommandContext(t.Context(), program, "127.0.0.1:0")
	server.Dir, server.Stderr, server.Env = folder, os.Stderr, append(os.Environ(), "DEBATE_SERVER=1", "DATABASE_URL="+database)
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Wait() }) // it may have ended
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url, _, _ = strings.Cut(line, " shows the debates")
	return server, url
}

// ask sends a request, and wants this status.
func ask(t *testing.T, method, url, body string, status int) io.ReadCloser {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != status {
		said, _ := io.ReadAll(response.Body)
		t.Fatalf("%s %s: %s: %s", method, url, response.Status, said)
	}
	return response.Body
}

// watch reads the stream of the first debate behind a fact, until an event of this name. It checks that each fact comes once, and returns
// the number of the last one.
func watch(t *testing.T, url string, last int, until string) int {
	t.Helper()
	lines := bufio.NewScanner(ask(t, http.MethodGet, url+"api/conversations/first/stream?after="+strconv.Itoa(last), "", http.StatusOK))
	lines.Buffer(nil, 1<<20)
	event := ""
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case field == "id":
			if last++; value != strconv.Itoa(last) {
				t.Fatalf("fact %s comes in place of %d", value, last)
			}
		case field == "event":
			event = value
		case strings.HasPrefix(field, "data") && event == until:
			return last
		}
	}
	t.Fatalf("the stream ends without %s: %v", until, lines.Err())
	return 0
}

// end ends the server by a signal.
func end(t *testing.T, server *exec.Cmd) {
	t.Helper()
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Fatal(err)
	}
}

// read reads the JSON of an answer.
func read[T any](t *testing.T, url string) (out T) {
	t.Helper()
	if err := json.NewDecoder(ask(t, http.MethodGet, url, "", http.StatusOK)).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTheCodeIsShort: a reader sees all of it.
func TestTheCodeIsShort(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if _, code, _ := strings.Cut(string(source), "\npackage main"); strings.Count("package main"+code, "\n") > 60 {
		t.Error("the code has more than 60 lines")
	}
}

// TestAVisit: to the example with its file, and with a database of PostgreSQL.
func TestAVisit(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		visit(t, t.TempDir(), "")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		server, err := postgres.Start(t.Context())
		if missing, ok := errors.AsType[*postgres.MissingError](err); ok {
			t.Skip(missing)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := server.Stop(); err != nil {
				t.Error(err)
			}
		})
		database, err := server.Database(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		visit(t, t.TempDir(), database)
	})
}

// visit: the page is served, and the debate begins by itself. Its server is killed in the middle and started again, and the debate goes
// on. A signal ends the server in the middle of a speech, which is finished. The next server goes on, and the visitor judges the debate.
func visit(t *testing.T, folder, database string) {
	t.Helper()
	server, url := run(t, folder, database)
	if page, err := io.ReadAll(ask(t, http.MethodGet, url, "", http.StatusOK)); err != nil || !strings.Contains(string(page), "<html") {
		t.Fatalf("the page: %s: %v", page, err)
	}
	last := watch(t, url, 0, "turn")
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // it was killed

	server, url = run(t, folder, database)
	last = watch(t, url, last, "failed") // the call that the kill has cut off
	last = watch(t, url, last, "chunk")
	type standing struct {
		Record struct {
			Turns []struct{ Speaker string }
		}
	}
	before := len(read[standing](t, url+"api/conversations/first?fields=turns").Record.Turns)
	end(t, server)

	server, url = run(t, folder, database)
	if now := len(read[standing](t, url+"api/conversations/first?fields=turns").Record.Turns); now <= before {
		t.Fatalf("a speech was broken off: there are %d turns, as before the signal", now)
	}
	last = watch(t, url, last, "inquiry")
	type inbox struct {
		Questions []struct {
			Question struct{ ID string }
		}
	}
	questions := read[inbox](t, url+"api/questions").Questions
	verdict := `{"reasoning":"Ada was clear.","scores":{"Ada":70,"Ben":60},"qualityScore":65,"winner":"Ada"}`
	answer, err := json.Marshal(map[string]string{"text": verdict})
	if err != nil {
		t.Fatal(err)
	}
	if len(questions) != 1 {
		t.Fatalf("%d questions are open", len(questions))
	}
	ask(t, http.MethodPost, url+"api/conversations/first/questions/"+questions[0].Question.ID, string(answer), http.StatusAccepted)
	watch(t, url, last, "end")
	end(t, server)
}
