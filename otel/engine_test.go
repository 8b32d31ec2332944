package otel_test

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/otel"
	"github.com/agonist-dev/debate/store"
)

// capital finds where a word begins within the name of a field.
var capital = regexp.MustCompile(`(\w)([A-Z])`)

// Each count of an engine is a metric, with the name of its field.
func TestTheMetricsOfAnEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := engineOf(script)
		engine.MaxCalls = 1
		for _, id := range []string{"a", "b", "c"} {
			config := cars()
			config.ID = id
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			t.Cleanup(func() { _ = session.Close() })
		}
		synctest.Wait() // one call is made, and two wait
		r := newRecorder()
		stop, err := r.Engine(engine, attribute.String("at", "one"))
		require.NoError(t, err)
		stats := engine.Stats()
		assert.Equal(t, int64(1), stats.Calls)
		assert.Equal(t, int64(2), stats.Queued)
		measured, fields := r.measured(t), reflect.VisibleFields(reflect.TypeFor[debate.Stats]())
		for _, field := range fields {
			name := strings.ToLower(capital.ReplaceAllString(field.Name, "${1}_$2"))
			value := reflect.ValueOf(stats).FieldByIndex(field.Index).Int()
			assert.Regexp(t, fmt.Sprintf(`(?m)^debate\.engine\.%s \[\{(call|debate)\}\] \{at=one\} %d$`, name, value), measured)
		}
		assert.Equal(t, len(fields), strings.Count(measured, "\n"))
		require.NoError(t, stop())
		assert.Equal(t, "\n", r.measured(t))
	})
}

// A nil Observer makes nothing, and nobody makes anything of nothing.
func TestMetricsOfNothing(t *testing.T) {
	var none *otel.Observer
	r := newRecorder()
	for _, begin := range []func() (func() error, error){
		func() (func() error, error) { return none.Engine(&debate.Engine{}) },
		func() (func() error, error) { return none.Conversations(&store.Memory{}, store.Filter{}) },
		func() (func() error, error) { return r.Engine(nil) },
		func() (func() error, error) { return r.Conversations(nil, store.Filter{}) },
	} {
		stop, err := begin()
		require.NoError(t, err)
		require.NoError(t, stop())
	}
	assert.Equal(t, "\n", r.measured(t))
}
