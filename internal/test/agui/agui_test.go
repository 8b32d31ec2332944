// Package agui_test lets the official client of AG-UI, which checks each event, follow conversations over package web/agui, in Node.js.
package agui_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
	"github.com/agonist-dev/debate/web/agui"
)

// followed is what the user of a thread has in the end.
type followed struct {
	ThreadID   string
	Outcomes   []string // of its runs
	Events     map[string]int
	Failure    string
	Messages   []message
	State      struct{ Record struct{ State flow.State } }
	Complaints []string
}

// message is one that the user sees.
type message struct{ ID, Role, Name, Content string }

// seldom makes an attempt of each conversation fail in the middle of its words.
type seldom struct {
	mu   sync.Mutex
	done map[string]bool
}

// first reports whether the key is new.
func (s *seldom) first(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done[key] {
		return false
	}
	s.done[key] = true
	return true
}

// troubled is an engine for debates in which Ada begins a turn again, and Ben refuses to speak from round 2 on.
func troubled(config debate.Config) *debate.Engine {
	engine, source := stage.Engine(config)
	engine.Store = &store.Memory{}
	engine.ChunkInterval = time.Microsecond
	stage.Befall(source, provider.KindRefusal, stage.Said("Ben", 2))
	reply, hits, seen := source.Reply, stage.Said("Ada", 2), &seldom{done: make(map[string]bool)}
	source.Reply = func(req *provider.Request) scripted.Reply {
		id, _, _ := strings.Cut(req.ID, "/")
		if hits(req) && seen.first(id) {
			return scripted.Reply{
				Text: "These words do not count.", Chunks: 5, Interval: time.Millisecond, AfterChunks: 3,
				Err: &provider.Error{Kind: provider.KindNetwork, Message: "cut"},
			}
		}
		r := reply(req)
		r.Chunks = 7
		return r
	}
	return engine
}

// TestTheOfficialClientFollowsConversations: it finds no event wrong, its user answers what is asked, and sees each turn once with the
// text that counts.
func TestTheOfficialClientFollowsConversations(t *testing.T) {
	config := stage.TwoDebaters()
	config.Unattended, config.Patience = false, 0
	config.Retry = &debate.RetryPolicy{Base: time.Millisecond, Jitter: time.Millisecond}
	engine := troubled(config)
	data, err := flow.EncodeConfig(config)
	require.NoError(t, err)
	h, err := web.New(engine, web.Options{Presets: []web.Preset{{Name: "two", Config: data}}})
	require.NoError(t, err)
	server := httptest.NewServer(agui.New(h))
	t.Cleanup(func() {
		server.Close()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		assert.NoError(t, engine.Shutdown(ctx))
	})
	count := longform.Or(200, 5)
	arguments := []string{"client.mjs", server.URL, "Is chess a sport?"}
	for i := range count {
		arguments = append(arguments, fmt.Sprintf("thread-%d", i))
	}
	command := exec.CommandContext(t.Context(), "node", arguments...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	require.NoError(t, err)
	seen := 0
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Buffer(nil, 16<<20); lines.Scan(); seen++ {
		var f followed
		require.NoError(t, json.Unmarshal(lines.Bytes(), &f))
		check(t, engine, &f)
	}
	require.NoError(t, lines.Err())
	assert.Equal(t, count, seen)
}

// check compares what a user has with what is stored.
func check(t *testing.T, engine *debate.Engine, f *followed) {
	t.Helper()
	assert.Empty(t, f.Failure, f.ThreadID)
	assert.Empty(t, f.Complaints, f.ThreadID)
	require.NotEmpty(t, f.Outcomes, f.ThreadID)
	assert.Equal(t, "interrupt", f.Outcomes[0], f.ThreadID)
	assert.Equal(t, "success", f.Outcomes[len(f.Outcomes)-1], f.ThreadID)
	assert.Equal(t, flow.StateCompleted, f.State.Record.State, f.ThreadID)
	assert.Positive(t, f.Events["MESSAGES_SNAPSHOT"], f.ThreadID)
	var want, got []message
	for _, turn := range stage.StoredRecord(t, engine, f.ThreadID).Turns {
		want = append(want, message{turn.Call, "assistant", turn.Speaker, strings.TrimSpace(turn.Text)})
	}
	for _, m := range f.Messages {
		if m.Content = strings.TrimSpace(m.Content); m.Role == "assistant" {
			got = append(got, m)
		}
	}
	assert.ElementsMatch(t, want, got, f.ThreadID)
}
