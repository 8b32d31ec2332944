package page_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/browser"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/web"
)

// street is an engine with a conversation of each kind that is over, and debates in the states in which a person sees one: one goes on, and
// both of its debaters are in the middle of a speech; one has lost a debater, one is paused, one has stopped by an error, and three ask:
// for a speech, about the use of a tool, and about a failure.
func street(t *testing.T) *debate.Engine {
	t.Helper()
	live := stage.Simultaneous()
	live.ID = "live"
	engine, script := house(t, live, shut("Ada 2", "Ben 2"))
	engine.Tools = map[string]debate.Tool{"act": echo(t, flow.ToolInfo{Description: "acts", Approval: true})}
	stage.Altered(script, func(req *provider.Request, r *scripted.Reply) {
		switch debateOf(req) {
		case "tool":
			r.Calls = []provider.ToolCall{stage.ToolCall("1", "act", `{"text":"a letter"}`)}
		case "fail", "error", "dropped":
			if debateOf(req) != "dropped" || req.Self == "Cyd" {
				*r = scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "no", Status: 400}}
			}
		}
	})
	dropped := stage.Crew(3)
	dropped.ID, dropped.Format, dropped.Rounds, dropped.Judging, dropped.OnFailure = "dropped", "", 1, nil, stage.Dropping()
	_, err := engine.Play(t.Context(), dropped)
	require.NoError(t, err)
	player := flows.Engine(engine.Store, nil)
	t.Cleanup(func() { assert.NoError(t, stage.Abort(player)) })
	for _, config := range []flow.Config{flows.Debate("debate"), flows.Deliberation("deliberation"), flows.Arbitration("arbiter")} {
		_, err = player.Play(t.Context(), config)
		require.NoError(t, err)
	}

	stage.Started(t, engine, live)
	for _, id := range []string{"tool", "fail", "error", "turn"} {
		config := stage.Attended()
		config.ID = id
		switch id {
		case "tool":
			config.Tools = []string{"act"}
		case "error":
			config.Unattended = true
		case "turn":
			config = withPat(id)
		}
		session := stage.Started(t, engine, config)
		_, err = session.Wait(t.Context())
		require.Error(t, err, "it waits for a person, or has stopped")
		require.NoError(t, session.Close())
	}
	paused := stage.TwoDebaters()
	paused.ID = "paused"
	_, err = engine.Submit(t.Context(), paused)
	require.NoError(t, err)
	require.NoError(t, engine.Control(t.Context(), "paused", flow.Pause{Reason: "It is late.", Person: "Pat"}))
	return engine
}

// TestAccessible: axe-core finds no violation in any view and dialog, in the windows of a phone and of a screen, in light and dark colours,
// and nothing is wider than the window.
func TestAccessible(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	require.NoError(t, err, "npm ci brings it")
	presets := []web.Preset{{Name: "Quick", About: "Two speak, one judges.", Config: encoded(t, stage.TwoDebaters())}}
	p := visit(t, browser.Open(t), serve(t, street(t), web.Options{Presets: presets}), "")
	p.expects = []string{"^404 GET .*/none"}
	defer p.leaves()

	for _, at := range []struct {
		view, until string
		does        func()
	}{
		{view: "#/", until: found(".row-of", "paused")},
		{view: "#/?show=error&label=a=b", until: found(".empty", "None of them")},
		{view: "#/inbox", until: `document.querySelectorAll('.question').length === 3`},
		{view: "#/new", until: found(".card", "Quick"), does: func() {
			p.clicks(".card", "Quick")
			p.reads(".schedule", "Ben")
			p.clicks("button", "Edit as JSON")
		}},
		{view: "#/c/live", until: `document.querySelectorAll('.turn .live').length === 2`},
		{view: "#/c/tool", until: found(".question", "wants to use a tool")},
		{view: "#/c/fail", until: found(".question", "could not answer")},
		{view: "#/c/turn", until: found(".question", "Your answer")},
		{view: "#/c/error", until: found(".head .trouble", "no"), does: func() { p.clicks(".panel button", "Change the settings") }},
		{view: "#/c/dropped", until: found(".cast .gone .status", "dropped")},
		{view: "#/c/paused", until: found(".head .state", "paused"), does: func() { p.clicks(".controls button", "Cancel") }},
		{view: "#/c/debate", until: found(".turn.is-done", "Ben speaks in round 2")},
		{view: "#/c/deliberation", until: found(".head .state", "finished"), does: func() { p.clicks(".head button", "Reopen") }},
		{view: "#/c/arbiter", until: found(".head .state", "finished"), does: func() { p.clicks(".about button", "Delete") }},
		{view: "#/c/debate/facts", until: found(".fact", "turn"), does: func() { p.clicks(".fact button", "Fork from here") }},
		{view: "#/c/debate/report", until: `document.querySelector('iframe').contentDocument.body.textContent.includes('Ada')`},
		{view: "#/c/none", until: found("h1", "There is no such conversation")},
		{view: "#/elsewhere", until: found("h1", "There is nothing here"), does: func() { p.clicks(".keys-help", "?") }},
		{view: "api/conversations/debate/export.html", until: found("h1", "ban cars")},
		{view: "api/conversations/deliberation/export.html", until: found("h1", "shortener")},
		{view: "api/conversations/arbiter/export.html", until: found("h1", "function")},
	} {
		p.Goto("about:blank", wide, tall, "light") // so that the view is loaded
		p.goes(at.view)
		p.sees(at.until)
		p.Eval(`[...document.querySelectorAll('details')].slice(0, 8).forEach((one) => { one.open = true })`)
		p.Eval(string(axe) + "\n; 0")
		p.inspects(at.view)
		if at.does != nil {
			p.Window(wide, tall, "light")
			at.does()
			p.inspects(at.view + ", after it")
		}
	}
}

// inspects has axe-core look at what is shown: in the window of a phone and dark colours, in that of a screen and light ones, and in the
// long form in each window and in all colours.
func (p *person) inspects(view string) {
	p.t.Helper()
	for _, window := range []struct {
		width   int
		colours string
		long    bool
	}{{narrow, "dark", false}, {wide, "light", false}, {narrow, "light", true}, {wide, "dark", true}} {
		if window.long && !longform.Asked() {
			continue
		}
		p.Window(window.width, tall, window.colours)
		// The levels of headings in a report are also those of the texts that models have written.
		assert.Empty(p.t, p.Eval(`axe.run(document, {
			iframes: false, resultTypes: ['violations'], rules: {'heading-order': {enabled: !location.pathname.endsWith('.html')}},
		}).then((found) => found.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 200)).join(' | ')))`),
			"%s, %d, %s", view, window.width, window.colours)
		assert.EqualValues(p.t, window.width, p.Eval(`Math.max(innerWidth, document.documentElement.scrollWidth)`), "%s: the width", view)
	}
}

// TestByKeys: without a pointer, somebody starts a debate, answers, pauses it, and forks it. The focus comes back from each dialog. The
// keys can be turned off.
func TestByKeys(t *testing.T) {
	t.Parallel()
	config := withPat("")
	g := shut("Ada 2")
	engine, _ := house(t, config, g)
	home := serve(t, engine, web.Options{Presets: []web.Preset{{Name: "You speak", Config: encoded(t, config)}}})
	p := visit(t, browser.Open(t), home, "")
	defer p.leaves()

	p.reads(".empty", "Nothing has been debated yet")
	for _, off := range []bool{true, false} {
		p.enters(".keys-help", "?")
		p.Eval(`document.querySelector('dialog input').click()`)
		p.enters("dialog button", "×")
		p.sees(`!document.querySelector('dialog') && document.activeElement.matches('.keys-help')`)
		p.Key("?", "?")
		p.Key("n", "n")
		assert.Equal(t, off, p.Holds(`location.hash !== '#/new' && !document.querySelector('dialog')`))
	}
	p.enters("dialog button", "×")
	p.Key("n", "n")
	p.enters(".card", "You speak")
	p.reads(".price", "at most")
	p.enters("button.main", "Start")

	p.reaches(".question textarea", "")
	p.Call("Input.insertText", map[string]any{"text": "Prices are fairer."}, nil)
	p.enters(".question button", "Answer")
	p.says(false, "Prices are fairer.")
	p.sees(`!document.querySelector('.question') && document.activeElement.matches('h1')`)

	p.says(true, "Ada speaks in round 2")
	p.enters(".rail button", "Pause")
	p.enters("dialog button.main", "Pause")
	p.reads(".head .state", "paused")
	p.sees(`!document.querySelector('dialog') && document.activeElement.matches('.rail .controls button')`)
	g.open("Ada 2")
	p.says(false, "Ada speaks in round 2")

	former := p.Eval("location.hash.split('/')[2]")
	p.enters(".tabs a", "Facts")
	p.enters(".fact summary", "Prices are fairer.")
	p.enters(".fact button", "Fork from here")
	p.enters("dialog button.main", "Fork")
	p.sees("location.hash.startsWith('#/c/') && location.hash.split('/')[2] !== " + quoted(former))
	p.reads(".about", "Forked from")
}
