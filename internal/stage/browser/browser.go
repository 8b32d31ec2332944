// Package browser shows pages in Debian's Chromium. Only tests use it.
package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Page is a page of Chromium, which is told what to do over two pipes.
type Page struct {
	t       *testing.T
	in      *os.File
	out     *bufio.Reader
	session string
	sent    int
	events  []Message
}

// Message is an event of Chromium, or the answer to a call.
type Message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
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
	chromium := exec.CommandContext(
		t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir(),
	)
	chromium.ExtraFiles = []*os.File{read, write}
	require.NoError(t, chromium.Start())
	require.NoError(t, read.Close())
	require.NoError(t, write.Close())
	b := &Page{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		_, _ = in.WriteString(`{"id":0,"method":"Browser.close"}` + "\x00")
		_ = chromium.Wait()
		_ = in.Close()
		_ = out.Close()
	})
	var target struct{ TargetID string }
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Log", "Runtime"} {
		b.Call(domain+".enable", nil, nil)
	}
	return b
}

// Call has Chromium do something and waits until it has done it.
func (b *Page) Call(method string, params, result any) {
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

func (b *Page) receive() (m Message) {
	b.t.Helper()
	data, err := b.out.ReadBytes(0)
	require.NoError(b.t, err)
	require.NoError(b.t, json.Unmarshal(data[:len(data)-1], &m))
	return m
}

// Show opens a file in a window and returns what happened until it was loaded.
func (b *Page) Show(name string, width, height int, colours string) []Message {
	b.t.Helper()
	b.events = nil
	window := map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
	b.Call("Emulation.setDeviceMetricsOverride", window, nil)
	scheme := []map[string]string{{"name": "prefers-color-scheme", "value": colours}}
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": scheme}, nil)
	b.Call("Page.navigate", map[string]any{"url": "file://" + name}, nil)
	b.Eval("document.readyState === 'complete' || new Promise(r => addEventListener('load', r)).then(() => true)")
	return b.events
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
	b.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": name, "code": name, "text": text}, nil)
	b.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name, "code": name}, nil)
}

// Picture keeps what the window shows among the artifacts of the test.
func (b *Page) Picture(name string) {
	b.t.Helper()
	var shot struct{ Data string }
	b.Call("Page.captureScreenshot", nil, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), data, 0o600))
}
