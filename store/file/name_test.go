package file_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/file"
)

func TestNames(t *testing.T) {
	for id, want := range map[string]string{
		"a": "a", "019a1b2c-3d4e-7f60-8a9b-0c1d2e3f4a5b": "019a1b2c-3d4e-7f60-8a9b-0c1d2e3f4a5b",
		"A": "a+01", "Ab-C": "ab-c+09", "aaaaaaaaA": "aaaaaaaaa+0001", "a.log": "a.log",
		strings.Repeat("N", 128): strings.Repeat("n", 128) + "+" + strings.Repeat("ff", 16),
	} {
		assert.Equal(t, want, file.Name(id))
	}
}

// No two debates share a file, even where the file system does not tell A from a.
func TestNamesAreOneToOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ids := map[string]string{}
	for range 20_000 {
		id := make([]byte, 1+rng.IntN(5))
		if rng.IntN(50) == 0 {
			id = make([]byte, 1+rng.IntN(128))
		}
		for i := range id {
			id[i] = "abAB1.-_"[rng.IntN(8)]
		}
		if store.CheckID(string(id)) != nil {
			continue
		}
		name := file.Name(string(id))
		require.Equal(t, strings.ToLower(name), name)
		require.LessOrEqual(t, len(name), 161)
		if other, known := ids[name]; known {
			require.Equal(t, other, string(id), "both are in %s", name)
		}
		ids[name] = string(id)
		back, ok := file.Identify(name)
		require.True(t, ok, name)
		require.Equal(t, string(id), back)
	}
	assert.Greater(t, len(ids), 5000)
}

func FuzzIdentify(f *testing.F) {
	for _, name := range []string{"a", "a+01", "ab+02", "+", "a+", "a+00", "a+zz", "A", "a+0100", "a.b+05"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if id, ok := file.Identify(name); ok {
			require.NoError(t, store.CheckID(id))
			require.Equal(t, name, file.Name(id))
		}
	})
}
