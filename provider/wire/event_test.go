package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// events returns all events as "kind|data", and the error at the end.
func events(s *wire.Events) (list []string, err error) {
	for {
		e, err := s.Next()
		if err != nil {
			return list, err
		}
		list = append(list, e.Kind+"|"+string(e.Data))
	}
}

func TestEvents(t *testing.T) {
	x := open(t, endpoint(nil))
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"one", "data: a\n\n", []string{"|a"}},
		{"no space", "data:a\n\n", []string{"|a"}},
		{"white space around", "data:  a \n\n", []string{"|a"}},
		{"kinds", "event: x\ndata: a\n\ndata: b\n\n", []string{"x|a", "|b"}},
		{"a kind without data is dropped", "event: x\n\ndata: b\n\n", []string{"|b"}},
		{"many lines", "data: a\ndata:  \n" + "data: b\n\n", []string{"|a\n \nb"}},
		{"two values", "event: x\ndata: {\"a\":1}\ndata: [DONE]\n\n", []string{"x|{\"a\":1}", "|[DONE]"}},
		{"no blank lines", "data: {\"a\":[\ndata: 1]}\ndata: {}\nerror: {}\ndata: {\n\n", []string{"|{\"a\":[\n1]}", "|{}", "error|{}", "|{"}},
		{"a kind without a blank line", "event: x\ndata: {}\nevent: error\ndata: []\ndata: {}\n\n", []string{"x|{}", "error|[]", "|{}"}},
		{"a kind behind data", "event: x\ndata: {}\nevent: error\n\ndata: {}\n\n", []string{"error|{}", "|{}"}},
		{"a value in lines", "data: [{},\ndata: {}]\ndata:  \n\n", []string{"|[{},\n{}]"}},
		{"half a value", "data: {\"a\":{}\ndata: {}}\n\n", []string{"|{\"a\":{}\n{}}"}},
		{"data twice", strings.Repeat("data: ", 2) + "{}\ndata:\n\ndata:data:[DONE]\n\n", []string{"|{}", "|[DONE]"}},
		{"empty data", "data\n\n", []string{"|"}},
		{"comments", ": x\n\n:\ndata: a\n: y\n\n", []string{"|a"}},
		{"other fields", "id: 1\nretry: 2\nwhat\ndata: a\n\n", []string{"|a"}},
		{"CRLF", "data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", []string{"|a\nb", "|c"}},
		{"CR", "data: a\rdata: b\r\rdata: c\r\r", []string{"|a\nb", "|c"}},
		{"blank lines", "\n\n\r\n\rdata: a\n\n\n\n", []string{"|a"}},
		{"colons", "data: a: b:c\n\n", []string{"|a: b:c"}},
		{"no blank line", "data: a\n\ndata: b\n", []string{"|a"}},
		{"no end", "data: a\n\ndata: b", []string{"|a"}},
		{"NUL", "data: a\x00b\n\n", []string{"|a\x00b"}},
		{"an error field", "error: {\"message\":\"no\"}\n\ndata: [DONE]\n\n", []string{"error|{\"message\":\"no\"}", "|[DONE]"}},
		{"an error field behind data", "data: a\n\nerror: no\n\n", []string{"|a", "error|no"}},
		{"a bare error", "data: a\n\n{\"error\":{\"message\":\"no\"}}\n", []string{"|a", "error|{\"error\":{\"message\":\"no\"}}"}},
		{"a bare error without an end", ": x\n\n{\"error\":\"no\"}", []string{"error|{\"error\":\"no\"}"}},
		{"a bare error in lines", "[{\n  \"error\": {\n    \"code\": 503\n  }\n}\n]\n", []string{"error|[{\n  \"error\": {\n    \"code\": 503\n  }\n}\n]\n"}},
		{"half a bare error", "{\"error\":{\"message\":", nil},
		{"bare JSON that is none", "{\"type\":\"ping\"}\n[]\n{\"error\":null}\ndata: a\n\n", []string{"|a"}},
	} {
		for _, in := range []io.Reader{strings.NewReader(tt.text), iotest.OneByteReader(strings.NewReader(tt.text)), iotest.DataErrReader(strings.NewReader(tt.text))} {
			got, err := events(x.EventsIn(in))
			require.ErrorIs(t, err, io.EOF, tt.name)
			assert.Equal(t, tt.want, got, tt.name)
		}
	}
	broken := errors.New("reset")
	_, err := events(x.EventsIn(io.MultiReader(strings.NewReader("data: a\n\n"), iotest.ErrReader(broken))))
	require.ErrorIs(t, err, broken)
}

// An event is handed on when its blank line has come, without a look at what follows.
func TestEventsAreNotHeldBack(t *testing.T) {
	x := open(t, endpoint(nil))
	for _, end := range []string{"\n", "\r", "\r\n"} {
		in, out := io.Pipe()
		s := x.EventsIn(in)
		go func() { _, _ = io.WriteString(out, "data: a"+end+end[:1]) }()
		e, err := s.Next()
		require.NoError(t, err)
		assert.Equal(t, "a", string(e.Data))
		_ = out.Close()
	}
}

// tooLong reports whether reading failed because an answer or an event passes its limit.
func tooLong(x *wire.Exchange, err error) bool {
	e, ok := errors.AsType[*provider.Error](x.Cut(err))
	return ok && e.Kind == provider.KindInvalidResponse && e.Code == "too_large"
}

func TestEventsAreBounded(t *testing.T) {
	e := endpoint(nil)
	e.MaxLine = 64
	x := open(t, e)
	long := strings.Repeat("x", 64)
	for name, text := range map[string]string{
		"line": "data: " + long, "event": strings.Repeat("data: x\n", 20), "comment": ":" + long, "kind": "event: x\n" + strings.Repeat(":\n", 80),
		"name": long + ": x\n",
	} {
		_, err := events(x.EventsIn(strings.NewReader(text + "\n\n")))
		assert.True(t, tooLong(x, err), name)
	}
	got, err := events(x.EventsIn(strings.NewReader(strings.Repeat(": a comment\n", 100) + strings.Repeat("data: "+long[:40]+"\n\n", 3))))
	require.ErrorIs(t, err, io.EOF)
	assert.Len(t, got, 3, "each event has the whole measure, and comments between them none")
}

// lines returns all lines, and the error at the end.
func lines(l *wire.Lines) (list []string, err error) {
	for {
		line, err := l.Next()
		if err != nil {
			return list, err
		}
		list = append(list, string(line))
	}
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"{}\n", []string{"{}"}},
		{" {\"a\":1} \r\n\r\n{}\n", []string{`{"a":1}`, "{}"}},
		{"{}\n{\"half\":", []string{"{}"}},
		{"{}\n{\"whole\":1} ", []string{"{}", `{"whole":1}`}},
		{"{}", []string{"{}"}},
		{"{} {", nil},
		{"12", nil},
		{"[1]", nil},
		{"{}\r{}\r", []string{"{}", "{}"}},
	} {
		x, err := send(t, endpoint(ok(tt.text)))
		require.NoError(t, err)
		got, err := lines(x.Lines())
		require.ErrorIs(t, err, io.EOF)
		assert.Equal(t, tt.want, got, "%q", tt.text)
	}
	e := endpoint(ok(strings.Repeat("{}\n", 100) + strings.Repeat("x", 64) + "\n"))
	e.MaxLine = 64
	x, err := send(t, e)
	require.NoError(t, err)
	got, err := lines(x.Lines())
	assert.True(t, tooLong(x, err))
	assert.Len(t, got, 100)
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("event: x\ndata: a\r\ndata\r\rdata:b\n\n: c\n\n"))
	f.Add([]byte("\ufeffdata: a\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		e := endpoint(nil)
		e.MaxLine = 256
		x := open(t, e)
		got, err := events(x.EventsIn(bytes.NewReader(text)))
		require.Error(t, err)
		require.True(t, errors.Is(err, io.EOF) || tooLong(x, err))
		for _, one := range got {
			require.Less(t, len(one), 256)
		}
		again, _ := events(x.EventsIn(iotest.OneByteReader(bytes.NewReader(text))))
		require.Equal(t, got, again, "how the bytes fall into pieces makes no difference")
	})
}

func FuzzLines(f *testing.F) {
	f.Add("{}\n{\"a\":1}\r\n\n half")
	f.Fuzz(func(t *testing.T, text string) {
		e := endpoint(ok(text))
		e.MaxLine, e.MaxBody = 256, 4096
		x, err := send(t, e)
		require.NoError(t, err)
		got, err := lines(x.Lines())
		require.True(t, errors.Is(err, io.EOF) || tooLong(x, err))
		for _, line := range got {
			require.NotEmpty(t, line)
			require.Less(t, len(line), 256)
			require.NotContains(t, line, "\n")
		}
	})
}

func TestLists(t *testing.T) {
	var list wire.List[struct{}]
	require.NoError(t, json.Unmarshal([]byte(`[`+strings.Repeat(`{},`, 1023)+`{}]`), &list))
	assert.Len(t, list, 1024)
	require.Error(t, json.Unmarshal([]byte(`[`+strings.Repeat(`{},`, 1024)+`{}]`), &list))
	for _, one := range []string{`[]`, `[1]`, `["a,b\",c"]`, `[[1,2,3]]`, `[{"a":1,"b":2}]`} {
		assert.False(t, wire.Longer([]byte(one), 1), one)
	}
	assert.True(t, wire.Longer([]byte(`[1,2]`), 1))
}

func TestBody(t *testing.T) {
	body, err := wire.Body(map[string]string{"a": "<<<&"})
	require.NoError(t, err)
	assert.Len(t, body, len(`{"a":"<<<&"}`))
	assert.Contains(t, string(body), "<<<&")
	_, err = wire.Body(func() {})
	require.Error(t, err)
}
