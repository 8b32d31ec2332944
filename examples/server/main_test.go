package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the program of the tests be the example.
func TestMain(m *testing.M) {
	if os.Getenv("DEBATE_SERVER") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// run starts the example in a folder, and returns its address.
func run(t *testing.T, folder string) (server *exec.Cmd, url string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server = exec.CommandContext(t.Context(), program, "127.0.0.1:0")
	server.Dir, server.Stderr, server.Env = folder, os.Stderr, append(os.Environ(), "DEBATE_SERVER=1", "DATABASE_URL=")
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

// TestAVisit: the page is served, and the debate begins by itself. Its server is killed in the middle and started again, and the debate
// goes on. The visitor judges it, and a signal ends the server.
func TestAVisit(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if _, code, _ := strings.Cut(string(source), "\npackage main"); strings.Count("package main"+code, "\n") > 60 {
		t.Error("the code has more than 60 lines")
	}
	folder := t.TempDir()
	server, url := run(t, folder)
	if page, err := io.ReadAll(ask(t, http.MethodGet, url, "", http.StatusOK)); err != nil || !strings.Contains(string(page), "<html") {
		t.Fatalf("the page: %s: %v", page, err)
	}
	last := watch(t, url, 0, "turn")
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // it was killed

	server, url = run(t, folder)
	last = watch(t, url, last, "inquiry")
	var inbox struct {
		Questions []struct {
			Question struct{ ID string }
		}
	}
	if err := json.NewDecoder(ask(t, http.MethodGet, url+"api/questions", "", http.StatusOK)).Decode(&inbox); err != nil {
		t.Fatal(err)
	}
	verdict := `{"reasoning":"Ada was clear.","scores":{"Ada":70,"Ben":60},"qualityScore":65,"winner":"Ada"}`
	answer, err := json.Marshal(map[string]string{"text": verdict})
	if err != nil {
		t.Fatal(err)
	}
	if len(inbox.Questions) != 1 {
		t.Fatalf("%d questions are open", len(inbox.Questions))
	}
	ask(t, http.MethodPost, url+"api/conversations/first/questions/"+inbox.Questions[0].Question.ID, string(answer), http.StatusAccepted)
	watch(t, url, last, "end")
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Fatal(err)
	}
}
