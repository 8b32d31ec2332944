package storetest_test

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/storetest"
)

func TestMemoryStore(t *testing.T) {
	t.Parallel()
	passes(t, storage(nil))
}

// passes runs all checks, as Run does for stores whose clocks are real.
func passes(t *testing.T, fresh func(testing.TB) storetest.Storage) {
	t.Helper()
	for _, name := range storetest.Names() {
		t.Run(name, func(t *testing.T) { assert.Empty(t, storetest.Examine(t, name, fresh)) })
	}
}

// asJSON keeps events as most stores do: it writes them as JSON and reads them back.
func asJSON(s *spoiled) {
	s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
		if len(events) == 0 {
			return s.good.Append(ctx, id, after, writer, nil)
		}
		data, err := json.Marshal(events)
		if err != nil {
			return err
		}
		var copied []flow.Event
		if err := json.Unmarshal(data, &copied); err != nil {
			return err
		}
		return s.good.Append(ctx, id, after, writer, copied)
	}
}

// A store that writes JSON can pass: what the suite appends comes back through encoding/json.
func TestAStoreOfJSONPasses(t *testing.T) {
	t.Parallel()
	passes(t, storage(asJSON))
}

// silent is a store that cannot watch.
type silent struct{ store.Store }

func TestAStoreThatCannotWatchIsSkippedThere(t *testing.T) {
	fresh := func(testing.TB) storetest.Storage {
		s := silent{&store.Memory{}}
		return storetest.Storage{Open: func(testing.TB) store.Store { return s }}
	}
	skipped := 0
	for _, name := range storetest.Names() {
		if strings.HasPrefix(name, "watch/") {
			skipped++
			faults := storetest.Examine(t, name, fresh)
			assert.Equal(t, []string{"skipped: the store is no store.Watcher"}, faults, name)
		}
	}
	assert.NotZero(t, skipped)
}

// The suite closes every handle that it opens.
func TestHandlesAreClosed(t *testing.T) {
	for _, name := range []string{"append/is kept when its handle is closed", "random/seed 0"} {
		var open, most int
		fresh := func(testing.TB) storetest.Storage {
			s := &store.Memory{}
			return storetest.Storage{Open: func(t testing.TB) store.Store {
				open, most = open+1, max(most, open+1)
				t.Cleanup(func() { open-- })
				return s
			}}
		}
		assert.Empty(t, storetest.Examine(t, name, fresh))
		assert.Zero(t, open, name)
		assert.LessOrEqual(t, most, 3, "%s: they are closed while it runs", name)
	}
}

// Every field of every event that can be stored is tried.
func TestAllFieldsAreTried(t *testing.T) {
	tried := map[flow.EventKind]bool{flow.EventChunk: true, flow.EventHeartbeat: true} // live only
	for _, e := range storetest.Kinds() {
		tried[e.Kind()] = true
		assert.Empty(t, unset(reflect.ValueOf(e.Body), string(e.Kind())))
	}
	source, err := os.ReadFile("../../flow/event.go")
	require.NoError(t, err)
	kinds := regexp.MustCompile(`(?m)^\tEvent\w+ +EventKind = "(\w+)"`).FindAllSubmatch(source, -1)
	require.Greater(t, len(kinds), 15)
	for _, kind := range kinds {
		assert.True(t, tried[flow.EventKind(kind[1])], "%s", kind[1])
	}
}

// unset returns the fields that are zero.
func unset(v reflect.Value, name string) (fields []string) {
	if v.IsZero() {
		return []string{name}
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]() || v.Type() == reflect.TypeFor[flow.Value]() {
		return nil
	}
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() {
			fields = append(fields, unset(v.Field(i), name+"."+f.Name)...)
		}
	}
	return fields
}
