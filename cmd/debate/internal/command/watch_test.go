package command_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/command"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// begin stores a conversation that no process runs, and returns its place and its id.
func begin(t *testing.T, then func(*testing.T, *debate.Session), after func(*testing.T, *file.Store, string)) string {
	place := filepath.Join(t.TempDir(), "kept") + "/"
	kept, err := file.Open(place)
	require.NoError(t, err)
	engine := &debate.Engine{
		Store: kept, Models: map[string]debate.Model{"demo/script": {Window: 1_000_000, Priced: true}},
		Providers: map[string]debate.Provider{"demo": &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
			return scripted.Reply{Text: "No.", Delay: time.Hour}
		}}},
	}
	session, err := engine.Start(t.Context(), debate.Config{Topic: "Tabs", Rounds: 1, Participants: []debate.Participant{
		{Name: "Ada", Model: "demo/script"}, {Name: "Ben", Model: "demo/script"},
	}})
	require.NoError(t, err)
	then(t, session)
	require.NoError(t, session.Close())
	after(t, kept, session.ID())
	require.NoError(t, kept.Close())
	return place
}

// TestWatchEndsWithoutAProcess: without an id, nobody waits for events that cannot come.
func TestWatchEndsWithoutAProcess(t *testing.T) {
	nothing := func(*testing.T, *file.Store, string) {}
	tests := map[string]struct {
		then  func(*testing.T, *debate.Session)
		after func(*testing.T, *file.Store, string)
		code  int
		said  string
	}{
		"at work": {func(*testing.T, *debate.Session) {}, nothing, 1, "no process runs it. debate resume"},
		"paused":  {func(t *testing.T, s *debate.Session) { require.NoError(t, s.Pause(t.Context())) }, nothing, 130, "paused; debate resume"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := run(t, begin(t, tt.then, tt.after), "watch")
			assert.Equal(t, tt.code, got.code)
			assert.Contains(t, got.err, "nobody runs")
			assert.Contains(t, got.err, tt.said)
		})
	}
}

// TestTheListShowsAQuarantine: why a conversation is left alone by workers.
func TestTheListShowsAQuarantine(t *testing.T) {
	place := begin(t, func(*testing.T, *debate.Session) {}, func(t *testing.T, kept *file.Store, id string) {
		q := store.Quarantine{Count: 2, Reason: "no key for openai", Left: flow.Duration(time.Hour)}
		require.NoError(t, kept.SetQuarantine(t.Context(), id, q))
	})
	got := run(t, place, "list")
	assert.Contains(t, got.out, "! ")
	assert.Contains(t, got.err, "in quarantine: could not be opened, 2 times: no key for openai; workers leave it alone for ")
	assert.Contains(t, run(t, place, "show").out, "in quarantine: ")
}

// TestAnAnswerThatIsTooLong: it is refused, as is one that is no text, and the next line is the answer.
func TestAnAnswerThatIsTooLong(t *testing.T) {
	var out, said bytes.Buffer
	in := strings.NewReader(strings.Repeat("x", 1<<20+1) + "\nGr\xfc\xdfe\n" + strings.Repeat("NA\n", 20))
	code := command.Run(context.Background(), command.System{
		Args: []string{"--store", t.TempDir() + "/", "--demo", "--clarify", "--rounds", "1", "Design a cache"}, In: in, Out: &out, Err: &said,
		Lookup: func(string) (string, bool) { return "", false },
	})
	assert.Zero(t, code, said.String())
	assert.Contains(t, said.String(), "the answer is longer than 1 MiB")
	assert.Contains(t, said.String(), "the answer is no text in UTF-8")
	assert.NotEmpty(t, out.String())
}

// TestAKeyThatNoHeaderCanCarry: the environment is wrong, no vendor has failed.
func TestAKeyThatNoHeaderCanCarry(t *testing.T) {
	var out, said bytes.Buffer
	code := command.Run(context.Background(), command.System{
		Args: []string{"--store", t.TempDir() + "/", "Design a cache"}, In: strings.NewReader(""), Out: &out, Err: &said,
		Lookup: func(name string) (string, bool) {
			return map[string]string{"OPENAI_API_KEY": "sk-one\ntwo"}[name], name == "OPENAI_API_KEY"
		},
	})
	assert.Equal(t, 4, code)
	assert.Contains(t, said.String(), "Set anew: OPENAI_API_KEY.")
	assert.NotContains(t, said.String(), "sk-one")
}
