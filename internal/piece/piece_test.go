package piece_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/piece"
)

func newKey(t testing.TB, secret byte, id string) *piece.Key {
	t.Helper()
	key, err := piece.NewKey([32]byte{secret}, id)
	require.NoError(t, err)
	return key
}

func TestAPieceIsOpenedAsItWasSealed(t *testing.T) {
	key := newKey(t, 1, "cars")
	for _, p := range []piece.Piece{
		{},
		{Ask: true},
		{Call: "r1.opening.Ada", Attempt: 3, After: 17, Offset: 1234, Parts: 9, Text: "Hello, Wörld.\x00\xff"},
		{Reasoning: true, Call: strings.Repeat("c", 500), Attempt: 1, Text: strings.Repeat("long ", 10_000)},
		{Attempt: math.MaxInt32, After: math.MaxInt64, Offset: math.MaxInt32, Parts: math.MaxInt32},
	} {
		sealed := key.Seal(&p)
		assert.LessOrEqual(t, len(sealed), piece.Overhead(p.Call)+len(p.Text))
		got, err := key.Open(sealed)
		require.NoError(t, err)
		assert.Equal(t, p, got)
		assert.NotEqual(t, sealed, key.Seal(&p), "no two seals are alike")
	}
}

func TestWhatWasSealedElsewhereIsNotOpened(t *testing.T) {
	key := newKey(t, 1, "cars")
	sealed := key.Seal(&piece.Piece{Call: "c", Text: "text"})
	for _, other := range []*piece.Key{newKey(t, 2, "cars"), newKey(t, 1, "trains")} {
		_, err := other.Open(sealed)
		require.Error(t, err)
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		_, err := key.Open(bad)
		require.Error(t, err)
		_, err = key.Open(sealed[:i])
		require.Error(t, err)
	}
	assert.NotEqual(t, piece.Topic("cars"), piece.Topic("trains"))
	assert.Len(t, piece.Topic("cars"), 32)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 2, 0, 0, 0, 0, 0})
	f.Add(piece.Encode(&piece.Piece{Call: "c", Attempt: 1, After: 2, Offset: 3, Parts: 4, Text: "text"}))
	f.Add(append([]byte{1, 0}, bytes.Repeat([]byte{0xff}, 60)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := piece.Decode(data)
		if err != nil {
			return
		}
		assert.GreaterOrEqual(t, min(int64(p.Attempt), p.After, int64(p.Offset), int64(p.Parts)), int64(0))
		again, err := piece.Decode(piece.Encode(&p))
		require.NoError(t, err)
		assert.Equal(t, p, again)
	})
}
