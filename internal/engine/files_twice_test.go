package engine_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// lies are descriptions of the bytes of the study that are wrong, and why.
func lies() map[string]flow.File {
	hash := flow.HashOf(stage.PDF)
	return map[string]flow.File{
		fmt.Sprintf("the file has %d bytes, not 1", len(stage.PDF)): {Name: "z", Type: "text/plain", Hash: hash, Size: 1},
		"the PDF has 2 pages, not 1":                                {Name: "z", Type: "application/pdf", Hash: hash, Size: len(stage.PDF), Pages: 1},
		"the file is no image/png":                                  {Name: "z", Type: "image/png", Hash: hash, Size: len(stage.PDF)},
	}
}

// lying returns the illustrated debate with a file more: in front of the one that has the bytes, or behind it.
func lying(lie flow.File, front bool) debate.Config {
	config := stage.Illustrated()
	study := config.Documents[0].Files[0]
	config.Documents[0].Files = []flow.File{study, lie}
	if front {
		config.Documents[0].Files = []flow.File{lie, study}
	}
	return config
}

// Each mention of a file is checked against its bytes: those that the config gives, and those that the store has.
func TestEachMentionOfAFileIsChecked(t *testing.T) {
	for why, lie := range lies() {
		for _, front := range []bool{false, true} {
			engine, p := stage.Engine(stage.Illustrated())
			engine.Store = &store.Memory{}
			config := lying(lie, front)
			at := "documents[0].files[1]"
			if front {
				at = "documents[0].files[0]"
			}
			for _, err := range []error{engine.Validate(t.Context(), config), started(t, engine, config)} {
				require.ErrorContains(t, err, why)
				require.ErrorContains(t, err, at)
			}

			config = lying(lie, front) // the store has the bytes
			for i := range config.Documents[0].Files {
				if f := &config.Documents[0].Files[i]; f.Data != nil {
					*f, _ = f.Described(f.Data)
				}
			}
			blobs, ok := engine.Store.(store.Blobs)
			require.True(t, ok)
			require.NoError(t, blobs.PutBlob(t.Context(), config.ID, flow.HashOf(stage.PDF), stage.PDF))
			err := started(t, engine, config)
			require.ErrorIs(t, err, flow.ErrNoFile)
			require.ErrorContains(t, err, why)
			assert.Zero(t, p.Calls())
		}
	}
}

func started(t *testing.T, engine *debate.Engine, config flow.Config) error {
	t.Helper()
	s, err := engine.Start(t.Context(), config)
	if err == nil {
		require.NoError(t, s.Close())
	}
	return err
}

// An export whose log describes the same bytes in two ways is refused, and so is a fork that adds such a description.
func TestForksAndImportsCheckEachMentionOfAFile(t *testing.T) {
	for why, lie := range lies() {
		engine, _ := stage.Engine(stage.Illustrated())
		engine.Store = &store.Memory{}
		played(t, engine, lying(flow.File{Name: "z", Type: "application/pdf", Hash: lie.Hash, Size: len(stage.PDF), Pages: 2}, false))
		for _, seq := range []int64{0, 1} {
			_, err := engine.Fork(t.Context(), "illustrated", seq, debate.Editing(func(c *debate.Config) {
				c.ID = fmt.Sprint("fork", seq)
				c.Documents[0].Files[1] = lie
			}))
			require.ErrorContains(t, err, why)
		}
		var out bytes.Buffer
		require.NoError(t, engine.Export(t.Context(), "illustrated", &out))
		assert.Equal(t, 1, strings.Count(out.String(), `"hash":"`+lie.Hash+`","data"`), "the bytes are there once")
		for _, good := range []bool{true, false} {
			text := out.String()
			if !good {
				text = strings.ReplaceAll(text, fmt.Sprintf(`{"name":"z","type":"application/pdf","hash":"%s","size":%d,"pages":2}`, lie.Hash, len(stage.PDF)), stage.JSON(lie))
				require.NotEqual(t, out.String(), text)
			}
			other, _ := stage.Engine(stage.Illustrated())
			_, err := other.Import(t.Context(), strings.NewReader(text))
			if good {
				require.NoError(t, err)
				continue
			}
			require.ErrorContains(t, err, why)
		}
	}
}

// A file that refers to bytes of the same config needs no more than their hash, and the store gets them once. A request
// carries each mention, so each counts.
func TestTheSameBytesTwice(t *testing.T) {
	engine, p := stage.Engine(stage.Illustrated())
	config := lying(flow.File{Name: "z.pdf", Hash: flow.HashOf(stage.PDF)}, true)
	r := played(t, engine, config)
	assert.Equal(t, flow.StateCompleted, r.State)
	assert.Len(t, r.Files(), 2)
	assert.Equal(t, map[string]string{"chart.png": string(stage.PNG), "study.pdf": string(stage.PDF), "z.pdf": string(stage.PDF)}, shown(&p.Requests()[0]))

	config = stage.Illustrated()
	big := flow.File{Name: "big.txt", Type: "text/plain", Data: bytes.Repeat([]byte("w"), flow.MaxFiles/2)}
	config.Documents[0].Files = []flow.File{big, {Name: "again.txt", Hash: flow.HashOf(big.Data)}, {Name: "more.txt", Type: "text/csv", Hash: flow.HashOf(big.Data)}}
	config.ID = "big"
	err := engine.Validate(t.Context(), config)
	require.Error(t, err)
	config.Documents[0].Files[2].Size = len(big.Data)
	require.ErrorContains(t, engine.Validate(t.Context(), config), fmt.Sprintf("at most %d are allowed", flow.MaxFiles))
}
