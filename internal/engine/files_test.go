package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// png and pdf are files that begin as their types do.
var ()

// shown returns the bytes of the files in a request, by name.
func shown(req *provider.Request) map[string]string {
	out := map[string]string{}
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			out[p.Name] = string(p.Data)
		}
	}
	return out
}

func TestEverybodyReadsTheFiles(t *testing.T) {
	engine, p := stage.Engine(stage.Illustrated())
	r := played(t, engine, stage.Illustrated())
	assert.Equal(t, flow.StateCompleted, r.State)
	requests := p.Requests()
	require.Len(t, requests, 4, "two speeches, an assessment and a verdict")
	for i := range requests {
		req := &requests[i]
		assert.Equal(t, map[string]string{"chart.png": string(stage.PNG), "study.pdf": string(stage.PDF)}, shown(req), req.ID)
		assert.Contains(t, req.Messages[0].Text, "Files that belong to the topic: [image: chart.png]")
		assert.Contains(t, req.Messages[1].Text, `Document "The study": [PDF: study.pdf]`)
		assert.NotEmpty(t, req.Messages[0].Fence, "names are not trusted")
		assert.Empty(t, req.Last.Parts)
	}
	for _, event := range loggedFiles(t, engine, "illustrated") {
		line, err := json.Marshal(event)
		require.NoError(t, err)
		assert.NotContains(t, string(line), "pixels")
		assert.NotContains(t, string(line), `"data":"iVBOR`)
	}
	files := r.Files()
	require.Len(t, files, 2)
	assert.Equal(t, flow.File{Name: "chart.png", Type: "image/png", Hash: flow.HashOf(stage.PNG), Size: len(stage.PNG)}, files[0])
	assert.Equal(t, 2, files[1].Pages)
	data, err := engine.File(t.Context(), "illustrated", files[0].Hash)
	require.NoError(t, err)
	assert.Equal(t, stage.PNG, data)
	_, err = engine.File(t.Context(), "illustrated", flow.HashOf([]byte("other")))
	require.ErrorIs(t, err, flow.ErrNoFile)
}

// played runs a debate to its end, and returns its record.
func played(t *testing.T, engine *debate.Engine, config flow.Config) *flow.Record {
	t.Helper()
	s, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	defer s.Close()
	r := stage.Ended(t, s)
	return r
}

func loggedFiles(t *testing.T, engine *debate.Engine, id string) (out []flow.Event) {
	t.Helper()
	for event, err := range engine.Events(t.Context(), id, 0) {
		require.NoError(t, err)
		out = append(out, event)
	}
	return out
}

// The summarizer reads the documents as well, and what it is sent is priced.
func TestASummarizerReadsTheFiles(t *testing.T) {
	config := stage.Illustrated()
	config.Rounds, config.Context, config.Summarizer, config.Reserve, config.MaxTokens = 6, "summarize", "test/summarizer", 100, 100
	engine, p := stage.Engine(config)
	for _, name := range []string{"test/debater", "test/judge", "test/summarizer"} {
		row := engine.Models[name]
		row.Window = 17_500
		engine.Models[name] = row
	}
	inner := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if strings.Contains(req.ID, "/summary") {
			return scripted.Reply{Text: "They differ."}
		}
		reply := inner(req)
		if req.Schema == nil {
			reply.Text = strings.Repeat(reply.Text+" ", 4)
		}
		return reply
	}
	r := played(t, engine, config)
	require.NotEmpty(t, r.Summaries)
	for _, req := range p.Requests() {
		assert.Len(t, shown(&req), 2, req.ID)
	}
}

// A file costs as much as it can: the budget's reserve and the estimate hold it.
func TestFilesArePriced(t *testing.T) {
	plain := stage.Illustrated()
	plain.Attachments, plain.Documents = nil, nil
	cost := func(config debate.Config, change func(*debate.Engine)) (flow.Estimate, int) {
		engine, _ := stage.Engine(config)
		change(engine)
		estimate := stage.Estimated(t, engine, config)
		for _, event := range loggedFiles(t, engine, played(t, engine, config).ID) {
			if in, ok := event.Body.(*flow.Intent); ok {
				return estimate, in.Bound
			}
		}
		return estimate, 0
	}
	without, least := cost(plain, func(*debate.Engine) {})
	with, most := cost(stage.Illustrated(), func(*debate.Engine) {})
	const three = 3 * 5000 // an image and two pages
	assert.GreaterOrEqual(t, most-least, three)
	assert.Less(t, most-least, three+500)
	assert.GreaterOrEqual(t, with.Tokens-without.Tokens, 4*three, "in each of four requests")
	_, dear := cost(stage.Illustrated(), func(e *debate.Engine) {
		row := e.Models["test/debater"]
		row.ImageTokens = 50_000
		e.Models["test/debater"] = row
	})
	assert.Equal(t, most+3*45_000, dear)
}

func TestFilesOfConfigsAreChecked(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	many := make([]flow.File, 65)
	for i := range many {
		many[i] = flow.File{Data: append(bytes.Clone(stage.PNG), byte(i))}
	}
	text := func(name string) flow.File { return flow.File{Name: name, Type: "text/plain", Data: []byte("text")} }
	for name, c := range map[string]struct {
		attachments []flow.File
		documents   []flow.Document
		field       string
		want        string
	}{
		"nothing":       {attachments: []flow.File{{Name: "a"}}, field: "attachments[0]", want: "no data, url or hash"},
		"empty":         {attachments: []flow.File{{Name: "a", Data: []byte{}}}, field: "attachments[0]", want: "is empty"},
		"too large":     {attachments: []flow.File{{Data: make([]byte, flow.MaxFile+1)}}, field: "attachments[0]", want: "at most 10485760"},
		"too many":      {attachments: many, field: "documents", want: "more than 64"},
		"large in all":  {attachments: []flow.File{{Type: "text/plain", Data: bytes.Repeat([]byte("a"), flow.MaxFile)}, {Type: "text/plain", Data: bytes.Repeat([]byte("b"), flow.MaxFile)}}, field: "documents", want: "20971520 bytes: at most"},
		"other hash":    {attachments: []flow.File{{Data: stage.PNG, Hash: flow.HashOf(stage.PDF)}}, field: "attachments[0]", want: "another hash"},
		"image as text": {attachments: []flow.File{{Data: stage.PNG, Type: "text/html"}}, field: "attachments[0]", want: "is image/png, not text/html"},
		"other type":    {attachments: []flow.File{{Data: stage.PDF, Type: "image/png"}}, field: "attachments[0]", want: "is no image/png"},
		"unknown type":  {attachments: []flow.File{{Data: []byte{0, 1, 2}}}, field: "attachments[0]", want: "cannot be detected"},
		"svg":           {attachments: []flow.File{{Data: []byte("<svg/>"), Type: "image/svg+xml"}}, field: "attachments[0].type", want: "PNG, JPEG"},
		"hostile type":  {attachments: []flow.File{{Data: []byte("a"), Type: "text/html\"><script>"}}, field: "attachments[0].type", want: "no media type"},
		"a folder":      {attachments: []flow.File{text("../../etc/passwd")}, field: "attachments[0].name", want: "without a folder"},
		"a backslash":   {attachments: []flow.File{text(`a\b`)}, field: "attachments[0].name", want: "without a folder"},
		"two lines":     {attachments: []flow.File{text("a\nb")}, field: "attachments[0].name", want: "one line"},
		"no name":       {documents: []flow.Document{{Files: []flow.File{text("a")}}}, attachments: []flow.File{text("b")}, field: "documents[0].name", want: "one line"},
		"no files":      {documents: []flow.Document{{Name: "x"}}, field: "documents[0].files", want: "is empty"},
		"a url":         {attachments: []flow.File{{URL: "https://example.com/a.png"}}, field: "attachments[0]", want: "Engine.Fetch"},
		"no such model": {attachments: []flow.File{{Data: stage.PNG}}, field: "judging.judges[0].model", want: `: "image", which attachments[0] needs`},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.Illustrated()
			config.Attachments, config.Documents = c.attachments, c.documents
			engine, p := stage.Engine(config)
			row := engine.Models["test/judge"]
			row.Unsupported = []provider.Ability{provider.AbilityImage}
			engine.Models["test/judge"] = row
			err := engine.Validate(t.Context(), config)
			require.Error(t, err)
			assert.Contains(t, err.Error(), c.want)
			var found []string
			for _, one := range unjoined(err) {
				var failure *flow.Error
				require.ErrorAs(t, one, &failure)
				found = append(found, failure.Field)
			}
			assert.Contains(t, found, c.field)
			for _, field := range found {
				assert.False(t, strings.HasPrefix(field, c.field+"."), "%s: nothing describes a file that is broken", field)
			}
			_, err = engine.Start(t.Context(), config)
			require.Error(t, err)
			assert.Zero(t, p.Calls())
		})
	}
}

func unjoined(err error) []error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()
	}
	return []error{err}
}

func TestAStoreWithoutFilesRefusesThem(t *testing.T) {
	engine, p := stage.Engine(stage.Illustrated())
	engine.Store = stage.Fileless{Store: &store.Memory{}}
	_, err := engine.Start(t.Context(), stage.Illustrated())
	require.ErrorContains(t, err, "Engine.Store keeps no files")
	assert.Zero(t, p.Calls())
}

// A URL is fetched once, and no vendor sees it.
func TestAURLIsFetchedOnce(t *testing.T) {
	t.Parallel()
	config := stage.Illustrated()
	config.Documents, config.Attachments = nil, []flow.File{{Name: "chart", URL: "https://example.com/secret"}}
	engine, p := stage.Engine(config)
	asked := 0
	engine.Fetch = func(_ context.Context, url string) (debate.Fetched, error) {
		asked++
		assert.Equal(t, "https://example.com/secret", url)
		return debate.Fetched{Body: io.NopCloser(bytes.NewReader(stage.PNG)), Type: "image/png; q=1"}, nil
	}
	require.NoError(t, engine.Validate(t.Context(), config))
	stage.Estimated(t, engine, config)
	r := played(t, engine, config)
	assert.Equal(t, 1, asked, "what was validated is what is debated")
	assert.Equal(t, "image/png", r.Files()[0].Type)
	for _, req := range p.Requests() {
		assert.NotContains(t, stage.JSON(req), "example.com")
		assert.Equal(t, string(stage.PNG), shown(&req)["chart"])
	}
	assert.Equal(t, "https://example.com/secret", r.Files()[0].URL)
	engine, _ = stage.Engine(config)
	engine.Fetch = func(context.Context, string) (debate.Fetched, error) {
		return debate.Fetched{}, errors.New("no such host")
	}
	_, err := engine.Start(t.Context(), config)
	require.ErrorContains(t, err, "no such host")
	engine, _ = stage.Engine(config)
	engine.Fetch = func(context.Context, string) (debate.Fetched, error) {
		return debate.Fetched{Body: io.NopCloser(endless{}), Type: "text/plain"}, nil
	}
	_, err = engine.Start(t.Context(), config)
	require.ErrorContains(t, err, "at most 10485760")
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// A debate is continued by another process: the bytes come from the store. One that is missing is named before any call.
func TestFilesOfAStoredDebate(t *testing.T) {
	dir := t.TempDir()
	open := func() (*debate.Engine, *scripted.Provider) {
		engine, p := stage.Engine(stage.Illustrated())
		kept, err := file.Open(dir)
		require.NoError(t, err)
		t.Cleanup(func() { _ = kept.Close() })
		engine.Store = kept
		return engine, p
	}
	engine, _ := open()
	s, err := engine.New(stage.Illustrated())
	require.NoError(t, err)
	require.NoError(t, s.Validate(t.Context()))
	require.NoError(t, s.Start(t.Context()))
	_ = s.Pause(t.Context())
	require.NoError(t, s.Close())
	kept := engine.Store.(*file.Store)
	require.NoError(t, engine.Shutdown(t.Context()))
	require.NoError(t, kept.Close())

	engine, p := open()
	s, err = engine.Start(t.Context(), stage.Illustrated())
	require.NoError(t, err)
	_ = s.Resume(t.Context())
	stage.Ended(t, s)
	requests := p.Requests()
	require.NotEmpty(t, requests)
	assert.Len(t, shown(&requests[0]), 2)
}
