package strictjson_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/strictjson"
)

// Numbers that a float64 does not hold exactly can be had as they are written.
func TestExactNumbers(t *testing.T) {
	v, err := strictjson.Decode(`[1.0,-0,1e3,123456789012345678901,0.1000000000000000000001]`, strictjson.Limits{Exact: true})
	require.NoError(t, err)
	want := []any{json.Number("1.0"), json.Number("-0"), json.Number("1e3"), json.Number("123456789012345678901"), json.Number("0.1000000000000000000001")}
	assert.Equal(t, want, v)
	_, err = strictjson.Decode(`1e999`, strictjson.Limits{Exact: true})
	require.ErrorContains(t, err, "too large")
}

// A reader that knows who wrote the text may want the whole path.
func TestLongerPaths(t *testing.T) {
	text := `{"participants":[{},{"instructions":x}]}`
	for most, want := range map[int]string{0: "...pants[1].instructions", 200: "participants[1].instructions"} {
		_, err := strictjson.Decode(text, strictjson.Limits{Path: most})
		wrong, ok := errors.AsType[*strictjson.Error](err)
		require.True(t, ok)
		assert.Equal(t, want, wrong.Path)
	}
}
