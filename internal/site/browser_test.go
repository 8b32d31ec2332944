package main_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
)

// browser is a page of Chromium, which is told what to do over two pipes.
type browser struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	session string
	sent    int
	events  []message
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func open(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	read, in, err := os.Pipe()
	require.NoError(t, err)
	out, write, err := os.Pipe()
	require.NoError(t, err)
	chromium := exec.CommandContext(
		t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir(),
	)
	chromium.ExtraFiles = []*os.File{read, write}
	require.NoError(t, chromium.Start())
	require.NoError(t, read.Close())
	require.NoError(t, write.Close())
	b := &browser{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		_, _ = in.WriteString(`{"id":0,"method":"Browser.close"}` + "\x00")
		_ = chromium.Wait()
		_ = in.Close()
		_ = out.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call has Chromium do something and waits until it has done it.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.sent++
	command := map[string]any{"id": b.sent, "method": method}
	if params != nil {
		command["params"] = params
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	data, err := json.Marshal(command)
	require.NoError(b.t, err)
	_, err = b.in.Write(append(data, 0))
	require.NoError(b.t, err)
	for {
		m := b.receive()
		if m.ID != b.sent {
			b.events = append(b.events, m)
			continue
		}
		require.Empty(b.t, string(m.Error), method)
		if result != nil {
			require.NoError(b.t, json.Unmarshal(m.Result, result))
		}
		return
	}
}

func (b *browser) receive() (m message) {
	b.t.Helper()
	data, err := b.out.ReadBytes(0)
	require.NoError(b.t, err)
	require.NoError(b.t, json.Unmarshal(data[:len(data)-1], &m))
	return m
}

// show opens a file in a window and returns what happened until it was loaded.
func (b *browser) show(name string, width, height int, colours string) []message {
	b.t.Helper()
	b.events = nil
	window := map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
	b.call("Emulation.setDeviceMetricsOverride", window, nil)
	scheme := []map[string]string{{"name": "prefers-color-scheme", "value": colours}}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": scheme}, nil)
	b.call("Page.navigate", map[string]any{"url": "file://" + name}, nil)
	b.eval("document.readyState === 'complete' || new Promise(r => addEventListener('load', r)).then(() => true)")
	return b.events
}

// eval returns the value of an expression of JavaScript, or of its promise.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var found struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &found)
	require.Empty(b.t, string(found.ExceptionDetails), expression)
	return found.Result.Value
}

// holds returns the value of an expression that is true or false.
func (b *browser) holds(expression string) bool {
	b.t.Helper()
	return b.eval(expression) == true
}

// key presses a key.
func (b *browser) key(name, text string) {
	b.t.Helper()
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": name, "code": name, "text": text}, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "code": name}, nil)
}

func (b *browser) picture(name string) {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", nil, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), data, 0o600))
}

// Chromium shows each page on a phone and on a screen, light and dark. Nothing is asked of another host, nothing is refused by the
// policy, no script fails and nothing is wider than the window. With -artifacts and -outputdir the pictures are kept.
func TestPagesInABrowser(t *testing.T) {
	longform.Only(t, "every page is written, and its links lead to files of the site")
	longform.Lone(t)
	b := open(t)
	out := t.TempDir()
	s := read(t)
	require.NoError(t, s.Write(out))
	for _, p := range s.Pages {
		for _, width := range []int{390, 1280} {
			for _, colours := range []string{"light", "dark"} {
				at := fmt.Sprintf("%s-%d-%s", strings.NewReplacer("/", "-", ".html", "").Replace(p.URL), width, colours)
				for _, e := range b.show(filepath.Join(out, p.URL), width, 900, colours) {
					assert.NotContains(t, []string{"Log.entryAdded", "Runtime.exceptionThrown"}, e.Method, "%s: %s", at, e.Params)
					var asked struct{ Request struct{ URL string } }
					if e.Method == "Network.requestWillBeSent" && assert.NoError(t, json.Unmarshal(e.Params, &asked), at) {
						assert.Regexp(t, "^file://"+out+"/", asked.Request.URL, at)
					}
				}
				assert.InDelta(t, width, b.eval("document.documentElement.scrollWidth"), 0, "%s: the width", at)
				assert.Equal(t, colours == "dark", b.holds("getComputedStyle(document.body).color.match(/[0-9.]+/)[0] > 128"), at)
				b.picture(at)
			}
		}
	}
}

func TestSearchInABrowser(t *testing.T) {
	longform.Only(t, "every page is written, and its links lead to files of the site")
	longform.Lone(t)
	b := open(t)
	out := t.TempDir()
	require.NoError(t, read(t).Write(out))
	hits := func(than int) any { // waits for the index, which a script of the page reads
		return b.eval(fmt.Sprintf(`new Promise((resolve) => {
			const look = () => { const n = document.querySelectorAll('#site-hits li').length; n > %d ? resolve(n) : requestAnimationFrame(look); };
			look();
		})`, than))
	}
	for _, width := range []int{390, 1280} {
		b.show(filepath.Join(out, "index.html"), width, 900, "light")
		b.key("/", "/")
		assert.Equal(t, "INPUT", b.eval("document.activeElement.tagName"))
		b.call("Input.insertText", map[string]any{"text": "crash"}, nil)
		assert.Positive(t, hits(0))
		assert.True(t, b.holds("[...document.querySelectorAll('#site-hits li')].every(li => /crash/i.test(li.querySelector('mark').innerText))"))
		b.picture(fmt.Sprintf("search-%d", width))
		first := b.eval("document.querySelector('#site-hits a').href")
		second := b.eval("document.querySelectorAll('#site-hits a')[1].href")
		assert.NotEqual(t, first, second)
		b.key("ArrowDown", "")
		assert.Equal(t, second, b.eval("document.getElementById(input.getAttribute('aria-activedescendant')).querySelector('a').href"))
		b.key("Escape", "")
		assert.False(t, b.holds("document.getElementById('site-search').open"))
		b.eval("document.getElementById('site-theme').click()")
		assert.Equal(t, "dark", b.eval("document.documentElement.dataset.theme"))
		b.eval("document.getElementById('site-theme').click()")
		assert.Equal(t, "light", b.eval("document.documentElement.dataset.theme"))
	}
	b.show(filepath.Join(out, "index.html"), 390, 900, "light")
	b.eval("document.querySelector('.open').click()")
	assert.True(t, b.holds("document.getElementById('site-pages').matches(':popover-open')"))
	b.picture("pages-390")
}
