package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/wire"
)

// What only names something can be read whatever it is. anomalyco/opencode#19947 (2026-03-29) has the number, zed#59403
// (2026-06-16) the indexes.
func TestNamesAndPlaces(t *testing.T) {
	for _, tt := range []struct {
		data, name string
		at         int
	}{
		{`"call_1"`, "call_1", -1},
		{`123`, "123", 123},
		{`"2"`, "2", 2},
		{`0`, "0", 0},
		{`1.0`, "1.0", 1},
		{`1.5`, "1.5", -1},
		{`-1`, "-1", -1},
		{`1e300`, "1e300", -1},
		{`"NaN"`, "NaN", -1},
		{`true`, "true", -1},
		{`null`, "", -1},
		{`false`, "", -1},
		{`""`, "", -1},
		{`{"a":1}`, "", -1},
		{`[1]`, "", -1},
		{`"\ud83c\udf33\ud83c"`, "🌳\ufffd", -1},
	} {
		var got struct {
			Name  wire.Name  `json:"name"`
			Index wire.Index `json:"index"`
		}
		require.NoError(t, json.Unmarshal([]byte(`{"name":`+tt.data+`,"index":`+tt.data+`}`), &got), tt.data)
		assert.Equal(t, tt.name, string(got.Name), tt.data)
		assert.Equal(t, tt.at, got.Index.At(), tt.data)
	}
	assert.Equal(t, -1, wire.Index{}.At())
}
