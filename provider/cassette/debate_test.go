package cassette_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate" //nolint:depguard // what is shown here is that a whole debate is replayed
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
	"github.com/agonist-dev/debate/provider/scripted"
)

// listener is a provider that keeps what its callers hear, chunk for chunk.
type listener struct {
	provider.Provider

	mu    sync.Mutex
	heard map[string][]string // by the request's id
}

func (l *listener) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	var chunks []string
	response, err := l.Provider.Generate(ctx, req, func(c provider.Chunk) {
		chunks = append(chunks, c.Text)
		emit(c)
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heard == nil {
		l.heard = map[string][]string{}
	}
	l.heard[req.ID] = chunks
	if err != nil {
		l.heard[req.ID] = append(chunks, err.Error())
	}
	return response, err
}

// stage is an engine whose providers are all on one tape.
type stage struct {
	engine    *debate.Engine
	listeners map[string]*listener
}

func newStage(tape *cassette.Cassette, providers map[string]provider.Provider) *stage {
	s := &stage{engine: &debate.Engine{Providers: map[string]debate.Provider{}}, listeners: map[string]*listener{}}
	for name, p := range providers {
		s.listeners[name] = &listener{Provider: tape.Wrap(name, p)}
		s.engine.Providers[name] = s.listeners[name]
	}
	return s
}

// conclude waits for the end of a debate, and yields what of it counts.
func (s *stage) conclude(t *testing.T, session *debate.Session) string {
	t.Helper()
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	canonical, err := record.Canonical()
	require.NoError(t, err)
	require.NoError(t, s.engine.Shutdown(t.Context()))
	return string(canonical)
}

func (s *stage) heard() map[string][]string {
	all := map[string][]string{}
	for name, l := range s.listeners {
		for id, chunks := range l.heard {
			all[name+" "+id] = chunks
		}
	}
	return all
}

// nobody are providers that only a replay can do with.
func nobody() map[string]provider.Provider {
	return map[string]provider.Provider{"pro": nil, "con": nil, "court": nil}
}

// vendors are three of them: two speak, one judges. Con's second speech breaks off once.
func vendors() map[string]provider.Provider {
	speaker := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		last := "nothing yet"
		for _, m := range req.Messages {
			last = m.Speaker + ", who began with " + strings.Fields(m.Text)[0]
		}
		text := fmt.Sprintf("%s has heard %d speeches; of those the last: %s.\nÜber Straßen – 🙂", req.Self, len(req.Messages), last)
		if req.Self == "Ben" && len(req.Messages) > 1 && strings.HasSuffix(req.ID, "/1") {
			return scripted.Reply{Text: text, ChunkSize: 5, AfterChunks: 2, Usage: provider.Usage{Input: 7}, Err: &provider.Error{
				Kind: provider.KindRateLimit, Status: 429, Code: "slow_down", RetryAfter: 3 * time.Second,
			}}
		}
		return scripted.Reply{Text: text, ChunkSize: 7}
	}}
	judge := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		names := shown(req)
		if req.Schema.Name == "verdict" {
			return scripted.Reply{Text: marshal(debate.FinalVerdict{
				Summary: "All is said.", KeyPoints: []debate.KeyPoints{
					{Participant: names[0], MainArguments: []string{"streets"}}, {Participant: names[1], MainArguments: []string{"roads"}},
				},
				AreasOfAgreement: []string{}, AreasOfDisagreement: []string{"much"},
				Winner:   &debate.Winner{Participant: names[0], Reasoning: "stands first"},
				Scores:   map[string]float64{names[0]: 70, names[1]: 60},
				Criteria: map[string]string{"evidence": "some"}, QualityScore: 70, Insights: []string{"none"},
			}), ChunkSize: 40}
		}
		return scripted.Reply{Text: marshal(debate.Judgement{
			ShouldContinue: true, QualityScore: 7, Reasoning: "They talk.", Recommendations: "Go on.", Assessments: []debate.ParticipantMark{
				{Participant: names[0], Strengths: []string{"stands first"}, Weaknesses: []string{}, Score: 7},
				{Participant: names[1], Strengths: []string{}, Weaknesses: []string{"stands second"}, Score: 6},
			},
		}), ChunkSize: 40}
	}}
	return map[string]provider.Provider{"pro": speaker, "con": speaker, "court": judge}
}

// shown returns the names of the participants in the order in which a judge is shown them.
func shown(req *provider.Request) []string {
	var names []string
	for _, name := range regexp.MustCompile(`Speaker [AB]|\bAda\b|\bBen\b`).FindAllString(req.Last.Text, -1) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func marshal(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func cast(mode debate.Mode, judged bool) debate.Config {
	config := debate.Config{
		ID: "cars", Topic: "Should cities ban cars?", Rounds: 2, Mode: mode, RoundTimeout: time.Hour,
		Participants: []debate.Participant{{Name: "Ada", Model: "pro/a-1"}, {Name: "Ben", Model: "con/b-2"}},
	}
	if judged {
		config.Judging = &debate.Judging{Anonymous: true, Judges: []debate.JudgeConfig{{Name: "Court", Model: "court/c-3"}}}
	}
	return config
}

// record holds a debate and records it.
func record(t *testing.T, file string, config debate.Config) (canonical string, heard map[string][]string) {
	t.Helper()
	tape, err := cassette.Open(file, cassette.Options{Mode: cassette.Record})
	require.NoError(t, err)
	s := newStage(tape, vendors())
	s.engine.Seed = seed
	session, err := s.engine.Start(t.Context(), config)
	require.NoError(t, err)
	canonical = s.conclude(t, session)
	require.NoError(t, tape.Close())
	return canonical, s.heard()
}

func seed() string { return "of this test alone" }

// A debate with a judge, who is shown labels in a drawn order, is replayed under its seed: the same
// record, and every provider's words chunk for chunk, failures and the attempts after them included.
func TestReplayOfADebate(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "debate.json")
				canonical, heard := record(t, file, cast(mode, true))
				assert.Contains(t, canonical, "Ada has heard")
				assert.Contains(t, canonical, "stands first")
				assert.Len(t, heard, 4+1+3, "two speeches each, one of them in two attempts, two assessments and a verdict")

				<-time.After(24 * time.Hour) // a replay has limits of time of its own
				tape, err := cassette.Open(file, cassette.Options{})
				require.NoError(t, err)
				s := newStage(tape, nobody())
				s.engine.Seed = seed
				session, err := s.engine.Start(t.Context(), cast(mode, true))
				require.NoError(t, err)
				assert.Equal(t, canonical, s.conclude(t, session))
				assert.Equal(t, heard, s.heard())
				assert.Empty(t, tape.Unused())
				require.NoError(t, tape.Close())
			})
		})
	}
}

// Without a judge nothing but the fence is drawn from the seed, and a debate is replayed under any.
func TestReplayUnderAnotherSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "debate.json")
		config := cast(debate.Sequential, false)
		canonical, heard := record(t, file, config)

		config.ID = ""
		tape, err := cassette.Open(file, cassette.Options{})
		require.NoError(t, err)
		s := newStage(tape, nobody())
		session, err := s.engine.Start(t.Context(), config)
		require.NoError(t, err, "the models pass their checks")
		assert.Equal(t, canonical, s.conclude(t, session))
		assert.Empty(t, tape.Unused())
		again := map[string][]string{}
		for id, chunks := range s.heard() {
			again[strings.Replace(id, session.ID(), "cars", 1)] = chunks
		}
		assert.Equal(t, heard, again)
	})
}

// With a judge another seed asks other requests: the replay says so, or is the same by chance.
func TestAnotherSeedBeforeAJudge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "debate.json")
		config := cast(debate.Sequential, true)
		canonical, _ := record(t, file, config)
		unseen := 0
		for i := range 24 { // all in the recorded order: once in 2^24, and as often with other labels
			tape, err := cassette.Open(file, cassette.Options{})
			require.NoError(t, err)
			s := newStage(tape, nobody())
			config.ID = fmt.Sprintf("cars-%d", i)
			session, err := s.engine.Start(t.Context(), config)
			require.NoError(t, err)
			record, err := session.Wait(t.Context())
			require.NoError(t, s.engine.Shutdown(t.Context()))
			if err != nil {
				assert.ErrorIs(t, err, debate.ErrAwaitingInput, "who is to judge?")
				assert.Contains(t, fmt.Sprint(s.heard()), `of provider "court" is not recorded: the nearest, "cars/`)
				unseen++
				continue
			}
			got, err := record.Canonical()
			require.NoError(t, err)
			assert.Equal(t, canonical, string(got))
		}
		assert.Positive(t, unseen)
	})
}

// What a recording leaves on the disk depends on neither fence nor order of completion.
func TestTheFileHoldsNoFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "debate.json")
		record(t, file, cast(debate.Simultaneous, true))
		text := contents(t, file)
		assert.NotRegexp(t, `end \d{10,}`, text)
		assert.Contains(t, text, `"<<<end ⟦fence 1⟧>>>"`)

		other := filepath.Join(t.TempDir(), "debate.json")
		record(t, other, cast(debate.Simultaneous, false))
		another := filepath.Join(t.TempDir(), "debate.json")
		record(t, another, cast(debate.Simultaneous, false))
		assert.Equal(t, contents(t, other), contents(t, another))
	})
}
