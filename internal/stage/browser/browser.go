// Package browser shows pages in Debian's Chromium. Only tests use it.
package browser

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Page is a page of Chromium, which is told what to do over two pipes.
type Page struct {
	t        *testing.T
	chromium *chromium
	session  string
	events   []Message
	login    map[string]string // nil: the page has none
}

// chromium is a browser with all its pages.
type chromium struct {
	in    *os.File
	out   *bufio.Reader
	sent  int
	pages map[string]*Page // by session
}

// Message is an event of Chromium, or the answer to a call.
type Message struct {
	ID      int             `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// Request is what a page has asked a server for.
type Request struct {
	Method, URL string
	Status      int    // 0: there is no answer yet, or none came
	Failed      string // why none came, or why it broke off
}

// Open starts Chromium until the end of the test, which is skipped where Chromium is not installed.
func Open(t *testing.T) *Page {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	read, in, err := os.Pipe()
	require.NoError(t, err)
	out, write, err := os.Pipe()
	require.NoError(t, err)
	run := exec.CommandContext(
		context.WithoutCancel(t.Context()), program, // it ends below
		"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir(),
	)
	run.ExtraFiles = []*os.File{read, write}
	run.Stderr, run.WaitDelay = io.Discard, time.Minute // its processes share a pipe, so that all are gone after Wait, with what they write
	require.NoError(t, run.Start())
	require.NoError(t, read.Close())
	require.NoError(t, write.Close())
	t.Cleanup(func() {
		_, _ = in.WriteString(`{"id":0,"method":"Browser.close"}` + "\x00")
		_ = run.Wait()
		_ = in.Close()
		_ = out.Close()
	})
	c := &chromium{in: in, out: bufio.NewReader(out), pages: make(map[string]*Page)}
	return (&Page{t: t, chromium: c}).Tab()
}

// Tab opens another page of the same browser, in a window of its own, so that all pages are seen at once.
func (b *Page) Tab() *Page {
	b.t.Helper()
	tab := &Page{t: b.t, chromium: b.chromium}
	var target struct{ TargetID string }
	tab.Call("Target.createTarget", map[string]any{"url": "about:blank", "newWindow": true}, &target)
	var attached struct{ SessionID string }
	tab.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	tab.session = attached.SessionID
	b.chromium.pages[tab.session] = tab
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		tab.Call(domain+".enable", nil, nil)
	}
	tab.Call("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil)
	return tab
}

// Call has Chromium do something and waits until it has done it.
func (b *Page) Call(method string, params, result any) {
	b.t.Helper()
	id := b.send(method, params)
	for {
		m := b.receive()
		if m.ID != id {
			continue
		}
		require.Empty(b.t, string(m.Error), method)
		if result != nil {
			require.NoError(b.t, json.Unmarshal(m.Result, result))
		}
		return
	}
}

// send tells Chromium what to do, and returns the number of the answer.
func (b *Page) send(method string, params any) (id int) {
	b.t.Helper()
	b.chromium.sent++
	id = b.chromium.sent
	command := map[string]any{"id": id, "method": method}
	if params != nil {
		command["params"] = params
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	data, err := json.Marshal(command)
	require.NoError(b.t, err)
	_, err = b.chromium.in.Write(append(data, 0))
	require.NoError(b.t, err)
	return id
}

// Login has a person at hand who gives a name and a password when the browser asks for them.
func (b *Page) Login(name, password string) {
	b.t.Helper()
	b.login = map[string]string{"response": "ProvideCredentials", "username": name, "password": password}
	b.Call("Fetch.enable", map[string]any{"handleAuthRequests": true}, nil)
}

// receive reads the next message. An event is kept by the page that it is of.
func (b *Page) receive() (m Message) {
	b.t.Helper()
	data, err := b.chromium.out.ReadBytes(0)
	require.NoError(b.t, err)
	require.NoError(b.t, json.Unmarshal(data[:len(data)-1], &m))
	if page := b.chromium.pages[m.Session]; page != nil && m.ID == 0 {
		page.events = append(page.events, m)
		page.goesOn(m)
	}
	return m
}

// goesOn lets a request go on that waits for a name and a password: with a login, all do.
func (b *Page) goesOn(m Message) {
	b.t.Helper()
	var e struct{ RequestID string }
	switch m.Method {
	case "Fetch.requestPaused", "Fetch.authRequired":
		require.NoError(b.t, json.Unmarshal(m.Params, &e))
	default:
		return
	}
	params := map[string]any{"requestId": e.RequestID}
	if m.Method == "Fetch.requestPaused" {
		b.send("Fetch.continueRequest", params)
		return
	}
	params["authChallengeResponse"] = b.login
	b.send("Fetch.continueWithAuth", params)
}

// Show opens a file in a window and returns what happened until it was loaded.
func (b *Page) Show(name string, width, height int, colours string) []Message {
	b.t.Helper()
	b.events = nil
	b.Goto("file://"+name, width, height, colours)
	return b.events
}

// Window gives the window a size, and light or dark colours.
func (b *Page) Window(width, height int, colours string) {
	b.t.Helper()
	window := map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
	b.Call("Emulation.setDeviceMetricsOverride", window, nil)
	scheme := []map[string]string{{"name": "prefers-color-scheme", "value": colours}}
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": scheme}, nil)
}

// Goto opens an address in such a window. One that differs from the present address only in what follows the # loads nothing.
func (b *Page) Goto(url string, width, height int, colours string) {
	b.t.Helper()
	b.Window(width, height, colours)
	before := len(b.events)
	var gone struct{ LoaderID, ErrorText string }
	b.Call("Page.navigate", map[string]any{"url": url}, &gone)
	require.Empty(b.t, gone.ErrorText, url)
	if gone.LoaderID != "" {
		b.loaded(before)
	}
}

// Reload loads the page anew, as a person does.
func (b *Page) Reload() {
	b.t.Helper()
	before := len(b.events)
	b.Call("Page.reload", nil, nil)
	b.loaded(before)
}

// loaded waits until a page is loaded, of which the events begin at a place.
func (b *Page) loaded(before int) {
	b.t.Helper()
	for {
		for ; before < len(b.events); before++ {
			if b.events[before].Method == "Page.loadEventFired" {
				return
			}
		}
		b.receive()
	}
}

// Requests are what the page has asked for since it was opened, in the order in which it asked, that of its frames included.
func (b *Page) Requests() []*Request {
	b.t.Helper()
	b.Call("Runtime.evaluate", map[string]any{"expression": "0"}, nil) // reads what has happened meanwhile
	var all []*Request
	open := make(map[string]*Request)
	for _, m := range b.events {
		var e struct {
			RequestID string
			Request   struct{ Method, URL string }
			Response  struct{ Status int }
			ErrorText string
		}
		switch m.Method {
		case "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFailed":
			require.NoError(b.t, json.Unmarshal(m.Params, &e))
		default:
			continue
		}
		asked := open[e.RequestID]
		switch {
		case m.Method == "Network.requestWillBeSent":
			asked = &Request{Method: e.Request.Method, URL: e.Request.URL}
			open[e.RequestID] = asked
			all = append(all, asked)
		case asked == nil: // it was asked before the page was heard
		case m.Method == "Network.responseReceived":
			asked.Status = e.Response.Status
		default:
			asked.Failed = e.ErrorText
		}
	}
	return all
}

// Complaints are what Chromium has logged of the page since it was opened, such as a breach of its policy, and the scripts that have
// failed. A request that was not answered well is none: see Requests.
func (b *Page) Complaints() (all []string) {
	b.t.Helper()
	b.Call("Runtime.evaluate", map[string]any{"expression": "0"}, nil)
	for _, m := range b.events {
		var e struct{ Entry struct{ Source string } }
		switch m.Method {
		case "Log.entryAdded":
			require.NoError(b.t, json.Unmarshal(m.Params, &e))
			if e.Entry.Source != "network" {
				all = append(all, string(m.Params))
			}
		case "Runtime.exceptionThrown":
			all = append(all, string(m.Params))
		}
	}
	return all
}

// Eval returns the value of an expression of JavaScript, or of its promise.
func (b *Page) Eval(expression string) any {
	b.t.Helper()
	var found struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &found)
	require.Empty(b.t, string(found.ExceptionDetails), expression)
	return found.Result.Value
}

// Holds returns the value of an expression that is true or false.
func (b *Page) Holds(expression string) bool {
	b.t.Helper()
	return b.Eval(expression) == true
}

// Key presses a key.
func (b *Page) Key(name, text string) {
	b.t.Helper()
	key := map[string]any{"type": "keyDown", "key": name, "code": name, "text": text}
	if code := map[string]int{"Tab": 9, "Enter": 13}[name]; code != 0 { // Chromium acts at these by their numbers
		key["windowsVirtualKeyCode"] = code
	}
	b.Call("Input.dispatchKeyEvent", key, nil)
	b.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "code": name}, nil)
}

// Screen returns what the window shows, as a PNG.
func (b *Page) Screen() []byte {
	b.t.Helper()
	var shot struct{ Data string }
	b.Call("Page.captureScreenshot", nil, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(b.t, err)
	return data
}

// Picture keeps what the window shows among the artifacts of the test.
func (b *Page) Picture(name string) {
	b.t.Helper()
	require.NoError(b.t, os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), b.Screen(), 0o600))
}
