package arbiter_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
)

// A ruling that has one reading is taken, whatever stands around it, and names the agent that it means. One that has two readings, or
// none, is asked for again.
func TestRulingsAreReadAsPeopleDo(t *testing.T) {
	c := config()
	c.Parallel = 2
	c.Agents = append(c.Agents, arbiter.Agent{Name: "Benno", Description: "waters", Model: "test/m"}, arbiter.Agent{Name: "System Architect", Description: "draws", Model: "test/m"})
	for name, test := range map[string]struct {
		said   string
		agents []string // nil: it is asked for again
	}{
		"as it should be":            {`{"move":"select","agents":["Ben"],"reason":"so","summary":""}`, []string{"Ben"}},
		"a summary beside a select":  {`{"move":"select","agents":["Ben"],"reason":"so","summary":"Nothing is done yet."}`, []string{"Ben"}},
		"small letters":              {`{"move":"select","agents":["ben"],"reason":"so","summary":""}`, []string{"Ben"}},
		"capitals":                   {`{"move":"SELECT","agents":["BENNO"],"reason":"so","summary":""}`, []string{"Benno"}},
		"blanks":                     {`{"move":" select ","agents":[" Ben "],"reason":"so","summary":""}`, []string{"Ben"}},
		"an at sign":                 {`{"move":"select","agents":["@Ben"],"reason":"so","summary":""}`, []string{"Ben"}},
		"signs of Markdown":          {`{"move":"select","agents":["**Ben**","` + "`benno`" + `"],"reason":"so","summary":""}`, []string{"Ben", "Benno"}},
		"a name of two words":        {`{"move":"select","agents":["system architect"],"reason":"so","summary":""}`, []string{"System Architect"}},
		"a name twice":               {`{"move":"select","agents":["Ben","ben"],"reason":"so","summary":""}`, []string{"Ben"}},
		"a text":                     {`{"move":"select","agents":"Ben","reason":"so","summary":""}`, []string{"Ben"}},
		"a text of two":              {`{"move":"select","agents":"ben, @Benno","reason":"so","summary":""}`, []string{"Ben", "Benno"}},
		"objects":                    {`{"move":"select","agents":[{"name":"Ben"}],"reason":"so","summary":""}`, []string{"Ben"}},
		"a field in another number":  {`{"move":"select","agent":"Ben","reason":"so","summary":""}`, []string{"Ben"}},
		"fields in capitals":         {`{"Move":"select","Agents":["Ben"],"Reason":"so"}`, []string{"Ben"}},
		"no summary":                 {`{"move":"select","agents":["Ben"],"reason":"so"}`, []string{"Ben"}},
		"null":                       {`{"move":"select","agents":["Ben"],"reason":null,"summary":null}`, []string{"Ben"}},
		"a field of its own":         {`{"move":"select","agents":["Ben"],"reason":"so","summary":"","confidence":0.9}`, []string{"Ben"}},
		"twice the same":             {`{"move":"select","agents":["Ben"],"reason":"so","summary":""}` + "\n" + `{"move":"select","agents":["Ben"],"reason":"so","summary":""}`, []string{"Ben"}},
		"a stranger":                 {`{"move":"select","agents":["Bea"],"reason":"so","summary":""}`, nil},
		"half a name":                {`{"move":"select","agents":["Benn"],"reason":"so","summary":""}`, nil},
		"a name in a sentence":       {`{"move":"select","agents":["Ben, who writes"],"reason":"so","summary":""}`, nil},
		"no agent":                   {`{"move":"select","agents":null,"reason":"so","summary":""}`, nil},
		"a field twice":              {`{"move":"select","agents":["Ben"],"Agents":["Benno"],"reason":"so","summary":""}`, nil},
		"another move":               {`{"move":"choose","agents":["Ben"],"reason":"so","summary":""}`, nil},
		"a move that is not legal":   {`{"move":"continue","agents":["Ben"],"reason":"so","summary":""}`, nil},
		"more than may act together": {`{"move":"select","agents":["Ada","Ben","Benno"],"reason":"so","summary":""}`, nil},
		"two that are not the same":  {`{"move":"select","agents":["Ben"],"reason":"so","summary":""}{"move":"select","agents":["Ada"],"reason":"so","summary":""}`, nil},
		"a reason that is no text":   {`{"move":"select","agents":["Ben"],"reason":["so"],"summary":""}`, nil},
		"a list in the place of all": {`[{"move":"select","agents":["Ben"],"reason":"so","summary":""}]`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			engine, _ := engineFor(nil)
			h := flowtest.Begin(t, engine, c)
			h.Say("d1", test.said)
			for i := range h.Log {
				if d, ok := h.Log[i].Body.(*arbiter.Decision); ok {
					assert.Equal(t, test.agents, d.Agents)
					assert.Empty(t, d.Summary)
					return
				}
			}
			assert.Nil(t, test.agents, "it was not taken")
		})
	}
}

// Agents beside a move that needs none say nothing, unless they would say something else.
func TestAgentsBesideAMove(t *testing.T) {
	for name, test := range map[string]struct {
		said string
		move arbiter.Move // "": it is asked for again
	}{
		"complete":                  {`{"move":"complete","agents":["Ben"],"reason":"","summary":"Done."}`, arbiter.MoveComplete},
		"continue with the same":    {`{"move":"continue","agents":["ada"],"reason":"so","summary":"Half is done."}`, arbiter.MoveContinue},
		"continue with another one": {`{"move":"continue","agents":["Ben"],"reason":"so","summary":""}`, ""},
		"complete without a word":   {`{"move":"complete","agents":["Ben"],"reason":"","summary":""}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			engine, _ := engineFor(nil)
			h := flowtest.Begin(t, engine, config())
			h.Say("d1", toJSON(picks("Ada")))
			h.Say("r1.Ada", toJSON(arbiter.Result{Success: true, Output: "I have begun."}))
			h.Say("d2", test.said)
			var last *arbiter.Decision
			for i := range h.Log {
				if d, ok := h.Log[i].Body.(*arbiter.Decision); ok && d.Call == "d2" {
					last = d
				}
			}
			if test.move == "" {
				assert.Nil(t, last)
				return
			}
			require.NotNil(t, last)
			assert.Equal(t, test.move, last.Move)
			assert.Equal(t, []string{}, last.Agents)
		})
	}
}

// TestBoundsAreThoseThatAreTold, in every script: an answer that obeys is taken, and one that is longer is not.
func TestBoundsAreThoseThatAreTold(t *testing.T) {
	for script, letter := range map[string]string{"Latin": "e", "Cyrillic": "ж", "Arabic": "ب", "Japanese": "語"} {
		t.Run(script, func(t *testing.T) {
			engine, _ := engineFor(nil)
			h := flowtest.Begin(t, engine, config())
			assert.Contains(t, h.Prompt("d1"), "at most 4000 characters")
			refused := func() []string {
				rejected, ok := h.Log[len(h.Log)-2].Body.(*flow.Rejection)
				if !ok {
					return nil
				}
				return rejected.Problems
			}
			long := picks("Ada")
			long.Reason = strings.Repeat(letter, 4001)
			h.Say("d1", toJSON(long))
			assert.Equal(t, []string{"reason: has 4001 characters, at most 4000 are accepted"}, refused())
			long.Reason = strings.Repeat(letter, 4000)
			h.Say("d1", toJSON(long))
			h.Say("r1.Ada", toJSON(arbiter.Result{Success: true, Output: "I have begun."}))
			assert.Contains(t, h.Prompt("d2"), "at most 20000 characters")
			h.Say("d2", toJSON(completes(strings.Repeat(letter, 20_001))))
			assert.Equal(t, []string{"summary: has 20001 characters, at most 20000 are accepted"}, refused())
			h.Say("d2", toJSON(completes(strings.Repeat(letter, 20_000))))
			assert.Equal(t, flow.StateCompleted, h.Record().State)
		})
	}
}

// A ruling that names a crowd is rejected with as few problems as tell the arbiter what is wrong: the log holds each of them.
func TestARulingOfACrowdIsRejectedBriefly(t *testing.T) {
	engine, _ := engineFor(nil)
	h := flowtest.Begin(t, engine, config())
	crowd := make([]string, 10_000)
	for i := range crowd {
		crowd[i] = "Ada" + string(rune('A'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676))
	}
	h.Say("d1", toJSON(picks(crowd...)))
	rejected, ok := h.Log[len(h.Log)-2].Body.(*flow.Rejection)
	require.True(t, ok)
	assert.LessOrEqual(t, len(rejected.Problems), 21)
	h.Say("d1", toJSON(picks("Ada")))
}
