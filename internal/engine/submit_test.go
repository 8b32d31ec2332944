package engine_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// due returns the ids of the debates that a worker should open.
func due(t *testing.T, engine *debate.Engine) (ids []string) {
	t.Helper()
	for info, err := range engine.List(t.Context(), debate.Filter{Working: true, Idle: true}) {
		require.NoError(t, err)
		ids = append(ids, info.ID)
	}
	return ids
}

// A submitted debate is stored with its files, makes no call, and another process plays it like any other.
func TestASubmittedDebateIsPlayedElsewhere(t *testing.T) {
	here, p := stage.Engine(stage.Illustrated())
	here.Store = &store.Memory{}
	there := stage.Twin(here)
	id, err := here.Submit(t.Context(), stage.Illustrated())
	require.NoError(t, err)
	assert.Equal(t, "illustrated", id)
	record := stage.StoredRecord(t, here, id)
	assert.Equal(t, flow.StateInitializing, record.State)
	assert.Zero(t, p.Calls())
	assert.Equal(t, []string{id}, due(t, there))

	s := stage.Reopen(t, there, id)
	played := stage.Ended(t, s)
	assert.Equal(t, flow.StateCompleted, played.State)
	assert.Equal(t, string(stage.PNG), shown(&p.Requests()[0])["chart.png"])

	alone, _ := stage.Engine(stage.Illustrated())
	assert.Equal(t, stage.Speakers(stage.Run(t, alone, stage.Illustrated())), stage.Speakers(played))
	assert.Empty(t, due(t, there))
}

// What goes on after the verdict can be stored without running, and another process plays it like any other.
func TestASubmittedReopeningIsPlayedElsewhere(t *testing.T) {
	here, p := stage.Engine(stage.TwoDebaters())
	here.Store = &store.Memory{}
	there := stage.Twin(here)
	over, made := stage.Run(t, here, stage.TwoDebaters()), p.Calls()
	asked := flow.Reopening{ID: "again", Ask: "Who pays for it?", To: "Ben"}
	id, err := here.SubmitReopening(t.Context(), over.ID, asked)
	require.NoError(t, err)
	assert.Equal(t, "again", id)
	_, err = here.SubmitReopening(t.Context(), over.ID, asked)
	stage.RequireKind(t, err, provider.KindConflict)
	require.ErrorIs(t, err, flow.ErrForked)
	asked.Ask = "Who pays for what?"
	_, err = here.SubmitReopening(t.Context(), over.ID, asked)
	stage.RequireKind(t, err, provider.KindConflict)
	require.NotErrorIs(t, err, flow.ErrForked)
	_, err = here.SubmitReopening(t.Context(), id, flow.Reopening{Rounds: 1})
	stage.RequireKind(t, err, provider.KindState)
	require.ErrorContains(t, err, "again is not completed: it is in the state awaitingResponses")
	assert.Equal(t, made, p.Calls())
	assert.Equal(t, []string{id}, due(t, there))

	s := stage.Reopen(t, there, id)
	played := stage.Ended(t, s)
	assert.Equal(t, flow.StateCompleted, played.State)
	assert.Len(t, played.Turns, len(over.Turns)+1)
}

// A fork can be stored without running, from the start or from an event, and another process plays it like any other.
func TestASubmittedForkIsPlayedElsewhere(t *testing.T) {
	here, p := stage.Engine(stage.TwoDebaters())
	here.Store = &store.Memory{}
	there := stage.Twin(here)
	over, made := stage.Run(t, here, stage.TwoDebaters()), p.Calls()
	for name, seq := range map[string]int64{"anew": 0, "on": over.Seq / 2} {
		edit := debate.Editing(func(c *debate.Config) { c.ID = name })
		id, err := here.SubmitFork(t.Context(), over.ID, seq, edit)
		require.NoError(t, err, name)
		assert.Equal(t, name, id)
		assert.Equal(t, over.ID, stage.StoredRecord(t, here, id).Parent().ID, name)
		_, err = here.SubmitFork(t.Context(), over.ID, seq, edit)
		stage.RequireKind(t, err, provider.KindConflict)
		require.ErrorIs(t, err, flow.ErrForked, name)
		for at, topic := range map[int64]string{seq: "Something else", over.Seq - 1: "", 1: ""} {
			other := debate.Editing(func(c *debate.Config) { c.ID, c.Topic = name, cmp.Or(topic, c.Topic) })
			_, err = here.SubmitFork(t.Context(), over.ID, at, other)
			stage.RequireKind(t, err, provider.KindConflict)
			require.NotErrorIs(t, err, flow.ErrForked, name)
		}
	}
	assert.Equal(t, made, p.Calls())
	assert.Equal(t, []string{"anew", "on"}, due(t, there))
	for _, id := range due(t, there) {
		assert.Equal(t, flow.StateCompleted, stage.Ended(t, stage.Reopen(t, there, id)).State, id)
	}
}

// Without an id each debate is another one.
func TestSubmitMakesIDs(t *testing.T) {
	engine, _ := stage.Engine(stage.TwoDebaters())
	first, err := engine.Submit(t.Context(), stage.TwoDebaters())
	require.NoError(t, err)
	second, err := engine.Submit(t.Context(), stage.TwoDebaters())
	require.NoError(t, err)
	ids := []string{first, second}
	slices.Sort(ids)
	assert.NotEqual(t, first, second)
	assert.Equal(t, ids, due(t, engine))
}

// Whoever does not know whether a debate was submitted submits it again, wherever it is by then.
func TestSubmittingTwice(t *testing.T) {
	config := stage.Illustrated()
	engine, p := stage.Engine(config)
	engine.Store = &store.Memory{}
	var submitting sync.WaitGroup
	for range 20 {
		submitting.Go(func() {
			id, err := stage.Twin(engine).Submit(t.Context(), config)
			assert.NoError(t, err)
			assert.Equal(t, config.ID, id)
		})
	}
	submitting.Wait()
	assert.Equal(t, []string{config.ID}, due(t, engine))

	stored := func() (infos []debate.Info) {
		for info, err := range engine.List(t.Context(), debate.Filter{}) {
			require.NoError(t, err)
			infos = append(infos, info)
		}
		return infos
	}
	same := func(when string) {
		t.Helper()
		before, calls := stored(), p.Calls()
		_, err := stage.Twin(engine).Submit(t.Context(), config)
		require.NoError(t, err, when)
		other := config
		other.Topic = "Something else"
		_, err = stage.Twin(engine).Submit(t.Context(), other)
		var conflict *debate.Error
		require.ErrorAs(t, err, &conflict, when)
		assert.Equal(t, provider.KindConflict, conflict.Kind)
		assert.Equal(t, "topic", conflict.Field)
		assert.Equal(t, before, stored(), when)
		assert.Equal(t, calls, p.Calls())
	}
	same("stored")
	s, err := engine.Start(t.Context(), config)
	require.NoError(t, err, "and starting it opens it")
	stage.Ended(t, s)
	same("played")
}

// forestalled is a store in which somebody else begins the debate right before this engine does.
type forestalled struct {
	*store.Memory

	before func()
}

func (s *forestalled) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	if before := s.before; after == 0 && before != nil {
		s.before = nil
		before()
	}
	return s.Memory.Append(ctx, id, after, writer, events)
}

func TestSomebodySubmitsInBetween(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "cars"
	for topic, kind := range map[string]provider.Kind{config.Topic: "", "Something else": provider.KindConflict} {
		memory := &store.Memory{}
		engine, _ := stage.Engine(config)
		other, _ := stage.Engine(config)
		other.Store = memory
		engine.Store = &forestalled{Memory: memory, before: func() {
			theirs := config
			theirs.Topic = topic
			_, err := other.Submit(t.Context(), theirs)
			assert.NoError(t, err)
		}}
		_, err := engine.Submit(t.Context(), config)
		var conflict *debate.Error
		if errors.As(err, &conflict); kind == "" {
			require.NoError(t, err)
		} else if assert.NotNil(t, conflict) {
			assert.Equal(t, kind, conflict.Kind)
		}
		record := stage.StoredRecord(t, other, config.ID)
		assert.Equal(t, topic, record.Settings().Topic)
	}
}

// full is a store that keeps no more events.
type full struct{ *store.Memory }

func (full) Append(context.Context, string, int64, string, []flow.Event) error { return stage.ErrDeaf }

// Who submits while the store fails is told to submit again, whether the store can be read or not.
func TestSubmittingWhileTheStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "cars"
		spoilt := &stage.Spoilt{Memory: &store.Memory{}, ID: config.ID}
		spoilt.Damaged.Store(true)
		for name, kept := range map[string]store.Store{"read": spoilt, "written": full{&store.Memory{}}} {
			engine, _ := stage.Engine(config)
			engine.Store = kept
			_, err := engine.Submit(t.Context(), config)
			var failed *debate.Error
			require.ErrorAs(t, err, &failed, name)
			assert.Equal(t, provider.KindStore, failed.Kind, name)
			assert.Equal(t, "submit", failed.Op, name)
			assert.Equal(t, "Repair the store, then submit it again, under the same id if you have given one.", failed.Hint(), name)
		}
	})
}

func TestSubmittingWhatIsWrong(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	engine.Store = &store.Memory{}
	wrong := config
	wrong.Topic, wrong.Rounds = "", -1
	_, err := engine.Submit(t.Context(), wrong)
	require.ErrorContains(t, err, "topic")
	require.ErrorContains(t, err, "ounds")
	wrong = stage.TwoDebaters()
	wrong.Participants[0].Model = "nobody/debater"
	_, err = engine.Submit(t.Context(), wrong)
	require.ErrorContains(t, err, "nobody")
	assert.Empty(t, due(t, engine))
	require.NoError(t, engine.Shutdown(t.Context()))
	_, err = engine.Submit(t.Context(), config)
	require.ErrorIs(t, err, flow.ErrClosed)
}

// A program that only submits debates needs what their configs name, since it freezes what it knows of it. It needs nothing to
// submit again, or to give controls.
func TestAProgramThatOnlySubmitsNeedsWhatConfigsName(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "a"
	stage.InCompany(t, config, func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		bare := &debate.Engine{Store: c.Store}
		_, err := bare.Submit(t.Context(), config)
		require.ErrorContains(t, err, `no provider "test" is registered`)
		_, err = join().Submit(t.Context(), config)
		require.NoError(t, err)
		_, err = bare.Submit(t.Context(), config)
		require.NoError(t, err)
		require.NoError(t, bare.Control(t.Context(), "a", flow.Pause{}))
		require.NoError(t, bare.Control(t.Context(), "a", flow.Resume{}))
		change := flow.Amendment{Models: map[string]flow.ModelChoice{"Ada": {Model: "test/another"}}}
		require.ErrorContains(t, bare.Control(t.Context(), "a", change), `no provider "test" is registered`)
	})
}

// A program that only submits needs no keys: with SkipModelCheck it asks no vendor anything. A worker that has them plays the debate.
func TestAProgramThatOnlySubmits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, worker, shops := stage.Market()
		worker.Store = &store.Memory{}
		keyless, web := stage.Twin(worker), stage.Twin(worker)
		keyless.Providers = make(map[string]debate.Provider)
		for name, s := range shops {
			refused := &provider.Error{Kind: provider.KindAuthentication, Status: 401}
			keyless.Providers[name] = &stage.Shop{Provider: s.Provider, Err: refused}
		}
		_, err := keyless.Submit(t.Context(), config)
		stage.RequireKind(t, err, provider.KindAuthentication)
		web.Providers, web.SkipModelCheck = keyless.Providers, true
		id, err := web.Submit(t.Context(), config)
		require.NoError(t, err)
		record := stage.StoredRecord(t, web, id)
		assert.Empty(t, record.Warnings)
		w := stage.Works(t.Context(), worker, debate.Work{})
		stage.Pass(time.Minute)
		record = stage.StoredRecord(t, web, id)
		assert.True(t, record.Final())
		require.NoError(t, w.End())
	})
}
