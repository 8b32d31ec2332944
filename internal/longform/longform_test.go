package longform_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/internal/longform"
)

func TestOr(t *testing.T) {
	t.Setenv("DEBATE_LONG_TESTS", "")
	assert.False(t, longform.Asked())
	assert.Equal(t, 1, longform.Or(10, 1))
	t.Setenv("DEBATE_LONG_TESTS", "1")
	assert.True(t, longform.Asked())
	assert.Equal(t, 10, longform.Or(10, 1))
}

func TestLone(t *testing.T) {
	ran := false
	t.Run("a test", func(t *testing.T) {
		longform.Lone(t)
		ran = true
	})
	assert.Equal(t, !longform.Race, ran)
}

func TestSized(t *testing.T) {
	for asked, want := range map[string]int{"": 2, "1": 1} {
		t.Setenv("DEBATE_LONG_TESTS", asked)
		if longform.Race {
			want = 3
		}
		assert.Equal(t, want, longform.Sized(1, 2, 3))
	}
}

func TestFewer(t *testing.T) {
	t.Setenv("DEBATE_LONG_TESTS", "")
	assert.Equal(t, 8, longform.Fewer())
	t.Setenv("DEBATE_LONG_TESTS", "1")
	if longform.Race {
		assert.Equal(t, 8, longform.Fewer())
	} else {
		assert.Equal(t, 1, longform.Fewer())
	}
}

func TestOnly(t *testing.T) {
	run := func(asked string) (skipped bool) {
		t.Setenv("DEBATE_LONG_TESTS", asked)
		t.Run("long", func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			longform.Only(t, "a few")
		})
		return skipped
	}
	assert.True(t, run(""))
	assert.False(t, run("1"))
}
