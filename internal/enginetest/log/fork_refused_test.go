package log_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// What the copied part refers to stays as it is: the refusal names the field, and nothing is stored.
func TestForksThatAreRefused(t *testing.T) {
	t.Parallel()
	nobody := func(*debate.Config) {}
	for name, c := range map[string]struct {
		config func(c *debate.Config)
		id     string
		seq    int64 // from the end, if negative
		edit   func(c *debate.Config)
		flow   string // that the edited config is given the name of
		kind   debate.Kind
		field  string
	}{
		"another name":                 {edit: func(c *debate.Config) { c.Participants[1].Name = "Bea" }, field: "participants[1]"},
		"another order":                {edit: func(c *debate.Config) { slices.Reverse(c.Participants) }, field: "participants[0]"},
		"a participant more":           {edit: func(c *debate.Config) { c.Participants = append(c.Participants, stage.Crew(3).Participants[2]) }, field: "participants"},
		"a participant less":           {edit: func(c *debate.Config) { c.Participants = c.Participants[:1] }, field: "participants"},
		"another flow":                 {edit: nobody, flow: "interview", field: "flow"},
		"a flow that is not there":     {edit: nobody, flow: "opera", field: "flow"},
		"another format":               {edit: func(c *debate.Config) { c.Format = format.FreeForm }, field: "format"},
		"a format of its own":          {edit: func(c *debate.Config) { c.CustomFormat = new(stage.Builtin(t, format.FreeForm)) }, field: "customFormat"},
		"another mode":                 {edit: func(c *debate.Config) { c.Mode = debate.Simultaneous }, field: "mode"},
		"an audience":                  {edit: func(c *debate.Config) { c.Audience = &debate.Audience{Members: []debate.Member{{Model: "test/voter"}}} }, field: "audience"},
		"a listener less":              {config: heardBy(2), edit: func(c *debate.Config) { c.Audience.Members = c.Audience.Members[:1] }, field: "audience.members"},
		"a listener's model":           {config: heardBy(2), edit: func(c *debate.Config) { c.Audience.Members[1].Model = "test/x" }, field: "audience.members[1].model"},
		"a phase of a custom format":   {config: ownFormat, edit: func(c *debate.Config) { c.CustomFormat.Phases[0].Name = "x" }, field: "customFormat.phases[0].name"},
		"a config that is wrong":       {edit: func(c *debate.Config) { c.Topic = " " }, field: "topic"},
		"a provider that is not there": {edit: func(c *debate.Config) { c.Participants[0].Model = "nobody/x" }, field: "participants[0].model"},
		"an id that is a path":         {edit: func(c *debate.Config) { c.ID = "../x" }, field: "id"},
		"its own id":                   {edit: func(c *debate.Config) { c.ID = "parent" }, kind: provider.KindConflict, field: "id"},
		"its own id, from scratch":     {seq: 1000, edit: func(c *debate.Config) { c.ID = "parent" }, kind: provider.KindConflict, field: "id"},
		"wrong from the beginning":     {seq: 1000, edit: func(c *debate.Config) { c.Topic = "" }, field: "topic"},
		"a path from the beginning":    {seq: 1000, edit: func(c *debate.Config) { c.ID = ".." }, field: "id"},
		"before the beginning":         {seq: 999, edit: nobody, field: "seq"},
		"behind the end":               {seq: 1001, edit: nobody, field: "seq"},
		"nothing":                      {id: "nothing", edit: nobody, field: "id"},
		"exchanged sides": { // who speaks when and who leads depends on them
			config: func(c *debate.Config) { c.Format, c.Rounds = format.LincolnDouglas, 0 },
			edit: func(c *debate.Config) {
				c.Participants[0].Side, c.Participants[1].Side = c.Participants[1].Side, c.Participants[0].Side
			},
			field: "participants[0]",
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			if c.config != nil {
				c.config(&config)
			}
			w, events := sown(t, config)
			w.engine.Flows = map[string]*debate.Flow{"interview": stage.Interview()}
			before, calls := stage.JSON(events), w.source.Calls()
			id, seq := "parent", int64(9)
			if c.id != "" {
				id = c.id
			}
			if c.seq != 0 {
				seq = map[int64]int64{999: -1, 1000: 0, 1001: int64(len(events)) + 1}[c.seq]
			}
			session, err := w.engine.Fork(t.Context(), id, seq, func(config flow.Config) flow.Config {
				if config = debate.Editing(c.edit)(config); c.flow != "" {
					config = flow.Named(c.flow, config)
				}
				return config
			})
			assert.Nil(t, session)
			kind := c.kind
			if kind == "" {
				kind = provider.KindValidation
			}
			failure := stage.RequireKind(t, err, kind)
			assert.True(t, strings.HasPrefix(failure.Field, c.field), "%v", err)
			assert.Equal(t, id == "nothing", errors.Is(err, debate.ErrNotFound))
			assert.Less(t, len(err.Error()), 400)
			assert.Equal(t, calls, w.source.Calls())
			var held []string
			for info, err := range w.engine.List(t.Context(), debate.Filter{}) {
				require.NoError(t, err)
				held = append(held, info.ID)
			}
			assert.Equal(t, []string{"parent"}, held)
			assert.Equal(t, before, stage.JSON(stage.Kept(t, w.engine.Store, "parent")))
		}))
	}
}

func heardBy(n int) func(c *debate.Config) {
	return func(c *debate.Config) {
		c.Audience = &debate.Audience{}
		for range n {
			c.Audience.Members = append(c.Audience.Members, debate.Member{Model: "test/voter"})
		}
	}
}

func ownFormat(c *debate.Config) {
	c.Format, c.CustomFormat = "", &debate.Format{
		Name: "own", End: format.EndByRounds, Phases: []format.Phase{{Name: "talk", First: 1, Last: -1}},
	}
}

// An engine that was shut down forks nothing, and leaves nothing behind.
func TestAnEngineThatWasShutDownForksNothing(t *testing.T) {
	for _, seq := range []int64{0, 9} {
		synctest.Test(t, func(t *testing.T) {
			w, _ := sown(t, stage.TwoDebaters())
			require.NoError(t, w.engine.Shutdown(t.Context()))
			session, err := w.engine.Fork(t.Context(), "parent", seq, debate.Editing(func(c *debate.Config) { c.ID = "child" }))
			require.ErrorIs(t, err, flow.ErrClosed)
			assert.Nil(t, session)
			_, err = w.engine.Record(t.Context(), "child")
			assert.ErrorIs(t, err, debate.ErrNotFound)
		})
	}
}
