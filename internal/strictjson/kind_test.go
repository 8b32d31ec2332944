package strictjson_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/strictjson"
)

func TestKindOfAPieceIsThatOfItsValue(t *testing.T) {
	for _, piece := range []string{"null", "true", "false", "0", "-1.5", `""`, "[]", "{}", " \n[1]"} {
		value, err := strictjson.Decode(piece, strictjson.Limits{})
		require.NoError(t, err)
		assert.Equal(t, strictjson.Kind(value), strictjson.KindOf([]byte(piece)), piece)
	}
	assert.Equal(t, "null", strictjson.KindOf(nil))
}
