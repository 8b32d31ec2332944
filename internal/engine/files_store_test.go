package engine_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

// exported returns the export and the snapshot of a debate that has been played.
func exportedFiles(t *testing.T) (plain, sealed []byte) {
	t.Helper()
	engine, _ := stage.Engine(stage.Illustrated())
	s, err := engine.Start(t.Context(), stage.Illustrated())
	require.NoError(t, err)
	stage.Ended(t, s)
	sealed, err = s.Snapshot(t.Context())
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, engine.Export(t.Context(), "illustrated", &out))
	return out.Bytes(), sealed
}

func TestExportsCarryTheFiles(t *testing.T) {
	plain, sealed := exportedFiles(t)
	for _, data := range [][]byte{plain, sealed} {
		engine, _ := stage.Engine(stage.Illustrated())
		id, err := engine.Import(t.Context(), bytes.NewReader(data))
		require.NoError(t, err)
		got, err := engine.File(t.Context(), id, flow.HashOf(stage.PDF))
		require.NoError(t, err)
		assert.Equal(t, stage.PDF, got)
		_, err = engine.Import(t.Context(), bytes.NewReader(data))
		require.NoError(t, err, "a second time")
	}
}

func TestHostileFilesInSnapshotsAreRefused(t *testing.T) {
	_, sealed := exportedFiles(t)
	text := func(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
	first := `{"hash":"` + flow.HashOf(stage.PNG) + `","data":"` + text(stage.PNG) + `"}`
	other := []byte("another file")
	for name, c := range map[string]struct{ old, new, want string }{
		"missing":           {first + ",", "", "chart.png"},
		"other bytes":       {text(stage.PNG), text(other), "blobs[0].hash"},
		"a path as hash":    {`"hash":"` + flow.HashOf(stage.PNG) + `","data"`, `"hash":"../../x","data"`, "blobs[0].hash"},
		"twice":             {first, first + "," + first, "is a duplicate"},
		"not referred to":   {first, first + `,{"hash":"` + flow.HashOf(other) + `","data":"` + text(other) + `"}`, "does not refer"},
		"unknown key":       {`{"hash":"` + flow.HashOf(stage.PNG), `{"path":"/etc/passwd","hash":"` + flow.HashOf(stage.PNG), "blobs"},
		"no base64":         {text(stage.PNG), "!" + text(stage.PNG), "blobs"},
		"name with folder":  {`"name":"chart.png"`, `"name":"../chart.png"`, "attachments[0].name"},
		"another size":      {`"size":23`, `"size":5`, "bytes, not 5"},
		"fewer pages":       {`"pages":2`, `"pages":1`, "2 pages, not 1"},
		"too large by name": {`"size":23`, `"size":99999999999`, "size"},
		"data in the log":   {`"name":"chart.png"`, `"data":"AAAA","name":"chart.png"`, "data"},
		"no list":           {`"blobs":[`, `"blobs":7,"bloobs":[`, "blobs"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Positive(t, strings.Count(string(sealed), c.old))
			engine, _ := stage.Engine(stage.Illustrated())
			spoiled := strings.ReplaceAll(string(sealed), c.old, c.new)
			_, err := engine.Import(t.Context(), strings.NewReader(spoiled))
			require.ErrorContains(t, err, c.want)
			_, err = engine.Record(t.Context(), "illustrated")
			require.ErrorIs(t, err, flow.ErrNotFound, "nothing is stored")
		})
	}
}

// A fork has files of its own: the old debate can be deleted.
func TestAForkHasItsOwnFiles(t *testing.T) {
	for name, seq := range map[string]int64{"from the start": 0, "from the middle": 8} {
		t.Run(name, func(t *testing.T) {
			engine, p := stage.Engine(stage.Illustrated())
			kept := &store.Memory{}
			engine.Store = kept
			played(t, engine, stage.Illustrated())
			added := []byte("more to read")
			s, err := engine.Fork(t.Context(), "illustrated", seq, debate.Editing(func(c *debate.Config) {
				c.ID = "forked"
				c.Documents = append(c.Documents, flow.Document{Name: "more", Files: []flow.File{{Name: "more.txt", Data: added}}})
			}))
			require.NoError(t, err)
			require.NoError(t, kept.Delete(t.Context(), "illustrated"))
			stage.Ended(t, s)
			for _, hash := range []string{flow.HashOf(stage.PNG), flow.HashOf(stage.PDF), flow.HashOf(added)} {
				_, err = engine.File(t.Context(), "forked", hash)
				require.NoError(t, err)
			}
			requests := p.Requests()
			assert.Len(t, shown(&requests[len(requests)-1]), 3)
			require.NoError(t, kept.Delete(t.Context(), "forked"))
			_, err = kept.Blob(t.Context(), "forked", flow.HashOf(stage.PNG))
			require.ErrorIs(t, err, flow.ErrNoFile)
		})
	}
}

// cutting fails at the nth change of the store, and from then on: the process has ended there.
type cutting struct {
	*store.Memory

	left int
}

var errCut = &flow.Error{Kind: "validation", Err: errors.New("the process has ended")}

func (c *cutting) PutBlob(ctx context.Context, id, hash string, data []byte) error {
	if c.left--; c.left < 0 {
		return errCut
	}
	return c.Memory.PutBlob(ctx, id, hash, data)
}

func (c *cutting) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	if c.left--; c.left < 0 {
		return errCut
	}
	return c.Memory.Append(ctx, id, after, writer, events)
}

// Wherever a process ends, a log that is there refers to files that are there; and what is left over, Delete removes.
func TestNoCrashLeavesALogWithoutItsFiles(t *testing.T) {
	for cut := range 6 {
		kept := &store.Memory{}
		engine, _ := stage.Engine(stage.Illustrated())
		engine.Store = &cutting{kept, cut}
		if s, err := engine.Start(t.Context(), stage.Illustrated()); err == nil {
			_, _ = s.Wait(t.Context())
			require.NoError(t, s.Close())
		}
		engine, _ = stage.Engine(stage.Illustrated())
		engine.Store = kept
		record, err := engine.Record(t.Context(), "illustrated")
		if err == nil {
			assert.Greater(t, cut, 2, "both files come before the log")
			for _, f := range record.Files() {
				_, err := kept.Blob(t.Context(), "illustrated", f.Hash)
				require.NoError(t, err, "cut at %d", cut)
			}
		}
		played(t, engine, stage.Illustrated())
		require.NoError(t, kept.Delete(t.Context(), "illustrated"))
		for _, hash := range []string{flow.HashOf(stage.PNG), flow.HashOf(stage.PDF)} {
			_, err := kept.Blob(t.Context(), "illustrated", hash)
			require.ErrorIs(t, err, flow.ErrNoFile, "cut at %d", cut)
		}
	}
}

// A file that is missing or damaged is named before any call, wherever the debate is opened.
func TestAMissingFileIsNamedBeforeAnyCall(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"missing": os.Remove,
		"damaged": func(path string) error {
			data, err := os.ReadFile(path)
			if err == nil {
				data[100] ^= 1
				err = os.WriteFile(path, data, 0o600)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			kept, err := file.Open(dir)
			require.NoError(t, err)
			defer func() { _ = kept.Close() }()
			engine, _ := stage.Engine(stage.Illustrated())
			engine.Store = &cutAfter{Store: kept, left: 3}
			s, err := engine.Start(t.Context(), stage.Illustrated())
			if err == nil {
				_, _ = s.Wait(t.Context())
				require.NoError(t, s.Close())
			}
			require.NoError(t, spoil(filepath.Join(dir, "illustrated.blobs")))
			engine, p := stage.Engine(stage.Illustrated())
			engine.Store = kept
			_, err = engine.Open(t.Context(), "illustrated")
			require.ErrorIs(t, err, flow.ErrNoFile)
			require.Regexp(t, `\[(image: chart.png|PDF: study.pdf)\], SHA-256 [0-9a-f]{64}$`, err.Error())
			var failure *flow.Error
			require.ErrorAs(t, err, &failure)
			assert.EqualValues(t, "validation", failure.Kind)
			_, err = engine.Start(t.Context(), stage.Illustrated())
			require.ErrorIs(t, err, flow.ErrNoFile)
			assert.Zero(t, p.Calls())
		})
	}
}

// cutAfter is a file store whose appends fail after some.
type cutAfter struct {
	*file.Store

	left int
}

func (c *cutAfter) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	if c.left--; c.left < 0 {
		return errCut
	}
	return c.Store.Append(ctx, id, after, writer, events)
}

// readCounting counts how often blobs are read.
type readCounting struct {
	*store.Memory

	reads int
}

func (c *readCounting) Blob(ctx context.Context, id, hash string) ([]byte, error) {
	c.reads++
	return c.Memory.Blob(ctx, id, hash)
}

// A process reads each file of a debate once, and the requests share its bytes.
func TestAFileIsReadOncePerProcess(t *testing.T) {
	kept := &readCounting{Memory: &store.Memory{}}
	engine, _ := stage.Engine(stage.Illustrated())
	engine.Store = &cutting{kept.Memory, 3} // two files, and the start
	if s, err := engine.Start(t.Context(), stage.Illustrated()); err == nil {
		_, _ = s.Wait(t.Context())
		require.NoError(t, s.Close())
	}
	engine, p := stage.Engine(stage.Illustrated())
	engine.Store = kept
	var mu sync.Mutex
	shared := map[*byte]bool{}
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		mu.Lock()
		defer mu.Unlock()
		shared[&req.Messages[0].Parts[0].Data[0]] = true
		return reply(req)
	}
	played(t, engine, stage.Illustrated())
	assert.Equal(t, 2, kept.reads)
	assert.Greater(t, p.Calls(), 2)
	assert.Len(t, shared, 1)
}

// In JSON a file has its bytes in base64, or the hash of a file that the store has.
func TestFilesOfAConfigInJSON(t *testing.T) {
	data, err := json.Marshal(stage.Illustrated())
	require.NoError(t, err)
	assert.Contains(t, string(data), base64.StdEncoding.EncodeToString(stage.PNG))
	engine, _ := stage.Engine(stage.Illustrated())
	config, err := engine.DecodeConfig(data)
	require.NoError(t, err)
	r := played(t, engine, config)
	settled, err := json.Marshal(r.Config())
	require.NoError(t, err)
	assert.NotContains(t, string(settled), `"data"`)
	assert.Contains(t, string(settled), flow.HashOf(stage.PNG))
	again, err := engine.DecodeConfig(settled)
	require.NoError(t, err)
	again.(*debate.Config).ID = "other"
	_, err = engine.Start(t.Context(), again)
	require.ErrorIs(t, err, flow.ErrNoFile, "another debate has not these files")
	_, err = engine.DecodeConfig([]byte(`{"topic":"t","participants":[],"attachments":[{"path":"/etc/passwd"}]}`))
	require.ErrorContains(t, err, "path")
}

// The blobs of a stored debate are lost or damaged. An import of an export or a snapshot puts them back, though the store
// has the whole log.
func TestAnImportPutsLostFilesBack(t *testing.T) {
	plain, sealed := exportedFiles(t)
	for name, back := range map[string]func(*debate.Engine) error{
		"import": func(e *debate.Engine) error {
			_, err := e.Import(t.Context(), bytes.NewReader(plain))
			return err
		},
		"restore": func(e *debate.Engine) error {
			s, err := stage.Restore(t.Context(), e, sealed)
			if err == nil {
				err = s.Close()
			}
			return err
		},
	} {
		for how, harm := range map[string]func(path string) error{
			"lost": os.Remove,
			"damaged": func(path string) error {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				return os.WriteFile(path, bytes.ReplaceAll(data, []byte("pixels"), []byte("PIXELS")), 0o600)
			},
		} {
			t.Run(name+" of what is "+how, func(t *testing.T) {
				dir := t.TempDir()
				kept, err := file.Open(dir)
				require.NoError(t, err)
				defer func() { assert.NoError(t, kept.Close()) }()
				engine, _ := stage.Engine(stage.Illustrated())
				engine.Store = kept
				_, err = engine.Import(t.Context(), bytes.NewReader(sealed))
				require.NoError(t, err)
				require.NoError(t, harm(filepath.Join(dir, "illustrated.blobs")))
				_, err = engine.File(t.Context(), "illustrated", flow.HashOf(stage.PNG))
				require.ErrorIs(t, err, flow.ErrNoFile)
				var failure *flow.Error
				require.ErrorAs(t, err, &failure)
				assert.Contains(t, failure.Hint(), "import")
				require.NoError(t, back(engine))
				for hash, want := range map[string][]byte{flow.HashOf(stage.PNG): stage.PNG, flow.HashOf(stage.PDF): stage.PDF} {
					got, err := engine.File(t.Context(), "illustrated", hash)
					require.NoError(t, err)
					assert.Equal(t, want, got)
				}
			})
		}
	}
}
