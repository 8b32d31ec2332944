package page_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/browser"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
)

// fills writes texts into the fields that have this label, one after the other.
func (p *person) fills(label string, texts ...string) {
	p.t.Helper()
	for i, text := range texts {
		field := fmt.Sprintf(`document.getElementById([...document.querySelectorAll('label[for]')].filter((e) => e.checkVisibility() && `+
			`e.textContent === %s)[%d].htmlFor)`, quoted(label), i)
		p.sees(field)
		p.Eval(`{ const field = ` + field + `; field.focus(); field.select() }`)
		p.Call("Input.insertText", map[string]any{"text": text}, nil)
	}
}

// chooses takes a choice in a field, which is found by its label.
func (p *person) chooses(label, choice string) {
	p.t.Helper()
	field := `document.getElementById(` + found("label[for]", label) + `.htmlFor)`
	p.sees(`[...` + field + `.options].some((o) => o.value === ` + quoted(choice) + `)`)
	p.Eval(`{ const field = ` + field + `; field.value = ` + quoted(choice) + `; field.dispatchEvent(new Event('change', {bubbles: true})) }`)
}

// conversation is the id of the conversation that is looked at, once it is another one than the former.
func (p *person) conversation(former string) string {
	p.t.Helper()
	const shown = `decodeURIComponent(location.hash.split('/')[2])`
	p.sees(`location.hash.startsWith('#/c/') && ` + shown + ` !== ` + quoted(former))
	id, ok := p.Eval(shown).(string)
	require.True(p.t, ok)
	return id
}

// TestForms: somebody starts a conversation of each kind by its form, and a debate by its JSON. Each is what was filled in.
func TestForms(t *testing.T) {
	t.Parallel()
	engine := flows.Engine(&store.Memory{}, nil)
	priced := debate.Model{Priced: true, Input: 1_000_000, Output: 2_000_000}
	engine.Models = map[string]debate.Model{"test/one": priced, "test/two": priced, "test/judge": priced}
	t.Cleanup(func() { assert.NoError(t, stage.Abort(engine)) })
	p := visit(t, browser.Open(t), serve(t, engine, web.Options{}), "")
	p.expects = []string{"^4.. POST .*/(validate|estimate) "} // of what is not yet filled in
	defer p.leaves()

	former := ""
	starts := func(kind string, fill func()) (config string) {
		p.goes("#/new")
		p.clicks(".start .tabs button", kind)
		fill()
		p.clicks("button.main", "Start")
		former = p.conversation(former)
		p.reads(".head .state", "finished")
		return string(encoded(t, stage.StoredRecord(t, engine, former).Config()))
	}
	holds := func(config string, parts ...string) {
		for _, part := range parts {
			assert.Contains(t, config, part)
		}
	}

	holds(starts("Debate", func() {
		p.fills("What is debated", "Should cities ban cars?")
		p.fills("Rounds at most", "1")
		p.chooses("They speak", "simultaneous")
		p.fills("Model", "test/one", "test/two", "test/judge")
		p.fills("USD at most", "20")
	}), `"Should cities ban cars?"`, `"rounds":1`, `"simultaneous"`, `"test/one"`, `"test/two"`, `"test/judge"`, `"hard":20`, `"soft":20`)
	holds(starts("Deliberation", func() {
		p.fills("The problem", "Design a URL shortener.")
		p.fills("Rounds at most", "1")
		p.chooses("Role", "architect")
		p.fills("Model", "test/one", "test/two")
		p.fills("The judge's model", "test/judge")
	}), `"Design a URL shortener."`, `"architect"`, `"test/one"`, `"test/two"`, `"test/judge"`)
	holds(starts("Arbitrated work", func() {
		p.fills("The task", "Write a function.")
		p.fills("Name", "Ada", "Ben")
		p.fills("Model", "test/judge", "test/one", "test/two")
	}), `"Write a function."`, `"Ada"`, `"Ben"`, `"test/judge"`, `"test/one"`, `"test/two"`)
	holds(starts("Debate", func() {
		p.clicks("button", "Edit as JSON")
		p.writes("Config", "{")
		p.reads(".error", "This is not JSON")
		p.writes("Config", string(encoded(t, flows.Debate(""))))
		p.sees(`!document.querySelector('.sheet .error')`)
	}), `"rounds":2`, `"test/debater"`)
}

// TestSteering: somebody changes the limit, the rounds and a model of a debate, asks a debater, and ends the rounds. The focus comes back
// from each dialog.
func TestSteering(t *testing.T) {
	t.Parallel()
	config, g := stage.TwoDebaters(), shut("Ada 1", "Ben 2")
	config.ID, config.Format = "steered", format.RoundLimited
	engine, _ := house(t, config, g)
	stage.Started(t, engine, config)
	p := visit(t, browser.Open(t), serve(t, engine, web.Options{}), "#/c/steered")
	defer p.leaves()

	p.says(true, "Ada speaks in round 1")
	p.enters(".panel button", "Change the settings")
	p.writes("USD at most", "30")
	p.writes("Rounds at most", "4")
	p.chooses("Another model for", "Ben")
	p.fills("Model", "test/judge")
	p.enters("dialog button.main", "Change")
	p.reads(".event", "The settings were changed")
	p.sees(`document.activeElement.textContent === 'Change the settings'`)
	p.clicks(".say summary", "Say something")
	p.writes("Your words", "What of the nurses?")
	p.chooses("Who answers at once", "Ben")
	p.clicks(".say button", "Send")
	p.reads(".note .what", "asks Ben")
	g.open("Ada 1")

	p.says(true, "Ben speaks in round 2")
	p.reads(".rounded", "of 4")
	p.clicks("button", "Hold still")
	p.reads(".link", "held still")
	p.clicks("button", "Go on")
	p.sees(`!document.querySelector('.link')`)
	p.clicks(".rail button", "End the rounds")
	p.clicks("dialog button.main", "End the rounds")
	p.sees("!document.querySelector('dialog')") // it is accepted
	g.open("Ben 2")
	p.reads(".headline", "Ada has won")

	record := stage.StoredRecord(t, engine, "steered")
	assert.Equal(t, flow.Budget{Soft: 30 * flow.USD, Hard: 30 * flow.USD}, *record.Settings().Budget)
	assert.Equal(t, 4, record.Settings().Rounds)
	assert.Equal(t, "test/judge", record.Participant("Ben").Model)
	require.Len(t, record.Notes, 1)
	assert.Equal(t, "Ben", record.Notes[0].Ask)
}

// TestReopeningByHand: a debate has ended at its soft limit. Somebody reopens it with a higher limit, and deletes the first one.
func TestReopeningByHand(t *testing.T) {
	t.Parallel()
	config := stage.TwoDebaters()
	config.ID, config.Budget = "soft", &flow.Budget{Soft: 3 * flow.USD / 1000, Hard: 10 * flow.USD}
	engine, _ := house(t, config, nil)
	record, err := engine.Play(t.Context(), config)
	require.NoError(t, err)
	require.Less(t, record.Round, config.Rounds)
	p := visit(t, browser.Open(t), serve(t, engine, web.Options{}), "#/c/soft")
	p.expects = []string{"^4.. POST .*/reopen ", "^404 GET .*/soft"} // the first time, and what is deleted
	defer p.leaves()

	p.clicks(".head button", "Reopen")
	p.clicks("dialog button.main", "Reopen")
	p.reads("dialog .trouble", "limit")
	p.writes("USD at most", "20")
	p.clicks("dialog button.main", "Reopen")
	again := p.conversation("soft")
	p.reads(".about", "Forked from")
	p.reads(".headline", "Ada has won")
	assert.Greater(t, stage.StoredRecord(t, engine, again).Round, record.Round)

	p.goes("#/c/soft")
	p.sees("!" + found(".about", "Forked from"))
	p.clicks(".about button", "Delete")
	p.clicks("dialog button.main", "Delete for good")
	p.sees(`location.hash === '#/' && document.querySelectorAll('.row-of').length === 1`)
}

// TestWorkIsDirected: somebody chooses who acts next in arbitrated work, sees the plan, and skips a step of it.
func TestWorkIsDirected(t *testing.T) {
	t.Parallel()
	engine, script := house(t, stage.TwoDebaters(), nil)
	decides := make(chan struct{})
	script.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema != nil && strings.HasPrefix(req.Schema.Name, "result") {
			steps := []arbiter.StepUpdate{{Index: 0, Description: "Write it."}, {Index: 1, Description: "Test it."}}
			return scripted.Reply{Text: stage.JSON(arbiter.Result{
				Success: true, Output: "It is written.", PlanUpdates: &arbiter.PlanUpdate{Steps: steps},
			})}
		}
		reply := elsewhere(req, "It is their part.")
		reply.Hold, reply.Chunks = decides, 3
		return reply
	}
	_, err := engine.Submit(t.Context(), flows.Arbitration("work"))
	require.NoError(t, err)
	require.NoError(t, engine.Control(t.Context(), "work", flow.Pause{Reason: "It is late."}))
	p := visit(t, browser.Open(t), serve(t, engine, web.Options{}), "#/c/work")
	defer p.leaves()

	p.clicks(".rail button", "Choose who acts")
	p.chooses("The agent", "Ben")
	p.clicks("dialog button.main", "Choose who acts")
	p.reads(".event", "force agent")
	p.clicks(".rail button", "Resume")
	p.reads(".panel li", "Test it.")
	p.clicks(".rail button", "Skip a step")
	p.chooses("The step", "1")
	p.clicks("dialog button.main", "Skip a step")
	p.reads(".panel li", "skipped")
	close(decides)
	p.reads(".head .state", "finished")
	sent := stage.StoredRecord(t, engine, "work").Inputs
	require.Len(t, sent, 2)
	assert.JSONEq(t, `{"agent":"Ben"}`, string(sent[0].Payload))
	assert.JSONEq(t, `{"step":1}`, string(sent[1].Payload))
}

// TestWhoIsAskedIsTold: the page counts the questions that its reader may answer, and leads nobody to them who may answer none.
func TestWhoIsAskedIsTold(t *testing.T) {
	t.Parallel()
	config, another := withPat("asked"), withPat("another")
	another.Participants[1].Name = "Robin"
	engine, _ := house(t, config, nil)
	for _, one := range []debate.Config{config, another} {
		stage.AwaitsInput(t, stage.Started(t, engine, one))
	}
	b := browser.Open(t)
	see := func(refused func(web.Access) bool) *person {
		return visit(t, b.Tab(), serve(t, engine, web.Options{Authorize: func(_ *http.Request, a web.Access) (string, error) {
			if refused(a) {
				return "", errors.New("this is not yours to do")
			}
			return "Pat", nil
		}}), "")
	}
	pat := see(func(a web.Access) bool { return a.To == "Robin" })
	defer pat.leaves()
	pat.reads(".top .badge", "1 open")
	spectator := see(func(a web.Access) bool { return a.Action == web.Answer || a.Action == web.Approve })
	spectator.expects = []string{"^403 GET .*/questions "}
	defer spectator.leaves()
	spectator.reads(".row-of", "waiting for a person")
	spectator.sees(`!document.querySelector('.top a[href="#/inbox"]')`)
}

// TestFilesAreOpened: whoever reads a conversation can open its documents, and the files of turns. Browsers show pictures, and save the
// rest.
func TestFilesAreOpened(t *testing.T) {
	t.Parallel()
	config := stage.Illustrated()
	config.Participants[1] = debate.Participant{Name: "Pat", Side: debate.Against, Person: true}
	engine, _ := house(t, config, nil)
	record := stage.AwaitsInput(t, stage.Started(t, engine, config))
	p := visit(t, browser.Open(t), serve(t, engine, web.Options{}), "#/c/illustrated")
	defer p.leaves()

	p.reads(".panel .files a", "chart.png")
	p.clicks(".question summary", "2 documents")
	p.reads(".question .files a", "study.pdf")
	assert.ElementsMatch(t, []any{"200 image/png inline", "200 application/octet-stream attachment"}, p.Eval(
		`Promise.all([...document.querySelectorAll('.question .files a')].map((link) => fetch(link.href).then((found) =>
			[found.status, found.headers.get('Content-Type'), found.headers.get('Content-Disposition').split(';')[0]].join(' '))))`))
	require.NoError(t, engine.Control(t.Context(), config.ID, flow.Answer{
		Inquiry: record.Inquiries[0].ID, Text: "Read this.", Attachments: []flow.File{{Name: "notes.txt", Data: []byte("Prices work.")}},
	}))
	p.reads(".turn.is-done .files a", "notes.txt")
}
