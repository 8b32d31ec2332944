package command_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/cmd/debate/internal/command"
)

// gathered is what several goroutines have written.
type gathered struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (g *gathered) Write(data []byte) (int, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.text.Write(data)
}

func (g *gathered) String() string {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.text.String()
}

// server is a debate serve that runs.
type server struct {
	t          *testing.T
	url        string // of the page
	said       gathered
	interrupts chan os.Signal
	ended      chan int
	person     string // who asks
	token      string // the password
}

// serve runs debate serve with the demonstration until it has printed its address.
func serve(t *testing.T, args ...string) *server {
	t.Helper()
	s := &server{t: t, interrupts: make(chan os.Signal), ended: make(chan int, 1)}
	shown, out := io.Pipe()
	go func() {
		code := command.Run(t.Context(), command.System{
			Args: append([]string{"serve", "--demo", "--listen", "localhost:0"}, args...), In: strings.NewReader(""), Out: out, Err: &s.said,
			Lookup: func(string) (string, bool) { return "", false }, Interrupts: s.interrupts,
		})
		_ = out.Close()
		s.ended <- code
	}()
	line, err := bufio.NewReader(shown).ReadString('\n')
	require.NoError(t, err, s.said.String())
	s.url = strings.TrimSpace(line)
	return s
}

// end ends it by a signal, and returns what it has said.
func (s *server) end() string {
	s.t.Helper()
	s.interrupts <- os.Interrupt
	require.Zero(s.t, <-s.ended, s.said.String())
	return s.said.String()
}

// ask sends a request. A body is JSON.
func (s *server) ask(method, path, body string, status int) *http.Response {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(s.t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		request.SetBasicAuth(s.person, s.token)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != status {
		said, _ := io.ReadAll(response.Body)
		require.Equal(s.t, status, response.StatusCode, "%s %s: %s", method, path, said)
	}
	return response
}

// read reads the JSON of an answer.
func (s *server) read(response *http.Response) (out map[string]any) {
	s.t.Helper()
	require.NoError(s.t, json.NewDecoder(response.Body).Decode(&out))
	return out
}

// preset returns the config that the page offers under a name, with other fields.
func (s *server) preset(name string, fields map[string]any) string {
	s.t.Helper()
	presets, _ := s.read(s.ask(http.MethodGet, "api/presets", "", http.StatusOK))["presets"].([]any)
	for _, one := range presets {
		preset, _ := one.(map[string]any)
		if config, ok := preset["config"].(map[string]any); ok && preset["name"] == name {
			maps.Copy(config, fields)
			data, err := json.Marshal(config)
			require.NoError(s.t, err)
			return string(data)
		}
	}
	require.Fail(s.t, "no such preset", "%s of %v", name, presets)
	return ""
}

// stream opens the stream of a conversation, behind a fact.
func (s *server) stream(id string, after int) *bufio.Scanner {
	s.t.Helper()
	path := "api/conversations/" + id + "/stream?after=" + strconv.Itoa(after)
	lines := bufio.NewScanner(s.ask(http.MethodGet, path, "", http.StatusOK).Body)
	lines.Buffer(nil, 1<<20)
	return lines
}

// follow reads a stream until an event of this name, or to its end if there is none. It returns the numbers of the facts, and the names of
// all events.
func follow(t *testing.T, lines *bufio.Scanner, until string) (facts []int, names []string) {
	t.Helper()
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case field == "id":
			n, err := strconv.Atoi(value)
			require.NoError(t, err)
			facts = append(facts, n)
		case field == "event":
			names = append(names, value)
		case strings.HasPrefix(field, "data") && len(names) > 0 && names[len(names)-1] == until:
			return facts, names
		}
	}
	return facts, names
}

// TestServeGoesOn: a signal ends the streams and the program, and what was said is kept. The next debate serve continues by itself, and
// readers get each fact once.
func TestServeGoesOn(t *testing.T) {
	t.Parallel()
	place := t.TempDir() + "/"
	s := serve(t, "--store", place)
	page := s.ask(http.MethodGet, "", "", http.StatusOK)
	assert.Contains(t, page.Header.Get("Content-Type"), "text/html")
	config := s.preset("debate", map[string]any{"id": "chess", "topic": "Is chess a sport?", "rounds": 1})
	s.ask(http.MethodPost, "api/conversations", config, http.StatusCreated)
	stream := s.stream("chess", 0)
	before, _ := follow(t, stream, "turn")
	said := s.end()
	rest, names := follow(t, stream, "")
	assert.NotContains(t, names, "end", "it is not over")
	assert.Contains(t, said, "This is a demonstration")
	assert.Contains(t, said, "Ending: calls in flight have 1m0s.")
	facts := slices.Concat(before, rest)

	s = serve(t, "--store", place)
	after, names := follow(t, s.stream("chess", facts[len(facts)-1]), "")
	assert.Contains(t, names, "end")
	for i, n := range slices.Concat(facts, after) {
		require.Equal(t, i+1, n)
	}
	s.end()
}

// TestServeKeepsNothingOfADemonstration: unless a store is named. Each kind of conversation can be begun.
func TestServeKeepsNothingOfADemonstration(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for name, subject := range map[string]string{"debate": "topic", "deliberation": "problem", "arbiter": "task"} {
		s.ask(http.MethodPost, "api/validate", s.preset(name, map[string]any{subject: "Design a cache."}), http.StatusOK)
	}
	assert.Contains(t, s.end(), "in memory, which nothing keeps")
}

// TestServeAsksForAToken: as a bearer, or as the password of a person, whose name the log keeps. It does not reach what is of this machine.
func TestServeAsksForAToken(t *testing.T) {
	t.Parallel()
	const token = "correct-horse-battery"
	file := filepath.Join(t.TempDir(), "token.txt")
	require.NoError(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	s := serve(t, "--listen", ":0", "--token-file", file)
	s.ask(http.MethodGet, "", "", http.StatusOK)
	refused := s.ask(http.MethodGet, "api/presets", "", http.StatusUnauthorized)
	assert.Contains(t, refused.Header.Get("WWW-Authenticate"), "Basic ")
	s.token = "another-horse-battery"
	s.ask(http.MethodGet, "api/presets", "", http.StatusUnauthorized)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"api/presets", http.NoBody)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusOK, response.StatusCode)

	s.person, s.token = "Pat", token
	config := s.preset("debate", map[string]any{"topic": "Is chess a sport?", "toolPolicy": map[string]any{"approval": "approve"}})
	assert.Equal(t, "toolPolicy", s.read(s.ask(http.MethodPost, "api/validate", config, http.StatusUnprocessableEntity))["field"])
	config = s.preset("debate", map[string]any{"id": "chess", "topic": "Is chess a sport?"})
	s.ask(http.MethodPost, "api/conversations", config, http.StatusCreated)
	s.ask(http.MethodPost, "api/conversations/chess/cancel", `{"reason":"enough"}`, http.StatusAccepted)
	events, err := io.ReadAll(s.ask(http.MethodGet, "api/conversations/chess/events", "", http.StatusOK).Body)
	require.NoError(t, err)
	assert.Contains(t, string(events), `"person":"Pat"`)
	s.end()
}

// TestServeImportsNoUsesOfTools: a log is stored again, unless there are tools that change something: it could say that they were approved.
func TestServeImportsNoUsesOfTools(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := filepath.Join(folder, "token.txt")
	require.NoError(t, os.WriteFile(file, []byte("correct-horse-battery"), 0o600))
	for _, c := range []struct {
		tools  []string
		status int
	}{
		{[]string{"--context", folder}, http.StatusOK},
		{[]string{"--context", folder, "--allow-write"}, http.StatusUnprocessableEntity},
	} {
		s := serve(t, append(c.tools, "--listen", ":0", "--token-file", file)...)
		s.person, s.token = "Pat", "correct-horse-battery"
		config := s.preset("debate", map[string]any{"id": "chess", "topic": "Is chess a sport?"})
		s.ask(http.MethodPost, "api/conversations", config, http.StatusCreated)
		s.ask(http.MethodPost, "api/conversations/chess/cancel", `{"reason":"enough"}`, http.StatusAccepted)
		log, err := io.ReadAll(s.ask(http.MethodGet, "api/conversations/chess/export.json", "", http.StatusOK).Body)
		require.NoError(t, err)
		s.ask(http.MethodPost, "api/import", string(log), c.status)
		s.end()
	}
}

// TestServeHasAQuota: all conversations together, also where this machine alone is served.
func TestServeHasAQuota(t *testing.T) {
	t.Parallel()
	s := serve(t, "--quota", "1")
	start := func(budget map[string]any, status int) *http.Response {
		config := s.preset("debate", map[string]any{"topic": "Is chess a sport?", "budget": budget})
		return s.ask(http.MethodPost, "api/conversations", config, status)
	}
	assert.Equal(t, "budget.hard", s.read(start(map[string]any{}, http.StatusUnprocessableEntity))["field"])
	assert.Equal(t, "cost_limit", s.read(start(map[string]any{"hard": 2}, http.StatusPaymentRequired))["kind"])
	start(map[string]any{"hard": 0.5}, http.StatusCreated)
	s.end()
}

// TestServeEndsAtOnce: the second signal aborts what is in flight.
func TestServeEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := serve(t)
	config := s.preset("deliberation", map[string]any{"id": "cache", "problem": "Design a cache."})
	s.ask(http.MethodPost, "api/conversations", config, http.StatusCreated)
	follow(t, s.stream("cache", 0), "chunk")
	s.interrupts <- os.Interrupt
	select {
	case s.interrupts <- os.Interrupt:
		assert.Equal(t, 130, <-s.ended)
	case code := <-s.ended: // the calls in flight were faster
		assert.Zero(t, code)
	}
}

// TestServeAnAgent: it begins the program itself, and holds a debate over its standard input and output. When it leaves, the program ends.
func TestServeAnAgent(t *testing.T) {
	t.Parallel()
	in, asks := io.Pipe()
	answers, out := io.Pipe()
	var said gathered
	ended := make(chan int, 1)
	go func() {
		code := command.Run(t.Context(), command.System{
			Args: []string{"serve", "--demo", "--stdio"}, In: in, Out: out, Err: &said,
			Lookup: func(string) (string, bool) { return "", false }, Interrupts: make(chan os.Signal),
		})
		_ = out.Close()
		ended <- code
	}()
	agent := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil)
	session, err := agent.Connect(t.Context(), &sdk.IOTransport{Reader: answers, Writer: asks}, nil)
	require.NoError(t, err, said.String())
	use := func(tool string, arguments map[string]any) string {
		answer, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
		require.NoError(t, err)
		require.Len(t, answer.Content, 1)
		text, ok := answer.Content[0].(*sdk.TextContent)
		require.True(t, ok)
		require.False(t, answer.IsError, text.Text)
		return text.Text
	}
	use("debate_start", map[string]any{"preset": "debate", "topic": "Is chess a sport?", "id": "chess"})
	assert.Contains(t, use("debate_read", map[string]any{"id": "chess", "fields": []string{"topic"}}), "Is chess a sport?")
	use("debate_control", map[string]any{"id": "chess", "action": "cancel"})
	require.NoError(t, session.Close())
	assert.Zero(t, <-ended, said.String())
}

// TestServeOtherProtocols: the presets are models of the OpenAI chat API, and a thread of AG-UI is checked like any request.
func TestServeOtherProtocols(t *testing.T) {
	t.Parallel()
	s := serve(t)
	models, ok := s.read(s.ask(http.MethodGet, "v1/models", "", http.StatusOK))["data"].([]any)
	require.True(t, ok)
	assert.Len(t, models, 3)
	s.ask(http.MethodPost, "agui", "{}", http.StatusUnprocessableEntity)
	s.ask(http.MethodPost, "mcp", "{}", http.StatusBadRequest)
	s.end()
}
