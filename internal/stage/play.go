package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// StrandedWith is a debate that asks about Ben's second speech.
func StrandedWith(t *testing.T, config debate.Config) (*debate.Engine, *debate.Session, *debate.Record) {
	t.Helper()
	engine, p := Engine(config)
	engine.Store = &store.Memory{}
	Abiding(p)
	Befall(p, provider.KindRefusal, Said("Ben", 2))
	session := Started(t, engine, config)
	return engine, session, AwaitsInput(t, session)
}

// Bubbled runs a test with a clock of its own.
func Bubbled(test func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}

// Stranded is a debate that befalls makes stop in the error state, or wait for a person.
func Stranded(t *testing.T, config debate.Config, befalls func(*scripted.Provider)) (*debate.Engine, *debate.Session, *scripted.Provider) {
	t.Helper()
	engine, p := Engine(config)
	engine.Store = &store.Memory{}
	Abiding(p)
	befalls(p)
	session := Started(t, engine, config)
	_, err := session.Wait(t.Context())
	require.Error(t, err)
	return engine, session, p
}

// Unplaced is a debate whose last speakers have no position.
func Unplaced(given, open int) debate.Config {
	config := Crew(given + open)
	for i := given; i < given+open; i++ {
		config.Participants[i].Position = ""
	}
	config.Rounds = 1
	config.AssignPositions = &debate.AssignPositions{}
	return config
}

// OnClock plays a debate on a clock of its own and yields its events. A debate that stops with an
// error, or waits for a person, is closed, and err is what Wait says.
func OnClock(t *testing.T, config debate.Config, change func(*debate.Engine, *scripted.Provider)) (events []debate.Event, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		engine, p := Engine(config)
		engine.Store = &store.Memory{}
		change(engine, p)
		session, startErr := engine.Start(t.Context(), config)
		require.NoError(t, startErr)
		_, err = session.Wait(t.Context())
		for event, readErr := range engine.Store.Read(t.Context(), session.ID(), 0) {
			require.NoError(t, readErr)
			events = append(events, event)
		}
		require.NoError(t, session.Close())
	})
	return events, err
}

// Crew is a debate of so many, who are of these sides, or of none.
func Crew(n int, sides ...debate.Side) debate.Config {
	config := TwoDebaters()
	config.Participants = nil
	for i, name := range []string{"Ada", "Ben", "Cyd", "Dan", "Eve", "Fay"}[:n] {
		p := debate.Participant{Name: name, Model: "test/debater", Position: name + " has a position."}
		if i < len(sides) {
			p.Side = sides[i]
		}
		config.Participants = append(config.Participants, p)
	}
	return config
}

// Attended is a debate of two with a person who is asked about every failure.
func Attended() debate.Config {
	config := TwoDebaters()
	config.Unattended = false
	return config
}

// Abiding makes judges name exactly those whom they are to judge. Votes stay as they are.
func Abiding(p *scripted.Provider) {
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil || req.Schema.Name == "ballot" {
			return reply(req)
		}
		var names []string
		for _, name := range []string{"Ada", "Ben", "Cyd", "Dan", "Eve", "Fay", "Speaker A", "Speaker B", "Speaker C"} {
			if strings.Contains(string(req.Schema.JSON), `"`+name+`"`) {
				names = append(names, name)
			}
		}
		return Script(names)(req)
	}
}

// InSlots yields who spoke, in the order of rounds and slots.
func InSlots(r *debate.Record) (out []string) {
	for round := 1; round <= r.Round; round++ {
		for _, turn := range r.RoundTurns(round) {
			out = append(out, fmt.Sprintf("r%d %s", turn.Round, turn.Speaker))
		}
	}
	return out
}

// Twin is another engine that asks the same models, as another process does; its store is the same.
func Twin(e *debate.Engine) *debate.Engine {
	return &debate.Engine{Providers: e.Providers, Judges: e.Judges, Functions: e.Functions, Models: e.Models, Store: e.Store, Logger: e.Logger}
}

// Simultaneous is a config of three rounds in which both speak at once.
func Simultaneous() debate.Config {
	config := TwoDebaters()
	config.Mode = debate.Simultaneous
	return config
}

// Started starts a conversation, whose session ends with the test.
func Started(t testing.TB, engine *debate.Engine, config flow.Config) *debate.Session {
	t.Helper()
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// Run plays a conversation to its end.
func Run(t testing.TB, engine *debate.Engine, config flow.Config) *debate.Record {
	t.Helper()
	return Ended(t, Started(t, engine, config))
}

// Ended waits for the end of a conversation.
func Ended(t testing.TB, session *debate.Session) *debate.Record {
	t.Helper()
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	return record
}

// AwaitsInput waits until a conversation waits for a person.
func AwaitsInput(t testing.TB, session *debate.Session) *debate.Record {
	t.Helper()
	record, err := session.Wait(t.Context())
	require.ErrorIs(t, err, debate.ErrAwaitingInput)
	return record
}

// SessionRecord folds the saved log of a session.
func SessionRecord(t testing.TB, session *debate.Session) *debate.Record {
	t.Helper()
	record, err := session.Record(t.Context())
	require.NoError(t, err)
	return record
}

// reader reads the records of stored conversations, as an engine does.
type reader interface {
	Record(ctx context.Context, id string) (*debate.Record, error)
}

// StoredRecord folds the log that an engine's store has of a conversation.
func StoredRecord(t testing.TB, engine reader, id string) *debate.Record {
	t.Helper()
	record, err := engine.Record(t.Context(), id)
	require.NoError(t, err)
	return record
}

// Estimated is what a conversation will use at most, as an engine foresees it.
func Estimated(t testing.TB, engine *debate.Engine, config flow.Config) flow.Estimate {
	t.Helper()
	estimate, err := engine.Estimate(t.Context(), config)
	require.NoError(t, err)
	return estimate
}

// opener opens stored conversations, as an engine does.
type opener interface {
	Open(ctx context.Context, id string) (*debate.Session, error)
}

// Reopen opens a stored conversation. The caller closes the session; a session of [Started] ends with the test.
func Reopen(t testing.TB, engine opener, id string) *debate.Session {
	t.Helper()
	session, err := engine.Open(t.Context(), id)
	require.NoError(t, err)
	return session
}

// Speakers yields who spoke, in order, as "r1 Ada".
func Speakers(r *debate.Record) []string {
	var out []string
	for _, turn := range r.Turns {
		out = append(out, fmt.Sprintf("r%d %s", turn.Round, turn.Speaker))
	}
	return slices.Clip(out)
}

// InBubble runs a test of a started debate on a clock of its own.
func InBubble(t *testing.T, config debate.Config, test func(t *testing.T, s *debate.Session, p *scripted.Provider)) {
	synctest.Test(t, func(t *testing.T) {
		engine, p := Engine(config)
		Slowly(p)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		test(t, session, p)
	})
}

// Brief is a debate of one round in which everybody speaks at once, and nobody judges.
func Brief() debate.Config {
	config := TwoDebaters()
	config.Mode, config.Rounds, config.MaxTokens, config.Judging = debate.Simultaneous, 1, 300, nil
	return config
}

// Patient is a debate with the default patience.
func Patient(attended bool) debate.Config {
	config := TwoDebaters()
	config.Patience, config.Unattended = 0, !attended
	return config
}

// NoonPosition and QuarterPosition are positions that somebody finds for those who have none.
const (
	NoonPosition    = "Close every street at noon, and open them again at night."
	QuarterPosition = "Let each quarter vote for itself, once in a year."
)

// PlanOf is a well-formed plan of these positions.
func PlanOf(positions ...string) debate.PositionPlan {
	p := debate.PositionPlan{Reasoning: "They collide."}
	for i, text := range positions {
		p.Positions = append(p.Positions, debate.PlannedPosition{
			Position: text, Persona: fmt.Sprintf("A planner of %d years", 30+i), KeyArguments: []string{fmt.Sprintf("reason %d", i+1), "air"},
		})
	}
	return p
}

// Planner answers whoever looks for positions from a list; when it is used up, with the last one again.
func Planner(p *scripted.Provider, answers ...string) (asked func() []provider.Request) {
	Abiding(p)
	reply, mu, n := p.Reply, sync.Mutex{}, 0
	p.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil || req.Schema.Name != "assign" {
			return reply(req)
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		return scripted.Reply{Text: Placed(req, answers[min(n, len(answers))-1])}
	}
	return func() []provider.Request {
		return slices.DeleteFunc(p.Requests(), func(req provider.Request) bool { return req.Schema == nil || req.Schema.Name != "assign" })
	}
}

// PNG and PDF are files that begin as their types do.
var (
	PNG = []byte("\x89PNG\r\n\x1a\n and the pixels")
	PDF = []byte("%PDF-1.7\n1 0 obj<</Type /Pages /Count 2>>endobj 2 0 obj<</Type/Page>>endobj 3 0 obj<</Type /Page >>endobj")
)

// Fileless is a store that keeps no files.
type Fileless struct{ store.Store }

// Illustrated returns a debate of one round with an image in its topic and a PDF that all share.
func Illustrated() debate.Config {
	config := TwoDebaters()
	config.ID, config.Rounds = "illustrated", 1
	config.Attachments = []flow.File{{Name: "chart.png", Data: PNG}}
	config.Documents = []flow.Document{{Name: "The study", Files: []flow.File{{Name: "study.pdf", Type: "application/pdf", Data: PDF}}}}
	return config
}
