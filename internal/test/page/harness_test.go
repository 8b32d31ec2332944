// Package page_test has people watch, steer and answer conversations on the page of package web, in Chromium. Scripts speak in place of
// models. The servers are real, and one of them is killed.
//
// A test waits for what a person would see, by a promise in the page.
package page_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/browser"
	"github.com/agonist-dev/debate/internal/stage/process"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
	"github.com/agonist-dev/debate/web"
)

var update = flag.Bool("update", false, "write the pictures of the page anew")

func TestMain(m *testing.M) {
	process.Obey(order.serve)
	os.Exit(m.Run())
}

// debateOf is the id of the conversation that a request is for.
func debateOf(req *provider.Request) string {
	id, _, _ := strings.Cut(req.ID, "/")
	return id
}

// gates hold speeches back, by speaker and round, such as "Ada 2": each stops after its first words until its gate is opened.
type gates map[string]chan struct{}

func shut(speeches ...string) gates {
	g := make(gates)
	for _, one := range speeches {
		g[one] = make(chan struct{})
	}
	return g
}

// open lets a speech go on.
func (g gates) open(speech string) { close(g[speech]) }

// speechOf names the speech that a request is for; "": it is for none.
func speechOf(req *provider.Request) string {
	round := stage.CallRound.FindStringSubmatch(req.ID)
	if round == nil || req.Schema != nil {
		return ""
	}
	return req.Self + " " + round[1]
}

// engineOf returns an engine of all flows on a store. The debaters of a config wait at gates.
func engineOf(s debate.Store, config debate.Config, g gates) (*debate.Engine, *scripted.Provider) {
	engine, script := stage.Engine(config)
	engine.Store = s
	engine.Flows = map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow(), arbiter.FlowName: arbiter.Flow()}
	script.Record = false
	stage.Altered(script, func(req *provider.Request, r *scripted.Reply) {
		if gate, ok := g[speechOf(req)]; ok {
			r.Hold, r.Chunks = gate, 3
		}
	})
	return engine, script
}

// house is an engine in memory, until the end of the test.
func house(t *testing.T, config debate.Config, g gates) (*debate.Engine, *scripted.Provider) {
	t.Helper()
	engine, script := engineOf(&store.Memory{}, config, g)
	t.Cleanup(func() { assert.NoError(t, stage.Abort(engine)) })
	return engine, script
}

// serve serves an engine until the end of the test, and returns the address of the page.
func serve(t *testing.T, engine *debate.Engine, o web.Options) string {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	h, err := web.New(engine, o)
	require.NoError(t, err)
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/"
}

// withPat is a debate of two in which the second is a person.
func withPat(id string) debate.Config {
	config := stage.TwoDebaters()
	config.ID = id
	config.Participants[1] = debate.Participant{Name: "Pat", Side: debate.Against, Person: true}
	return config
}

// encoded is a config as it is sent.
func encoded(t *testing.T, config flow.Config) json.RawMessage {
	t.Helper()
	data, err := flow.EncodeConfig(config)
	require.NoError(t, err)
	return data
}

// order is what another process does: it serves a folder at an address, and works on what is there.
type order struct {
	Folder, Address string
	// Stuck has Ada stop in the middle of round 2, for as long as the process lives.
	Stuck bool
}

// lasting is the debate of the folder.
func lasting() debate.Config {
	config := stage.TwoDebaters()
	config.ID = "lasting"
	return config
}

// serve says at which address, and serves until the process that gave the order is gone.
func (o order) serve() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	kept, err := file.Open(o.Folder)
	if err != nil {
		return err
	}
	g := shut()
	if o.Stuck {
		g = shut("Ada 2")
	}
	engine, _ := engineOf(kept, lasting(), g)
	engine.Lease = 2 * time.Second
	if _, err := engine.Submit(ctx, lasting()); err != nil {
		return err
	}
	h, err := web.New(engine, web.Options{})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Address)
	if err != nil {
		return err
	}
	go func() { _ = engine.Work(ctx, debate.Work{}) }() // as long as the process lives
	if _, err := os.Stdout.WriteString(listener.Addr().String() + "\n"); err != nil {
		return err
	}
	return web.Serve(ctx, listener, h, time.Second)
}

// person is somebody at a tab of Chromium.
type person struct {
	*browser.Page

	t    *testing.T
	home string // the address of the page
	// expects are expressions for answers that are no defect, such as "^409 POST": all other requests are answered well.
	expects []string
}

// visit has somebody look at a view of the page.
func visit(t *testing.T, b *browser.Page, home, view string) *person {
	t.Helper()
	p := &person{Page: b, t: t, home: home}
	p.goes(view)
	return p
}

// The windows in which people look.
const (
	wide, narrow, tall = 1280, 320, 900
)

// goes has the person go to a view, in a light window of the usual width.
func (p *person) goes(view string) {
	p.t.Helper()
	p.Goto(p.home+view, wide, tall, "light")
}

// quoted is a value in JavaScript.
func quoted(v any) string { return stage.JSON(v) }

// found is the first element that is seen and has these words, in JavaScript.
func found(selector, words string) string {
	return `[...document.querySelectorAll(` + quoted(selector) + `)].find((e) => e.checkVisibility() && e.textContent.includes(` +
		quoted(words) + `))`
}

// sees waits until an expression of JavaScript holds. What it is about need not be there yet. If it does not come, the test fails with
// what is to be read instead.
func (p *person) sees(expression string) {
	p.t.Helper()
	instead := p.Eval(`new Promise((done) => {
		const until = Date.now() + 60000, look = () => {
			let holds = false
			try { holds = ` + expression + ` } catch { holds = false }
			if (holds) done('')
			else if (Date.now() > until) done(location.hash + ' ' + document.body.innerText)
			else setTimeout(look, 20)
		}
		look()
	})`)
	require.Empty(p.t, instead, expression)
}

// reads waits until an element that is seen has these words.
func (p *person) reads(selector, words string) {
	p.t.Helper()
	p.sees(found(selector, words))
}

// clicks clicks the first element with these words, once it is there and can be clicked.
func (p *person) clicks(selector, words string) {
	p.t.Helper()
	p.sees(`((one) => one.matches(':enabled:not([aria-disabled="true"]), a, summary') && (one.click(), true))(` + found(selector, words) + `)`)
}

// writes replaces what stands in a field, which is found by its label.
func (p *person) writes(label, text string) {
	p.t.Helper()
	p.reads("label[for]", label)
	p.Eval(`{ const field = document.getElementById(` + found("label[for]", label) + `.htmlFor); field.focus(); field.select() }`)
	p.Call("Input.insertText", map[string]any{"text": text}, nil)
}

// reaches goes from element to element by the key Tab until the first one with these words has the focus.
func (p *person) reaches(selector, words string) {
	p.t.Helper()
	p.reads(selector, words)
	for range 400 {
		if p.Holds(found(selector, words) + " === document.activeElement") {
			return
		}
		p.Key("Tab", "")
	}
	require.Fail(p.t, "the keys do not lead there", "%s %s", selector, words)
}

// enters presses Enter where the keys lead.
func (p *person) enters(selector, words string) {
	p.t.Helper()
	p.reaches(selector, words)
	p.Key("Enter", "\r")
}

// facts are the numbers of the facts that the page has, once it has all, as its list shows them: the latest first.
func (p *person) facts() (numbers []int64) {
	p.t.Helper()
	p.clicks(".tabs a", "Facts")
	p.sees(`document.querySelector('.facts') && !document.querySelector('.facts').textContent.includes('more are being loaded')`)
	list, ok := p.Eval(`[...document.querySelectorAll('.fact .seq')].map((e) => Number(e.textContent))`).([]any)
	require.True(p.t, ok)
	for _, n := range list {
		n, ok := n.(float64)
		require.True(p.t, ok)
		numbers = append(numbers, int64(n))
	}
	return numbers
}

// countdown are the numbers from one to 1.
func countdown(from int64) (numbers []int64) {
	for n := from; n > 0; n-- {
		numbers = append(numbers, n)
	}
	return numbers
}

// leaves looks back: nothing was asked of anybody but the server, which has answered all requests well but those that were expected,
// Chromium complains of nothing, and no text of a stranger was run. A test defers it.
func (p *person) leaves() {
	p.t.Helper()
	if p.t.Failed() {
		return
	}
	for _, r := range p.Requests() {
		if strings.HasPrefix(r.URL, "about:") || strings.HasPrefix(r.URL, "data:") {
			continue
		}
		assert.Truef(p.t, strings.HasPrefix(r.URL, p.home), "asked of somebody else: %s", r.URL)
		answer := fmt.Sprintf("%d %s %s %s", r.Status, r.Method, r.URL, r.Failed)
		gone := r.Failed == "net::ERR_ABORTED" // the page has broken it off itself
		expected := slices.ContainsFunc(p.expects, func(one string) bool { return regexp.MustCompile(one).MatchString(answer) })
		assert.True(p.t, expected || gone || r.Failed == "" && r.Status < http.StatusBadRequest, answer)
	}
	assert.Empty(p.t, p.Complaints())
	assert.False(p.t, p.Holds("'hit' in window"), "a text was run")
}
