package durable_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// TestAHolderThatIsLate: a process loses its lease while a call is in flight, and appends what became of the
// call, and what it does next, when another has taken the debate over and is about to say that the call is
// lost. What the late one has begun, the other must not begin too.
func TestAHolderThatIsLate(t *testing.T) {
	for name, failure := range map[string]error{
		"the call is answered": nil, "the call fails": &provider.Error{Kind: provider.KindNetwork, Message: "cut off"},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) { beLate(t, failure) }))
	}
}

func beLate(t *testing.T, failure error) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ledger")
	ledger, err := openLedger(name)
	require.NoError(t, err)
	defer func() { assert.NoError(t, ledger.file.Close()) }()
	var clock sync.Mutex
	ahead := time.Duration(0)
	store := &store.Memory{Now: func() time.Time {
		clock.Lock()
		defer clock.Unlock()
		return time.Now().Add(ahead)
	}}
	talks := &voice{points: &failpoints{}, ledger: ledger}

	asked, speak, next := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var late sync.Once
	old := engineOn(store, answering(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		first := false
		late.Do(func() { first = true })
		if first {
			close(asked)
			<-speak
			response, err := talks.Generate(ctx, req, emit)
			if failure != nil {
				return nil, failure
			}
			return response, err
		}
		if err := ledger.call(began, req.ID, 0); err != nil {
			return nil, err
		}
		close(next)
		<-ctx.Done() // until it notices that it has lost the debate
		return nil, ctx.Err()
	}))
	old.Lease = time.Second
	session, err := old.Start(t.Context(), configOf(sequential, "late"))
	require.NoError(t, err)
	defer session.Close()
	<-asked
	clock.Lock()
	ahead = time.Hour
	clock.Unlock()

	var once sync.Once
	heir := engineOn(&meddled{store, func() {
		once.Do(func() {
			close(speak)
			<-next
		})
	}}, talks)
	taken := stage.Reopen(t, heir, "late")
	defer taken.Close()
	record := stage.Ended(t, taken)
	assert.Equal(t, undisturbed(t, sequential), stage.Canonical(t, record))

	sum := contest{}
	sum.add("late", readLedger(t, name), nil)
	assert.Zero(t, sum.doubles, "attempts that both have made")
}

// answering is a provider made of a function.
type answering func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error)

// Generate implements [debate.Provider].
func (f answering) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return f(ctx, req, emit)
}

// meddled is a store that lets something happen before each commit.
type meddled struct {
	*store.Memory

	before func()
}

// Append implements [store.Store].
func (s *meddled) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	s.before()
	return s.Memory.Append(ctx, id, after, writer, events)
}
