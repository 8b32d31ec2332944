package cache_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/cache"
)

func holds(t *testing.T, m *cache.Memory, key string) bool {
	t.Helper()
	_, ok, err := m.Get(t.Context(), key)
	require.NoError(t, err)
	return ok
}

func TestMemoryForgetsWhatWasNotAskedForTheLongest(t *testing.T) {
	m := &cache.Memory{MaxEntries: 2}
	require.NoError(t, m.Put(t.Context(), "a", []byte("1")))
	require.NoError(t, m.Put(t.Context(), "b", []byte("2")))
	assert.True(t, holds(t, m, "a"))
	require.NoError(t, m.Put(t.Context(), "c", []byte("3")))
	assert.False(t, holds(t, m, "b"))
	value, ok, err := m.Get(t.Context(), "a")
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, "1", string(value))
}

func TestMemoryRefusesWhatIsTooLong(t *testing.T) {
	m := &cache.Memory{MaxBytes: 10}
	require.NoError(t, m.Put(t.Context(), "a", []byte("123")))
	require.NoError(t, m.Put(t.Context(), "b", make([]byte, 10)))
	assert.True(t, holds(t, m, "a"))
	assert.False(t, holds(t, m, "b"))
	require.NoError(t, m.Put(t.Context(), "a", make([]byte, 10)))
	assert.False(t, holds(t, m, "a"), "the former value is no longer true")
}

func TestMemoryTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &cache.Memory{TTL: time.Minute}
		require.NoError(t, m.Put(t.Context(), "a", []byte("1")))
		<-time.After(time.Minute - 1)
		assert.True(t, holds(t, m, "a"))
		<-time.After(1)
		assert.False(t, holds(t, m, "a"), "to ask for it does not make it younger")
		require.NoError(t, m.Put(t.Context(), "a", []byte("2")))
		<-time.After(30 * time.Second)
		require.NoError(t, m.Put(t.Context(), "a", []byte("3")))
		<-time.After(30 * time.Second)
		assert.True(t, holds(t, m, "a"), "to put it again does")
	})
}

func TestMemoryBoundsThatAreNotPositiveAreDefaults(t *testing.T) {
	m := &cache.Memory{MaxBytes: -1, MaxEntries: -1, TTL: -1}
	require.NoError(t, m.Put(t.Context(), "a", []byte("1")))
	assert.True(t, holds(t, m, "a"))
}

// Whatever is put and asked for, a Memory holds what a plain list would.
func TestMemoryIsAListOfTheLatest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		maxBytes, maxEntries := 1+random.IntN(40), 1+random.IntN(6)
		m := &cache.Memory{MaxBytes: maxBytes, MaxEntries: maxEntries}
		type kept struct{ key, value string }
		var list []kept // the latest used first
		find := func(key string) int { return slices.IndexFunc(list, func(k kept) bool { return k.key == key }) }
		for range 300 {
			key := fmt.Sprint(random.IntN(8))
			at := find(key)
			if random.IntN(2) == 0 {
				value, ok, err := m.Get(t.Context(), key)
				require.NoError(t, err)
				require.Equal(t, at >= 0, ok)
				if at >= 0 {
					k := list[at]
					require.Equal(t, k.value, string(value))
					list = slices.Insert(slices.Delete(list, at, at+1), 0, k)
				}
				continue
			}
			value := string(make([]byte, random.IntN(15)))
			require.NoError(t, m.Put(t.Context(), key, []byte(value)))
			if at >= 0 {
				list = slices.Delete(list, at, at+1)
			}
			if len(key)+len(value) > maxBytes {
				continue
			}
			list = slices.Insert(list, 0, kept{key, value})
			for {
				bytes := 0
				for _, k := range list {
					bytes += len(k.key) + len(k.value)
				}
				if bytes <= maxBytes && len(list) <= maxEntries {
					break
				}
				list = list[:len(list)-1]
			}
		}
	}
}
